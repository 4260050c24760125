# SPDX-License-Identifier: Apache-2.0

"""The way of an action through this package: few files, and few hops."""

import sys
from unittest import mock

from eventlet import greenthread

from tests import processes
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, THREE, TWO

PACKAGES = ('senlin_plugins', 'os_placement_plugins')
#: How often an action may go from one file to another.
MOST_HOPS = 80


class Trace:
    """The files of this package that new green threads execute."""

    def __init__(self):
        self._folders = tuple(f'{processes.ROOT / name}/' for name in PACKAGES)
        self.files = []

    def __enter__(self):
        main = greenthread.GreenThread.main

        def traced_main(thread, *args):
            # To set this in greenlet's own trace function, while greenlet
            # switches, has crashed Python 3.11.
            sys.setprofile(self._note)
            return main(thread, *args)

        self._patch = mock.patch.object(
            greenthread.GreenThread, 'main', traced_main
        )
        self._patch.start()
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_):
        self._patch.stop()
        sys.setprofile(None)

    def _note(self, frame, event, _):
        """Note the file of a function that is called."""
        name = frame.f_code.co_filename
        if event != 'call' or not name.startswith(self._folders):
            return
        if not self.files or self.files[-1] != name:
            self.files.append(name)


class Way(base.TestCase):
    def setUp(self):
        super().setUp()
        self.cluster_id = self.cluster(
            self.region_policy((ONE, 100), (TWO, 250, 4), (THREE, 150)),
            self.deletion_policy(criteria='OLDEST_FIRST'),
        )

    def assert_short(self, most_files, name, **arguments):
        """Run an action, and check the way that it takes."""
        with Trace() as trace:
            self.act(self.cluster_id, name, **arguments)
        files = {*trace.files}
        self.assertLessEqual(len(files), most_files, sorted(files))
        self.assertLessEqual(len(trace.files), MOST_HOPS, trace.files)

    def test_a_scale_out_and_a_scale_in(self):
        self.assert_short(10, 'scale_out', count=6)
        self.assert_short(12, 'scale_in', count=2)

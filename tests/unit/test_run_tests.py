# SPDX-License-Identifier: Apache-2.0

"""``make test`` counts the tests of one run only."""

import contextlib
import fcntl
import io
import pathlib
import tempfile
import unittest
from unittest import mock

from tools import run_tests


class LockTest(unittest.TestCase):
    def test_a_second_run_in_the_same_folder_is_refused(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix='opp-run-tests-')
        self.addCleanup(folder.cleanup)
        tox = pathlib.Path(folder.name)
        results = tox / 'unit/.stestr/0'
        results.parent.mkdir(parents=True)
        results.touch()
        output = io.StringIO()
        with (
            (tox / 'lock').open('w') as lock,
            mock.patch.object(run_tests, 'TOX', tox),
            contextlib.redirect_stdout(output),
        ):
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertEqual(2, run_tests.main(['-e', 'unit']))
        self.assertIn('wait for their end', output.getvalue())
        self.assertTrue(results.exists())

# SPDX-License-Identifier: Apache-2.0

import os
import pathlib
import sys
import tempfile
import threading
import unittest
from multiprocessing import util
from unittest import mock

from os_placement_plugins import child_process


def load(begin):
    begin('first')
    begin('second')
    # A thread that never ends does not keep the process alive.
    threading.Thread(target=threading.Event().wait).start()
    return ['a', 1]


def explain(begin):
    raise child_process.LoadError('told')


class LoadTest(unittest.TestCase):
    def test_the_result_comes_back(self):
        self.assertEqual(['a', 1], child_process.load(load))

    def test_what_fails_is_named(self):
        for last, words in (
            (lambda: int('x'), 'thing: ValueError: invalid literal'),
            (lambda: sys.exit(0), 'thing: SystemExit: 0'),
            (lambda: os._exit(0), 'thing: it ended the process'),
            (lambda: explain(None), 'thing: told'),
        ):

            def fail(begin, last=last):
                begin('other')
                begin('thing')
                last()

            with self.assertRaises(child_process.LoadError) as caught:
                child_process.load(fail)
            self.assertIn(words, str(caught.exception))

    def test_what_the_process_does_at_its_end_is_done(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, 'end')

            def write_at_the_end(begin):
                util.Finalize(None, file.write_text, ('x',), exitpriority=1)

            # However busy the machine is.
            with mock.patch.object(child_process, '_GRACE', 600):
                child_process.load(write_at_the_end)
            self.assertEqual('x', file.read_text())

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
        self.assertEqual(['a', 1], child_process.load('zero', load))

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
                child_process.load('zero', fail)
            self.assertIn(words, str(caught.exception))

    def test_what_fails_first_is_named(self):
        def fail(begin):
            raise ValueError('x')

        with self.assertRaises(child_process.LoadError) as caught:
            child_process.load('zero', fail)
        self.assertEqual('zero: ValueError: x', str(caught.exception))
        self.assertEqual('zero', caught.exception.thing)

    def test_no_answer_is_no_failure(self):
        def hang(begin):
            threading.Event().wait()

        with (
            mock.patch.object(child_process, 'LIMIT', 0.1),
            self.assertRaisesRegex(
                child_process.NoAnswerError,
                '^zero: there was no answer within 0.1 seconds$',
            ),
        ):
            child_process.load('zero', hang)

    def test_what_the_process_does_at_its_end_is_done(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, 'end')

            def write_at_the_end(begin):
                util.Finalize(None, file.write_text, ('x',), exitpriority=1)

            # However busy the machine is.
            with mock.patch.object(child_process, '_GRACE', 600):
                child_process.load('zero', write_at_the_end)
            self.assertEqual('x', file.read_text())

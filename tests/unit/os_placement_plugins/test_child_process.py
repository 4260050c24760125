# SPDX-License-Identifier: Apache-2.0

import os
import sys
import threading
import unittest

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

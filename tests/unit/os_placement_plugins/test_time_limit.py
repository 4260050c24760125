# SPDX-License-Identifier: Apache-2.0

import threading
import unittest

from os_placement_plugins import time_limit


class TimeLimitTest(unittest.TestCase):
    def test_a_function_in_time_says_what_it_says(self):
        self.assertEqual(7, time_limit.call(lambda: 7, 600))
        self.assertIsNone(time_limit.call(lambda: None, 600))
        with self.assertRaisesRegex(ValueError, 'no number'):
            time_limit.call(lambda: int('no number'), 600)

    def test_a_function_that_never_returns_is_left_behind(self):
        event = threading.Event()
        self.addCleanup(event.set)
        with self.assertRaisesRegex(TimeoutError, 'within 0.01 seconds'):
            time_limit.call(event.wait, 0.01)

# SPDX-License-Identifier: Apache-2.0

"""``senlin-plugins-convert``, without Senlin."""

import contextlib
import io
import unittest

from senlin_plugins import conversion


class Conversion(unittest.TestCase):
    def test_without_senlin_it_says_one_line(self):
        error = io.StringIO()
        with contextlib.redirect_stderr(error):
            code = conversion.main(['list'])
        self.assertEqual(1, code)
        (line,) = error.getvalue().splitlines()
        words = 'senlin-plugins-convert: run it where senlin-engine is'
        self.assertIn(words, line)

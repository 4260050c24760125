# SPDX-License-Identifier: Apache-2.0

"""``senlin-plugins-convert``, without Senlin."""

import contextlib
import io
import unittest

from senlin_plugins import conversion
from senlin_plugins.conversion import Use

OURS = 'senlin_plugins.nova.server-1.0'
THEIRS = 'os.nova.server-1.0'
POLICY = 'senlin_plugins.policy.deletion-1.0'


class Conversion(unittest.TestCase):
    def test_without_senlin_it_says_one_line(self):
        error = io.StringIO()
        with contextlib.redirect_stderr(error):
            code = conversion.main(['list'])
        self.assertEqual(1, code)
        (line,) = error.getvalue().splitlines()
        words = 'senlin-plugins-convert: run it where senlin-engine is'
        self.assertIn(words, line)


class Uses(unittest.TestCase):
    def test_rows_of_one_cluster_belong_together(self):
        rows = [
            ('cluster', '1', 'web', THEIRS),
            ('cluster', '1', 'web', OURS),
            ('cluster', '2', 'web', 'x.y-1.0'),
            ('cluster', '1', 'web', POLICY),
            ('node', '3', 'one', OURS),
        ]
        web, other, node = conversion.collect_uses(rows)
        self.assertEqual(
            Use('cluster', '1', 'web', {THEIRS, OURS, POLICY}), web
        )
        self.assertEqual(Use('cluster', '2', 'web', {'x.y-1.0'}), other)
        self.assertEqual(Use('node', '3', 'one', {OURS}), node)
        self.assertEqual(f'{OURS}, {POLICY}', web.package_types)
        self.assertEqual('', other.package_types)

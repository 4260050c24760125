# SPDX-License-Identifier: Apache-2.0

"""Which types clusters use, from the rows of Senlin's database."""

import unittest

from senlin_plugins import inventory
from senlin_plugins.inventory import Use

OURS = 'senlin_plugins.nova.server-1.0'
THEIRS = 'os.nova.server-1.0'
POLICY = 'senlin_plugins.policy.deletion-1.0'


class Inventory(unittest.TestCase):
    def test_rows_of_one_cluster_belong_together(self):
        rows = [
            ('1', 'web', 'profile', THEIRS),
            ('1', 'web', 'node', OURS),
            ('2', 'web', 'policy', 'x.y-1.0'),
            ('1', 'web', 'policy', POLICY),
            ('2', 'web', 'node', OURS),
            ('2', 'web', 'profile', THEIRS),
            ('3', 'one', 'alone', OURS),
        ]
        web, other, node = inventory.collect(rows)
        both = {OURS, THEIRS}
        self.assertEqual(
            Use('cluster', '1', 'web', THEIRS, both, {POLICY}), web
        )
        self.assertEqual(
            Use('cluster', '2', 'web', THEIRS, both, {'x.y-1.0'}), other
        )
        self.assertEqual(Use('node', '3', 'one', OURS, {OURS}), node)
        self.assertEqual(f'{OURS}, {POLICY}', web.ours)
        self.assertEqual(OURS, other.ours)
        self.assertEqual('', Use('cluster', '4', 'x', THEIRS, {THEIRS}).ours)

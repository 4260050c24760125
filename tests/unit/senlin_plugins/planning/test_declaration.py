# SPDX-License-Identifier: Apache-2.0

"""The commands by which a region is given up."""

import types
import unittest

from senlin_plugins.planning import declaration

RESIZE = 'openstack cluster resize c1 --min-size'


def cluster(status='ACTIVE', min_size=0):
    """Return a cluster in a status."""
    return types.SimpleNamespace(id='c1', status=status, min_size=min_size)


class DeclarationTest(unittest.TestCase):
    def test_a_cluster_is_changed_at_once(self):
        self.assertEqual(
            "openstack cluster region set --out c1 'Region Two'",
            declaration.declare_out(cluster('WARNING', 3), 'Region Two'),
        )

    def test_a_cluster_in_error_has_no_minimum_meanwhile(self):
        self.assertEqual(
            [f'{RESIZE} 0', 'x'],
            declaration.commands_to_change(cluster('ERROR'), 'x'),
        )
        self.assertEqual(
            f'{RESIZE} 0; openstack cluster region set --out c1 R2; '
            f'{RESIZE} 3',
            declaration.declare_out(cluster('ERROR', 3), 'R2'),
        )

    def test_what_is_left_behind_is_forgotten_before_the_cluster(self):
        forget = 'openstack cluster region forget c1 s1 s2'
        delete = 'openstack cluster delete c1'
        self.assertEqual(
            f'{forget}; {delete}',
            declaration.delete(cluster(), ['s1', 's2'], []),
        )
        self.assertEqual(
            f'{RESIZE} 0; {forget}; {delete}',
            declaration.delete(cluster('ERROR'), ['s1', 's2'], []),
        )

    def test_nodes_leave_a_region_that_is_declared_out(self):
        self.assertEqual(
            'openstack cluster region set --out c1 R1; '
            'openstack cluster region set --out c1 R2; '
            f'{RESIZE} 0 --capacity 0; '
            'openstack cluster region forget c1 s1; '
            'openstack cluster delete c1',
            declaration.delete(cluster(), ['s1'], ['R1', 'R2']),
        )

    def test_many_ids_are_not_written_out(self):
        ten = [f's{number}' for number in range(10)]
        self.assertIn(' '.join(ten), declaration.delete(cluster(), ten, []))
        self.assertIn(
            'forget c1 <ids from openstack cluster region list --long c1>; ',
            declaration.delete(cluster(), [*ten, 's10'], []),
        )

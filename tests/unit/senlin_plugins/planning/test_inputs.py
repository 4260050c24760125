# SPDX-License-Identifier: Apache-2.0

"""What an action brings, as a webhook passes it on."""

import unittest

import ddt

from senlin_plugins.planning import sizing, values

EXACT = {'adjustment_type': 'EXACT_CAPACITY'}
CHANGE = {'adjustment_type': 'CHANGE_IN_CAPACITY'}
PERCENTAGE = {'adjustment_type': 'CHANGE_IN_PERCENTAGE'}


@ddt.ddt
class Inputs(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        ({}, {}),
        ({'min_size': None, 'number': None}, {}),
        ({'min_size': '1', 'max_size': -1}, {'min_size': 1}),
        ({**EXACT, 'number': 0}, {}),
        ({**EXACT, 'number': '3'}, {'number': 3}),
        ({**CHANGE, 'number': -2.0}, {'number': -2}),
        ({**PERCENTAGE, 'number': -12.5, 'min_step': 0}, {}),
        (
            {**PERCENTAGE, 'number': '50', 'min_step': '2'},
            {'number': 50, 'min_step': 2},
        ),
        ({'strict': False, 'other': [1]}, {}),
    )
    def test_a_resize_that_makes_sense(self, request, changed):
        read = sizing.parse_inputs('CLUSTER_RESIZE', request)
        self.assertEqual({**request, **changed}, read)
        if 'number' in changed:
            self.assertIs(int, type(read['number']))

    @ddt.unpack
    @ddt.data(
        ({'min_size': 'x'}, "'min_size' is 'x': it must be a whole number."),
        ({'min_size': -1}, "'min_size' is '-1': it must be 0 or greater."),
        ({'max_size': -2}, "'max_size' is '-2': it must be -1 or greater."),
        ({'min_step': -1}, "'min_step' is '-1': it must be 0 or greater."),
        ({'strict': 'no'}, "'strict' must be a boolean."),
        ({'number': 1}, "'number' needs an 'adjustment_type'."),
        (EXACT, "'adjustment_type' needs a 'number'."),
        (
            {'adjustment_type': 'NOPE', 'number': 1},
            "'adjustment_type' is 'NOPE': it must be one of EXACT_CAPACITY, "
            'CHANGE_IN_CAPACITY, CHANGE_IN_PERCENTAGE.',
        ),
        ({**EXACT, 'number': 'x'}, "'number' is 'x': it must be a whole"),
        ({**EXACT, 'number': -1}, "'number' is '-1': it must be 0 or greater"),
        ({**CHANGE, 'number': 1.5}, "'number' is '1.5': it must be a whole"),
        ({**CHANGE, 'number': [1]}, "'number' is '[1]': it must be a whole"),
        ({**PERCENTAGE, 'number': float('nan')}, "'number' is 'nan'"),
        ({**PERCENTAGE, 'number': float('inf')}, "'number' is 'inf'"),
        ({**PERCENTAGE, 'number': '1.5'}, "'number' is '1.5'"),
    )
    def test_a_resize_that_makes_none(self, request, reason):
        with self.assertRaises(values.WrongValue) as caught:
            sizing.parse_inputs('CLUSTER_RESIZE', request)
        self.assertIn(reason, str(caught.exception))

    @ddt.unpack
    @ddt.data(
        ('CLUSTER_DEL_NODES', {'candidates': 'a'}, "is 'a': it must be a"),
        ('CLUSTER_RECOVER', {'operation': 5}, "'operation' is '5': it must"),
        ('NODE_RECOVER', {'operation': 'x'}, "is 'X': it must be one of"),
    )
    def test_other_actions_refuse_what_makes_no_sense(
        self, action, request, reason
    ):
        with self.assertRaises(values.WrongValue) as caught:
            sizing.parse_inputs(action, request)
        self.assertIn(reason, str(caught.exception))

    @ddt.unpack
    @ddt.data(
        ('CLUSTER_DEL_NODES', {'candidates': ['a']}),
        ('CLUSTER_DEL_NODES', {'candidates': None}),
        ('CLUSTER_DEL_NODES', {}),
        ('CLUSTER_RECOVER', {'operation': 'Reboot', 'check': True}),
        ('CLUSTER_RECOVER', {'operation': None}),
        ('NODE_RECOVER', {'operation': 'rebuild'}),
        ('NODE_RECOVER', {}),
        # Another policy may have decided the number.
        ('CLUSTER_SCALE_OUT', {'count': 'many'}),
        ('CLUSTER_CHECK', {'nodes': 5, 'number': 'x'}),
    )
    def test_what_makes_sense_stays(self, action, request):
        self.assertEqual(request, sizing.parse_inputs(action, request))

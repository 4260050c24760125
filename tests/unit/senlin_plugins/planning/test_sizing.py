# SPDX-License-Identifier: Apache-2.0

"""How many nodes an action is about, from its inputs and earlier decisions.

The inputs are as a webhook passes them on.
"""

import unittest

import ddt

from senlin_plugins.planning import sizing, values
from senlin_plugins.planning.sizing import SCALE_OUT, Change

SCALE_IN = 'CLUSTER_SCALE_IN'
THREE = {'count': 3}
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
        ({**PERCENTAGE, 'number': float('nan')}, "'number' is 'nan'"),
        ({**PERCENTAGE, 'number': float('inf')}, "'number' is 'inf'"),
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
        ('CLUSTER_RECOVER', {'operation': 'Reboot', 'check': True}),
        ('NODE_RECOVER', {'operation': 'rebuild'}),
        # Another policy may have decided the number.
        ('CLUSTER_SCALE_OUT', {'count': 'many'}),
        ('CLUSTER_CHECK', {'nodes': 5, 'number': 'x'}),
    )
    def test_what_makes_sense_stays(self, action, request):
        self.assertEqual(request, sizing.parse_inputs(action, request))


@ddt.ddt
class Scaling(unittest.TestCase):
    @ddt.data(
        # (section, action, inputs, data, change)
        ('S1', SCALE_IN, {}, {}, Change(False, 1)),
        ('S1', SCALE_IN, THREE, {}, Change(False, 3)),
        # another policy decided
        ('S1', SCALE_IN, THREE, {'deletion': {'count': 2}}, Change(False, 2)),
        # it decided without a count
        ('S1', SCALE_IN, THREE, {'deletion': {}}, Change(False, 1)),
        ('S2', SCALE_OUT, {}, {}, Change(True, 1)),
        ('S2', SCALE_OUT, THREE, {}, Change(True, 3)),
        (
            'S2, another policy decided',
            SCALE_OUT,
            THREE,
            {'creation': {'count': 2}, 'deletion': {'count': 9}},
            Change(True, 2),
        ),
        ('S2, no count', SCALE_OUT, THREE, {'creation': {}}, Change(True, 1)),
        ('as a webhook', SCALE_OUT, {'count': '4'}, {}, Change(True, 4)),
        (
            'no change',
            SCALE_OUT,
            {},
            {'creation': {'count': 0}},
            Change(True, 0),
        ),
    )
    @ddt.unpack
    def test_count(self, _section, action, inputs, data, change):
        self.assertEqual(change, sizing.parse_scaling(action, inputs, data))

    @ddt.data(0, -1, 1.5, '1.5', 'two', True, None, [1])
    def test_what_is_no_positive_integer_is_refused(self, value):
        with self.assertRaises(values.WrongValue) as caught:
            sizing.parse_scaling(SCALE_OUT, {'count': value}, {})
        self.assertEqual(
            f"The value of 'count' is '{value}': it must be a positive "
            'integer.',
            str(caught.exception),
        )


@ddt.ddt
class Resizing(unittest.TestCase):
    @ddt.data(
        ({}, None),
        ({'creation': None}, None),
        ({'creation': {}, 'deletion': {'count': 2}}, Change(True, 1)),
        ({'deletion': {}}, Change(False, 1)),
        ({'creation': {'count': 2}}, Change(True, 2)),
        ({'deletion': {'count': 2}}, Change(False, 2)),
        ({'creation': {'count': 0}}, Change(True, 0)),
    )
    @ddt.unpack
    def test_creation_goes_before_deletion(self, data, change):
        self.assertEqual(change, sizing.parse_decision(data))

    def test_a_wrong_count_is_refused(self):
        with self.assertRaisesRegex(
            values.WrongValue, "'creation.count' is 'many'"
        ):
            sizing.parse_decision({'creation': {'count': 'many'}})


@ddt.ddt
class Recovering(unittest.TestCase):
    @ddt.data(
        ({'check_capacity': True}, 2, 5, 3),
        ({'check_capacity': True}, 5, 2, 0),
        ({}, 2, 5, 0),
        # The engine restores the capacity only on exactly true.
        ({'check_capacity': 'true'}, 2, 5, 0),
    )
    @ddt.unpack
    def test_only_with_check_capacity(self, inputs, current, desired, missing):
        self.assertEqual(
            Change(True, missing),
            sizing.missing_nodes(inputs, current, desired),
        )

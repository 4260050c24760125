# SPDX-License-Identifier: Apache-2.0

"""How many nodes an action is about, from its inputs and earlier decisions.

The inputs are as a webhook passes them on.
"""

import unittest

import ddt

from senlin_plugins.planning import sizing, values
from senlin_plugins.planning.sizing import SCALE_OUT, Change

SCALE_IN = 'CLUSTER_SCALE_IN'
RESIZE = 'CLUSTER_RESIZE'
THREE = {'count': 3}
MINUS = {'count': -2}
EXACT = {'adjustment_type': 'EXACT_CAPACITY'}
CHANGE = {'adjustment_type': 'CHANGE_IN_CAPACITY'}
PERCENTAGE = {'adjustment_type': 'CHANGE_IN_PERCENTAGE'}


@ddt.ddt
class Inputs(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        (RESIZE, {}, {}),
        (RESIZE, {'min_size': '1', 'max_size': -1}, {'min_size': 1}),
        (RESIZE, {**EXACT, 'number': 0}, {}),
        (RESIZE, {**EXACT, 'number': '3'}, {'number': 3}),
        (RESIZE, {**CHANGE, 'number': -2.0}, {'number': -2}),
        (RESIZE, {**PERCENTAGE, 'number': -12.5, 'min_step': 0}, {}),
        (RESIZE, {**PERCENTAGE, 'number': '50'}, {'number': 50}),
        (RESIZE, {'min_step': '2'}, {'min_step': 2}),
        ('CLUSTER_DEL_NODES', {'candidates': ['a']}, {}),
        ('CLUSTER_RECOVER', {'operation': 'Reboot', 'check': True}, {}),
        ('NODE_RECOVER', {'operation': 'rebuild'}, {}),
        # Another policy may have decided the number.
        ('CLUSTER_SCALE_OUT', {'count': 'many'}, {}),
        ('CLUSTER_CHECK', {'nodes': 5, 'number': 'x'}, {}),
    )
    def test_what_makes_sense(self, action, inputs, changed):
        parsed = sizing.parse_inputs(action, inputs)
        self.assertEqual({**inputs, **changed}, parsed)
        for key in changed:
            self.assertIs(int, type(parsed[key]))

    @ddt.unpack
    @ddt.data(
        (RESIZE, {'min_size': -1}, "'min_size' is '-1': it must be 0 or gre"),
        (RESIZE, {'max_size': -2}, "'max_size' is '-2': it must be -1 or gr"),
        (RESIZE, {'min_step': -1}, "'min_step' is '-1': it must be 0 or gre"),
        (RESIZE, {'strict': 'no'}, "'strict' must be a boolean."),
        (RESIZE, {'number': 1}, "'number' needs an 'adjustment_type'."),
        (RESIZE, EXACT, "'adjustment_type' needs a 'number'."),
        (
            RESIZE,
            {'adjustment_type': 'NOPE', 'number': 1},
            "'adjustment_type' is 'NOPE': it must be one of EXACT_CAPACITY, "
            'CHANGE_IN_CAPACITY, CHANGE_IN_PERCENTAGE.',
        ),
        (RESIZE, {**EXACT, 'number': -1}, "'number' is '-1': it must be 0"),
        (RESIZE, {**CHANGE, 'number': 1.5}, "'number' is '1.5': it must be"),
        (RESIZE, {**PERCENTAGE, 'number': float('nan')}, "'number' is 'nan'"),
        (
            'CLUSTER_DEL_NODES',
            {'candidates': 'a'},
            "The value of 'candidates' is 'a': it must be a list of node ids.",
        ),
        ('CLUSTER_DEL_NODES', {'candidates': ['a', ['b']]}, "is '['a', ['b"),
        ('CLUSTER_RECOVER', {'operation': 5}, "'operation' is '5': it must"),
        ('NODE_RECOVER', {'operation': 'x'}, "is 'X': it must be one of"),
    )
    def test_what_makes_no_sense(self, action, inputs, reason):
        with self.assertRaises(values.WrongValue) as caught:
            sizing.parse_inputs(action, inputs)
        self.assertIn(reason, str(caught.exception))


@ddt.ddt
class Scaling(unittest.TestCase):
    @ddt.data(
        (SCALE_IN, {}, {}, Change(False, 1)),
        # Another policy decided, with and without a count.
        (SCALE_IN, THREE, {'deletion': {'count': 2}}, Change(False, 2)),
        (SCALE_OUT, {}, {}, Change(True, 1)),
        (SCALE_OUT, THREE, {}, Change(True, 3)),
        (SCALE_OUT, THREE, {'creation': {'count': 2}}, Change(True, 2)),
        (SCALE_OUT, THREE, {'creation': {}}, Change(True, 1)),
        (SCALE_OUT, THREE, {'deletion': {'count': 9}}, Change(True, 3)),
        (SCALE_OUT, {'count': '4'}, {}, Change(True, 4)),
        (SCALE_OUT, {}, {'creation': {'count': 0}}, Change(True, 0)),
    )
    @ddt.unpack
    def test_count(self, action, inputs, data, change):
        self.assertEqual(change, sizing.parse_scaling(action, inputs, data))

    @ddt.data(
        (SCALE_OUT, {'count': 0}, {}, "'count' is '0': it must be 1 or"),
        (SCALE_OUT, {'count': 1.5}, {}, "'count' is '1.5': it must be a"),
        (SCALE_OUT, {'count': None}, {}, "'count' is 'None': it must be"),
        (SCALE_OUT, {}, {'creation': MINUS}, "'creation.count' is '-2': "),
        (SCALE_IN, {}, {'deletion': MINUS}, "'deletion.count' is '-2': "),
    )
    @ddt.unpack
    def test_what_is_no_positive_integer_is_refused(
        self, action, inputs, data, reason
    ):
        with self.assertRaises(values.WrongValue) as caught:
            sizing.parse_scaling(action, inputs, data)
        self.assertIn(reason, str(caught.exception))


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

# SPDX-License-Identifier: Apache-2.0

"""How many nodes an action is about, from its inputs and earlier decisions."""

import unittest

import ddt

from senlin_plugins.planning import sizing, values
from senlin_plugins.planning.sizing import SCALE_OUT, Change

SCALE_IN = 'CLUSTER_SCALE_IN'
THREE = {'count': 3}


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

    def test_the_reason_names_the_decision_that_is_wrong(self):
        with self.assertRaisesRegex(
            values.WrongValue, "'deletion.count' is '-2'"
        ):
            sizing.parse_scaling(
                SCALE_IN, {'count': 1}, {'deletion': {'count': -2}}
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

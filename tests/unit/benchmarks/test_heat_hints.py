# SPDX-License-Identifier: Apache-2.0

"""What the benchmark of Heat's hints counts, and what it says of it."""

import dataclasses
import unittest

import ddt

from benchmarks import heat_hints


def cost(statements: int = 0, columns: int = 0, seconds: float = 1.0):
    return heat_hints.Cost(statements, columns, seconds)


#: A row that is as wanted.
ROW = heat_hints.Row(
    kind=heat_hints.STACKS,
    members=500,
    depth=2,
    in_tree=cost(6, 188, 60.0),
    cold=cost(2, 8),
    warm=cost(),
)


@ddt.ddt
class ColumnsTest(unittest.TestCase):
    @ddt.data(
        ('SELECT stack.id AS stack_id, stack.name \nFROM stack', 2),
        ('SELECT a FROM b WHERE c IN (SELECT d, e FROM f)', 1),
        ('UPDATE stack SET a=1, b=2', 0),
        ('SELECT', 0),
        ('', 0),
    )
    @ddt.unpack
    def test_the_columns_of_a_select_are_counted(self, statement, wanted):
        self.assertEqual(wanted, heat_hints.columns(statement))


@ddt.ddt
class SummaryTest(unittest.TestCase):
    @ddt.data(
        ({}, 0, [True, True, True]),
        ({'warm': cost(1)}, 1, [False, True, True]),
        ({'cold': cost(3, 12)}, 0, [True, False, True]),
        ({'cold': cost(2, 9)}, 0, [True, False, True]),
        ({'in_tree': cost(6, 188, 49.0)}, 0, [True, True, False]),
    )
    @ddt.unpack
    def test_what_is_not_as_wanted_is_said(self, change, warm, wanted):
        rows = [ROW, dataclasses.replace(ROW, **change)]
        lines = heat_hints.summary(rows)
        self.assertIn(f'per server: {warm} at most', lines[0])
        self.assertEqual(
            wanted, [line.endswith('[as wanted]') for line in lines[:3]]
        )
        self.assertIn('Smallest ratio of all', lines[3])

    def test_the_largest_groups_are_judged(self):
        small = dataclasses.replace(
            ROW, kind=heat_hints.CHAIN, members=1, in_tree=cost(0, 0, 0.5)
        )
        lines = heat_hints.summary([small, ROW])
        self.assertIn('Groups of 500: 60 times', lines[2])
        self.assertIn('all: 0.5 (nested stacks, 1 members', lines[3])


class TemplatesTest(unittest.TestCase):
    def test_a_chain_has_a_stack_for_each_level(self):
        template, files = heat_hints.chain(2, {'type': 'server'})
        self.assertEqual(['level1.yaml', 'level2.yaml'], sorted(files))
        nested = template['resources']['nested']
        self.assertEqual({'type': 'level1.yaml'}, nested)
        self.assertEqual(
            {'server': {'type': 'server'}}, files['level2.yaml']['resources']
        )

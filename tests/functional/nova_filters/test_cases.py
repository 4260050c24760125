# SPDX-License-Identifier: Apache-2.0

"""Every cell of the documentation's tables, through the filter in Nova."""

import unittest

import ddt

from testing.nova import cases, engine, states
from tests.functional.nova_filters import cloud, records, refusals


@ddt.ddt
class TableTest(unittest.TestCase):
    """One host and one flavor each, in the filter that Nova loaded."""

    def setUp(self) -> None:
        super().setUp()
        manager = cloud().scheduler(engine.OURS).host_manager
        self.filter = manager.enabled_filters[-1]

    @ddt.data(*cases.cells())
    def test_the_cell_comes_out_as_documented(self, cell: cases.Cell) -> None:
        name, group = 'exempt_metadata_keys', 'nova_filters'
        self.addCleanup(engine.CONF.clear_override, name, group=group)
        for case in cell.cases:
            engine.CONF.set_override(name, list(case.exempt), group=group)
            state = states.host_state('h', states.aggregates(*case.aggregates))
            request = states.request(case.flavor)
            with records() as found:
                passed = self.filter.filter_all([state], request)
            self.assertEqual(
                [state] if case.wanted is None else [], passed, case
            )
            self.assertEqual([case.wanted], refusals(found) or [None], case)
            self.assertIs(
                bool(passed), self.filter.host_passes(state, request), case
            )

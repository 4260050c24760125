# SPDX-License-Identifier: Apache-2.0

"""Every cell of the documentation's tables, through the filter in Nova."""

import ddt

from testing.nova import cases, states
from tests.functional.nova_filters import base


@ddt.ddt
class TableTest(base.OptionTestCase):
    """One host and one flavor each, in the filter that Nova loaded."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.filter = base.loaded_filter()

    @ddt.data(*cases.cells())
    def test_the_cell_comes_out_as_documented(self, cell: cases.Cell) -> None:
        for case in cell.cases:
            self.set_option('exempt_metadata_keys', list(case.exempt))
            state = states.host_state('h', states.aggregates(*case.aggregates))
            request = states.request(case.flavor)
            with base.records() as found:
                passed = self.filter.filter_all([state], request)
            self.assertEqual(
                [state] if case.wanted is None else [], passed, case
            )
            self.assertEqual(
                [case.wanted], base.refusals(found) or [None], case
            )
            self.assertIs(
                bool(passed), self.filter.host_passes(state, request), case
            )

# SPDX-License-Identifier: Apache-2.0

"""How evenly servers are spread whose hosts, clocks or groups differ."""

import unittest

import ddt

import tests
from testing.nova import simulation, spread_case
from tests.functional.nova_filters import base

_DEDICATED = spread_case.Role({'hw:cpu_policy': 'dedicated'})
_SHARED = spread_case.Role({'hw:cpu_policy': 'shared'})
_TWO_KINDS = {
    'group': spread_case.SOFT,
    'roles': (_DEDICATED,) * 3 + (_SHARED,) * 7,
}
_STRICT = {
    'group': spread_case.STRICT,
    'filters': ('ServerGroupAntiAffinityFilter',),
}
_FAILED = {'failed_hosts': (1, 2, 3), 'gap': 1.0}
_MIGRATION = {'kind': spread_case.LIVE_MIGRATION, 'clock': 3.0, 'gap': 0.3}
#: Several schedulers, each with a memory of its own.
_PROCESSES = 16
_SEEDS = range(8 if tests.ALL else 2)


@ddt.ddt
class SpreadTest(unittest.TestCase):
    """Simulations with many schedulers, several of each case."""

    def simulate(self, case: spread_case.Case) -> list[tuple[int, int]]:
        """Return the unevenness, and how many servers failed, by seed."""
        outcomes = []
        for seed in _SEEDS:
            run = simulation.Simulation(base.cloud(), case, _PROCESSES, seed)
            unevenness = case.unevenness(run.run())
            outcomes.append((unevenness, len(run.errors)))
        return outcomes

    @ddt.named_data(
        # Servers, hosts, how uneven the hosts may be, and the case.
        ('three_failed_builds', 9, 6, 1, _FAILED),
        ('late_answers', 14, 4, 1, {'busy': 6.0}),
        ('evacuations', 8, 5, 1, {'kind': spread_case.EVACUATE}),
        ('unshelves', 8, 4, 1, {'kind': spread_case.UNSHELVE}),
        ('clocks_that_differ', 12, 6, 1, _MIGRATION),
        ('two_kinds_in_one_group', 10, 7, 1, _TWO_KINDS),
        ('strict_group', 9, 10, 1, _STRICT),
    )
    def test_all_start_and_are_spread(
        self, servers, hosts, most_uneven, fields
    ) -> None:
        case = spread_case.Case(servers, hosts, **fields)
        for unevenness, errors in self.simulate(case):
            self.assertLessEqual(unevenness, most_uneven)
            self.assertEqual(0, errors)

    def test_a_strict_group_has_no_host_for_more(self) -> None:
        case = spread_case.Case(5, 3, **_STRICT)
        for outcome in self.simulate(case):
            self.assertEqual((0, 2), outcome)

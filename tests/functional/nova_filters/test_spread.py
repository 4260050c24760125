# SPDX-License-Identifier: Apache-2.0

"""How evenly servers are spread whose hosts, clocks or groups differ."""

import ddt

import tests
from testing.nova import simulation, spread_case
from tests.functional.nova_filters import base

_DEDICATED = spread_case.Role({'hw:cpu_policy': 'dedicated'})
_SHARED = spread_case.Role({'hw:cpu_policy': 'shared'})
_KINDS = (_DEDICATED, _SHARED, spread_case.Role())
_STRICT = {
    'group': spread_case.STRICT,
    'filters': ('ServerGroupAntiAffinityFilter',),
}
_LIMITED = {
    'group': spread_case.SOFT,
    'filters': ('TeamSpreadFilter',),
    'max_skew': 1,
}
_MIGRATION = {'kind': spread_case.LIVE_MIGRATION, 'clock': 3.0}
_RESIZE = {'kind': spread_case.RESIZE, 'group': spread_case.SOFT}
#: Several schedulers, each with a memory of its own.
_PROCESSES = 16
_SEEDS = range(8 if tests.ALL else 2)


@ddt.ddt
class SpreadTest(base.OptionTestCase):
    """Simulations with many schedulers, several of each case."""

    def simulate(
        self, case: spread_case.Case
    ) -> list[tuple[int, simulation.Simulation]]:
        """Return the unevenness in the end, and the simulation, by seed."""
        outcomes = []
        for seed in _SEEDS:
            run = simulation.Simulation(base.cloud(), case, _PROCESSES, seed)
            outcomes.append((case.unevenness(run.run()), run))
        return outcomes

    def assert_even(self, case: spread_case.Case) -> None:
        """Assert that all servers start, and no host has two more."""
        for unevenness, run in self.simulate(case):
            self.assertLessEqual(unevenness, 1)
            self.assertEqual(0, len(run.errors))

    @ddt.named_data(
        ('three_failed_builds', 9, 6, 1.0, {'failed_hosts': (1, 2, 3)}),
        ('masters', 3, 4, 0.0, {'failed_hosts': (2,)}),
        ('late_answers', 14, 4, 0.0, {'busy': 6.0}),
        ('evacuations', 8, 5, 0.0, {'kind': spread_case.EVACUATE}),
        ('unshelves', 8, 4, 0.0, {'kind': spread_case.UNSHELVE}),
        ('clocks_that_differ', 12, 6, 0.3, _MIGRATION),
    )
    def test_no_host_has_two_more(self, servers, hosts, gap, fields) -> None:
        self.assert_even(spread_case.Case(servers, hosts, gap, **fields))

    @ddt.data((3, 4, 7), (5, 4, 3))
    @ddt.unpack
    def test_two_kinds_in_one_group(self, first, second, hosts) -> None:
        case = spread_case.Case(
            first + second,
            hosts,
            group=spread_case.SOFT,
            roles=(_DEDICATED,) * first + (_SHARED,) * second,
        )
        self.assert_even(case)

    @ddt.data(
        (9, 1, {}),
        (9, 1, {'gap': 0.5}),
        (18, 2, {'busy': 6.0}),
    )
    @ddt.unpack
    def test_strict_groups_start(self, servers, per_host, fields) -> None:
        case = spread_case.Case(
            servers, 10, max_server_per_host=per_host, **_STRICT, **fields
        )
        for _, run in self.simulate(case):
            self.assertEqual(0, len(run.errors))

    def test_a_strict_group_has_no_host_for_more(self) -> None:
        case = spread_case.Case(5, 3, **_STRICT)
        for unevenness, run in self.simulate(case):
            self.assertEqual(0, unevenness)
            self.assertEqual(2, len(run.errors))

    def test_a_resize_takes_a_free_place(self) -> None:
        case = spread_case.Case(6, 6, 10.0, **_RESIZE)
        for _, run in self.simulate(case):
            self.assertEqual(0, len(run.errors))
            self.assertEqual(0, len(run.crowded))

    def test_resizes_at_once_leave_no_host_with_three(self) -> None:
        case = spread_case.Case(6, 6, **_RESIZE)
        for unevenness, run in self.simulate(case):
            self.assertEqual(0, len(run.errors))
            self.assertLessEqual(unevenness, 2)

    def test_the_limit_holds_without_the_weigher(self) -> None:
        case = spread_case.Case(9, 3, multiplier=0.0, **_LIMITED)
        self.assert_even(case)

    def test_under_the_limit_a_build_that_fails_has_no_second_host(
        self,
    ) -> None:
        for fields, failed in (({}, False), (_LIMITED, True)):
            case = spread_case.Case(24, 6, failing=0.2, **fields)
            for _, run in self.simulate(case):
                self.assertIs(failed, bool(run.errors))

    def test_the_limit_holds_for_each_of_three_kinds(self) -> None:
        """Nobody knows the candidates of other kinds that are in flight."""
        case = spread_case.Case(9, 3, 1.0, roles=_KINDS, **_LIMITED)
        for unevenness, run in self.simulate(case):
            self.assertLessEqual(unevenness, len(_KINDS))
            self.assertEqual(0, len(run.errors))

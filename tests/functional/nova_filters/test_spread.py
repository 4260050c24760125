# SPDX-License-Identifier: Apache-2.0

"""How evenly servers are spread whose hosts, clocks or groups differ."""

import dataclasses

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
_STRICT_KINDS = {'roles': (_DEDICATED, _SHARED)}
_UNCHECKED = {'late_check': False}
_ALL_FAILED = _UNCHECKED | {'failed_builds': (*range(1, 10),)}
_FAILED = {'failed_builds': (0, 1, 1, 1), 'gap': 1.0}
#: A minute ends while the servers start, and with it the loads change.
_BESIDE_OTHERS = {
    'group': spread_case.SOFT,
    'gap': 1.0,
    'second': 54.0,
    'memory': (64, 64, 64),
    'filled': (2, 9, 5),
    'others': 1.0,
}
_MIGRATION = {'kind': spread_case.LIVE_MIGRATION, 'clock': 3.0, 'gap': 0.3}
#: Several schedulers, each with a memory of its own.
_PROCESSES = 16
_SEEDS = range(8 if tests.ALL else 2)


@ddt.ddt
class SpreadTest(base.OptionTestCase):
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
        ('others_meanwhile', 12, 3, 1, _BESIDE_OTHERS),
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

    @ddt.named_data(
        # Servers, hosts, and the case.
        ('a_claim_that_is_not_seen_yet', 9, 9, {}),
        ('schedulers_that_remember_nothing', 9, 9, {'tracking': False}),
        ('racks_of_1_and_5', 6, 6, {'racks': (1, 5)}),
        ('racks_of_3_and_3', 6, 6, {'racks': (3, 3)}),
        ('failed_builds', 9, 12, {'failed_builds': (0, 1, 1, 1, 1, 1)}),
        ('no_other_host', 6, 6, {'failed_builds': (0, 0, 1)}),
        ('nobody_checks', 9, 9, _UNCHECKED),
        ('failed_builds_on_all', 9, 9, _ALL_FAILED),
        ('room_for_one_more', 8, 8, _UNCHECKED | {'rooms': (1,)}),
        ('two_kinds', 9, 12, _STRICT_KINDS | {'failed_builds': (1,) * 5}),
        ('two_kinds_in_racks', 6, 6, _STRICT_KINDS | {'racks': (1, 5)}),
        ('evacuations', 9, 12, {'kind': spread_case.EVACUATE, 'moving': 3}),
        ('resizes', 6, 12, _UNCHECKED | {'kind': spread_case.RESIZE}),
        ('migrations', 4, 8, _UNCHECKED | {'kind': _MIGRATION['kind']}),
    )
    def test_a_strict_group_starts_where_hosts_are_free(
        self, servers, hosts, fields
    ) -> None:
        case = spread_case.Case(servers, hosts, **_STRICT, **fields)
        for processes in (3, _PROCESSES):
            run = simulation.Simulation(base.cloud(), case, processes, 1)
            counts = run.run()
            self.assertEqual(([], 1), (run.errors, max(counts.values())))

    @ddt.data(0, 4, 16)
    def test_where_nobody_checks_no_member_fails(self, old_processes) -> None:
        case = spread_case.Case(
            9, 9, late_check=False, old_processes=old_processes, **_STRICT
        )
        run = simulation.Simulation(base.cloud(), case, _PROCESSES, 0)
        run.run()
        self.assertEqual([], run.errors)
        self.assertIs(old_processes > 0, run.misplaced()[0] > 0)

    def test_groups_that_start_one_after_the_other_are_balanced(self) -> None:
        case = spread_case.Case(
            40,
            5,
            group=spread_case.SOFT,
            groups=20,
            pause=70.0,
            memory=(64, 64, 64, 128, 128),
            roles=(spread_case.Role(memory=5),),
        )
        run = simulation.Simulation(base.cloud(), case, _PROCESSES, 0)
        run.run()
        shares = [
            used / total
            for used, total in zip(
                run.memory().values(), case.memory, strict=True
            )
        ]
        self.assertLess(max(shares) - min(shares), 0.2, shares)

    @ddt.data(True, False)
    def test_groups_that_stay_together(self, late_check) -> None:
        case = spread_case.Case(
            18,
            6,
            group=spread_case.TOGETHER,
            groups=6,
            filters=('ServerGroupAffinityFilter',),
            late_check=late_check,
        )
        run = simulation.Simulation(base.cloud(), case, _PROCESSES, 0)
        run.run()
        self.assertEqual([], run.errors)
        self.assertEqual({0}, {*run.misplaced().values()})

    @ddt.data(spread_case.SOFT, '')
    def test_builds_that_fail_take_the_next_hosts(self, group) -> None:
        """A model that places all others evenly has a gap of 3."""
        case = spread_case.Case(24, 6, group=group, failing=0.2)
        gaps = [gap for gap, _ in self.simulate(case)]
        self.assertLessEqual(sum(gaps), 4 * len(gaps))

    def test_failed_builds_keep_members_away_unless_they_weigh_little(
        self,
    ) -> None:
        one_by_one = {'group': spread_case.SOFT, 'gap': 5.0, 'failing': 0.2}
        after_outage = {
            'group': spread_case.SOFT,
            'failed_builds': (1, 2, 3, 4, 5, 6),
        }
        for servers, fields in (24, one_by_one), (12, after_outage):
            case = spread_case.Case(servers, 6, **fields)
            gaps = [gap for gap, _ in self.simulate(case)]
            self.assertGreater(sum(gaps), 2 * len(gaps), fields)
            case = dataclasses.replace(case, failure_weight=1.0)
            for gap, _ in self.simulate(case):
                self.assertLessEqual(gap, 2, fields)

    def test_a_strict_group_has_no_host_for_more(self) -> None:
        case = spread_case.Case(5, 3, **_STRICT)
        for outcome in self.simulate(case):
            self.assertEqual((0, 2), outcome)

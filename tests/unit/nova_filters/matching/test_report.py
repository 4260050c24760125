# SPDX-License-Identifier: Apache-2.0

"""What the log says of refused hosts."""

import unittest

from nova_filters.matching import report
from osc_placement_plugins.source.records import ComputeHost as Host
from osc_placement_plugins.source.records import HostAggregate as Aggregate
from tests.unit.nova_filters.matching.test_matcher import (
    Unreadable,
    match_hosts,
)

_ON = {'force_metadata_check': 'true'}


def count_reasons(extra_specs, hosts) -> str:
    """Return how many hosts are refused why."""
    matcher, _, refused = match_hosts(extra_specs, hosts)
    groups = report.group_hosts(matcher, refused, report.NAMED)
    return report.count_reasons(groups, len(hosts))


class ReportTest(unittest.TestCase):
    def test_very_many_reasons_are_not_all_named(self) -> None:
        for keys in (
            # One key for each host, and one key for all hosts.
            [f'k{number:02}' for number in range(25)],
            ['os'] * 25,
        ):
            hosts = [
                Host(key, [Aggregate(f'a{number:02}', {key: 'x', **_ON})])
                for number, key in enumerate(keys)
            ]
            counts = [
                f"1 aggregate 'a{number:02}' demands '{key}'"
                for number, key in enumerate(keys[: report.NAMED])
            ]
            counts.append('15 for other reasons')
            self.assertEqual(', '.join(counts), count_reasons({}, hosts))

    def test_other_aggregates_of_a_host_make_no_other_reason(self) -> None:
        hosts = []
        for name, number in (('red', 9), ('blue', 25)):
            forced = Aggregate(name, {'os': name, **_ON})
            for n in range(number):
                rack = Aggregate(f'rack-{n}', {'rack': str(n)})
                hosts.append(Host(str(n), [forced, rack]))
        self.assertEqual(
            "25 aggregate 'blue' demands 'os', 9 aggregate 'red' demands 'os'",
            count_reasons({}, hosts),
        )

    def test_equal_numbers_are_ordered_by_their_words(self) -> None:
        hosts = [
            Host(name, [Aggregate(name, {'os': 'x', **_ON})])
            for name in ('b', 'a')
        ]
        lines = [f"1 aggregate '{name}' demands 'os'" for name in 'ab']
        self.assertEqual(', '.join(lines), count_reasons({}, hosts))

    def test_a_host_may_be_in_other_aggregates_by_then(self) -> None:
        host = Host('h', [Aggregate('a', {'k': '2'})])
        matcher, passed, refused = match_hosts({'k': '1'}, [host])
        host.aggregates[:] = Aggregate('b', {'k': '3'}), Unreadable(name='x')
        ((_, reason),) = report.explain_groups(matcher, refused)
        self.assertEqual(('b',), reason.aggregate)

    def problems(self, extra_specs, *metadata, exempt=()) -> list[str]:
        """Return what is told of hosts in one aggregate each."""
        hosts = [
            Host(str(number), [Aggregate(f'a{number}', data)])
            for number, data in enumerate(metadata)
        ]
        matcher, _, refused = match_hosts(extra_specs, hosts, exempt)
        return report.list_problems(matcher, refused)

    def test_a_malformed_value_is_told_where_it_decides(self) -> None:
        data = {'k': '>=,1', **_ON}
        problem = "aggregate 'a0' has 'k': '>=' has no operand"
        self.assertEqual([problem], self.problems({'k': '2'}, data))
        # Without the key, a sound value would refuse the host, too.
        self.assertEqual([], self.problems({}, data))
        self.assertEqual([], self.problems({'l': '1'}, data))
        self.assertEqual([], self.problems({'k': '1'}, data))
        # But "!" would not.
        self.assertEqual(
            ["aggregate 'a0' has 'k': '!' excludes every other alternative"],
            self.problems({}, {'k': '<or> ! <or> 1', **_ON}),
        )
        # The same holds if nobody demands the key.
        self.assertEqual([], self.problems({}, data, exempt=('k',)))
        self.assertEqual(
            [problem, problem.replace('a0', 'a1')],
            self.problems({'k': '2'}, data, data, exempt=('k',)),
        )

    def test_someone_elses_is_told_where_an_aggregate_has_the_key(self):
        flavor = {'vendor:rule': '>='}
        self.assertEqual([], self.problems(flavor, {}))
        self.assertEqual(
            ["the flavor has 'vendor:rule': '>=' has no operand"],
            self.problems(flavor, {'vendor:rule': '1'}),
        )

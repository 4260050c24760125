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

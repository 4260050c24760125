# SPDX-License-Identifier: Apache-2.0

"""Many hosts at once: the same verdicts as one by one."""

import unittest
import weakref
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nova_filters.matching import inputs, report
from nova_filters.matching.matcher import Matcher
from osc_placement_plugins.source.records import ComputeHost as Host
from osc_placement_plugins.source.records import HostAggregate as Aggregate
from testing.nova import strategies

_ON = {'force_metadata_check': 'true'}
_EXEMPT = st.sampled_from([(), ('k',), ('*:*',), ('*',), ('[', '')])
#: The numbers of the aggregates of further hosts. New aggregates of one host
#: may be read together.
_MEMBERSHIPS = st.lists(st.lists(st.integers(0, 11), max_size=12), max_size=6)
_TEXTS = strategies.EXTRA_SPECS | strategies.ANY_TEXTS
_METADATA = st.lists(
    strategies.METADATA | strategies.ANY_TEXTS, max_size=12
) | st.lists(st.none() | strategies.ANYTHING, max_size=3)


class Unreadable:
    """An aggregate whose metadata were not loaded, or its name."""

    def __init__(self, **loaded: Any) -> None:
        vars(self).update(loaded)


def match_hosts(
    extra_specs, hosts, exempt=()
) -> tuple[Matcher, list[Host], Any]:
    """Return a new matcher, and what becomes of hosts in it."""
    matcher = Matcher(inputs.read_flavor(extra_specs), exempt)
    return matcher, *matcher.match_hosts(hosts)


class SiftTest(unittest.TestCase):
    """Hosts pass or are refused, in groups that share a reason."""

    def test_an_unreadable_aggregate_closes_its_hosts_only(self) -> None:
        good = Aggregate('a', {'k': '1'})
        bad = Unreadable(name='unreadable')
        hosts = [Host('closed', [good, bad]), Host('open', [good])]
        matcher, passed, refused = match_hosts({'k': '1'}, hosts)
        self.assertEqual(['open'], [host.name for host in passed])
        self.assertEqual(hosts[:1], refused)
        reasons = report.list_reasons(matcher, refused)
        self.assertIn(
            "aggregate 'unreadable' could not be read",
            report.count_reasons(matcher, reasons),
        )

    def test_demands_come_by_key_after_the_flavors_check(self) -> None:
        metadata = {'z': '1', 'k': '2', 'a': '1', 'm': '>=', **_ON}
        matcher = Matcher(inputs.read_flavor({'k': '1', 'm': '3', 'c': '1'}))
        mismatches = matcher.list_mismatches([Aggregate('a', metadata)])
        self.assertEqual(
            [
                ('flavor', 'c'),
                ('flavor', 'k'),
                ('flavor', 'm'),
                ('aggregate', 'a'),
                ('aggregate', 'k'),
                ('aggregate', 'm'),
                ('aggregate', 'z'),
            ],
            [(mismatch.side, mismatch.key) for mismatch in mismatches],
        )

    def test_an_unreadable_aggregate_is_named(self) -> None:
        good = Aggregate('good', {'k': '2', **_ON})
        bad = Unreadable(name='bad')
        matcher = Matcher(inputs.read_flavor({'k': '1'}))
        (reason,) = matcher.explain_mismatches([good, bad])
        self.assertEqual(('bad',), reason.aggregate)

    def test_a_value_that_only_allows_absence_is_not_told(self) -> None:
        aggregates = [
            Aggregate('a', {'k': '~', **_ON}),
            Aggregate('b', {'k': '2'}),
        ]
        matcher = Matcher(inputs.read_flavor({'k': '1'}))
        reason, *_ = matcher.explain_mismatches(aggregates)
        self.assertEqual(
            (('b',), ('2',)), (reason.aggregate, reason.stated_values)
        )

    def test_the_first_problem_of_several_values_is_told(self) -> None:
        aggregates = [
            Aggregate('a', {'k': '>=', **_ON}),
            Aggregate('b', {'k': '<in>', **_ON}),
        ]
        matcher = Matcher(inputs.read_flavor({'k': '1'}))
        (*_, reason) = matcher.explain_mismatches(aggregates)
        self.assertEqual("'>=' has no operand", reason.problem)

    @given(
        _TEXTS | st.none() | strategies.ANYTHING,
        _METADATA,
        _MEMBERSHIPS,
        _EXEMPT,
    )
    def test_anything_has_one_verdict(
        self, extra_specs, metadata, memberships, exempt
    ) -> None:
        """The hosts are in none, in each, in all, and in some aggregates."""
        aggregates = [
            Aggregate(f'a{number}', data)
            for number, data in enumerate(metadata)
        ]
        hosts = [Host('h', None), Host('h', []), Host('h', aggregates)]
        hosts += [Host('h', [aggregate]) for aggregate in aggregates]
        if aggregates:
            for numbers in memberships:
                some = [aggregates[n % len(aggregates)] for n in numbers]
                hosts.append(Host('h', some))
        matcher, passing, refused = match_hosts(extra_specs, hosts, exempt)
        lines = []
        reasons = report.list_reasons(matcher, refused)
        keys_by_host: dict[int, set[str]] = {id(host): set() for host in hosts}
        for reason in reasons:
            explained = report.explain_reason(matcher, reason)
            lines += [explained.summary(), str(explained)]
            for host in reason.hosts:
                # One reason for each key.
                self.assertNotIn(explained.key, keys_by_host[id(host)])
                keys_by_host[id(host)].add(explained.key)
        lines.append(report.count_reasons(matcher, reasons))
        flavor = inputs.read_flavor(extra_specs)
        passing_alone = []
        for host in hosts:
            mismatches = Matcher(flavor, exempt).list_mismatches(
                host.aggregates or ()
            )
            if not mismatches:
                passing_alone.append(id(host))
            keys = {mismatch.key for mismatch in mismatches}
            self.assertEqual(keys, keys_by_host[id(host)])
        self.assertEqual(passing_alone, [id(host) for host in passing])
        self.assertEqual(len(hosts), len(passing) + len(refused))
        for line in lines:
            self.assertTrue(line.isprintable(), line)
            self.assertLess(len(line), 5000)

    @given(strategies.EXTRA_SPECS, strategies.METADATA)
    def test_the_filter_does_not_read_the_soft_flag(
        self, extra_specs, metadata
    ) -> None:
        matcher = Matcher(inputs.read_flavor(extra_specs))
        soft = {**metadata, inputs.SOFT_FLAG: 'on'}
        self.assertEqual(
            [*matcher.explain_mismatches([Aggregate('a', metadata)])],
            [*matcher.explain_mismatches([Aggregate('a', soft)])],
        )

    def test_a_matcher_is_freed_with_its_request(self) -> None:
        matcher = Matcher((), (), inputs.SOFT_FLAG)
        self.assertEqual(0, matcher.count_unmet_demands([Aggregate('a', {})]))
        reference = weakref.ref(matcher)
        del matcher
        # At once: no garbage collector has to look for it.
        self.assertIsNone(reference())

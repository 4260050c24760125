# SPDX-License-Identifier: Apache-2.0

"""Many hosts at once: the same verdicts as one by one."""

import collections
import dataclasses
import unittest
import unittest.mock
from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nova_filters import batch, matching
from testing.nova import strategies

_ON = {'force_metadata_check': 'true'}


@dataclasses.dataclass(eq=False)
class Aggregate:
    """An aggregate that can be changed, as Nova's can."""

    name: str
    metadata: Mapping[str, Any] | None


@dataclasses.dataclass
class Unhashable(Aggregate):
    """An aggregate that compares by value."""


@dataclasses.dataclass
class Host:
    """A host, as far as the filter looks at it."""

    name: str
    aggregates: list[Any] | None


class Unreadable:
    """An aggregate whose metadata was not loaded."""

    name = 'unreadable'

    @property
    def metadata(self) -> Mapping[str, str]:
        """Refuse, as Nova's objects do."""
        raise NotImplementedError('Cannot load "metadata"')


def cloud(
    metadata: list[dict[str, str]], memberships: list[list[int]]
) -> tuple[list[Aggregate], list[Host]]:
    """Return an aggregate for each metadata, and hosts in some of them.

    :param metadata: the metadata of each aggregate.
    :param memberships: for each host, the numbers of its aggregates.
    """
    aggregates = [
        Aggregate(f'a{index}', data) for index, data in enumerate(metadata)
    ]
    hosts = [
        Host(f'h{n}', [aggregates[i % len(aggregates)] for i in indices])
        for n, indices in enumerate(memberships)
    ]
    return aggregates, hosts


def reasons(flavor, hosts, exempt=()) -> dict[str, matching.Reason | None]:
    """Return what the evaluator says of each host, by its name."""
    return {
        host.name: matching.evaluate(
            flavor,
            [matching.Aggregate(a.name, a.metadata) for a in host.aggregates],
            exempt,
        ).reason
        for host in hosts
    }


def sift(extra_specs, hosts, exempt=()) -> batch.Sifted[Host]:
    """Return what becomes of hosts."""
    flavor = matching.read_flavor(extra_specs)
    return batch.Batch(flavor, exempt).sift(hosts)


class SiftTest(unittest.TestCase):
    """Hosts pass or are refused, in groups that share a reason."""

    @given(
        strategies.extra_specs(),
        st.lists(strategies.metadata(), min_size=1, max_size=4),
        st.lists(st.lists(st.integers(0, 3), max_size=3), max_size=6),
        st.sampled_from([(), ('k',), ('*:*',), ('*',)]),
    )
    def test_verdicts_equal_those_of_the_evaluator(
        self, extra_specs, metadata, memberships, exempt
    ) -> None:
        aggregates, hosts = cloud(metadata, memberships)
        flavor = matching.read_flavor(extra_specs)
        found = reasons(flavor, hosts, exempt)
        sifted = batch.Batch(flavor, exempt).sift(hosts)
        self.assertEqual(
            [host for host in hosts if found[host.name] is None],
            sifted.passed,
        )
        counted = batch.summarize(sifted.refused, flavor, exempt)
        summaries = collections.Counter(
            r.summary() for r in found.values() if r is not None
        )
        self.assertEqual(summaries, {text: number for number, text in counted})

    def test_the_order_of_hosts_is_kept(self) -> None:
        aggregates = [Aggregate('a', {'k': '1'}), Aggregate('b', {'k': '1,2'})]
        hosts = [Host(str(n), [aggregates[n % 2]]) for n in range(10)]
        self.assertEqual(hosts, sift({'k': '1'}, hosts).passed)

    def test_a_change_in_place_is_seen_by_the_next_request(self) -> None:
        aggregate = Aggregate('a', {'k': '1'})
        host = Host('h', [aggregate])
        self.assertEqual([host], sift({'k': '1'}, [host]).passed)
        aggregate.metadata['k'] = '2'
        self.assertEqual([], sift({'k': '1'}, [host]).passed)

    def test_aggregates_that_compare_by_value_are_told_apart(self) -> None:
        one, other = Unhashable('a', {'k': '1'}), Unhashable('a', {'k': '1'})
        hosts = [Host('h', [one]), Host('i', [other]), Host('j', [one])]
        self.assertEqual(hosts, sift({'k': '1'}, hosts).passed)
        other.metadata['k'] = '2'
        self.assertEqual(hosts[::2], sift({'k': '1'}, hosts).passed)

    def test_an_unreadable_aggregate_closes_its_hosts_only(self) -> None:
        good = Aggregate('a', {'k': '1'})
        bad = Unreadable()
        hosts = [Host('closed', [good, bad]), Host('open', [good])]
        sifted = sift({'k': '1'}, hosts)
        self.assertEqual(['open'], [host.name for host in sifted.passed])
        self.assertIn('could not be read', sifted.problems[0])
        counts = batch.summarize(
            sifted.refused, matching.read_flavor({'k': '1'})
        )
        self.assertEqual([(1, 'an aggregate could not be read')], counts)

    def test_a_host_whose_aggregates_cannot_be_read_is_closed(self) -> None:
        sifted = sift({}, [object(), Host('open', None)])
        self.assertEqual(['open'], [host.name for host in sifted.passed])
        self.assertIn('the aggregates of a host', sifted.problems[0])
        self.assertEqual(
            [(1, 'an aggregate could not be read')],
            batch.summarize(sifted.refused, ()),
        )
        self.assertEqual(1, len(batch.by_aggregates(sifted.refused)))
        self.assertEqual([], batch.names(sifted.refused[0][0]))

    def test_hosts_in_different_forced_aggregates_are_told_apart(self) -> None:
        hosts = [
            Host(name, [Aggregate(name, {'os': name, **_ON})])
            for name in ('red', 'blue', 'blue')
        ]
        hosts[2].aggregates = hosts[1].aggregates
        sifted = sift({}, hosts)
        self.assertEqual(
            [
                (2, "aggregate 'blue' demands 'os'"),
                (1, "aggregate 'red' demands 'os'"),
            ],
            batch.summarize(sifted.refused, ()),
        )

    def test_very_many_demanding_aggregates_are_not_all_named(self) -> None:
        hosts = [
            Host(str(n), [Aggregate(f'a{n:04}', {'os': 'x', **_ON})])
            for n in range(batch.EXPLAINED + 5)
        ]
        counts = batch.summarize(sift({}, hosts).refused, ())
        self.assertEqual((5, 'demands of further aggregates'), counts[0])
        self.assertEqual((1, "aggregate 'a0000' demands 'os'"), counts[1])
        self.assertEqual(batch.EXPLAINED + 1, len(counts))

    def test_groups_are_split_by_aggregates(self) -> None:
        one, two = Aggregate('one', {}), Aggregate('two', {})
        hosts = [Host('a', [one]), Host('b', [two]), Host('c', [one])]
        groups = batch.by_aggregates(sift({'k': '1'}, hosts).refused)
        self.assertEqual([hosts[0::2], hosts[1:2]], groups)

    def test_an_aggregate_that_changes_meanwhile_is_said_so(self) -> None:
        host = Host('h', [Aggregate('a', {'k': '1'})])
        counts = batch.summarize([[host]], matching.read_flavor({'k': '1'}))
        self.assertEqual([(1, 'an aggregate was changed meanwhile')], counts)

    def test_malformed_values_are_told_once(self) -> None:
        aggregate = Aggregate('a', {'k': '>= two,<or>', **_ON})
        hosts = [Host(str(n), [aggregate]) for n in range(3)]
        self.assertEqual(
            [
                "aggregate 'a' has 'k': 'two' is not a number",
                "aggregate 'a' has 'k': nothing follows <or>",
                "the flavor has 'l': '>=' has no operand",
            ],
            sift({'l': '>='}, hosts).problems,
        )

    def test_someone_elses_malformed_extra_spec_is_not_our_affair(self):
        sifted = sift({'vendor:rule': '>='}, [Host('h', [])])
        self.assertEqual([], sifted.problems)
        self.assertEqual(1, len(sifted.passed))

    def test_it_is_where_an_aggregate_has_the_key(self) -> None:
        host = Host('h', [Aggregate('a', {'vendor:rule': '1'})])
        sifted = sift({'vendor:rule': '>='}, [host])
        self.assertEqual(
            ["the flavor has 'vendor:rule': '>=' has no operand"],
            sifted.problems,
        )
        self.assertEqual([], sifted.passed)


class MemoryTest(unittest.TestCase):
    """What earlier requests learnt counts as long as it is true."""

    def setUp(self) -> None:
        super().setUp()
        batch.forget()
        self.addCleanup(batch.forget)

    def requests(self, extra_specs, hosts, number=3) -> batch.Sifted[Host]:
        """Return what the last of several requests makes of hosts."""
        for _ in range(number):
            sifted = batch.of_flavor(extra_specs).sift(hosts)
        return sifted

    def known(self, extra_specs) -> int:
        """Return how many aggregates a flavor remembers."""
        return len(batch.of_flavor(extra_specs)._known or ())

    @given(
        strategies.extra_specs(),
        st.lists(strategies.metadata(), min_size=1, max_size=3),
        st.lists(
            st.lists(st.integers(0, 2), max_size=3), min_size=1, max_size=6
        ),
        st.lists(
            st.tuples(st.integers(0, 2), strategies.metadata()), max_size=5
        ),
    )
    def test_verdicts_equal_those_of_the_evaluator_after_each_change(
        self, extra_specs, metadata, memberships, changes
    ) -> None:
        aggregates, hosts = cloud(metadata, memberships)
        flavor = matching.read_flavor(extra_specs)
        self.requests(extra_specs, hosts)
        for index, data in changes:
            changed = aggregates[index % len(aggregates)].metadata
            changed.clear()
            changed.update(data)
            found = reasons(flavor, hosts)
            sifted = batch.of_flavor(extra_specs).sift(hosts)
            self.assertEqual(
                [host for host in hosts if found[host.name] is None],
                sifted.passed,
            )
            summaries = collections.Counter(
                r.summary() for r in found.values() if r is not None
            )
            counted = batch.summarize(sifted.refused, flavor)
            self.assertEqual(summaries, {text: n for n, text in counted})

    def test_the_same_texts_are_the_same_flavor(self) -> None:
        first = batch.of_flavor({'k': '1'}, ('x',))
        self.assertIs(first, batch.of_flavor({'k': '1'}, ('x',)))
        self.assertIsNot(first, batch.of_flavor({'k': '1'}, ('y',)))
        self.assertIsNot(first, batch.of_flavor({'k': '2'}, ('x',)))

    def test_aggregates_are_kept_from_the_second_request_on(self) -> None:
        hosts = [Host('h', [Aggregate('a', {'k': '1'})])]
        self.requests({'k': '1'}, hosts, 1)
        self.assertEqual(0, self.known({'k': '1'}))
        self.requests({'k': '1'}, hosts, 1)
        self.assertEqual(1, self.known({'k': '1'}))

    def test_an_aggregate_that_is_gone_is_forgotten(self) -> None:
        hosts = [Host('h', [Aggregate('a', {'k': '1'})])]
        self.requests({'k': '1'}, hosts)
        hosts = [Host('h', [Aggregate('b', {'k': '2'})])]
        self.assertEqual([], self.requests({'k': '1'}, hosts).passed)
        self.assertEqual(1, self.known({'k': '1'}))

    def test_problems_are_told_by_every_request_that_meets_them(self) -> None:
        bad = Host('h', [Aggregate('a', {'k': '>=', **_ON})])
        good = Host('i', [Aggregate('b', {'k': '1'})])
        for hosts in ([bad, good], [bad, good], [bad, good], [bad]):
            sifted = batch.of_flavor({'k': '1'}).sift(hosts)
            self.assertEqual(
                ["aggregate 'a' has 'k': '>=' has no operand"],
                sifted.problems,
            )
        self.assertEqual([], batch.of_flavor({'k': '1'}).sift([good]).problems)

    def test_what_is_oversized_is_not_kept(self) -> None:
        giants = (
            {'k': '1,' * 10_000},
            {'k' * 20_000: '1'},
            {f'k{n}': '1' for n in range(5_000)},
        )
        for giant in giants:
            hosts = [
                Host('h', [Aggregate('giant', giant)]),
                Host('i', [Aggregate('small', {'k': '1'})]),
            ]
            self.requests({'k': '1'}, hosts)
            self.assertEqual(1, self.known({'k': '1'}))
            self.assertIsNot(batch.of_flavor(giant), batch.of_flavor(giant))
            batch.forget()

    def test_what_is_no_text_is_not_kept(self) -> None:
        hosts = [Host('h', [Aggregate('a', {'k': 1})])]
        self.requests({'k': '1'}, hosts)
        self.assertEqual(0, self.known({'k': '1'}))
        self.assertIsNot(batch.of_flavor({'k': 1}), batch.of_flavor({'k': 1}))
        self.assertIsNot(batch.of_flavor({'k': []}), batch.of_flavor({}))

    def test_flavors_share_what_they_know_of_aggregates(self) -> None:
        metadata = {f'k{n}': 'x' * 200 for n in range(20)}
        hosts = [Host('h', [Aggregate('a', metadata)])]
        self.requests({'k1': '1'}, hosts)
        first = batch.used()
        self.requests({'k2': '1'}, hosts)
        self.assertLess(batch.used() - first, first // 3)
        copies = {
            id(
                batch.of_flavor({key: '1'})._known[id(hosts[0].aggregates[0])][
                    1
                ]
            )
            for key in ('k1', 'k2')
        }
        self.assertEqual(1, len(copies))

    def test_very_many_flavors_and_aggregates_stay_within_the_limit(
        self,
    ) -> None:
        texts = ['\U0001f40d' * 250 + f'{n:05}' for n in range(200)]
        hosts = [
            Host(text, [Aggregate(text, {text: text, 'k': text, **_ON})])
            for text in texts
        ]
        used = []
        limit = 4 * 2**20
        self.enterContext(
            unittest.mock.patch.object(batch._FLAVORS, 'limit', limit)
        )
        for text in texts[:40]:
            self.requests({'k': f'<or> {text}'}, hosts, 2)
            used.append(batch.used())
        # It was full and was forgotten at least once on the way.
        self.assertLess(used[-1], max(used))
        self.assertLessEqual(max(used), limit)

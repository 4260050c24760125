# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Many hosts at once: the same verdicts as one by one."""

import collections
import dataclasses
import unittest
from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from nova_filters import batch, matching
from tests.unit.nova_filters import strategies

_ON = {'force_metadata_check': 'true'}


@dataclasses.dataclass
class Aggregate:
    """An aggregate that can be changed, as Nova's can."""

    name: str
    metadata: Mapping[str, Any] | None


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


def sift(extra_specs, hosts, exempt=()) -> batch.Sifted[Host]:
    """Return what becomes of hosts."""
    flavor = matching.read_flavor(extra_specs)
    return batch.Batch(flavor, exempt).sift(hosts)


class SiftTest(unittest.TestCase):
    """Hosts pass or are refused, in groups that share a reason."""

    @settings(max_examples=500)
    @given(
        strategies.extra_specs(),
        st.lists(strategies.metadata(), min_size=1, max_size=4),
        st.lists(st.lists(st.integers(0, 3), max_size=3), max_size=6),
        st.sampled_from([(), ('k',), ('*:*',), ('*',)]),
    )
    def test_verdicts_equal_those_of_the_evaluator(
        self, extra_specs, metadata, memberships, exempt
    ) -> None:
        aggregates = [
            Aggregate(f'a{index}', data) for index, data in enumerate(metadata)
        ]
        hosts = [
            Host(f'h{n}', [aggregates[i % len(aggregates)] for i in indices])
            for n, indices in enumerate(memberships)
        ]
        flavor = matching.read_flavor(extra_specs)
        reasons = {
            host.name: matching.evaluate(
                flavor,
                [
                    matching.Aggregate(a.name, a.metadata)
                    for a in host.aggregates
                ],
                exempt,
            ).reason
            for host in hosts
        }
        sifted = batch.Batch(flavor, exempt).sift(hosts)
        self.assertEqual(
            [host for host in hosts if reasons[host.name] is None],
            sifted.passed,
        )
        counted = batch.summarize(sifted.refused, flavor, exempt)
        summaries = collections.Counter(
            r.summary() for r in reasons.values() if r is not None
        )
        self.assertEqual(summaries, {text: number for number, text in counted})

    @given(
        st.one_of(
            st.none(),
            st.dictionaries(
                st.one_of(st.text(), st.none(), st.integers()),
                st.one_of(
                    st.text(),
                    st.none(),
                    st.floats(),
                    st.binary(),
                    st.lists(st.text()),
                ),
                max_size=4,
            ),
        ),
        st.one_of(
            st.none(),
            st.lists(
                st.one_of(
                    st.none(),
                    st.dictionaries(
                        st.one_of(st.text(), st.none()),
                        st.one_of(st.text(), st.none(), st.integers()),
                        max_size=4,
                    ).map(lambda data: Aggregate('a', data)),
                    st.just(Aggregate('b', None)),
                    st.builds(Unreadable),
                ),
                max_size=3,
            ),
        ),
    )
    def test_whatever_comes_in_there_is_a_verdict(
        self, extra_specs, aggregates
    ) -> None:
        sifted = sift(extra_specs, [Host('h', aggregates)])
        self.assertEqual(1, len(sifted.passed) + len(sifted.refused))

    def test_values_may_be_very_long(self) -> None:
        for text in ('x' * 10_000, '<or> ' * 5_000, '1' * 10_000, '>= ' * 99):
            host = Host('h', [Aggregate('a', {'k': text, **_ON})])
            sifted = sift({'k': text}, [host])
            self.assertEqual(1, len(sifted.passed) + len(sifted.refused))
            self.assertLess(len('; '.join(sifted.problems)), 500)

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

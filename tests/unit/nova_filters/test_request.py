# SPDX-License-Identifier: Apache-2.0

"""Many hosts at once: the same verdicts as one by one."""

import unittest
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nova_filters.advice.inventory import Host
from nova_filters.advice.inventory import HostAggregate as Aggregate
from nova_filters.matching import inputs, report
from nova_filters.matching.request import Request
from testing.nova import strategies

_ON = {'force_metadata_check': 'true'}
_EXEMPT = st.sampled_from([(), ('k',), ('*:*',), ('*',), ('[', '')])
#: The numbers of the aggregates of further hosts. New aggregates of one host
#: may be read together.
_MEMBERSHIPS = st.lists(st.lists(st.integers(0, 11), max_size=12), max_size=6)
_TEXTS = strategies.extra_specs() | strategies.any_texts()
_METADATA = st.lists(
    strategies.metadata() | strategies.any_texts(), max_size=12
) | st.lists(st.none() | strategies.anything(), max_size=3)


class Unreadable:
    """An aggregate whose metadata were not loaded, or its name."""

    def __init__(self, **loaded: Any) -> None:
        vars(self).update(loaded)


def sift(extra_specs, hosts, exempt=()) -> tuple[Request, list[Host], Any]:
    """Return a new request, and what becomes of hosts in it."""
    request = Request(inputs.read_flavor(extra_specs), exempt)
    return request, *request.sift(hosts)


def summarize(extra_specs, hosts) -> list[tuple[int, str]]:
    """Return how many hosts are refused why."""
    request, _, refused = sift(extra_specs, hosts)
    return report.summarize(request, refused)


class SiftTest(unittest.TestCase):
    """Hosts pass or are refused, in groups that share a reason."""

    def test_a_change_in_place_is_seen_by_the_next_request(self) -> None:
        aggregate = Aggregate('a', {'k': '1'})
        hosts = [Host(name, [aggregate]) for name in 'ba']
        self.assertEqual(hosts, sift({'k': '1'}, hosts)[1])
        aggregate.metadata['k'] = '2'
        self.assertEqual([], sift({'k': '1'}, hosts)[1])

    def test_an_unreadable_aggregate_closes_its_hosts_only(self) -> None:
        good = Aggregate('a', {'k': '1'})
        bad = Unreadable(name='unreadable')
        hosts = [Host('closed', [good, bad]), Host('open', [good])]
        request, passed, refused = sift({'k': '1'}, hosts)
        self.assertEqual(['open'], [host.name for host in passed])
        (problem,) = report.problems(request, refused)
        self.assertIn("aggregate 'unreadable' could not be read", problem)
        self.assertEqual(
            [(1, "aggregate 'unreadable' could not be read")],
            report.summarize(request, refused),
        )
        self.assertEqual(
            ['?', 'a'],
            report.names(Host('h', [good, Unreadable(metadata={})])),
        )

    def test_a_host_whose_aggregates_cannot_be_read_is_closed(self) -> None:
        closed = object()
        request, passed, refused = sift({}, [closed, Host('open', None)])
        self.assertEqual(['open'], [host.name for host in passed])
        (problem,) = report.problems(request, refused)
        self.assertIn('the aggregates of a host', problem)
        ((hosts, reason),) = report.explain(request, refused)
        self.assertEqual([closed], hosts)
        self.assertEqual('a host could not be read', str(reason))
        self.assertEqual([], report.names(closed))

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
            counts = summarize({}, hosts)
            self.assertEqual(
                [
                    *(
                        (1, f"aggregate 'a{number:02}' demands '{key}'")
                        for number, key in enumerate(keys[: report.NAMED])
                    ),
                    (15, 'for other reasons'),
                ],
                counts,
            )

    def test_other_aggregates_of_a_host_make_no_other_reason(self) -> None:
        hosts = [
            Host(str(n), [forced, Aggregate(f'rack-{n}', {'rack': str(n)})])
            for name, number in (('red', 9), ('blue', 25))
            for forced in (Aggregate(name, {'os': name, **_ON}),)
            for n in range(number)
        ]
        self.assertEqual(
            [
                (25, "aggregate 'blue' demands 'os'"),
                (9, "aggregate 'red' demands 'os'"),
            ],
            summarize({}, hosts),
        )

    def test_refused_hosts_are_explained_by_sets_of_aggregates(self) -> None:
        one, two = Aggregate('one', {}), Aggregate('two', {})
        hosts = [Host('a', [one]), Host('b', [two]), Host('c', [one])]
        request, passed, refused = sift({'k': '1'}, hosts)
        groups = [own for own, _ in report.explain(request, refused)]
        self.assertEqual([hosts[0::2], hosts[1:2]], groups)

    def test_a_host_may_be_in_other_aggregates_by_then(self) -> None:
        host = Host('h', [Aggregate('a', {'k': '2'})])
        request, passed, refused = sift({'k': '1'}, [host])
        host.aggregates[:] = Aggregate('b', {'k': '3'}), Unreadable(name='x')
        ((_, reason),) = report.explain(request, refused)
        self.assertEqual(('b',), reason.aggregate)

    def problems(self, extra_specs, *metadata, exempt=()) -> list[str]:
        """Return what is told of hosts in one aggregate each."""
        hosts = [
            Host(str(number), [Aggregate(f'a{number}', data)])
            for number, data in enumerate(metadata)
        ]
        request, _, refused = sift(extra_specs, hosts, exempt)
        return report.problems(request, refused)

    def test_malformed_values_are_told_once(self) -> None:
        aggregate = Aggregate('a', {'k': '>= two,<or>', **_ON})
        hosts = [Host(str(n), [aggregate]) for n in range(3)]
        request, _, refused = sift({'k': '1', 'l': '>='}, hosts)
        self.assertEqual(
            [
                "aggregate 'a' has 'k': 'two' is not a number",
                "aggregate 'a' has 'k': nothing follows <or>",
                "the flavor has 'l': '>=' has no operand",
            ],
            report.problems(request, refused),
        )

    def test_a_malformed_value_is_told_where_it_decides(self) -> None:
        data = {'k': '>=,1', **_ON}
        told = ["aggregate 'a0' has 'k': '>=' has no operand"]
        self.assertEqual(told, self.problems({'k': '2'}, data))
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
        found = self.problems({'k': '2'}, data, data, exempt=('k',))
        self.assertEqual([*told, told[0].replace('a0', 'a1')], found)

    def test_someone_elses_is_told_where_an_aggregate_has_the_key(self):
        flavor = {'vendor:rule': '>='}
        self.assertEqual([], self.problems(flavor, {}))
        self.assertEqual(
            ["the flavor has 'vendor:rule': '>=' has no operand"],
            self.problems(flavor, {'vendor:rule': '1'}),
        )

    @given(
        *(_TEXTS | st.none() | strategies.anything(), _METADATA),
        *(_MEMBERSHIPS, _EXEMPT),
    )
    def test_anything_has_one_verdict(
        self, extra_specs, metadata, memberships, exempt
    ) -> None:
        """The hosts are in none, in each, in all, and in some aggregates."""
        flavor = inputs.read_flavor(extra_specs)
        aggregates = [
            Aggregate(f'a{number}', data)
            for number, data in enumerate(metadata)
        ]
        sets = [None, [], *([one] for one in aggregates), aggregates]
        for numbers in memberships if aggregates else ():
            sets.append([aggregates[n % len(aggregates)] for n in numbers])
        hosts = [Host('h', own) for own in sets]
        alone = [
            next(Request(flavor, exempt).reasons(host.aggregates or ()), None)
            for host in hosts
        ]
        request, passing, refused = sift(extra_specs, hosts, exempt)
        self.assertEqual(
            [id(h) for h, r in zip(hosts, alone, strict=True) if r is None],
            [id(host) for host in passing],
            alone,
        )
        told = {
            id(host): reason.summary()
            for group, reason in report.explain(request, refused)
            for host in group
        }
        self.assertEqual(
            [reason and reason.summary() for reason in alone],
            [told.get(id(host)) for host in hosts],
        )
        counts = report.summarize(request, refused)
        self.assertEqual(
            sum(reason is not None for reason in alone),
            sum(number for number, _ in counts),
        )
        problems = report.problems(request, refused)
        lines = [*problems, *(text for _, text in counts)]
        lines += [str(reason) for reason in alone if reason is not None]
        for line in lines:
            self.assertTrue(line.isprintable(), line)
            self.assertLess(len(line), 2500)

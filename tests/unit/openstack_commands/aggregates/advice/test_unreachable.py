# SPDX-License-Identifier: Apache-2.0

"""Flavors that no host takes, or one only, and what would open a host."""

import dataclasses
import unittest

import ddt

from nova_filters.matching import inputs
from openstack_commands.aggregates.advice import (
    explanation,
    inventory,
    unreachable,
)
from openstack_commands.aggregates.advice.mistakes import Finding, FindingCode

_ON = {'force_metadata_check': 'True'}
_SCOPE = inputs.SCOPE


def _stock(
    flavors: list[dict[str, str]],
    *aggregates: tuple[dict[str, str], str],
    exempt: inputs.Exempt = (),
) -> inventory.Stock:
    """Return flavors f0, f1, … and aggregates a0, a1, … with their hosts."""
    return inventory.Stock(
        [inventory.Flavor(f'f{n}', specs) for n, specs in enumerate(flavors)],
        [
            inventory.HostAggregate(f'a{n}', metadata, tuple(names.split()))
            for n, (metadata, names) in enumerate(aggregates)
        ],
        exempt,
    )


class ClosedTest(unittest.TestCase):
    """Forced aggregates whose demands no flavor meets."""

    def test_the_key_that_keeps_out_most_flavors_is_told(self) -> None:
        stock = _stock(
            [{}, {}, {'b': '1'}, {'a': '1', 'ns:k': '1'}],
            ({'a': '1', 'b': '2', **_ON}, 'h1'),
            exempt=('zone', 'zone', 'rack'),
        )
        self.assertEqual(
            [
                Finding(
                    FindingCode.CLOSED_AGGREGATE,
                    "none of 4 flavors meets what it demands; 'b' keeps out "
                    'most',
                    f'{_SCOPE}b in a flavor, or "exempt_metadata_keys = '
                    'zone,rack,b" in nova.conf',
                    'aggregate',
                    'a0',
                    'b',
                )
            ],
            [*unreachable.closed(stock)],
        )

    def test_an_aggregate_that_one_flavor_enters_is_open(self) -> None:
        forced = {'a': '1', 'b': '2', **_ON}, 'h1'
        for flavors in ([], [{}, {'a': '1', 'b': '2', 'c': '3'}]):
            self.assertEqual(
                [], [*unreachable.closed(_stock(flavors, forced))]
            )
        stock = _stock([{}], forced, exempt=('a', 'b'))
        self.assertEqual([], [*unreachable.closed(stock)])
        # Without the flag, nothing is demanded.
        stock = _stock([{}], ({'a': '1'}, 'h1'))
        self.assertEqual([], [*unreachable.closed(stock)])

    def test_a_flavor_that_refuses_the_hosts_is_not_kept_out(self) -> None:
        stock = _stock([{'k': '!'}], ({'k': '1,~', **_ON}, 'h1'))
        self.assertEqual([], [*unreachable.closed(stock)])

    def test_what_another_aggregate_demands_is_its_own_finding(self) -> None:
        stock = _stock(
            [{}],
            ({'m': '1', **_ON}, 'h1'),
            ({'a': '1', 'm': '~', **_ON}, 'h1'),
        )
        # a1 lets the flavor omit "m", and demands "a" itself.
        findings = [*unreachable.closed(stock)]
        self.assertEqual([('a1', 'a')], [(f.name, f.key) for f in findings])

    def test_hosts_in_the_same_aggregates_count_once(self) -> None:
        stock = _stock(
            [{}],
            ({'a': '1', 'b': '1', **_ON}, 'h1 h2 h3'),
            ({'a': '~', **_ON}, 'h1 h2'),
            ({'b': '~', **_ON}, 'h3'),
            ({'rack': '1'}, 'h1'),
            ({'rack': '2'}, 'h2'),
        )
        (finding,) = unreachable.closed(stock)
        self.assertEqual(('a0', 'a'), (finding.name, finding.key))

    def test_a_contradiction_is_another_finding(self) -> None:
        stock = _stock([{}], ({'k': '1,!', **_ON}, 'h1'))
        self.assertEqual([], [*unreachable.closed(stock)])


class ContradictoryTest(unittest.TestCase):
    """Demands that exclude each other."""

    def test_an_aggregate_may_contradict_itself(self) -> None:
        metadata = {'k': '1,!', 'l': '!', 'm': '2', **_ON}
        (finding,) = unreachable.contradictory(_stock([], (metadata, 'h1')))
        self.assertEqual(
            Finding(
                FindingCode.CONTRADICTORY_DEMANDS,
                "aggregate 'a0' contradicts itself on 'k'",
                "'!' in all of these aggregates, or in none",
                'aggregate',
                'a0',
                'k',
            ),
            finding,
        )

    def test_hosts_in_the_same_aggregates_have_one_mistake(self) -> None:
        stock = _stock(
            [],
            ({'k': '1', 'l': '1', **_ON}, 'h1 h2 h3'),
            ({'k': '!', 'l': '!', **_ON}, 'h2 h3'),
            ({'rack': '1'}, 'h3'),
        )
        findings = [*unreachable.contradictory(stock)]
        self.assertEqual(
            [('host', 'h2', 'k'), ('host', 'h2', 'l')],
            [(f.owner, f.name, f.key) for f in findings],
        )


class AvoidedTest(unittest.TestCase):
    """Keys that aggregates prefer, and that no flavor meets."""

    SOFT = {'disk': 'ssd', 'rack': '1', 'prefer_metadata_check': 'on'}

    def test_a_key_that_no_flavor_meets_is_told(self) -> None:
        stock = _stock([{'disk': 'ssd'}, {}, {}], (self.SOFT, 'h1'))
        self.assertEqual(
            [
                Finding(
                    FindingCode.AVOIDED_BY_ALL,
                    'no flavor meets it: all flavors use these hosts last',
                    'rack=… in a flavor, unless the hosts are to be emptied',
                    'aggregate',
                    'a0',
                    'rack',
                )
            ],
            [*unreachable.avoided(stock)],
        )

    def test_a_key_that_some_flavor_meets_is_no_mistake(self) -> None:
        for flavors, metadata in (
            ([{'disk': 'ssd', 'rack': '1'}, {}], self.SOFT),
            ([{'disk': 'ssd'}, {'rack': '1'}], self.SOFT),
            ([{}], {'disk': 'ssd'}),
            ([{}], {**self.SOFT, **_ON}),
            ([], self.SOFT),
        ):
            stock = _stock(flavors, (metadata, 'h1'))
            self.assertEqual([], [*unreachable.avoided(stock)], flavors)
        stock = _stock([{}], (self.SOFT, 'h1'), exempt=('disk', 'rack'))
        self.assertEqual([], [*unreachable.avoided(stock)])


class ConfinedTest(unittest.TestCase):
    """Flavors that no host takes, or one only."""

    def confined(
        self, specs: dict[str, str], *aggregates: tuple[dict[str, str], str]
    ) -> list[Finding]:
        """Return what is found on a flavor and three hosts.

        h3 is down, and h2 is disabled.
        """
        states = {'h1': 'up', 'h2': 'disabled', 'h3': 'down'}
        stock = _stock([specs], *aggregates)
        hosts = [inventory.Host(n, state=state) for n, state in states.items()]
        stock = dataclasses.replace(stock, listed_hosts=hosts)
        verdicts = explanation.Verdicts(stock.flavors[0], stock)
        return [*unreachable.confined(verdicts)]

    def test_a_flavor_whose_hosts_are_not_up_is_told(self) -> None:
        self.assertEqual(
            [
                Finding(
                    FindingCode.NO_HOST_UP,
                    'none of the hosts that take the flavor is up: h2 '
                    '(disabled), h3 (down)',
                    'enable one of them, or start its nova-compute',
                    'flavor',
                    'f0',
                )
            ],
            self.confined({'gpu': '1'}, ({'gpu': '1'}, 'h2 h3')),
        )

    def test_a_flavor_that_one_host_takes_is_told(self) -> None:
        (finding,) = self.confined({'gpu': '1'}, ({'gpu': '1'}, 'h1'))
        self.assertEqual(FindingCode.ONE_HOST, finding.code)
        self.assertEqual('only h1 takes the flavor', finding.text)
        not_up, confined = self.confined({'gpu': '1'}, ({'gpu': '1'}, 'h3'))
        self.assertEqual(
            [FindingCode.NO_HOST_UP, FindingCode.ONE_HOST],
            [not_up.code, confined.code],
        )
        self.assertEqual(
            "only h3 takes the flavor; nearest is h1: 'gpu' not in any "
            'aggregate',
            confined.text,
        )

    def test_a_flavor_that_two_hosts_take_is_no_mistake(self) -> None:
        gpu_hosts = {'gpu': '1'}, 'h1 h2'
        self.assertEqual([], self.confined({'gpu': '1'}, gpu_hosts))
        self.assertEqual([], self.confined({}))

    def test_hosts_that_nobody_has_listed_may_take_a_flavor(self) -> None:
        for text, listed_hosts, codes in (
            ('!', None, []),
            ('!', [], [FindingCode.NO_HOST]),
            ('2', None, [FindingCode.NO_HOST]),
        ):
            stock = _stock([{'gpu': text}], ({'gpu': '1'}, 'h1'))
            stock = dataclasses.replace(stock, listed_hosts=listed_hosts)
            verdicts = explanation.Verdicts(stock.flavors[0], stock)
            findings = [*unreachable.confined(verdicts)]
            self.assertEqual(codes, [finding.code for finding in findings])

    def test_the_reasons_of_the_nearest_host_are_told(self) -> None:
        (finding,) = self.confined(
            {'gpu': '1', 'ssd': '2'}, ({'gpu': '2'}, 'h1'), ({'ssd': '2'}, '')
        )
        self.assertTrue(
            finding.text.startswith(
                'none of 3 hosts takes the flavor; nearest is h1: '
                "'gpu' does not match '1'; aggregate 'a0' has '2'; 'ssd' not "
                'in any aggregate'
            ),
            finding.text,
        )
        self.assertEqual(
            (FindingCode.NO_HOST, 'flavor', 'f0', 'gpu'),
            (finding.code, finding.owner, finding.name, finding.key),
        )


@ddt.ddt
class BeyondLimitTest(unittest.TestCase):
    """Flavors whose hosts Nova may not look at."""

    def beyond_limit(
        self, limit: int, specs: dict[str, str], **states: str
    ) -> list[Finding]:
        """Return the findings; h1, h2 and h3 have a GPU."""
        stock = _stock([specs], ({'gpu': '1'}, 'h1 h2 h3'))
        names = ('h1', 'h2', 'h3', 'h4', 'h5')
        hosts = [
            inventory.Host(name, state=states.get(name, 'up'))
            for name in names
        ]
        stock = dataclasses.replace(stock, listed_hosts=hosts)
        verdicts = explanation.Verdicts(stock.flavors[0], stock)
        return [*unreachable.beyond_limit(verdicts, limit)]

    def test_the_right_hosts_may_be_left_out(self) -> None:
        self.assertEqual(
            [
                Finding(
                    FindingCode.BEYOND_LIMIT,
                    '3 of 5 hosts take the flavor, and Nova looks at 4 hosts: '
                    'the right ones need not be among them',
                    'max_placement_results = 5 in nova.conf, or a trait in '
                    'the flavor',
                    'flavor',
                    'f0',
                )
            ],
            self.beyond_limit(4, {'gpu': '1'}),
        )

    def test_more_hosts_may_pass_than_nova_looks_at(self) -> None:
        for limit, are_left_out in ((3, True), (2, False)):
            (finding,) = self.beyond_limit(limit, {'gpu': '1'})
            self.assertIs(are_left_out, ': the right' in finding.text)
        (finding,) = self.beyond_limit(4, {})
        self.assertTrue(finding.text.startswith('5 of 5 hosts take'))

    @ddt.data(
        (5, {'gpu': '1'}),
        (4, {'gpu': '2'}),
        (4, {'gpu': '1', 'trait:HW_A': 'required'}),
        (4, {'gpu': '1', 'resources:VGPU': '1'}),
    )
    @ddt.unpack
    def test_other_flavors_are_well(
        self, limit: int, specs: dict[str, str]
    ) -> None:
        self.assertEqual([], self.beyond_limit(limit, specs))

    def test_hosts_that_are_not_up_do_not_count(self) -> None:
        self.assertEqual([], self.beyond_limit(4, {'gpu': '1'}, h5='down'))
        down = dict.fromkeys(('h1', 'h2', 'h3'), 'down')
        self.assertEqual([], self.beyond_limit(1, {'gpu': '1'}, **down))

# SPDX-License-Identifier: Apache-2.0

"""How hosts match a flavor: counted, and in words."""

import unittest

import ddt

from os_placement_plugins.text import QUOTED
from osc_placement_plugins.explain.matches import HostMatches
from osc_placement_plugins.source.records import Flavor
from tests.unit.osc_placement_plugins.inventories import make_inventory

_ON = {'force_metadata_check': 'True'}


def _match(extra_specs, *aggregates, hosts='h1 h2 h3', down=''):
    """Return how hosts match a flavor.

    :param aggregates: metadata, and the names of hosts.
    :param hosts: the names of all hosts, in their order.
    """
    states = dict.fromkeys(hosts.split(), 'up')
    states |= dict.fromkeys(down.split(), 'down')
    inventory = make_inventory(aggregates, states)
    some_hosts = [inventory.hosts[name] for name in hosts.split()]
    return HostMatches(Flavor('f', extra_specs), inventory, some_hosts)


@ddt.ddt
class HostMatchesTest(unittest.TestCase):
    @ddt.data(
        ({}, [({'x': '1'}, 'h1')], '3 of 3 hosts take f.'),
        (
            {'gpu': '*'},
            [({'gpu': '1'}, 'h1 h2')],
            "2 of 3 hosts take f: 'gpu' not in any aggregate (1).",
        ),
        (
            {'gpu': 'h100'},
            [({'gpu': 'k80,l4'}, 'h1 h2')],
            "0 of 3 hosts take f: 'gpu' does not match 'h100' (2), 'gpu' not "
            'in any aggregate (1).',
        ),
        # Each key is said: h1 has another "gpu", and no host the right "os".
        (
            {'gpu': '!', 'os': '1'},
            [
                ({'gpu': '1'}, 'h1'),
                ({'os': '1'}, 'h1 h2 h3'),
                ({'os': '2', 'x': '1', **_ON}, 'h2'),
                ({'os': '2', **_ON}, 'h1 h3'),
            ],
            "0 of 3 hosts take f: aggregate 'a2', 'a3' demands 'os' to be '2' "
            "(3), 'gpu' must not be in an aggregate (1), aggregate 'a2' "
            "demands 'x' (1).",
        ),
        (
            {'k': QUOTED * 'x'},
            [({'k': '1'}, 'h1 h2 h3')],
            f"0 of 3 hosts take f: 'k' does not match '{QUOTED * 'x'}' (3).",
        ),
        # A long value is cut.
        (
            {'k': 99 * 'x'},
            [({'k': '1'}, 'h1 h2 h3')],
            f"0 of 3 hosts take f: 'k' does not match '{QUOTED * 'x'}…' (3).",
        ),
        (
            {'k': '<or>'},
            [],
            "0 of 3 hosts take f: 'k' is malformed in the flavor (3).",
        ),
        (
            {'k': '1'},
            [
                ({'k': '1'}, 'h1 h2 h3'),
                ({'k': '!', **_ON}, 'h1'),
                ({'l': '!,1', **_ON}, 'h2'),
                ({'l': '1', **_ON}, 'h3'),
            ],
            "0 of 3 hosts take f: aggregate 'a2' contradicts itself on 'l' "
            "(1), aggregate 'a3' demands 'l' (1), aggregate 'a1' forbids 'k' "
            '(1).',
        ),
    )
    @ddt.unpack
    def test_the_hosts_are_counted_by_cause(self, specs, aggregates, sentence):
        self.assertEqual(sentence, _match(specs, *aggregates).sentence())

    def test_a_group_has_its_hosts_and_aggregates(self) -> None:
        matches = _match({'k': '1'}, ({'k': '3'}, 'h3'), ({'k': '2'}, 'h2'))
        self.assertEqual(
            [
                (
                    "'k' does not match '1'; aggregate 'a0', 'a1' has '2', "
                    "'3'",
                    ['h2', 'h3'],
                ),
                ("'k' not in any aggregate", ['h1']),
            ],
            [
                (matches.explain_group(group), [h.name for h in group.hosts])
                for group in matches.groups
            ],
        )

    def test_one_host_is_not_several(self) -> None:
        sentence = _match({'gpu': '1'}, hosts='h1').sentence()
        self.assertEqual(
            "0 of 1 host takes f: 'gpu' not in any aggregate (1).", sentence
        )

    def test_a_key_that_is_not_compared_is_told(self) -> None:
        scope = 'aggregate_instance_extra_spec:s'
        for specs, skipped in (
            ({'host_aggregate:ssd': '1', 'gpu': '1'}, "'host_aggregate:ssd'"),
            ({scope: '1'}, f"'{scope}'"),
            ({'aggregate:ssd': '1', 'hw:x': '1'}, "'aggregate:ssd'"),
        ):
            matches = _match(specs, ({'gpu': '1', 'hw:x': '1'}, 'h1 h2'))
            self.assertEqual(
                f'Skipped in f, because no aggregate has the key: {skipped}.',
                matches.notes()[0],
            )
        matches = _match({'hw:x': '1'}, ({'hw:x': '1'}, 'h1'))
        self.assertEqual([], matches.notes())

    def test_many_reasons_are_not_all_named(self) -> None:
        aggregates = [({f'k{n}': '1', **_ON}, f'h{n}') for n in range(12)]
        names = ' '.join(f'h{n}' for n in range(12))
        matches = _match({}, *aggregates, hosts=names)
        self.assertTrue(matches.sentence().endswith(', 2 more reasons.'))
        # The table lists all of them.
        self.assertEqual(12, len(matches.groups))

    def test_hosts_that_are_not_up_are_told(self) -> None:
        matches = _match({'gpu': '1'}, ({'gpu': '1'}, 'h1'), down='h1')
        self.assertEqual(
            "1 of 3 hosts takes f (1 of them not up): 'gpu' not in any "
            'aggregate (2).',
            matches.sentence(),
        )
        self.assertEqual([], matches.takers)

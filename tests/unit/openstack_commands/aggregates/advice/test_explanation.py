# SPDX-License-Identifier: Apache-2.0

"""Explanations: the evaluator's verdict, all its reasons, and their order."""

import unittest

import ddt

from openstack_commands.aggregates.advice import explanation, inventory

_ON = {'force_metadata_check': 'True'}


def _verdicts(
    extra_specs: dict[str, str],
    *aggregates: tuple[dict[str, str], str],
    hosts: str = 'h1 h2 h3',
    down: str = '',
) -> explanation.Verdicts:
    """Return the verdicts on one flavor.

    :param aggregates: metadata, and the names of hosts.
    :param hosts: the names of all hosts, in the order of the verdicts.
    """
    stock = inventory.Stock(
        [],
        [
            inventory.HostAggregate(f'a{n}', metadata, tuple(names.split()))
            for n, (metadata, names) in enumerate(aggregates)
        ],
        listed_hosts=[
            inventory.Host(name, state='down' if name in down else 'up')
            for name in hosts.split()
        ],
    )
    judged_hosts = [stock.hosts[name] for name in hosts.split()]
    flavor = inventory.Flavor('f', extra_specs)
    return explanation.Verdicts(flavor, stock, judged_hosts)


@ddt.ddt
class VerdictsTest(unittest.TestCase):
    GPU = {'gpu': 'a100', 'ssd': 'nvme', 'os': '*'}

    @ddt.data(
        # Metadata of h1, h2 and h3; what is nearest.
        ({'os': '1'}, {'os': '1', 'ssd': 'nvme'}, {}, 'h2'),
        # The first by name of as many failing keys.
        ({'os': '1'}, {'ssd': 'nvme'}, {'gpu': 'a100'}, 'h1'),
        # A host that passes is not near.
        (GPU, {}, {'os': '1'}, 'h3'),
        (GPU, GPU, GPU, None),
    )
    @ddt.unpack
    def test_the_host_with_the_fewest_failing_keys_is_nearest(
        self, first, second, third, name: str | None
    ) -> None:
        aggregates = (first, 'h1'), (second, 'h2'), (third, 'h3')
        for hosts in ('h1 h2 h3', 'h3 h2 h1'):
            nearest = _verdicts(self.GPU, *aggregates, hosts=hosts).nearest()
            self.assertEqual(name, nearest and nearest.name)

    def test_a_host_that_is_not_up_is_not_near(self) -> None:
        near_miss = {'gpu': 'a100', 'ssd': 'nvme'}, 'h1'
        nearest = _verdicts(self.GPU, near_miss, down='h1').nearest()
        self.assertEqual('h2', nearest.name)
        nearest = _verdicts(self.GPU, near_miss, down='h1 h2 h3').nearest()
        self.assertIsNone(nearest)

    def test_two_reasons_on_one_key_count_once(self) -> None:
        demanding = {'gpu': 'h100', 'ssd': '*', 'os': '*', **_ON}, 'h2'
        verdicts = _verdicts(self.GPU, ({'ssd': 'nvme'}, 'h1'), demanding)
        self.assertEqual('h2', verdicts.nearest().name)

    @ddt.data(
        ({}, 'h1', '', '3 of 3 hosts pass.'),
        (
            {'gpu': '*'},
            'h1 h2',
            'h2 h3',
            '2 of 3 hosts pass (1 of them not up); '
            "1 'gpu' not in any aggregate.",
        ),
    )
    @ddt.unpack
    def test_the_verdicts_are_one_sentence(
        self, specs: dict[str, str], gpu_hosts: str, down: str, sentence: str
    ) -> None:
        verdicts = _verdicts(specs, ({'gpu': '1'}, gpu_hosts), down=down)
        self.assertEqual(sentence, verdicts.sentence())


class ExplainTest(unittest.TestCase):
    def test_near_misses_come_first(self) -> None:
        verdicts = _verdicts(
            {'gpu': 'a100', 'ssd': 'nvme', 'os': '*'},
            ({'gpu': 'h100', 'os': '1', **_ON}, 'h4'),
            ({'gpu': 'a100', 'ssd': 'nvme', 'os': 'bsd'}, 'h5'),
            ({'gpu': 'a100', 'ssd': 'nvme'}, 'h2'),
            hosts='h5 h4 h3 h2 h1',
        )
        entries = explanation.explain(verdicts)
        self.assertEqual(
            [
                ('h5', ()),
                ('h2', ('os',)),
                ('h4', ('gpu', 'ssd')),
                ('h1', ('gpu', 'os', 'ssd')),
                ('h3', ('gpu', 'os', 'ssd')),
            ],
            [(entry.host.name, entry.failing_keys) for entry in entries],
        )

    def test_preferences_give_points(self) -> None:
        verdicts = _verdicts(
            {'aggregate_preferred.7:disk': 'ssd'},
            ({'disk': 'ssd'}, 'h1'),
            ({'rack': '1', 'prefer_metadata_check': 'true'}, 'h1 h2'),
            hosts='h1 h2',
        )
        demand = -1, "aggregate 'a1' demands 'rack'"
        self.assertEqual(
            [
                ((7, 'aggregate_preferred.7:disk=ssd'), demand),
                (demand,),
            ],
            [entry.points for entry in explanation.explain(verdicts)],
        )

    def test_only_aggregates_that_prefer_something_give_points(self) -> None:
        verdicts = _verdicts(
            {},
            ({'rack': '1', 'prefer_metadata_check': 'true'}, 'h1'),
            ({'rack': '2'}, 'h2'),
            hosts='h1 h2',
        )
        points = {
            entry.host.name: entry.points
            for entry in explanation.explain(verdicts)
        }
        demand = -1, "aggregate 'a0' demands 'rack'"
        self.assertEqual({'h1': (demand,), 'h2': ()}, points)

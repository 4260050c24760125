# SPDX-License-Identifier: Apache-2.0

"""The verdict on a flavor: counted, in words, and what to do."""

import unittest

import ddt

from os_placement_plugins.quoting import SHOWN
from osc_placement_plugins.records import Aggregate, Flavor, Host, Inventory
from osc_placement_plugins.verdicts import Verdict

_ON = {'force_metadata_check': 'True'}


def _judge(extra_specs, *aggregates, hosts='h1 h2 h3', down=''):
    """Return the verdict on a flavor.

    :param aggregates: metadata, and the names of hosts.
    :param hosts: the names of all hosts, in the order of the verdict.
    """
    inventory = Inventory(
        [
            Aggregate(f'a{n}', metadata, tuple(names.split()))
            for n, (metadata, names) in enumerate(aggregates)
        ],
        services=[
            Host(name, state='down' if name in down else 'up')
            for name in hosts.split()
        ],
    )
    judged_hosts = [inventory.hosts[name] for name in hosts.split()]
    return Verdict(Flavor('f', extra_specs), inventory, judged_hosts)


@ddt.ddt
class VerdictTest(unittest.TestCase):
    @ddt.data(
        ({}, [({'x': '1'}, 'h1')], '3 of 3 hosts take f.'),
        (
            {'gpu': '*'},
            [({'gpu': '1'}, 'h1 h2')],
            '2 of 3 hosts take f: 1 lacks the key gpu.',
        ),
        (
            {'gpu': 'h100'},
            [({'gpu': 'k80,l4'}, 'h1 h2')],
            '0 of 3 hosts take f: 2 have gpu=k80,l4, 1 lacks the key gpu.',
        ),
        # Both checks fail on h1; the flavor's side is said.
        (
            {'gpu': '!', 'os': '1'},
            [
                ({'gpu': '1'}, 'h1'),
                ({'os': '1'}, 'h1 h2 h3'),
                ({'os': '2', 'x': '1', **_ON}, 'h2'),
                ({'os': '2', **_ON}, 'h1 h3'),
            ],
            '0 of 3 hosts take f: 2 demand os=2, '
            '1 has gpu=1, a key that the flavor forbids.',
        ),
        (
            {'k': '1'},
            [({'k': SHOWN * 'x'}, 'h1 h2 h3')],
            f'0 of 3 hosts take f: 3 have k={SHOWN * "x"}.',
        ),
        # A long value is cut.
        (
            {'k': '1'},
            [({'k': 99 * 'x'}, 'h1 h2 h3')],
            f'0 of 3 hosts take f: 3 have k={SHOWN * "x"}….',
        ),
        (
            {'k': '<or>'},
            [],
            '0 of 3 hosts take f: 3 cannot meet the malformed k=<or>.',
        ),
        (
            {'k': '1'},
            [
                ({'k': '1'}, 'h1 h2 h3'),
                ({'k': '!', **_ON}, 'h1'),
                ({'l': '!,1', **_ON}, 'h2'),
                ({'l': '1', **_ON}, 'h3'),
            ],
            '0 of 3 hosts take f: 1 contradicts itself on the key l, '
            '1 demands the key l, 1 forbids the key k.',
        ),
    )
    @ddt.unpack
    def test_the_hosts_are_counted_by_cause(self, specs, aggregates, sentence):
        self.assertEqual(sentence, _judge(specs, *aggregates).sentence())

    def test_a_group_has_its_hosts_and_aggregates(self) -> None:
        verdict = _judge({'k': '1'}, ({'k': '2'}, 'h2'))
        self.assertEqual(
            [('lack the key k', 2, set()), ('has k=2', 1, {'a0'})],
            [(g.text, len(g.hosts), g.aggregates) for g in verdict.groups],
        )

    def test_one_host_is_not_several(self) -> None:
        sentence = _judge({'gpu': '1'}, hosts='h1').sentence()
        self.assertEqual('0 of 1 host takes f: 1 lacks the key gpu.', sentence)

    def test_a_name_without_effect_is_told(self) -> None:
        name = 'aggregate_instance_extra_spec:s'
        verdict = _judge({name: '1'})
        self.assertEqual('3 of 3 hosts take f.', verdict.sentence())
        self.assertEqual(
            [
                f"f: '{name}' is not read as 's', because it does not begin "
                "with 'aggregate_instance_extra_specs:'."
            ],
            verdict.advice(),
        )

    def test_rare_causes_are_counted_together(self) -> None:
        aggregates = [({'k': str(n)}, f'h{n}') for n in range(6)]
        names = ' '.join(f'h{n}' for n in range(6))
        sentence = _judge({'k': 'x'}, *aggregates, hosts=names).sentence()
        self.assertTrue(sentence.endswith('k=3, 2 for other reasons.'))

    def test_hosts_that_are_not_up_are_told_with_a_command(self) -> None:
        verdict = _judge({'gpu': '1'}, ({'gpu': '1'}, 'h1'), down='h1')
        self.assertEqual(
            '1 of 3 hosts takes f (1 of them not up): 2 lack the key gpu.',
            verdict.sentence(),
        )
        self.assertEqual([], verdict.takers)
        self.assertEqual(
            [
                'Not up, but would take it:',
                '  start nova-compute on h1',
                "The nearest host is h2: 'gpu' not in any aggregate.",
            ],
            verdict.advice(),
        )

    def test_four_hosts_that_are_not_up_have_a_command(self) -> None:
        for hosts, heading in (
            ('h1 h2 h3 h4', 'Not up, but would take it:'),
            ('h1 h2 h3 h4 h5', 'Not up, but would take it (5 hosts):'),
        ):
            sentences = _judge({}, hosts=hosts, down=hosts).advice()
            self.assertEqual(heading, sentences[0])
            self.assertEqual('  start nova-compute on h4', sentences[4])
            self.assertEqual(6, len(sentences))

    def test_preferences_give_points(self) -> None:
        verdict = _judge(
            {'aggregate_preferred.7:disk': 'ssd'},
            ({'disk': 'ssd'}, 'h1'),
            ({'rack': '1', 'prefer_metadata_check': 'true'}, 'h1'),
        )
        first, second, _ = verdict.hosts
        self.assertEqual(
            "+7 aggregate_preferred.7:disk=ssd; -1 aggregate 'a1' demands "
            "'rack'",
            verdict.points(first),
        )
        self.assertEqual('', verdict.points(second))


@ddt.ddt
class NearestTest(unittest.TestCase):
    GPU = {'gpu': 'a100', 'ssd': 'nvme', 'os': '*'}

    @ddt.data(
        # Metadata of h1, h2 and h3; what is nearest.
        ({'os': '1'}, {'os': '1', 'ssd': 'nvme'}, {}, 'h2'),
        # The first by name of equally near ones.
        ({'os': '1'}, {'ssd': 'nvme'}, {'gpu': 'a100'}, 'h1'),
        # A wrong value is nearer than none.
        ({'os': '1'}, {}, {'ssd': 'nvme', 'gpu': 'k80'}, 'h3'),
        # A host that passes is not near.
        (GPU, {}, {'os': '1'}, 'h3'),
        (GPU, GPU, GPU, None),
    )
    @ddt.unpack
    def test_the_fewest_failing_keys_are_nearest(
        self, first, second, third, name: str | None
    ) -> None:
        aggregates = (first, 'h1'), (second, 'h2'), (third, 'h3')
        for hosts in ('h1 h2 h3', 'h3 h2 h1'):
            nearest = _judge(self.GPU, *aggregates, hosts=hosts).nearest()
            self.assertEqual(name, nearest and nearest.name)

    def test_a_host_that_is_not_up_is_not_near(self) -> None:
        near_miss = {'gpu': 'a100', 'ssd': 'nvme'}, 'h1'
        nearest = _judge(self.GPU, near_miss, down='h1').nearest()
        self.assertEqual('h2', nearest.name)
        verdict = _judge(self.GPU, near_miss, down='h1 h2 h3')
        self.assertIsNone(verdict.nearest())
        self.assertEqual(
            ['No host that is up is left to open.'], verdict.advice()
        )

    def test_two_reasons_on_one_key_count_once(self) -> None:
        demanding = {'gpu': 'h100', 'ssd': '*', 'os': '*', **_ON}, 'h2'
        verdict = _judge(self.GPU, ({'ssd': 'nvme'}, 'h1'), demanding)
        self.assertEqual('h2', verdict.nearest().name)

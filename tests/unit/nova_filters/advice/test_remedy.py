# SPDX-License-Identifier: Apache-2.0

"""The smallest change that would open a host for a flavor."""

import dataclasses
import unittest

import ddt
from hypothesis import given

from nova_filters import conf
from nova_filters.advice import changes, inventory, remedy
from nova_filters.matching import inputs
from nova_filters.matching.request import Request
from testing.nova import strategies

_EXEMPT = tuple(conf.DEFAULTS['exempt_metadata_keys'])
_ON = {'force_metadata_check': 'True'}
_SCOPE = inputs.SCOPE


def _takers(flavor: inventory.Flavor, hosts: inventory.Hosts) -> list[str]:
    """Return the hosts that the evaluator lets pass, each alone."""
    request = Request(inputs.read_flavor(flavor.extra_specs), _EXEMPT)
    return [n for n in hosts if not any(request.reasons(hosts[n].aggregates))]


@ddt.ddt
class RemedyTest(unittest.TestCase):
    H4 = inventory.Host('h4', state='up')
    AGGREGATES = (
        inventory.HostAggregate('gpus', {'gpu': 'a100'}, ('h1',)),
        inventory.HostAggregate(
            'far', {'ssd': 'nvme', 'availability_zone': 'b'}
        ),
        inventory.HostAggregate('licensed', {'os': 'windows', **_ON}, ('h2',)),
        inventory.HostAggregate(
            'odd', {'os': '!,x', 'availability_zone': 'a', **_ON}, ('h3',)
        ),
        inventory.HostAggregate('odder', {'os': '!,x', **_ON}, ('h6',)),
        inventory.HostAggregate('near', {'availability_zone': 'a'}, ('h5',)),
        inventory.HostAggregate('star', {'star': '*', 'hw:k': '2'}, ('h7',)),
        inventory.HostAggregate(
            'sized', {'cpu': '>= 4', 'tier': '>=,silver,gold', **_ON}, ('h8',)
        ),
    )

    @ddt.data(
        ('h2', {'os': 'windows', 'gpu': 'a100'}, 'add host gpus h2'),
        # A host's zone stays.
        ('h4', {'ssd': '*'}, 'flavor unset --property ssd f'),
        ('h1', {'gpu': 'a100', 'x': '1'}, 'set --property x=1 gpus'),
        ('h1', {'gpu': 'v100'}, "set --property 'gpu=<or> v100 <or> a100' f"),
        ('h1', {'gpu': '!'}, 'unset --property gpu f'),
        ('h2', {}, f'flavor set --property {_SCOPE}os=windows f'),
        ('h3', {'ssd': 'nvme'}, ''),
        # Nova keeps a host in one zone.
        ('h5', {'ssd': 'nvme'}, 'set --property ssd=nvme near'),
        ('h3', {}, ''),
        ('h6', {}, 'aggregate remove host odder h6'),
        ('h4', {'nosuch': '1'}, 'flavor unset --property nosuch f'),
        # A sentinel of an aggregate whose flag is off is plain text.
        ('h7', {'star': '>= 5'}, "flavor set --property 'star=s== *' f"),
        ('h1', {'gpu': 's== x'}, 'flavor set --property gpu=a100 f'),
        # What need not change stays.
        (
            *('h7', {'star': '>= 5', 'hw:k': '2'}),
            "openstack flavor set --property 'star=s== *' f",
        ),
        (
            *('h1', {'gpu': '<or> z <or> x <or> y'}),
            "set --property 'gpu=<or> x <or> y <or> z <or> a100' f",
        ),
        (
            *('h8', {'cpu': '4'}),
            f'flavor set --property {_SCOPE}tier=gold f',
        ),
        ('h8', {'tier': 'gold'}, f'flavor set --property {_SCOPE}cpu=4 f'),
        # Nova's API refuses such a value, and takes no more than 255 letters.
        ('h7', {'hw:k': '3'}, 'aggregate remove host star h7'),
        ('h7', {'hw:k': '!'}, 'flavor unset --property hw:k f'),
        (
            *('h1', {'gpu': 'x' * 240}),
            f"'gpu=<or> {'x' * 240} <or> a100' f",
        ),
        ('h1', {'gpu': 'x' * 241}, ''),
    )
    @ddt.unpack
    def test_the_smallest_change_is_told(
        self, name: str, extra_specs: dict[str, str], words: str
    ) -> None:
        flavor = inventory.Flavor('f', extra_specs)
        stock = inventory.Stock([flavor], self.AGGREGATES, (), [self.H4])
        found = remedy.find(flavor, stock.hosts[name], stock).changes
        told = ' '.join(map(str, found))
        self.assertTrue(told.endswith(words) if words else not told, told)

    def test_a_copy_of_the_flavor_stays(self) -> None:
        flavor = inventory.Flavor('f', {'nosuch': '1'})
        stock = inventory.Stock([], (), (), [self.H4])
        found = remedy.find(flavor, stock.hosts['h4'], stock)
        self.assertEqual(remedy.Remedy(()), found)

    def test_flavors_that_lose_a_host_are_told(self) -> None:
        flavors = [
            inventory.Flavor('f', {'os': 'windows', 'gpu': 'a100'}),
            inventory.Flavor('plain', {}),
            inventory.Flavor('graphics', {'gpu': 'a100'}),
            inventory.Flavor('disk', {'ssd': '*'}),
        ]
        up = [inventory.Host('h1', state='up')]
        stock = inventory.Stock(flavors, self.AGGREGATES, (), up)
        found = remedy.find(flavors[0], stock.hosts['h1'], stock)
        (change,) = found.changes
        self.assertEqual(('add host', 'licensed'), (change.verb, change.name))
        self.assertEqual(('plain', 'graphics'), found.losers)
        # No server can start on a host that is not up.
        down = [inventory.Host('h1', state='down')]
        stock = inventory.Stock(flavors, self.AGGREGATES, (), down)
        found = remedy.find(flavors[0], stock.hosts['h1'], stock)
        self.assertEqual(((change,), ()), found)

    @given(strategies.extra_specs(), strategies.metadata_lists())
    def test_the_host_passes_after_the_change(self, specs, metadata) -> None:
        aggregates = [
            inventory.HostAggregate(f'a{number}', data, ('h',))
            for number, data in enumerate(metadata)
        ]
        aggregates.append(inventory.HostAggregate('new', {'k': '1'}))
        flavor = inventory.Flavor('f', specs or {})
        stock = inventory.Stock([flavor], aggregates, _EXEMPT)
        host = stock.hosts.get('h') or inventory.Host('h')
        found = remedy.find(flavor, host, stock).changes
        if _takers(flavor, {'h': host}) or not found:
            return
        then = changes.apply(found, dataclasses.replace(stock, others=[host]))
        self.assertEqual(['h'], _takers(then.flavors[0], then.hosts), found)

# SPDX-License-Identifier: Apache-2.0

"""Flavors that no host takes, or one only, and what would open a host."""

import collections
import random
import unittest

import ddt

import tests
from nova_filters import conf
from nova_filters.advice import inventory, lint
from nova_filters.advice.mistakes import Code
from nova_filters.matching import inputs
from nova_filters.matching.request import Request

_EXEMPT = tuple(conf.DEFAULTS['exempt_metadata_keys'])
_ON = {'force_metadata_check': 'True'}
_SCOPE = inputs.SCOPE
#: What random aggregates have, and what random flavors ask for.
_OFFERED = {
    'gpu': ('a100', 'h100', 'a100,l4'),
    'cpu': ('2', '3', '4'),
    'os': ('windows', 'rhel', '<or> windows <or> ~', '!'),
    'tier': ('gold', 'silver', '*'),
}
_WANTED = {
    'gpu': ('a100', '<or> h100 <or> l4', '*', '!', '<or> a100 <or> ~', 'v100'),
    'cpu': ('>= 3', '== 4', '>= 5', '<or> 2 <or> 3'),
    'os': ('windows', 'rhel', '~', '<or> rhel <or> ~'),
    'tier': ('gold', 'silver', '!', '*'),
}
_KEYS = sorted(_OFFERED)
#: The findings that say that no host passes.
_NONE = {Code.NO_HOST, Code.KEY_NOT_OFFERED, Code.VALUE_NOT_OFFERED}


def _takers(flavor: inventory.Flavor, hosts: inventory.Hosts) -> list[str]:
    """Return the hosts that the evaluator lets pass, each alone."""
    request = Request(inputs.read_flavor(flavor.extra_specs), _EXEMPT)
    return [n for n in hosts if not any(request.reasons(hosts[n].aggregates))]


def _draw(rng: random.Random) -> inventory.Stock:
    """Return a random cloud of eight hosts that are up."""
    names = [f'h{number}' for number in range(8)]
    aggregates = [
        inventory.HostAggregate(
            f'a{number}',
            {key: rng.choice(_OFFERED[key]) for key in rng.sample(_KEYS, 2)}
            | (_ON if rng.random() < 0.25 else {}),
            tuple(rng.sample(names, rng.randint(0, 3))),
        )
        for number in range(6)
    ]
    flavors = []
    for number in range(6):
        keys = rng.sample(_KEYS, rng.randint(0, 3))
        specs = {_SCOPE + key: rng.choice(_WANTED[key]) for key in keys}
        flavors.append(inventory.Flavor(f'f{number}', specs))
    hosts = [inventory.Host(name, state='up') for name in names]
    return inventory.Stock(flavors, aggregates, _EXEMPT, hosts)


class AgreementTest(unittest.TestCase):
    def test_lint_agrees_with_the_evaluator(self) -> None:
        rng = random.Random(20_261_122)
        kinds: collections.Counter[int] = collections.Counter()
        for _ in range(1_000 if tests.ALL else 150):
            stock = _draw(rng)
            takers = {
                f.name: len(_takers(f, stock.hosts)) for f in stock.flavors
            }
            kinds.update(takers.values())
            found = lint.lint(stock)
            for number, codes in enumerate((_NONE, {Code.ONE_HOST})):
                self.assertEqual(
                    {name for name in takers if takers[name] == number},
                    {f.name for f in found if f.code in codes},
                )
        self.assertGreater(min(kinds[n] for n in range(4)), 50, kinds)


@ddt.ddt
class NoHostTest(unittest.TestCase):
    @ddt.data(
        # Only an aggregate without hosts offers it.
        ({'gpu': 'h100'}, ('gpu', 'has', 'a100')),
        ({'gpu': 'a100', 'ssd': 'nvme'}, ('nearest', 'ssd')),
        ({'gpu': 'a100', f'{_SCOPE}gpu': '!'}, ('nearest', 'gpu')),
    )
    @ddt.unpack
    def test_a_flavor_that_no_host_takes_is_found(
        self, extra_specs: dict[str, str], words: tuple[str, ...]
    ) -> None:
        stock = inventory.Stock(
            [inventory.Flavor('f', extra_specs)],
            [
                inventory.HostAggregate('a', {'gpu': 'a100'}, ('h1', 'h2')),
                inventory.HostAggregate('b', {'ssd': 'nvme'}, ('h3',)),
                inventory.HostAggregate('c', {'gpu': 'h100'}),
            ],
            _EXEMPT,
        )
        found = lint.lint(stock)
        (problem,) = (f for f in found if f.code is Code.NO_HOST)
        for word in ('none of 3 hosts takes the flavor', *words):
            self.assertIn(word, problem.text)
        self.assertIn('openstack', problem.remedy)

    @ddt.data(
        # Hosts and their states; None for who does not know all hosts.
        ('!', None, set()),
        ('!', {}, {Code.NO_HOST}),
        ('!', {'h1': 'up'}, {Code.NO_HOST}),
        ('!', {'h2': 'up'}, {Code.ONE_HOST}),
        ('!', {'h2': 'up', 'h3': 'up'}, set()),
        ('1', {'h1': 'up', 'h4': 'disabled'}, set()),
        ('1', {'h1': 'down', 'h4': 'disabled'}, {Code.NO_HOST_UP}),
    )
    @ddt.unpack
    def test_hosts_count_if_they_are_known_and_up(
        self, text, states, codes
    ) -> None:
        flavors = [inventory.Flavor('f', {f'{_SCOPE}gpu': text})]
        own = ('h1', 'h4') if text == '1' else ('h1',)
        aggregates = [inventory.HostAggregate('a', {'gpu': '1'}, own)]
        known = [
            inventory.Host(name, state=state)
            for name, state in (states or {}).items()
        ]
        others = known if states is not None else None
        stock = inventory.Stock(flavors, aggregates, _EXEMPT, others)
        found = lint.lint(stock)
        self.assertEqual(codes, {f.code for f in found})

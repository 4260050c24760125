# SPDX-License-Identifier: Apache-2.0

"""Random clouds: what lint and audit say of each is what the filter says.

Hosts are down, disabled or unknown to Nova, and hosts of servers are hidden.
The oracle asks the filter's evaluator of one host after the other.
"""

import collections
import random
import unittest

import tests
from nova_filters import conf
from nova_filters.matching import inputs
from nova_filters.matching.judge import Judge
from openstack_commands.aggregates.advice import audit, inventory, lint
from openstack_commands.aggregates.advice.mistakes import FindingCode

_EXEMPT = tuple(conf.DEFAULTS['exempt_metadata_keys'])
_NAMES = [f'h{number}' for number in range(8)]
#: What random aggregates have, and what random flavors ask for.
_OFFERED = {
    'gpu': ('a100', 'h100', 'a100,l4'),
    'cpu': ('2', '3', '4'),
    'os': ('windows', 'rhel', '<or> windows <or> ~', '!'),
    'tier': ('gold', 'silver', '*'),
    # It is exempt by default.
    'availability_zone': ('a', 'b'),
}
_WANTED = {
    'gpu': ('a100', '<or> h100 <or> l4', '*', '!', '<or> a100 <or> ~', 'v100'),
    'cpu': ('>= 3', '== 4', '>= 5', '<or> 2 <or> 3'),
    'os': ('windows', 'rhel', '~', '<or> rhel <or> ~'),
    'tier': ('gold', 'silver', '!', '*'),
}
_STATES = ('up', 'up', 'disabled', 'down', 'disabled and down', 'unknown')
#: The findings that say that no host passes.
_NONE = {
    FindingCode.NO_HOST,
    FindingCode.KEY_NOT_OFFERED,
    FindingCode.VALUE_NOT_OFFERED,
}


def _draw_stock(rng: random.Random) -> inventory.Stock:
    """Return the flavors, aggregates and hosts of a random cloud."""
    aggregates = []
    for number in range(6):
        keys = rng.sample(sorted(_OFFERED), 2)
        metadata = {key: rng.choice(_OFFERED[key]) for key in keys}
        if rng.random() < 0.25:
            metadata[inputs.FLAG] = 'True'
        hosts = tuple(rng.sample(_NAMES, rng.randint(0, 3)))
        aggregates.append(
            inventory.HostAggregate(f'a{number}', metadata, hosts)
        )
    flavors = []
    for number in range(6):
        keys = rng.sample(sorted(_WANTED), rng.randint(0, 3))
        specs = {inputs.SCOPE + key: rng.choice(_WANTED[key]) for key in keys}
        flavors.append(inventory.Flavor(f'f{number}', specs))
    listed_hosts = [
        inventory.Host(name, state=rng.choice(_STATES))
        for name in _NAMES
        if rng.random() < 0.9
    ]
    return inventory.Stock(flavors, aggregates, _EXEMPT, listed_hosts)


def _draw_servers(
    rng: random.Random, stock: inventory.Stock
) -> list[inventory.Server]:
    """Return servers on any hosts, on none, and on hidden ones."""
    servers = []
    for number in range(6):
        host = rng.choice((*_NAMES, 'elsewhere', '', None))
        flavor = rng.choice((*stock.flavors, None))
        servers.append(
            inventory.Server(f's{number}', f'id{number}', host, flavor)
        )
    return servers


def _takers(flavor: inventory.Flavor, hosts: inventory.Hosts) -> set[str]:
    """Return the hosts that the evaluator lets pass, each alone."""
    judge = Judge(inputs.read_flavor(flavor.extra_specs), _EXEMPT)
    return {n for n in hosts if not any(judge.reasons(hosts[n].aggregates))}


class RandomCloudTest(unittest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.rng = random.Random(20_261_122)
        self.number = 1_000 if tests.ALL else 150

    def test_lint_tells_which_flavors_have_no_host(self) -> None:
        kinds: collections.Counter[object] = collections.Counter()
        for _ in range(self.number):
            stock = _draw_stock(self.rng)
            up = {name for name, host in stock.hosts.items() if host.usable}
            wanted: dict[str, set[str]] = collections.defaultdict(set)
            for flavor in stock.flavors:
                takers = _takers(flavor, stock.hosts)
                kinds[len(takers)] += 1
                if not takers:
                    wanted['none'].add(flavor.name)
                elif not takers & up:
                    wanted['not up'].add(flavor.name)
                if len(takers) == 1:
                    wanted['one'].add(flavor.name)
            kinds.update(wanted.keys())
            findings = lint.lint(stock)
            for kind, codes in (
                ('none', _NONE),
                ('not up', {FindingCode.NO_HOST_UP}),
                ('one', {FindingCode.ONE_HOST}),
            ):
                names = {f.name for f in findings if f.code in codes}
                self.assertEqual(wanted[kind], names, stock)
        for kind in (0, 1, 2, 3, 'not up'):
            self.assertGreater(kinds[kind], 50, kinds)

    def test_audit_tells_which_servers_their_host_refuses(self) -> None:
        kinds: collections.Counter[str] = collections.Counter()
        for _ in range(self.number):
            stock = _draw_stock(self.rng)
            servers = _draw_servers(self.rng, stock)
            wanted: dict[str, set[str]] = {'refused': set(), 'unknown': set()}
            for server in servers:
                if server.host == '':
                    continue
                if not server.flavor or server.host not in stock.hosts:
                    wanted['unknown'].add(server.id)
                elif server.host not in _takers(server.flavor, stock.hosts):
                    wanted['refused'].add(server.id)
            audited = audit.Audit(servers, stock)
            told: dict[str, set[str]] = {'refused': set(), 'unknown': set()}
            for problem in (*audited.refused(), *audited.unknown()):
                told[problem.kind].update(problem.server_ids)
                kinds[problem.kind] += 1
            self.assertEqual(wanted, told, stock)
        for kind in wanted:
            self.assertGreater(kinds[kind], 50, kinds)

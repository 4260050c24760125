# SPDX-License-Identifier: Apache-2.0

"""Random clouds: no false all-clear, and nothing to paste that Nova refuses.

Hosts are down, disabled, in a cell that is down, or unknown to Nova; hosts of
servers are hidden. The oracle asks the filter's evaluator and a small model of
Nova; it shares no code with the commands' advice.
"""

import copy
import random
import re
import shlex

from nova_filters import conf
from nova_filters.matching import inputs
from nova_filters.matching.request import Request
from tests import ALL
from tests.functional.client import base, rest_stub

_SEED = 20_261_123
_CLOUDS = 2_000 if ALL else 20
_PASTED = _CLOUDS // 5
_EXEMPT = tuple(conf.DEFAULTS['exempt_metadata_keys'])
_ZONE = 'availability_zone'
_STATES = (
    *[('enabled', 'up')] * 5,
    ('disabled', 'up'),
    ('enabled', 'down'),
    ('disabled', 'down'),
    ('UNKNOWN', None),
)
_OFFERED = {
    'gpu': ('a100', 'h100', 'a100,l4'),
    'ssd': ('nvme', 'sata', '*'),
    'os': ('windows', '<or> rhel <or> ~', '!', '~'),
}
_WANTED = {
    'gpu': ('a100', '<or> h100 <or> l4', '*', '!', '<or> a100 <or> ~'),
    'ssd': ('nvme', '*', '!', 's== sata'),
    'os': ('windows', 'rhel', '~', '*'),
}
_SCOPE = 'aggregate_instance_extra_specs:'


class RefusedError(Exception):
    """Nova refuses a command."""


class Nova(rest_stub.Cloud):
    """The cloud of the tests, with the commands that Nova refuses."""

    def up(self) -> set[str]:
        """Return the hosts that can take a server."""
        up = ('enabled', 'up')
        return {host for host in self.hosts if self.states[host] == up}

    def zones(self, host: str) -> set[str]:
        """Return the availability zones of a host."""
        return {
            metadata[_ZONE]
            for metadata, hosts in self.aggregates.values()
            if host in hosts and _ZONE in metadata
        }

    def takers(self, extra_specs: dict[str, str]) -> set[str]:
        """Return the hosts that pass for a flavor and are up."""
        request = Request(inputs.read_flavor(extra_specs), _EXEMPT)
        passing = set()
        for host in self.up():
            aggregates = [
                inputs.Aggregate(name, metadata)
                for name, (metadata, hosts) in self.aggregates.items()
                if host in hosts
            ]
            if not any(request.reasons(aggregates)):
                passing.add(host)
        return passing

    def run(self, command: str) -> None:
        """Run a command of the shell.

        :raises RefusedError: if Nova refuses it.
        """
        before = {host: self.zones(host) for host in self.hosts}
        self._change(*shlex.split(command)[1:])
        used = {host for host, _ in self.servers.values()}
        for host, zones in before.items():
            after = self.zones(host)
            if len(after) > 1 or after != zones and host in used:
                raise RefusedError(f'{host} from {zones} to {after}')

    def _change(self, *words: str) -> None:
        """Change what a command changes."""
        match words:
            case ['aggregate', 'set', '--property', pair, name]:
                key, _, value = pair.partition('=')
                self.aggregates[name][0][key] = value
            case ['aggregate', 'add', 'host', name, host]:
                self.aggregates[name][1].append(host)
            case ['aggregate', 'remove', 'host', name, host]:
                self.aggregates[name][1].remove(host)
            case ['compute', 'service', 'set', '--enable', host, binary]:
                if self.states[host] != ('disabled', 'up'):
                    raise RefusedError(f'{host} is not disabled only')
                if binary != 'nova-compute':
                    raise RefusedError(binary)
                self.states[host] = 'enabled', 'up'
            case _:
                raise RefusedError(f'what is {words}?')


def draw(rng: random.Random) -> Nova:
    """Return a random cloud."""
    names = [f'c{number}' for number in range(rng.randint(2, 7))]
    # Nova keeps each host in one zone.
    home = {name: rng.choice('ab') for name in names}
    aggregates = {}
    for number in range(rng.randint(1, 5)):
        keys = rng.sample(sorted(_OFFERED), rng.randint(0, 2))
        metadata = {key: rng.choice(_OFFERED[key]) for key in keys}
        if rng.random() < 0.3:
            metadata['force_metadata_check'] = 'True'
        hosts = rng.sample(names, rng.randint(0, len(names)))
        if rng.random() < 0.4:
            metadata[_ZONE] = zone = rng.choice('ab')
            hosts = [host for host in hosts if home[host] == zone]
        aggregates[f'a{number}'] = metadata, hosts
    flavors = {}
    for number in range(rng.randint(1, 4)):
        keys = rng.sample(sorted(_WANTED), rng.randint(0, 3))
        scope = rng.choice(('', _SCOPE))
        flavors[f'f{number}'] = {
            scope + key: rng.choice(_WANTED[key]) for key in keys
        }
    hosts = [name for name in names if rng.random() < 0.9]
    servers = {
        f's{number}': (rng.choice(names), rng.choice([*flavors]))
        for number in range(rng.randint(0, 4))
    }
    nova = Nova(flavors, aggregates, hosts, servers)
    nova.states = {name: rng.choice(_STATES) for name in names}
    for name in servers:
        luck = rng.random()
        if luck < 0.3:
            seen = None if luck < 0.2 else 'elsewhere'
            nova.shown[name] = {'OS-EXT-SRV-ATTR:host': seen}
        elif luck > 0.95:
            nova.down += (f'id-{name}',)
    return nova


def change(rng: random.Random, nova: Nova) -> tuple[list[str], str]:
    """Return the options of a random change, and the command that makes it."""
    name = rng.choice(sorted(nova.aggregates))
    _, hosts = nova.aggregates[name]
    pair = f'{rng.choice(sorted(_OFFERED))}={rng.choice("xyz!")}'
    changes = [('--set-aggregate', pair, f'set --property {pair} {name}')]
    for word, candidates in (
        ('add', [host for host in nova.hosts if host not in hosts]),
        ('remove', hosts),
    ):
        if candidates:
            host = rng.choice(candidates)
            changes.append(
                (f'--{word}-host', host, f'{word} host {name} {host}')
            )
    option, text, command = rng.choice(changes)
    return [option, name, text], f'openstack aggregate {command}'


def stranded(before: Nova, after: Nova) -> set[str]:
    """Return the servers that only their own host takes after a change."""
    return {
        name
        for name, (host, flavor) in before.servers.items()
        if before.takers(before.flavors[flavor]) - {host}
        and not after.takers(after.flavors[flavor]) - {host}
    }


class RandomCloudTest(base.CloudTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.rng = random.Random(_SEED)

    def draw(self) -> Nova:
        """Return a random cloud that answers."""
        nova = draw(self.rng)
        nova.install(self.mocker)
        return nova

    def test_no_false_all_clear(self) -> None:
        kinds = {0: 0, 1: 0, 2: 0}
        while sum(kinds.values()) < _CLOUDS:
            nova = self.draw()
            options, line = change(self.rng, nova)
            files = self.files(*base.NOUNS)
            command = ('aggregate', 'filter', 'impact', *options, *files)
            result = self.openstack(*command, '--fail-on', 'stranded')
            case = (vars(nova), options, result)
            after = copy.deepcopy(nova)
            try:
                after.run(line)
            except RefusedError:
                refused = 'Nova refuses' in result.error + result.output
                self.assertTrue(refused, case)
                continue
            kinds[result.status] += 1
            lost = stranded(nova, after)
            if result.status == 0:
                self.assertEqual(set(), lost, case)
            elif result.status == 2:
                self.assertNotEqual(set(), lost, case)
        self.assertGreater(min(kinds.values()), 0, kinds)

    def test_what_is_to_paste_brings_a_host_back(self) -> None:
        pasted = 0
        while pasted < _PASTED:
            nova = self.draw()
            name = self.rng.choice(sorted(nova.flavors))
            command = ('aggregate', 'filter', 'explain', name, *self.files())
            result = self.openstack(*command, '--fail-if-none')
            takers = nova.takers(nova.flavors[name])
            status = 0 if takers else 2
            self.assertEqual(status, result.status, (vars(nova), result))
            lines = re.findall(r'(?m)^  (openstack .*?)\s*$', result.output)
            for line in lines:
                nova.run(line)
            if lines:
                takers = nova.takers(nova.flavors[name])
                self.assertTrue(takers, (vars(nova), result))
            pasted += len(lines)

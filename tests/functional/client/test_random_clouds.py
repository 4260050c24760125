# SPDX-License-Identifier: Apache-2.0

"""Random clouds: each verdict is the filter's.

Hosts are down, disabled, in a cell that is down, or unknown to Nova; hosts of
servers are hidden. The oracle asks the filter's evaluator and a small model of
Nova; it shares no code with the commands' advice.
"""

import json
import random
from typing import Any

from nova_filters import conf
from nova_filters.matching import inputs
from nova_filters.matching.request import Request
from tests import ALL
from tests.functional.client import base, rest_stub

_SEED = 20_261_123
_CLOUDS = 2_000 if ALL else 20
_EXEMPT = tuple(conf.DEFAULTS['exempt_metadata_keys'])
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
#: The findings that say that no host takes a flavor.
_NO_HOST = {'no-host', 'key-not-offered', 'value-not-offered'}
#: The files that each command reads.
_FILES = {
    'explain': ('flavors', 'aggregates', 'hosts'),
    'lint': ('flavors', 'aggregates', 'hosts'),
    'audit': ('aggregates', 'hosts', 'servers'),
}


class Nova(rest_stub.Cloud):
    """The cloud of the tests, with its verdicts."""

    def up(self) -> set[str]:
        """Return the hosts that can take a server."""
        up = ('enabled', 'up')
        return {host for host in self.hosts if self.states[host] == up}

    def known(self) -> set[str]:
        """Return the hosts of services and of aggregates."""
        known = {*self.hosts}
        for _, hosts in self.aggregates.values():
            known.update(hosts)
        return known

    def passing(self, extra_specs: dict[str, str]) -> set[str]:
        """Return the hosts that pass for a flavor, up or not."""
        request = Request(inputs.read_flavor(extra_specs), _EXEMPT)
        passing = set()
        for host in self.known():
            aggregates = [
                inputs.Aggregate(name, metadata)
                for name, (metadata, hosts) in self.aggregates.items()
                if host in hosts
            ]
            if not any(request.reasons(aggregates)):
                passing.add(host)
        return passing


def draw(rng: random.Random) -> Nova:
    """Return a random cloud."""
    names = [f'c{number}' for number in range(rng.randint(2, 7))]
    aggregates = {}
    for number in range(rng.randint(1, 5)):
        keys = rng.sample(sorted(_OFFERED), rng.randint(0, 2))
        metadata = {key: rng.choice(_OFFERED[key]) for key in keys}
        if rng.random() < 0.3:
            metadata['force_metadata_check'] = 'True'
        if rng.random() < 0.4:
            # The filter exempts it by default.
            metadata['availability_zone'] = rng.choice('ab')
        hosts = rng.sample(names, rng.randint(0, len(names)))
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


class RandomCloudTest(base.CloudTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.rng = random.Random(_SEED)
        #: What the commands have found in all clouds.
        self.kinds: set[str] = set()

    def draw(self) -> Nova:
        """Return a random cloud that answers."""
        nova = draw(self.rng)
        nova.install(self.mocker)
        return nova

    def filter(self, *words: str) -> tuple[int, list[dict[str, Any]]]:
        """Return how a command of the filter ends, and its rows."""
        command = ('aggregate', 'filter', *words, '-f', 'json')
        result = self.openstack(*command, *self.files(*_FILES[words[0]]))
        self.assertEqual('', result.error)
        return result.status, json.loads(result.output)

    def test_each_verdict_is_that_of_the_filter(self) -> None:
        for _ in range(_CLOUDS):
            nova = self.draw()
            passing = {
                flavor: nova.passing(specs)
                for flavor, specs in nova.flavors.items()
            }
            self.assert_explained(nova, passing)
            self.assert_linted(nova, passing)
            self.assert_audited(nova, passing)
        self.assertLessEqual(
            {'pass', 'refuse', 'no-host-up', 'refused', 'unknown', *_NO_HOST},
            self.kinds,
        )

    def assert_explained(
        self, nova: Nova, passing: dict[str, set[str]]
    ) -> None:
        """Check what ``explain`` says of each flavor and host."""
        status, rows = self.filter('explain', *nova.flavors, '--fail-if-none')
        all_usable = all(hosts & nova.up() for hosts in passing.values())
        self.assertEqual(0 if all_usable else 2, status, vars(nova))
        self.assertEqual(len(nova.flavors) * len(nova.known()), len(rows))
        self.kinds.update(row['Result'] for row in rows)
        for flavor, hosts in passing.items():
            passed = {
                row['Host']
                for row in rows
                if (row['Flavor'], row['Result']) == (flavor, 'pass')
            }
            self.assertEqual(hosts, passed, (vars(nova), flavor))

    def assert_linted(self, nova: Nova, passing: dict[str, set[str]]) -> None:
        """Check which flavors ``lint`` says have no host, or none up."""
        _, rows = self.filter('lint')
        self.kinds.update(row['Code'] for row in rows)
        for codes, flavors in (
            (_NO_HOST, {f for f, hosts in passing.items() if not hosts}),
            (
                {'no-host-up'},
                {
                    flavor
                    for flavor, hosts in passing.items()
                    if hosts and not hosts & nova.up()
                },
            ),
        ):
            names = {row['Name'] for row in rows if row['Code'] in codes}
            self.assertEqual(flavors, names, (vars(nova), codes))

    def assert_audited(self, nova: Nova, passing: dict[str, set[str]]) -> None:
        """Check what ``audit`` says of each server."""
        wanted: dict[str, set[str]] = {'refused': set(), 'unknown': set()}
        for name, (host, flavor) in nova.servers.items():
            shown = nova.shown.get(name, {}).get('OS-EXT-SRV-ATTR:host', host)
            if f'id-{name}' in nova.down or shown not in nova.known():
                wanted['unknown'].add(f'id-{name}')
            elif shown not in passing[flavor]:
                wanted['refused'].add(f'id-{name}')
        told: dict[str, set[str]] = {'refused': set(), 'unknown': set()}
        _, rows = self.filter('audit')
        for row in rows:
            told[row['Problem']].update(row['Server IDs'])
            self.kinds.add(row['Problem'])
        self.assertEqual(wanted, told, vars(nova))

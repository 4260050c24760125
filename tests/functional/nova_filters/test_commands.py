# SPDX-License-Identifier: Apache-2.0

"""The commands say of random clouds what the filter says in the scheduler."""

import json
import pathlib
import random
import tempfile
from typing import Any

import tests
from nova_filters import conf
from nova_filters.matching import inputs
from osc_placement_plugins import audit, files, offers
from osc_placement_plugins.records import Inventory
from osc_placement_plugins.verdicts import Verdict
from tests.functional.nova_filters import base, oracle

_CLOUDS = 580 if tests.ALL else 58
_EXEMPT = tuple(conf.DEFAULTS['exempt_metadata_keys'])
_NAMES = [f'h{number}' for number in range(8)]
#: What random aggregates have, and what random flavors ask for.
_OFFERED = {
    'gpu': ('a100', 'h100', 'a100,l4'),
    'cpu': ('2', '3', '4'),
    'os': ('windows', 'rhel', '<or> windows <or> ~', '!'),
    # It is exempt by default.
    'availability_zone': ('a', 'b'),
}
_WANTED = {
    'gpu': ('a100', '<or> h100 <or> l4', '*', '!', '<or> a100 <or> ~', 'v100'),
    'cpu': ('>= 3', '== 4', '>= 5', '<or> 2 <or> 3'),
    'os': ('windows', 'rhel', '~', '<or> rhel <or> ~'),
}
_STATES = (
    ('enabled', 'up'), ('enabled', 'up'), ('disabled', 'up'),
    ('enabled', 'down'), ('UNKNOWN', 'up'),
)  # fmt: skip


def _metadata(rng: random.Random) -> dict[str, str]:
    keys = rng.sample(sorted(_OFFERED), 2)
    metadata = {key: rng.choice(_OFFERED[key]) for key in keys}
    if rng.random() < 0.25:
        metadata[inputs.FLAG] = 'True'
    return metadata


def _specs(rng: random.Random) -> dict[str, str]:
    keys = rng.sample(sorted(_WANTED), rng.randint(0, 3))
    return {inputs.SCOPE + key: rng.choice(_WANTED[key]) for key in keys}


def _cloud(rng: random.Random) -> dict[str, list[dict[str, Any]]]:
    """Return a random cloud, as Nova's API shows it."""
    aggregates = [
        {
            'name': f'a{number}',
            'metadata': _metadata(rng),
            'hosts': rng.sample(_NAMES, rng.randint(0, 3)),
        }
        for number in range(6)
    ]
    flavors = [
        {'id': str(number), 'name': f'f{number}', 'extra_specs': _specs(rng)}
        for number in range(6)
    ]
    services = []
    # The last host has no service.
    for name in _NAMES[:-1]:
        status, state = rng.choice(_STATES)
        services.append(
            {
                'binary': 'nova-compute',
                'host': name,
                'status': status,
                'state': state,
            }
        )
    servers = []
    for number in range(6):
        host = rng.choice((*_NAMES, 'elsewhere', '', None))
        flavor = rng.choice(flavors)
        servers.append(
            {
                'id': f'id{number}',
                'name': f's{number}',
                'OS-EXT-SRV-ATTR:host': host,
                'hostId': '' if host == '' else 'a1b2',
                'flavor': {
                    'original_name': flavor['name'],
                    'extra_specs': flavor['extra_specs'],
                },
            }
        )
    return {
        'aggregates': aggregates,
        'flavors': flavors,
        'hosts': services,
        'servers': servers,
    }


class RandomCloudTest(base.OptionTestCase):
    """Files of random clouds, with a fixed seed."""

    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix='opp-commands-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.rng = random.Random(20_261_127)

    def draw(self) -> None:
        """Draw a cloud, and write the files that the commands read."""
        self.rows = _cloud(self.rng)
        paths = {}
        for option, rows in self.rows.items():
            noun = 'services' if option == 'hosts' else option
            file = self.folder / noun
            file.write_text(json.dumps({noun: rows}))
            paths[option] = [str(file)]
        self.saved = files.Saved(paths)
        self.inventory = Inventory(
            self.saved.aggregates(), _EXEMPT, self.saved.hosts()
        )

    def passes(self, extra_specs: dict[str, str], host: str) -> bool:
        """Return whether a host passes for the oracle."""
        metadata = [
            aggregate['metadata']
            for aggregate in self.rows['aggregates']
            if host in aggregate['hosts']
        ]
        return oracle.passes(extra_specs, metadata, [*_EXEMPT])

    def test_explain_and_lint_agree_with_the_oracle(self) -> None:
        for _ in range(_CLOUDS):
            self.draw()
            flavors = self.saved.flavors()
            hosts = [*self.inventory.hosts.values()]
            up = {host.name for host in hosts if host.usable}
            expected: dict[str, set[str]] = {
                'no': set(),
                'idle': set(),
                'one': set(),
            }
            for flavor in flavors:
                takers = {
                    host.name
                    for host in hosts
                    if self.passes(dict(flavor.extra_specs), host.name)
                }
                verdict = Verdict(flavor, self.inventory, hosts)
                self.assertEqual(takers & up, {h.name for h in verdict.takers})
                self.assertEqual(takers - up, {h.name for h in verdict.idle})
                refused = sum(len(group.hosts) for group in verdict.groups)
                self.assertEqual(len(hosts) - len(takers), refused)
                if not takers:
                    expected['no'].add(flavor.name)
                elif not takers & up:
                    expected['idle'].add(flavor.name)
                elif len(takers) == 1:
                    expected['one'].add(flavor.name)
            findings = offers.find(flavors, self.inventory)
            for kind, codes in (
                ('no', {'no-host', 'key-not-offered', 'value-not-offered'}),
                ('idle', {'no-host-up'}),
                ('one', {'one-host'}),
            ):
                names = {f.name for f in findings if f.code.value in codes}
                self.assertEqual(expected[kind], names, self.rows)

    def test_audit_agrees_with_the_oracle(self) -> None:
        found = 0
        for _ in range(_CLOUDS):
            self.draw()
            _, problems = audit.audit(self.saved.servers(), self.inventory)
            kinds = {
                server.id: kind
                for (kind, _, _), servers in problems.items()
                for server in servers
            }
            for server in self.rows['servers']:
                kind = kinds.get(server['id'])
                self.assertEqual(self.expect(server), kind, self.rows)
                found += kind == audit.REFUSED
        self.assertGreater(found, _CLOUDS)

    def expect(self, server: Any) -> str | None:
        """Return what the audit must say of a server."""
        name = server['OS-EXT-SRV-ATTR:host']
        if name == '':
            return None
        if name not in self.inventory.hosts:
            return audit.UNKNOWN
        if self.passes(server['flavor']['extra_specs'], name):
            return None
        return audit.REFUSED

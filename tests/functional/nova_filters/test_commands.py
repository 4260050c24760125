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
from testing.nova import states
from tests.functional.nova_filters import base, oracle

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
_STATES = (
    ('enabled', 'up'), ('enabled', 'up'), ('disabled', 'up'),
    ('enabled', 'down'), ('disabled', 'down'), ('UNKNOWN', 'up'),
)  # fmt: skip


def _metadata(rng: random.Random) -> dict[str, str]:
    metadata = {
        key: rng.choice(_OFFERED[key])
        for key in rng.sample(sorted(_OFFERED), 2)
    }
    if rng.random() < 0.25:
        metadata[inputs.FLAG] = 'True'
    return metadata


def _specs(rng: random.Random) -> dict[str, str]:
    keys = rng.sample(sorted(_WANTED), rng.randint(0, 3))
    return {inputs.SCOPE + key: rng.choice(_WANTED[key]) for key in keys}


class RandomCloudTest(base.OptionTestCase):
    """Files of random clouds, with a fixed seed."""

    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix='opp-commands-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.rng = random.Random(20_261_127)
        self.clouds = 580 if tests.ALL else 58
        self.draw()

    def draw(self) -> None:
        """Draw a cloud, as Nova's API shows it."""
        rng = self.rng
        self.rows: dict[str, list[dict[str, Any]]] = {
            'aggregates': [
                {
                    'name': f'a{number}',
                    'metadata': _metadata(rng),
                    'hosts': rng.sample(_NAMES, rng.randint(0, 3)),
                }
                for number in range(6)
            ],
            'flavors': [
                {'id': str(n), 'name': f'f{n}', 'extra_specs': _specs(rng)}
                for n in range(6)
            ],
            'services': [],
            'servers': [],
        }
        for name in _NAMES:
            if rng.random() < 0.9:
                status, state = rng.choice(_STATES)
                service = {'binary': 'nova-compute', 'host': name}
                service.update(status=status, state=state)
                self.rows['services'].append(service)
        for number in range(6):
            host = rng.choice((*_NAMES, 'elsewhere', '', None))
            server = {
                'id': f'id{number}',
                'name': f's{number}',
                'OS-EXT-SRV-ATTR:host': host,
            }
            server['hostId'] = '' if host == '' else 'a1b2'
            flavor = rng.choice(self.rows['flavors'])
            server['flavor'] = {
                'original_name': flavor['name'],
                'extra_specs': flavor['extra_specs'],
            }
            self.rows['servers'].append(server)

    def saved(self) -> files.Saved:
        """Write the files, and return what reads them."""
        paths = {}
        for noun, option in (
            ('aggregates', 'aggregates'), ('flavors', 'flavors'),
            ('services', 'hosts'), ('servers', 'servers'),
        ):  # fmt: skip
            file = self.folder / noun
            file.write_text(json.dumps({noun: self.rows[noun]}))
            paths[option] = [str(file)]
        return files.Saved(paths)

    def metadata_of(self, host: str) -> list[dict[str, str]]:
        """Return the metadata of a host's aggregates."""
        return [
            aggregate['metadata']
            for aggregate in self.rows['aggregates']
            if host in aggregate['hosts']
        ]

    def read(self) -> tuple[files.Saved, Inventory]:
        """Return the files, and the inventory in them."""
        saved = self.saved()
        return saved, Inventory(saved.aggregates(), _EXEMPT, saved.hosts())

    def test_explain_and_lint_agree_with_the_oracle(self) -> None:
        for _ in range(self.clouds):
            self.draw()
            saved, inventory = self.read()
            flavors = saved.flavors()
            hosts = [*inventory.hosts.values()]
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
                    if oracle.passes(
                        dict(flavor.extra_specs),
                        self.metadata_of(host.name),
                        [*_EXEMPT],
                    )
                }
                verdict = Verdict(flavor, inventory, hosts)
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
            findings = offers.find(flavors, inventory)
            for kind, codes in (
                ('no', {'no-host', 'key-not-offered', 'value-not-offered'}),
                ('idle', {'no-host-up'}),
                ('one', {'one-host'}),
            ):
                names = {f.name for f in findings if f.code.value in codes}
                self.assertEqual(expected[kind], names, self.rows)

    def test_audit_agrees_with_the_filter_before_and_after_an_edit(
        self,
    ) -> None:
        our_filter = base.loaded_filter()
        self.set_option('exempt_metadata_keys', [*_EXEMPT])
        found = 0
        for _ in range(self.clouds):
            self.draw()
            for _ in range(3):
                saved, inventory = self.read()
                _, problems = audit.audit(saved.servers(), inventory)
                kinds = {
                    server.id: kind
                    for (kind, _, _), servers in problems.items()
                    for server in servers
                }
                for server in self.rows['servers']:
                    expected = self.ask(our_filter, server, inventory)
                    self.assertEqual(expected, kinds.get(server['id']))
                found += [*kinds.values()].count(audit.REFUSED)
                # Somebody edits the file.
                aggregate = self.rng.choice(self.rows['aggregates'])
                aggregate['metadata'] = _metadata(self.rng)
        self.assertGreater(found, self.clouds)

    def ask(
        self, our_filter: Any, server: Any, inventory: Inventory
    ) -> str | None:
        """Return what the filter says of a server on its host."""
        name = server['OS-EXT-SRV-ATTR:host']
        if name == '':
            return None
        if name not in inventory.hosts:
            return audit.UNKNOWN
        aggregates = states.aggregates(*self.metadata_of(name))
        host = states.host_state(name, aggregates)
        request = states.request(server['flavor']['extra_specs'])
        if list(our_filter.filter_all([host], request)):
            return None
        return audit.REFUSED

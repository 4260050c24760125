# SPDX-License-Identifier: Apache-2.0

"""The hard rules of Nova, and an oracle of them over random clouds."""

import collections
import random
import unittest
from collections.abc import Sequence
from typing import Any

import ddt

from openstack_commands.aggregates.advice import (
    audit,
    hard_rules,
    inventory,
    nova_records,
)
from openstack_commands.records import rows as records

_SEED = 20_261_124
_CLOUDS = 2_000
_ZONES = ('east', 'west', 'nova')
_PROJECTS = ('p1', 'p2')

#: What the rules are broken by: a noun, and an ID with a host if it matters.
Broken = set[tuple[str, str, str]]


def _server(name: str, host: str, **fields: Any) -> inventory.Server:
    """Return a server."""
    all_fields = {'zone': '', **fields}
    return inventory.Server(
        name, f'id of {name}', host, inventory.Flavor('f', {}), **all_fields
    )


def _group(policy: str, *most: int) -> nova_records.Group:
    """Return a server group; the members are told beside it."""
    return nova_records.Group('g', policy, [], 'id of g', *most)


@ddt.ddt
class GroupTest(unittest.TestCase):
    def broken(
        self, group: nova_records.Group, hosts: str
    ) -> list[tuple[list[str], str]]:
        """Return what a group breaks: places and reasons.

        :param hosts: of its members a, b, c, …
        """
        members = [
            _server(name, host)
            for name, host in zip('abcdef', hosts.split(), strict=False)
        ]
        breaches = [*hard_rules.of_group(group, members)]
        for breach in breaches:
            self.assertEqual(('broken', 'server group', 'g'), breach[:3])
            self.assertEqual('id of g', breach.id)
        return [(breach.places, breach.reason) for breach in breaches]

    def test_each_host_that_has_too_many_members_is_told(self) -> None:
        group = _group('anti-affinity')
        self.assertEqual(
            [
                (
                    ['b (h1)', 'd (h1)'],
                    'host h1 has 2 of 5 members; its policy allows 1',
                ),
                (
                    ['a (h2)', 'c (h2)'],
                    'host h2 has 2 of 5 members; its policy allows 1',
                ),
            ],
            self.broken(group, 'h2 h1 h2 h1 h3'),
        )

    @ddt.data(
        (2, 'h1 h1 h2', 0),
        (2, 'h1 h1 h1', 1),
        (2, 'h1 h1 h1 h2 h2', 1),
        (3, 'h1 h1 h1', 0),
    )
    @ddt.unpack
    def test_the_group_says_how_many(
        self, most: int, hosts: str, problems: int
    ) -> None:
        problems_of_group = self.broken(_group('anti-affinity', most), hosts)
        self.assertEqual(problems, len(problems_of_group))

    def test_an_affine_group_on_two_hosts_is_told(self) -> None:
        self.assertEqual(
            [
                (
                    ['a (h2)', 'b (h1)', 'c (h1)'],
                    'its policy wants one host: h1, h2',
                )
            ],
            self.broken(_group('affinity'), 'h2 h1 h1'),
        )
        self.assertEqual([], self.broken(_group('affinity'), 'h1 h1'))
        self.assertEqual([], self.broken(_group('affinity'), ''))

    @ddt.data('soft-affinity', 'soft-anti-affinity', '')
    def test_other_policies_are_no_hard_rules(self, policy: str) -> None:
        self.assertEqual([], self.broken(_group(policy), 'h1 h1 h2'))


class ServerTest(unittest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        aggregates = [
            inventory.HostAggregate('a', {'availability_zone': 'z'}, ('h1',)),
            inventory.HostAggregate('b', {'filter_tenant_id': 'q'}, ('h2',)),
        ]
        hosts = [inventory.Host(f'h{number}') for number in (1, 2)]
        self.stock = inventory.Stock([], aggregates, listed_hosts=hosts)

    def test_a_server_outside_its_zone_is_told(self) -> None:
        servers = [
            _server('fine', 'h1', zone='z'),
            _server('free', 'h2'),
            _server('unseen', 'h2', zone=None),
            _server('moved', 'h2', zone='z'),
            _server('closed', 'h2', zone='was'),
            # Nova takes any host for the zone that no aggregate makes.
            _server('default', 'h1', zone='nova'),
        ]
        breaches = [*hard_rules.of_zones(servers, self.stock)]
        ending = "; host h2 is in zone 'nova'"
        self.assertEqual(
            [
                (
                    'broken',
                    'server',
                    'moved',
                    [servers[3]],
                    f"it must stay in zone 'z'{ending}",
                    'id of moved',
                ),
                (
                    'broken',
                    'server',
                    'closed',
                    [servers[4]],
                    f"it must stay in zone 'was'{ending}",
                    'id of closed',
                ),
            ],
            breaches,
        )

    def test_an_aggregate_may_make_the_default_zone(self) -> None:
        nova = {'availability_zone': 'nova'}
        aggregates = [inventory.HostAggregate('n', nova, ('h2',))]
        stock = inventory.Stock(
            [], [*self.stock.aggregates, *aggregates], listed_hosts=[]
        )
        server = _server('default', 'h1', zone='nova')
        (breach,) = hard_rules.of_zones([server], stock)
        self.assertEqual('default', breach.name)

    def test_a_server_on_a_host_of_other_projects_is_told(self) -> None:
        servers = [
            _server('fine', 'h2', project='q'),
            _server('free', 'h1', project='p'),
            _server('stranger', 'h2', project='p'),
        ]
        (breach,) = hard_rules.of_projects(servers, self.stock)
        self.assertEqual(
            (
                'broken',
                'server',
                'stranger',
                [servers[2]],
                'host h2 is reserved for other projects',
                'id of stranger',
            ),
            breach,
        )


class Cloud:
    """A random cloud, as Nova's API shows it."""

    def __init__(self, rng: random.Random) -> None:
        self.hosts = [f'h{number}' for number in range(rng.randint(1, 5))]
        #: The zone and the projects of each host, as its aggregates say.
        self.zones = {host: rng.choice(_ZONES) for host in self.hosts}
        self.projects = {
            host: set(rng.sample(_PROJECTS, rng.choice((0, 0, 1, 2))))
            for host in self.hosts
        }
        self.enabled = rng.random() < 0.7
        self.servers = [
            {
                'id': f's{number}', 'name': rng.choice('ab'),
                'host': rng.choice([*self.hosts, None]),
                'tenant_id': rng.choice(_PROJECTS),
                'pinned': rng.choice([*_ZONES, 'gone', None, None]),
            }
            for number in range(rng.randint(0, 9))
        ]  # fmt: skip
        ids = [str(server['id']) for server in self.servers]
        self.groups = []
        for number in range(rng.randint(0, 3)):
            members = rng.sample(ids, rng.randint(0, len(ids)))
            ids = [server_id for server_id in ids if server_id not in members]
            rules = {}
            if rng.random() < 0.5:
                rules = {'max_server_per_host': rng.randint(1, 3)}
            policy = rng.choice(
                ('affinity', 'anti-affinity', 'soft-anti-affinity')
            )
            if policy != 'anti-affinity':
                rules = {}
            self.groups.append({
                'id': f'g{number}', 'name': 'same', 'policy': policy,
                'members': [*members, 'deleted'], 'rules': rules,
            })  # fmt: skip

    def audited(self) -> Broken:
        """Return what the audit finds, read from Nova's rows."""
        zones, projects = _aggregates(self.zones), []
        for host, names in self.projects.items():
            if names:
                metadata = {'filter_tenant_id': ', '.join(sorted(names))}
                projects.append((metadata, [host]))
        aggregates = [
            {'name': f'a{number}', 'metadata': metadata, 'hosts': hosts}
            for number, (metadata, hosts) in enumerate([*zones, *projects])
        ]
        flavor = {'original_name': 'f', 'extra_specs': {}}
        servers = [
            {
                'id': server['id'], 'name': server['name'],
                'status': 'ACTIVE', 'flavor': flavor,
                'hostId': 'a1' if server['host'] else '',
                'OS-EXT-SRV-ATTR:host': server['host'],
                'tenant_id': server['tenant_id'],
                'pinned_availability_zone': server['pinned'],
            }
            for server in self.servers
        ]  # fmt: skip
        stock = inventory.Stock(
            [],
            nova_records.read_aggregates(map(records.columns, aggregates)),
            listed_hosts=[
                inventory.Host(name, state='up') for name in self.hosts
            ],
        )
        judged = audit.Audit(
            nova_records.read_servers(map(records.columns, servers)),
            stock,
            ['host'],
        )
        groups = nova_records.read_groups(map(records.columns, self.groups))
        broken: Broken = set()
        for breach in judged.broken(groups, self.enabled):
            what, where = breach.noun, ' '.join(breach.hosts)
            # Two rules of a server may be broken at once.
            if what == 'server':
                what = 'zone' if 'zone' in breach.reason else 'project'
            self.count(breach.noun, breach.server_ids)
            broken.add((what, breach.id, where))
        return broken

    def count(self, noun: str, ids: Sequence[str]) -> None:
        """Check that the servers of a problem are on the cloud."""
        ids_on_hosts = {
            server['id'] for server in self.servers if server['host']
        }
        assert ids and ids_on_hosts.issuperset(ids), (noun, ids)  # noqa: S101

    def oracle(self) -> Broken:
        """Return what is broken, from the cloud itself."""
        broken: Broken = set()
        hosts = {
            server['id']: server['host']
            for server in self.servers
            if server['host']
        }
        for group in self.groups:
            used = collections.Counter(
                hosts[member] for member in group['members'] if member in hosts
            )
            if group['policy'] == 'affinity' and len(used) > 1:
                where = ' '.join(sorted(used))
                broken.add(('server group', group['id'], where))
            if group['policy'] == 'anti-affinity':
                most = group['rules'].get('max_server_per_host', 1)
                for host, number in used.items():
                    if number > most:
                        broken.add(('server group', group['id'], host))
        for server in self.servers:
            host, pinned = server['host'], server['pinned']
            if host is None:
                continue
            if pinned not in (None, 'nova') and pinned != self.zones[host]:
                broken.add(('zone', server['id'], host))
            other_projects = self.projects[host] - {server['tenant_id']}
            mine = server['tenant_id'] in self.projects[host]
            if self.enabled and other_projects and not mine:
                broken.add(('project', server['id'], host))
        return broken


def _aggregates(
    zones: dict[str, str],
) -> list[tuple[dict[str, str], list[str]]]:
    """Return the aggregates that make zones; none makes the default one."""
    members: dict[str, list[str]] = {}
    for host, zone in zones.items():
        if zone != 'nova':
            members.setdefault(zone, []).append(host)
    return [
        ({'availability_zone': zone}, hosts) for zone, hosts in members.items()
    ]


class OracleTest(unittest.TestCase):
    def test_no_false_all_clear_and_no_false_alarm(self) -> None:
        rng = random.Random(_SEED)
        kinds: collections.Counter[str] = collections.Counter()
        for number in range(_CLOUDS):
            cloud = Cloud(rng)
            broken = cloud.oracle()
            self.assertEqual(broken, cloud.audited(), (number, vars(cloud)))
            kinds.update({what for what, _, _ in broken} or {'fine'})
        self.assertGreater(min(kinds.values()), 100, kinds)
        self.assertEqual(4, len(kinds), kinds)

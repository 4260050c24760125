# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter capacity`` and ``audit`` in the real shell."""

import json
import os
import pathlib
from typing import Any

import ddt
from prometheus_client import parser

from tests.functional.client import base

#: What Placement has of each host: total after reserve and ratio, and used.
FREE = {
    'compute-1': {'VCPU': (8, 2), 'MEMORY_MB': (4096, 0), 'DISK_GB': (99, 0)},
    'compute-2': {'VCPU': (8, 8), 'MEMORY_MB': (4096, 0), 'DISK_GB': (99, 0)},
    'compute-3': {'VCPU': (16, 0), 'MEMORY_MB': (2048, 0), 'DISK_GB': (99, 0)},
    'compute-4': {'VCPU': (16, 0), 'MEMORY_MB': (900, 0), 'DISK_GB': (99, 90)},
}


_CAPACITY, _AUDIT = 'aggregate filter capacity', 'aggregate filter audit'


class CapacityTest(base.CloudTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.cloud.free = FREE

    def test_a_host_that_is_down_takes_none(self) -> None:
        self.cloud.states['compute-3'] = ('enabled', 'down')
        (row,) = self.live(*_CAPACITY.split(), 'm1.small')
        # It passes on 1, 2 and 4: 6 by CPUs, 0, and 1 by memory.
        self.assertEqual(
            {
                'Flavor': 'm1.small', 'Hosts': 3, 'Servers': 6 + 1,
                'Full': 1, 'Scarce': ['VCPU', 'MEMORY_MB'], 'Not Judged': [],
            },
            row,
        )  # fmt: skip
        methods = {method for method, _ in self.cloud.requests}
        self.assertEqual({'GET'}, methods)

    def test_the_page_shows_what_is_printed(self) -> None:
        self.assert_page_shows(f'{_CAPACITY} m1.small win.medium')

    def test_the_number_of_requests_is_told_and_bounded(self) -> None:
        self.cloud.hosts += [f'c{number}' for number in range(5_000)]
        told = self.told(_CAPACITY).replace('\n', ' ')
        # Four flavors, and three classes of each that has full hosts.
        self.assertIn(' 16 requests to Placement for 5006 hosts.', told)
        self.assertIn('An upper bound', told)

    def test_the_textfile_is_read_by_prometheus(self) -> None:
        self.cloud.flavors['a "b"\\c'] = {}
        file = pathlib.Path(self.folder, 'nova.prom')
        file.write_text('old')
        rows = self.live(*_CAPACITY.split(), '--textfile', str(file))
        families = [*parser.text_string_to_metric_families(file.read_text())]
        self.assertEqual(
            {
                (name, row['Flavor']): row[column]
                for name, column in (
                    ('nova_flavor_hosts', 'Hosts'),
                    ('nova_flavor_free_servers', 'Servers'),
                )
                for row in rows
            },
            {
                (one.name, sample.labels['flavor']): sample.value
                for one in families
                for sample in one.samples
            },
        )
        self.assertIn('a "b"\\c', {row['Flavor'] for row in rows})
        for family in families:
            self.assertEqual('gauge', family.type)
            self.assertTrue(family.documentation)
        # Another user's exporter reads it, and finds no other file.
        self.assertEqual(0o644, file.stat().st_mode & 0o777)
        self.assertEqual(
            [], [one for one in os.listdir(self.folder) if one[0] == '.']
        )
        command = [*_CAPACITY.split(), '--textfile', '/no/file']
        result = self.openstack(*command, **self.login)
        self.assert_one_line(result, "Cannot write '/no/file'")

    def test_what_placement_refuses_is_not_judged(self) -> None:
        self.cloud.refusal = 400, 'group_policy is required'
        told = self.told(f'{_CAPACITY} m1.small -f json', status=1)
        (row,) = json.loads(told)
        self.assertIsNone(row['Servers'])
        told = self.told(f'{_CAPACITY} m1.small', status=1)
        self.assertIn('m1.small: Placement says: group_policy', told)


@ddt.ddt
class AuditTest(base.CloudTestCase):
    def audit(self, *arguments: str) -> list[tuple[Any, ...]]:
        """Return the rows."""
        rows = self.live(*_AUDIT.split(), *arguments)
        return [tuple(row.values()) for row in rows]

    def run_servers(self, *hosts: str, stack: str = 'shop') -> None:
        """Let servers of one stack run on hosts."""
        self.cloud.servers = {
            f'web-{number}': (host, 'm1.small')
            for number, host in enumerate(hosts)
        }
        hints = {'heat_root_stack_id': stack, 'heat_path_in_stack': [stack]}
        for name in self.cloud.servers:
            self.cloud.shown[name] = {'scheduler_hints': hints}

    def test_a_sound_cloud_has_no_problem(self) -> None:
        self.assertEqual([], self.audit())
        told = self.told(f'{_AUDIT} --fail-on refused --fail-on spread')
        self.assertIn('0 problems found among 3 running', told)

    def test_the_page_shows_what_is_printed(self) -> None:
        self.cloud.aggregates['licensed'][0]['os'] = 'linux'
        self.assert_page_shows(_AUDIT)

    def test_servers_that_their_host_would_refuse_are_told(self) -> None:
        self.cloud.aggregates['licensed'][0]['os'] = 'linux'
        self.cloud.aggregates['gpus'][1].remove('compute-2')
        self.assertEqual(
            [
                (
                    *('refused', 'flavor', 'win.medium', ['mail (compute-7)']),
                    "'os' does not match 'windows'; aggregate 'licensed' has "
                    "'linux'",
                ),
                (
                    *('refused', 'flavor', 'gpu.large', ['train (compute-2)']),
                    "'gpu' not in any aggregate",
                ),
            ],
            self.audit(),
        )
        self.told(f'{_AUDIT} --fail-on refused', status=2)
        self.told(f'{_AUDIT} --fail-on spread')

    def test_a_stack_that_could_be_spread_better_is_told(self) -> None:
        self.run_servers('compute-1', 'compute-2', 'compute-3', 'compute-4')
        self.assertEqual([], self.audit())
        self.run_servers('compute-1', 'compute-1', 'compute-2', 'compute-3')
        (breach,) = self.audit('--fail-on', 'refused')
        self.assertEqual(('spread', 'stack', 'shop', ['web-0']), breach[:4])
        self.assertEqual(
            'host compute-1 has 2 of 4 members; compute-4 takes the server, '
            'and host compute-4 has 0',
            breach[4],
        )
        # No other host takes it.
        self.cloud.states['compute-4'] = ('enabled', 'down')
        self.assertEqual([], self.audit())

    @ddt.data('rack', 'availability_zone')
    def test_racks_and_zones_are_places_too(self, level: str) -> None:
        for place, hosts in (('a', (1, 2)), ('b', (3, 4))):
            names = [f'compute-{number}' for number in hosts]
            self.cloud.aggregates[place] = ({level: place}, names)
        self.cloud.aggregates['gpus'][0].pop('availability_zone')
        conf = self.write(
            f'[nova_filters]\nstack_spread_over = {level},host\n', 'nova.conf'
        )
        self.run_servers('compute-1', 'compute-2')
        self.assertEqual([], self.audit())
        (breach,) = self.audit('--config-file', conf)
        self.assertIn(f'{level} a has 2 of 2 members', breach[4])
        self.assertIn(f'{level} b has 0', breach[4])
        # A server that must stay in its zone cannot stand better.
        for row in self.cloud.shown.values():
            row['pinned_availability_zone'] = 'a'
        found = self.audit('--config-file', conf)
        if level == 'availability_zone':
            self.assertEqual([], found)
        with open(conf, 'a') as stream:
            stream.write('stack_affinity_weight_multiplier = 1\n')
        self.assertEqual([], self.audit('--config-file', conf))

    def test_server_groups_are_judged_by_their_policy(self) -> None:
        for policy, hosts, problems in (
            ('anti-affinity', ('compute-1', 'compute-1'), 1),
            ('soft-anti-affinity', ('compute-1', 'compute-1'), 1),
            ('soft-anti-affinity', ('compute-1', 'compute-2'), 0),
            ('affinity', ('compute-1', 'compute-2'), 1),
            ('affinity', ('compute-1', 'compute-1'), 0),
            ('soft-affinity', ('compute-1', 'compute-1'), 0),
        ):
            self.run_servers(*hosts)
            ids = [f'id-{name}' for name in self.cloud.servers]
            self.cloud.groups = [
                {'id': 'g', 'name': 'db', 'policy': policy, 'members': ids}
            ]
            found = self.audit()
            self.assertEqual(problems, len(found), (policy, hosts, found))
            self.assertEqual(
                [('spread', 'server group', 'db')] * problems,
                [breach[:3] for breach in found],
            )

    def test_what_is_not_shown_is_not_judged(self) -> None:
        self.cloud.maximum = '2.96'
        told = self.told(f'{_AUDIT} --fail-on spread', status=1)
        self.assertIn('Not judged: the spread of stacks', told)
        self.told(f'{_AUDIT} --fail-on refused')
        self.cloud.down = ('lost',)
        told = self.told(f'{_AUDIT} --fail-on refused', status=1)
        self.assertIn('Not judged: 1 server whose flavor', told)

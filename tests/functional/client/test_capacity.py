# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter capacity`` in the real shell."""

import json
import os
import pathlib
from typing import Any

from prometheus_client import parser

from tests.functional.client import base

#: What Placement has of each host: total after reserve and ratio, and used.
FREE = {
    'compute-1': {'VCPU': (8, 2), 'MEMORY_MB': (4096, 0), 'DISK_GB': (99, 0)},
    'compute-2': {'VCPU': (8, 8), 'MEMORY_MB': (4096, 0), 'DISK_GB': (99, 0)},
    'compute-3': {'VCPU': (16, 0), 'MEMORY_MB': (2048, 0), 'DISK_GB': (99, 0)},
    'compute-4': {'VCPU': (16, 0), 'MEMORY_MB': (900, 0), 'DISK_GB': (99, 90)},
}


_CAPACITY = 'aggregate filter capacity'


class CapacityTest(base.CloudTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.cloud.free = FREE

    def capacity(self, *arguments: str) -> dict[str, Any]:
        """Return the only row."""
        (row,) = self.live(*_CAPACITY.split(), *arguments)
        return dict(row)

    def test_a_host_that_is_down_takes_none(self) -> None:
        self.cloud.states['compute-3'] = ('enabled', 'down')
        # It passes on 1, 2 and 4: 6 by CPUs, 0, and 1 by memory.
        self.assertEqual(
            {
                'Flavor': 'm1.small', 'Hosts': 3, 'Nodes': 3,
                'Servers': 6 + 1, 'Bound': 'at most', 'Full Nodes': 1,
                'Scarce': ['VCPU', 'MEMORY_MB'], 'Not Judged': [],
            },
            self.capacity('m1.small'),
        )  # fmt: skip
        methods = {method for method, _ in self.cloud.requests}
        self.assertEqual({'GET'}, methods)

    def test_a_cut_answer_gives_a_number_from_below(self) -> None:
        """Placement has max_allocation_candidates for large clouds."""
        self.cloud.most_candidates = 2
        room = {**FREE['compute-1']}
        self.cloud.free = {host: room for host in self.cloud.hosts}
        row = self.capacity('m1.small')
        self.assertEqual(
            (12, 'at least', 0),
            (row['Servers'], row['Bound'], row['Full Nodes']),
        )
        output = self.run_command(f'{_CAPACITY} m1.small').replace('\n', ' ')
        self.assertIn(
            'At least: Placement does not tell of all hosts with room', output
        )
        self.assertNotIn('At most', output)
        file = pathlib.Path(self.folder, 'nova.prom')
        self.capacity('m1.small', '--textfile', str(file))
        self.assertIn(
            'nova_flavor_answer_cut{flavor="m1.small"} 1', file.read_text()
        )
        self.cloud.most_candidates = 4
        row = self.capacity('m1.small')
        self.assertEqual((24, 'at most'), (row['Servers'], row['Bound']))

    def test_the_root_disk_may_be_a_volume(self) -> None:
        """A cloud that boots from volumes has no disk for servers."""
        no_disk = {'VCPU': (8, 0), 'DISK_GB': (0, 0)}
        self.cloud.free = {host: no_disk for host in self.cloud.hosts}
        self.assertEqual(0, self.capacity('m1.small')['Servers'])
        row = self.capacity('m1.small', '--from-volume')
        self.assertEqual(4 * 8, row['Servers'])
        output = self.run_command(f'{_CAPACITY} m1.small --from-volume')
        self.assertIn(
            'with its root disk on a volume', output.replace('\n', ' ')
        )

    def test_nodes_of_ironic_are_no_hosts(self) -> None:
        nodes = {'VCPU': (1, 0)}
        self.cloud.nodes = {
            f'node-{number}': 'compute-4' for number in range(3)
        }
        self.cloud.free = {'node-0': nodes, 'node-2': nodes}
        self.cloud.states = {
            f'compute-{number}': ('disabled', 'up') for number in (1, 2, 3)
        }
        row = self.capacity('m1.small')
        self.assertEqual(
            (1, 3, 2, 1),
            tuple(
                row[name]
                for name in ('Hosts', 'Nodes', 'Servers', 'Full Nodes')
            ),
        )

    def test_a_host_without_a_node_is_told(self) -> None:
        del self.cloud.nodes['compute-4']
        output = self.run_command(f'{_CAPACITY} m1.small', status=1)
        self.assertIn('Not counted: compute-4.', output)
        command = (*_CAPACITY.split(), 'm1.small', '-f', 'json')
        result = self.openstack(*command, **self.login)
        self.assertEqual(1, result.status)
        self.assertIn('Not counted: compute-4.', result.error)

    def test_equal_questions_are_asked_once(self) -> None:
        for name in ('a', 'b', 'c'):
            self.cloud.flavors[name] = {'k': '1'}
        self.live(*_CAPACITY.split())
        self.assertEqual(
            len(set(self.cloud.questions)), len(self.cloud.questions)
        )

    def test_the_page_shows_what_is_printed(self) -> None:
        self.assert_page_shows(f'{_CAPACITY} m1.small win.medium')

    def test_the_number_of_requests_is_told_and_bounded(self) -> None:
        names = [f'c{number}' for number in range(5_000)]
        self.cloud.hosts += names
        self.cloud.nodes |= zip(names, names, strict=True)
        output = self.run_command(_CAPACITY).replace('\n', ' ')
        # Four flavors of one size, three classes, and who shares them.
        self.assertIn(' 5 requests to Placement for 5006 hosts.', output)
        self.assertIn('At most: each flavor is counted alone', output)

    def test_the_textfile_is_read_by_prometheus(self) -> None:
        self.cloud.flavors['a "b"\\c'] = {}
        file = pathlib.Path(self.folder, 'nova.prom')
        file.write_text('old')
        rows = self.live(*_CAPACITY.split(), '--textfile', str(file))
        families = [*parser.text_string_to_metric_families(file.read_text())]
        expected = {}
        for row in rows:
            flavor = row['Flavor']
            expected['nova_flavor_hosts', flavor] = row['Hosts']
            expected['nova_flavor_free_servers', flavor] = row['Servers']
            expected['nova_flavor_answer_cut', flavor] = 0
        samples = {}
        for family in families:
            for sample in family.samples:
                samples[family.name, sample.labels['flavor']] = sample.value
        self.assertEqual(expected, samples)
        self.assertIn('a "b"\\c', {row['Flavor'] for row in rows})
        for family in families:
            self.assertEqual('gauge', family.type)
            self.assertTrue(family.documentation)
        # Another user's exporter reads it, and finds no other file.
        self.assertEqual(0o644, file.stat().st_mode & 0o777)
        self.assertEqual(
            [], [name for name in os.listdir(self.folder) if name[0] == '.']
        )
        command = [*_CAPACITY.split(), '--textfile', '/no/file']
        result = self.openstack(*command, **self.login)
        self.assert_one_line(result, "Cannot write '/no/file'")
        # Nothing is left behind if the file is a folder.
        folder = pathlib.Path(self.folder, 'folder')
        folder.mkdir()
        before = set(os.listdir(self.folder))
        command[-1] = str(folder)
        result = self.openstack(*command, **self.login)
        self.assert_one_line(result, 'Cannot write', 'Is a directory')
        self.assertEqual(before, set(os.listdir(self.folder)))

    def test_what_placement_refuses_is_not_judged(self) -> None:
        self.cloud.refusal = 400, 'group_policy is required'
        command = (*_CAPACITY.split(), 'm1.small', '-f', 'json')
        result = self.openstack(*command, **self.login)
        self.assertEqual(1, result.status)
        (row,) = json.loads(result.output)
        self.assertIsNone(row['Servers'])
        self.assertEqual('', row['Bound'])
        self.assertIn('m1.small: Placement says: group_policy', result.error)
        output = self.run_command(f'{_CAPACITY} m1.small', status=1)
        self.assertIn('m1.small: Placement says: group_policy', output)

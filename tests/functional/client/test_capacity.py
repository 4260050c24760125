# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter capacity`` in the real shell."""

import json
import os
import pathlib

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

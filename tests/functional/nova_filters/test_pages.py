# SPDX-License-Identifier: Apache-2.0

"""What the pages show of the log of nova-scheduler."""

import ddt
from nova import objects

from nova_filters.matching import report
from tests import pages
from tests.functional.nova_filters import base


@ddt.ddt
class PagesTest(pages.Walk, base.CloudTestCase):
    suite = 'nova'

    @ddt.data(*pages.select('nova'))
    def test_the_page_is_true(self, page):
        self.walk(page)

    def refuse_every_host(self, flavor, metadata, extra_specs):
        """Return the records of a request for which no host passes.

        Three hosts are in no aggregate, two in one, and one is disabled.

        :param metadata: what the aggregate has, by its name.
        """
        hosts = [self.add_host() for _ in range(6)]
        for name, data in metadata.items():
            self.cloud.add_aggregate(name, hosts[:2], data)
        with self.cloud.in_cell() as context:
            service = objects.Service.get_by_compute_host(context, hosts[5])
            self.addCleanup(self.enable, service, True)
            self.enable(service, False)
        scheduler = self.cloud.scheduler('AggregateInstanceTypeFilter')
        request = self.cloud.request(
            self.cloud.add_flavor(flavor, extra_specs), hosts
        )
        with self.assertLogs(level='DEBUG') as logs:
            self.cloud.boot(scheduler, request)
        self.cloud.clear()
        return logs.records

    def enable(self, service, enabled):
        with self.cloud.in_cell():
            service.disabled = not enabled
            service.save()

    def assert_logged(self, shown, records):
        """Fail unless a record looks as the page shows it."""
        lines = [
            f'{record.levelname} {record.name} [...] {record.getMessage()}'
            for record in records
        ]
        self.assertTrue(
            any(pages.agrees(shown, line) for line in lines),
            f'{shown} is not in {lines}',
        )

    def check_removed_all(self, run):
        records = self.refuse_every_host(
            'gpu.large', {'gpus': {'gpu': 'a100'}}, {'gpu': 'h100'}
        )
        for line in run().splitlines():
            self.assert_logged(line, records)

    def check_lines(self, run):
        metadata = {'licensed': {'os': 'windows', 'gpu': 'yes', **base.ON}}
        specs = {'gpu': 'yes', 'os': 'linux'}
        records = self.refuse_every_host('gpu.large', metadata, specs)
        self.assert_logged(f'... {run().strip()}', records)
        number = pages.NUMBERS[report.NAMED]
        self.assert_says(f'It names up to {number} reasons')
        # One for the aggregates, and one for the hosts in none.
        for level, count in {'INFO': 1, 'DEBUG': 2}.items():
            lines = [
                record
                for record in records
                if record.levelname == level and 'nova_filters' in record.name
            ]
            self.assertEqual(count, len(lines), lines)

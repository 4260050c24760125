# SPDX-License-Identifier: Apache-2.0

"""What the pages show of the log of nova-scheduler."""

import logging
import pathlib
import re
import sqlite3
import subprocess
import tempfile
import types
from unittest import mock

import ddt
import sqlalchemy as sa
from keystoneauth1 import exceptions as ks_exceptions
from nova import exception, objects
from nova.compute import manager
from nova.conf import scheduler as scheduler_conf
from nova.db.api import api as api_db
from nova.db.api import models
from nova.scheduler import utils
from oslo_config import cfg
from oslo_log import formatters
from oslo_log import log as oslo_logging
from oslo_utils import uuidutils

from demo import spread, story
from nova_filters import conf
from nova_filters.matching import inputs
from nova_filters.members import rows
from os_placement_plugins import options
from testing.nova import engine, simulation, spread_case
from tests import pages
from tests.functional.nova_filters import base, starts


def write_log(records, path):
    """Write records as nova-scheduler does by default."""
    conf = cfg.ConfigOpts()
    oslo_logging.register_options(conf)
    conf([])
    formatter = formatters.ContextFormatter(config=conf)
    lines = [formatter.format(record) for record in records]
    path.write_text('\n'.join(lines) + '\n', 'utf-8')


@ddt.ddt
class PagesTest(pages.Walk, base.CloudTestCase):
    suite = 'nova'

    def setUp(self):
        super().setUp()
        # The first page may set options before a plug-in is loaded.
        options.register(engine.CONF, conf.list_opts())

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
        # One for the aggregates, and one for the hosts in none.
        for level, count in {'INFO': 1, 'DEBUG': 2}.items():
            lines = [
                record
                for record in records
                if record.levelname == level and 'nova_filters' in record.name
            ]
            self.assertEqual(count, len(lines), lines)

    def request_members(self, number, policy='soft-anti-affinity'):
        """Return requests for new members of a new group on three hosts."""
        self.set_option('server_group_weight_multiplier', base.STRONG)
        self.hosts = [self.add_host() for _ in range(3)]
        self.restart()
        group = self.cloud.add_group(policy)
        flavor = self.add_flavor({})
        requests = [
            self.cloud.request(flavor, self.hosts, group=group)
            for _ in range(number)
        ]
        for request in requests:
            # As the conductor does before it asks a scheduler.
            with self.cloud.in_cell() as context:
                utils.setup_instance_group(context, request)
        return requests

    def boot_and_log(self, request):
        """Return what is logged while a server gets a host all the same."""
        with self.assertLogs(level='DEBUG') as logs:
            boot = self.cloud.boot(self.scheduler, request)
        self.assertIn(boot.host, self.hosts)
        return logs.records

    def assert_alert(self, run, records):
        """Fail unless the log has the line, and the alert finds only it."""
        self.assert_logged(run().strip(), records)
        folder = tempfile.TemporaryDirectory(prefix='opp-log-')
        self.addCleanup(folder.cleanup)
        write_log(records, pathlib.Path(folder.name, 'nova-scheduler.log'))
        found = subprocess.run(
            ['bash', '-c', self.alert],
            cwd=folder.name,
            capture_output=True,
            text=True,
            check=True,
        )
        (line,) = found.stdout.splitlines()
        level, name, *_ = run().split()
        self.assertIn(f' {level} {name} ', line)
        self.assertEqual('', found.stderr)

    def check_racks(self, run):
        hosts = [f'rack {n // 2 + 1}, host {n % 2 + 1}' for n in range(6)]
        bars = {}
        for side, multiplier in spread.SIDES.items():
            case = spread_case.Case(
                spread.SERVERS,
                len(hosts),
                group=spread_case.SOFT,
                racks=(2, 2, 2),
                multiplier=multiplier,
            )
            simulated = simulation.Simulation(
                self.cloud, case, spread.PROCESSES, spread.SEED
            )
            servers = simulated.run().values()
            bars[side] = dict(zip(hosts, servers, strict=True))
        self.assertEqual(run().rstrip(), story.draw(bars))

    def check_weigher_is_on(self, run):
        self.set_option('server_group_weight_multiplier', base.STRONG)
        with self.assertLogs(level='INFO') as logs:
            self.restart()
        self.assert_logged(run().strip(), logs.records)
        self.set_option('server_group_weight_multiplier', 0)
        with self.assertNoLogs('nova_filters', 'INFO'):
            self.restart()
        text = self.files['nova.conf']
        self.assertEqual('', self.start(text))
        for old, new in (
            ('multiplier = 10.0', 'multiplier = much'),
            ('nova_filters.all_weighers', 'nova_filters.gone'),
        ):
            self.assertNotEqual('', self.start(text.replace(old, new)))

    def start(self, text, **how):
        """Return why nova-scheduler does not start with a nova.conf."""
        folder = tempfile.TemporaryDirectory(prefix='opp-start-')
        self.addCleanup(folder.cleanup)
        home = pathlib.Path(folder.name)
        (home / 'nova.conf').write_text(text)
        return starts.start(home, **how)

    def test_each_line_of_filters_is_needed(self):
        page = 'doc/source/quickstart-nova.rst'
        (text,) = (
            block.text
            for block in pages.read(page)
            if block.marks.get('file') == 'nova.conf'
        )
        lines = re.findall('available_filters = .+\n', text)
        needed = [line for line in lines if self.start(text.replace(line, ''))]
        self.assertEqual(2, len(needed))

    def test_the_filters_are_those_of_nova_and_ours(self):
        (default,) = (
            option.default
            for option in scheduler_conf.filter_scheduler_opts
            if option.name == 'enabled_filters'
        )
        page = 'doc/source/quickstart-nova.rst'
        (text,) = (
            block.text
            for block in pages.read(page)
            if block.marks.get('file') == 'nova.conf'
        )
        _, _, names = text.partition('enabled_filters =')
        self.assertEqual(
            [*default, 'AggregateInstanceTypeFilter'],
            names.replace(',', ' ').split(),
        )

    def check_next_hosts(self, run):
        *running, first, second, third = self.request_members(8)
        one, two, three = self.hosts
        hosts = [one, one, two, two, three]
        for request, host in zip(running, hosts, strict=True):
            self.cloud.place(request, host)
        chosen = []
        for request in first, second, third:
            # Each process has a memory of its own.
            self.restart()
            chosen.append(self.cloud.boot(self.scheduler, request).host)
        self.assertEqual(three, chosen[0])
        self.assertNotEqual(chosen[1], chosen[2])

    def check_debug_line(self, run):
        *_, last = self.request_members(3)
        self.assert_logged(run().strip(), self.boot_and_log(last))

    def check_alert(self, run):
        (command,) = self.block.commands
        self.alert = command.words

    def check_no_database(self, run):
        (request,) = self.request_members(1)
        # As the driver of MariaDB.
        cause = sqlite3.OperationalError(2003, 'gone')
        with base.failing('FROM request_specs', cause):
            records = self.boot_and_log(request)
        self.assert_alert(run, records)

    def check_own_row(self, run):
        (request,) = self.request_members(1)
        member = models.InstanceGroupMember.instance_uuid
        with api_db.get_engine().begin() as connection:
            row = member == request.instance_uuid
            connection.execute(
                sa.delete(models.InstanceGroupMember).where(row)
            )
        self.assert_alert(run, self.boot_and_log(request))

    def check_no_cell(self, run):
        other, request = self.request_members(2)
        cell = objects.CellMapping(
            self.cloud.context,
            uuid=uuidutils.generate_uuid(),
            name='cell2',
            transport_url='none:///',
            database_connection='sqlite:////nowhere/at/all',
        )
        cell.create()
        mapping = objects.InstanceMapping.get_by_instance_uuid(
            self.cloud.context, other.instance_uuid
        )
        mapping.cell_mapping = cell
        mapping.save()
        try:
            self.assert_alert(run, self.boot_and_log(request))
        finally:
            base.change(models.InstanceMapping, cell_id=self.cloud.cell.id)
            cell.destroy()

    def check_no_loads(self, run):
        (request,) = self.request_members(1)
        cell = self.cloud.cell_database()
        with base.failing('FROM migrations JOIN', OSError('gone'), cell):
            records = self.boot_and_log(request)
        self.assert_alert(run, records)

    def check_no_placement(self, run):
        _, request = self.request_members(2, 'anti-affinity')
        away = ks_exceptions.ConnectFailure('no answer')
        with mock.patch.object(
            self.cloud.placement, 'get_allocs_for_consumer', side_effect=away
        ):
            records = self.boot_and_log(request)
        self.assert_alert(run, records)

    def check_left_out(self, run):
        (request,) = self.request_members(1)
        with mock.patch.object(rows, 'group_members', return_value=[None]):
            records = self.boot_and_log(request)
        # The traceback has lines of its own.
        (record,) = (record for record in records if record.exc_info)
        self.assertEqual(logging.ERROR, record.levelno)
        record.exc_info = None
        self.assert_alert(run, records)

    def check_unreadable(self, run):
        host = self.add_host()
        scheduler = self.cloud.scheduler('AggregateInstanceTypeFilter')
        request = self.cloud.request(self.add_flavor({}), [host])
        with (
            mock.patch.object(inputs, 'read_flavor', side_effect=KeyError),
            self.assertLogs() as logs,
        ):
            boot = self.cloud.boot(scheduler, request)
        self.assertIsNone(boot.host)
        self.assert_logged(run().strip(), logs.records)

    def check_malformed(self, run):
        self.set_option('preference_weight_multiplier', base.STRONG)
        self.hosts = [self.add_host() for _ in range(2)]
        self.restart()
        flavor = self.add_flavor({'aggregate_preferred:ssd': '<or>'})
        request = self.cloud.request(flavor, self.hosts)
        self.assert_alert(run, self.boot_and_log(request))

    def check_refused_late(self, run):
        requests = self.request_members(2, 'anti-affinity')
        host = self.hosts[0]
        for request in requests:
            self.cloud.place(request, host)
        # What nova-compute is asked for, without a hypervisor.
        service = types.SimpleNamespace(
            host=host, _get_nodename=lambda instance: host
        )
        check = manager.ComputeManager._validate_instance_group_policy
        with self.cloud.in_cell() as context:
            instance = objects.Instance(
                context, uuid=requests[1].instance_uuid
            )
            hints = requests[1].scheduler_hints
            with self.assertRaises(exception.GroupAffinityViolation) as caught:
                check(service, context, instance, hints)
            name = 'disable_group_policy_check_upcall'
            self.set_option(name, True, 'workarounds')
            check(service, context, instance, hints)
        self.assertEqual(run().strip(), str(caught.exception))

    def check_without_wheel(self, run):
        text = pages.files('doc/source/roll-out.rst')['nova.conf']
        self.assertEqual('', self.start(text))
        problem = self.start(text, with_wheel=False)
        self.assertEqual(run().strip(), problem)
        # Without the lines, Nova starts without the wheel.
        self.assertEqual('', self.start('', with_wheel=False))

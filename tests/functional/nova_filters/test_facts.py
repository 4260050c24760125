# SPDX-License-Identifier: Apache-2.0

"""Numbers of the pages, from the Nova and the weighers that are there."""

import collections
import inspect
import os
import pathlib
import re
import subprocess
import sys
from typing import Any
from unittest import mock

from nova import context as nova_context
from nova import objects
from nova import version as nova_version
from nova.api.openstack import api_version_request
from nova.cmd import scheduler as scheduler_cmd
from nova.conf import scheduler as scheduler_conf
from nova.pci import stats
from nova.scheduler import filters, utils, weights
from nova.scheduler.filters import (
    aggregate_instance_extra_specs as aggregate_extra_specs,
)
from nova.scheduler.weights import compute, cross_cell, pci
from oslo_concurrency import processutils
from oslo_messaging import server as messaging
from oslo_utils import uuidutils as uuids

import nova_filters
from nova_filters import status
from nova_filters.filters import aggregate_instance_type
from nova_filters.members import reader, rows
from testing.nova import engine
from tests import numbers, pages, processes, signing
from tests.functional.nova_filters import base
from tests.pages import NUMBERS

MILLION = 1_000_000
#: Prints how many workers nova-scheduler starts with an option, or without it.
PROCESSES = """
import sys
from unittest import mock
from nova.cmd import scheduler
workers = sys.argv[1:]
sys.argv = ['nova-scheduler']
if workers:
    scheduler.CONF.set_override('workers', int(workers[0]), 'scheduler')
with (
    mock.patch.object(scheduler, 'service') as service,
    mock.patch.object(scheduler.gmr, 'TextGuruMeditation'),
):
    scheduler.main()
print(service.serve.call_args.kwargs['workers'])
"""


class NovaTest(base.StackTestCase):
    """What Nova does by default."""

    def test_how_often_a_build_is_tried(self) -> None:
        attempts = engine.CONF.scheduler.max_attempts
        self.assert_page_says(
            'soft-anti-affinity',
            f'After {NUMBERS[attempts]} attempts (``[scheduler] '
            f'max_attempts``, {attempts} by default), the server is in ERROR.',
        )

    def test_how_many_hosts_placement_returns(self) -> None:
        limit = engine.CONF.scheduler.max_placement_results
        self.assert_page_says(
            'nova',
            'Placement returns up to ``[scheduler] max_placement_results`` '
            f'hosts ({limit:,} by default).',
        )

    def test_how_many_hosts_nova_chooses_from(self) -> None:
        subset = engine.CONF.filter_scheduler.host_subset_size
        self.assert_page_says(
            'soft-anti-affinity',
            f'Set ``[filter_scheduler] host_subset_size`` back to {subset}',
        )
        for page in 'soft-anti-affinity', 'quickstart-stack':
            self.assert_page_says(
                page,
                f'``[filter_scheduler] host_subset_size`` is {subset}, its '
                'default.',
            )

    def test_how_many_cells_are_asked_at_once(self) -> None:
        size = getattr(engine.CONF, 'cell_worker_thread_pool_size', None)
        if size is None:
            release, _, _ = engine.nova_version().partition('.')
            self.assert_page_says(
                'roll-out', f'Nova {release} does not have it.'
            )
            return
        self.assert_page_says(
            'roll-out',
            f'cell_worker_thread_pool_size``, which is {size} by default.',
        )

    def test_how_many_processes_a_scheduler_has(self) -> None:
        for arguments, number in ((), os.cpu_count()), (('3',), 3):
            printed = processes.run_python(PROCESSES, *arguments)
            self.assertEqual([str(number)], printed)
        self.assert_page_says(
            'soft-anti-affinity',
            '``[scheduler] workers`` sets the number of processes of each '
            'nova-scheduler. By default, it is the number of CPUs.',
        )

    def test_options_beside_the_spread(self) -> None:
        nova = engine.CONF
        self.assertFalse(nova.workarounds.disable_group_policy_check_upcall)
        self.assertIn('mysql_wsrep_sync_wait', nova.api_database)
        self.assert_page_says(
            'nova-spread',
            f'Nova itself waits {nova_context.CELL_TIMEOUT} seconds',
        )
        database = nova.api_database
        connections = database.max_pool_size + database.max_overflow
        self.assert_page_says(
            'nova-spread',
            '``[api_database] max_pool_size`` plus ``max_overflow`` '
            f'connections, which are {connections} by default.',
        )
        (pool_size,) = messaging._pool_opts
        self.assertEqual('executor_thread_pool_size', pool_size.name)
        self.assert_page_says(
            'soft-anti-affinity',
            f'up to {pool_size.default} requests at once by default '
            f'(``{pool_size.name}`` of oslo.messaging).',
        )
        (tracks,) = (
            option.default
            for option in scheduler_conf.filter_scheduler_opts
            if option.name == 'track_instance_changes'
        )
        self.assertTrue(tracks)
        self.assert_page_says(
            'nova-spread',
            '``[filter_scheduler] track_instance_changes``, which is on by '
            'default',
        )

    def test_the_command_that_disables_a_cell(self) -> None:
        program = pathlib.Path(sys.executable).with_name('nova-manage')
        command = [program, 'cell_v2', 'update_cell', '--help']
        printed = subprocess.check_output(command, text=True)
        self.assertIn('--disable', printed)
        self.assert_page_says('nova-spread', '``nova-manage cell_v2 update_ce')

    def test_the_filters_of_nova_and_ours(self) -> None:
        (default,) = (
            option.default
            for option in scheduler_conf.filter_scheduler_opts
            if option.name == 'enabled_filters'
        )
        (block,) = (
            block
            for block in pages.read('doc/source/quickstart-nova.rst')
            if block.marks.get('file') == 'nova.conf'
        )
        *_, names = block.text.partition('enabled_filters =')
        self.assertEqual(
            [*default, 'AggregateInstanceTypeFilter'],
            names.replace(',', ' ').split(),
        )
        self.assert_page_says(
            'quickstart-nova',
            "``enabled_filters`` is Nova's default with "
            '``AggregateInstanceTypeFilter`` at the end.',
        )

    def test_the_weighers_that_are_stronger(self) -> None:
        state, *_ = self.states(self.request({}))

        def stronger() -> set[str]:
            return {
                type(weigher).__name__
                for weigher in self.scheduler.host_manager.weighers
                if abs(weigher.weight_multiplier(state)) == MILLION
            }

        before = stronger()
        number = NUMBERS[len(before)].capitalize()
        self.assert_page_says(
            'preferences', f"{number} of Nova's weighers outweigh all"
        )
        (option,) = re.findall(
            r'than a failed build, set ``\[filter_scheduler\] (\w+) = 1``',
            pages.prose('preferences'),
        )
        self.set_option(option, 1, 'filter_scheduler')
        self.assertEqual({'BuildFailureWeigher'}, before - stronger())


class RollOutTest(base.StackTestCase):
    """What is true while some services have been changed."""

    def test_heat_before_nova(self) -> None:
        hints = signing.signed(base.of_stack('a'))
        self.place(hints, 2, 0, 1, 1)
        weighers = ['nova.scheduler.weights.all_weighers']
        self.set_option('weight_classes', weighers, 'filter_scheduler')
        self.scheduler = self.cloud.scheduler()
        weights = []
        for stored in {}, hints:
            request = self.request(stored)
            weighed = self.scheduler.host_manager.get_weighed_hosts(
                self.states(request), request
            )
            weights.append({host.obj.host: host.weight for host in weighed})
        self.assertEqual(*weights)
        self.assert_page_says(
            'roll-out',
            'nova-scheduler ignores the hints, and places all servers as '
            'before.',
        )

    def test_nova_before_heat(self) -> None:
        self.set_option('signing_key', [signing.KEY], 'heat_hints')
        self.restart()
        unsigned = base.of_stack('a')
        self.place(unsigned, 2)
        self.assertIsNone(self.weigher().find_team(self.request(unsigned)))
        signed = self.request(signing.signed(unsigned))
        # Those that came before Heat's restart do not count now, either.
        self.assertEqual([0, 0, 0, 0], self.members(signed))
        self.assert_page_says(
            'roll-out',
            'With a signing key, nova-scheduler ignores hints that Heat has '
            'not signed. But servers that Heat creates before its restart '
            'never count as members.',
        )

    def test_a_weigher_writes_nothing(self) -> None:
        self.place(base.of_stack('a'), 1)
        request = self.request(base.of_stack('a'))
        statements: list[str] = []
        states = self.states(request)
        with base.listening(statements.append):
            self.weigh(request, states)
        self.assertNotEqual([], statements)
        for statement in statements:
            self.assertTrue(statement.startswith('SELECT'), statement)
        for page, says in (
            ('soft-anti-affinity', 'The weigher stores nothing in any data'),
            ('nova-spread', 'The plug-ins store nothing,'),
            ('roll-out', "The package stores nothing in Nova's databases"),
        ):
            self.assert_page_says(page, says)

    def test_one_request_for_all_servers(self) -> None:
        """Nova alone spreads them."""
        group = self.cloud.add_group('soft-anti-affinity')
        weighers = ['nova.scheduler.weights.all_weighers']
        self.set_option('weight_classes', weighers, 'filter_scheduler')
        self.scheduler = self.cloud.scheduler()
        requests = [self.request({}, group=group) for _ in range(8)]
        request = requests[0]
        with self.cloud.in_cell() as context:
            utils.setup_instance_group(context, request)
        request.num_instances = len(requests)
        selected = self.scheduler.select_destinations(
            self.cloud.context,
            spec_obj=request,
            instance_uuids=[request.instance_uuid for request in requests],
            return_objects=True,
            return_alternates=False,
        )
        hosts = collections.Counter(
            alternatives[0].service_host for alternatives in selected
        )
        self.assertEqual(dict.fromkeys(self.hosts, 2), hosts)
        self.assert_page_says('soft-anti-affinity', 'Nova alone then spreads')
        self.assert_page_says(
            'roll-out', 'Nova alone spreads the servers of one request'
        )


class SecurityTest(base.StackTestCase):
    """What a tenant can do, on the page ``SECURITY``."""

    def test_a_forged_hint_counts_in_its_own_project(self) -> None:
        hints = {'heat_root_stack_id': 'a'}
        self.place(hints, 2, project='p1')
        counts = [
            self.members(self.request(hints, project))
            for project in ('p1', 'p2')
        ]
        self.assertEqual([[2, 0, 0, 0], [0, 0, 0, 0]], counts)
        self.assert_page_says(
            'SECURITY',
            'The tenant can make the server count as a member of any stack of '
            'the same project. Stacks of other projects are not affected.',
        )

    def test_how_much_a_weigher_reads(self) -> None:
        quota = engine.CONF.quota
        (default,) = {quota.instances, quota.server_group_members}
        self.assert_page_says(
            'SECURITY',
            'For each new server, a weigher reads one row for each server of '
            'the group (of the project, for a stack). It also reads the '
            'stored requests of the members that are starting, and of the '
            f'first {reader.FIRST}. For a stack, each scheduler process reads '
            'the stored requests of the whole project once. It does not read '
            f'a request of more than {rows.LONGEST:,} characters. If a '
            f'process has kept more than {reader.LIMIT:,} requests, it '
            'forgets the other projects and groups. So limit tenants with '
            "Nova's quotas ``instances`` and ``server_group_members``, which "
            f'are {default} by default.',
        )
        self.set_option('server_group_weight_multiplier', base.STRONG)
        group = self.cloud.add_group('soft-anti-affinity')
        for _ in range(5):
            request = self.request({}, group=group)
            self.cloud.place(request, self.hosts[0])
        starting = [self.request({}, group=group) for _ in range(3)]
        read: list[str] = []
        texts = rows.request_texts

        def read_texts(context: Any, uuids: Any, word: str = '') -> Any:
            read.extend(uuids)
            return texts(context, uuids, word)

        with (
            mock.patch.object(reader, 'FIRST', 2),
            mock.patch.object(rows, 'request_texts', read_texts),
        ):
            states = self.states(starting[0])
            self.scheduler.host_manager.get_weighed_hosts(states, starting[0])
        self.assertEqual(2 + len(starting), len({*read}))


class WhenNotToUseTest(base.StackTestCase):
    """The page ``when-not-to-use``: what Nova does alone."""

    def left(self, loaded: Any, value: str, *values: str | None) -> list[int]:
        """Return which hosts pass a filter, by the value of their key.

        :param value: the value of the key in the flavor.
        """
        for host, own in zip(self.hosts, values, strict=True):
            if own is not None:
                self.add_aggregate([host], {'k': own})
        self.flavor = self.add_flavor(
            {'aggregate_instance_extra_specs:k': value}
        )
        self.restart()
        request = self.request({})
        passed = [*loaded.filter_all(self.states(request), request)]
        self.cloud.clear()
        return [self.hosts.index(state.host) for state in passed]

    def test_which_filter_follows_a_rule(self) -> None:
        rows = re.findall(
            r'^(.+) \(``(.+)``\)\.\n(.+)$',
            pages.prose('when-not-to-use'),
            re.M,
        )
        # The hosts have these values. None: they lack the key.
        values = '1', '4', '5', None
        for rule, value, use in (
            *rows,
            ('the value 1, or no key', '<or> 1 <or> ~', 'this package'),
        ):
            meant = {
                '<or>': [1, 2],
                '>= 4': [1, 2],
                '*': [0, 1, 2],
                '<or> 1 <or> ~': [0, 3],
            }[value]
            if value == '<or>':
                value = '<or> 4 <or> 5'
            self.assertEqual(
                meant, self.left(base.loaded_filter(), value, *values), rule
            )
            nova = aggregate_extra_specs.AggregateInstanceExtraSpecsFilter()
            is_enough = meant == self.left(nova, value, *values)
            self.assertEqual(is_enough, use == "Nova's own filters", rule)

    def test_the_weigher_for_pci_devices(self) -> None:
        with_devices, without = self.states(self.request({}))[:2]
        with_devices.pci_stats = stats.PciDeviceStats(objects.NUMATopology())
        with_devices.pci_stats.pools = [{'count': 1}]
        weights = [
            pci.PCIWeigher()._weigh_object(state, self.request({}))
            for state in (with_devices, without)
        ]
        word = 'no' if weights[0] < weights[1] else 'a'
        self.assert_page_says(
            'when-not-to-use',
            f'``PCIWeigher`` keeps servers that request {word} PCI device '
            'away from hosts with PCI devices.',
        )

    def test_advice_to_set_an_option_changes_it(self) -> None:
        found = {
            *re.findall(
                r'[Ss]et ``\[(\w+)\] (\w+) = ([\w.]+)``', pages.all_prose()
            )
        }
        self.assertGreater(len(found), 2)
        for section, name, value in found:
            if section in ('scheduler', 'filter_scheduler', 'api_database'):
                default = (
                    engine.CONF[section]._group._opts[name]['opt'].default
                )
                written = str(default).lower()
                self.assertNotEqual(value, written, name)

    def test_each_class_of_nova_exists(self) -> None:
        names = {
            *re.findall(
                r'``(\w+(?:Filter|Weigher|Isolation))``', pages.all_prose()
            )
        }
        classes = {
            cls.__name__
            for cls in (
                *filters.all_filters(),
                *nova_filters.all_filters(),
                *weights.all_weighers(),
                *nova_filters.all_weighers(),
            )
        }
        # Of other packages, and of an example.
        others = {'BlazarFilter', 'FailureDomainFilter', 'OneStackFilter'}
        self.assertEqual(others, names - classes)

    def test_the_weighers_that_outweigh_preferences(self) -> None:
        request = self.request({})
        good, bad, *_ = self.states(request)
        bad.failed_builds = 1
        builds = compute.BuildFailureWeigher()
        found = [
            builds.weight_multiplier(state)
            * builds._weigh_object(state, request)
            for state in (good, bad)
        ]
        verb = 'avoids' if found[1] < found[0] else 'prefers'
        self.assert_page_says(
            'preferences',
            f'``BuildFailureWeigher`` {verb} hosts on which the last build '
            'failed.',
        )
        own = objects.CellMapping(uuid=uuids.generate_uuid())
        good.cell_uuid, bad.cell_uuid = own.uuid, uuids.generate_uuid()
        request.requested_destination = objects.Destination(
            allow_cross_cell_move=True, cell=own
        )
        cells = cross_cell.CrossCellWeigher()
        found = [cells._weigh_object(state, request) for state in (good, bad)]
        verb = 'keeps' if found[1] < found[0] else 'does not keep'
        self.assert_page_says(
            'preferences',
            f'``CrossCellWeigher`` {verb} a moving server in its cell.',
        )

    def test_how_many_workers_there_are(self) -> None:
        self.assertIsNone(engine.CONF.scheduler.workers)
        source = inspect.getsource(scheduler_cmd.main)
        self.assertIn('processutils.get_worker_count()', source)
        self.assertEqual(os.cpu_count(), processutils.get_worker_count())
        self.assert_page_says(
            'soft-anti-affinity', 'By default, it is the number of CPUs.'
        )

    def test_nova_without_the_package_does_not_start(self) -> None:
        code = (
            'import sys; sys.modules["nova_filters"] = None\n'
            'from nova.scheduler import weights\n'
            'handler = weights.HostWeightHandler()\n'
            'handler.get_matching_classes(["nova_filters.all_weighers"])\n'
        )
        done = subprocess.run(
            [sys.executable, '-W', 'ignore', '-c', code],
            capture_output=True,
            text=True,
        )
        verb = 'does not start' if done.returncode else 'starts'
        self.assertIn('ModuleNotFoundError', done.stderr)
        self.assert_page_says(
            'install',
            f'If you remove the package first, nova-scheduler {verb}, because '
            'it cannot load ``nova_filters``.',
        )


class NumbersTest(numbers.NumbersCase):
    """Numbers from Nova's code, and from what runs in Nova."""

    def test_the_options_of_nova(self) -> None:
        subset = engine.CONF.filter_scheduler.host_subset_size
        self.assert_told('host_subset_size', (subset, subset))
        limit = engine.CONF.scheduler.max_placement_results
        self.assert_told('max_placement_results', limit)

    def test_the_constants_of_this_package(self) -> None:
        listed = aggregate_instance_type._LISTED
        self.assert_told('reasons in a line', listed)
        quota = engine.CONF.quota.server_group_members
        self.assert_told(
            'what is read', reader.FIRST, rows.LONGEST, reader.LIMIT, quota
        )
        vetoes = len(status.VETOES)
        self.assert_told('strong weighers', vetoes, vetoes)

    def test_the_microversions(self) -> None:
        # In the source, Nova lists what each microversion has added.
        source = inspect.getsource(api_version_request)
        added = dict(re.findall(r'\* (2\.\d+) - (.+)', source))
        for fact, words in (
            ('microversion of flavors', 'display the flavor as a dict'),
            ('microversion of extra specs', 'validation of known extra spec'),
        ):
            found = [v for v, what in added.items() if words in what]
            self.assert_told(fact, *found)
        # The first Nova with the microversion 2.100.
        self.assert_told('hints for tenants', 31)
        release = nova_version.version_string().partition('.')[0]
        if int(release) >= 31:
            (found,) = (v for v in added if 'er_hints' in added[v])
            self.assert_told('microversion of hints', found)
        else:
            self.assert_told('a Nova that passes all hints', release)
            self.assertNotIn('2.100', added)

# SPDX-License-Identifier: Apache-2.0

"""The servers of a stack, placed by the real scheduler and its weighers."""

import datetime
import logging
import sqlite3
import tempfile
import threading
from concurrent import futures
from typing import Any
from unittest import mock

import ddt
import sqlalchemy as sa
from keystoneauth1 import exceptions as ks_exceptions
from nova import objects
from nova.db.api import api as api_db
from nova.db.api import models
from nova.db.main import models as main_models
from oslo_utils import timeutils
from sqlalchemy import orm

from nova_filters.matching import inputs
from nova_filters.members import reader, rows
from nova_filters.spread import teams
from tests import signing
from tests.functional.nova_filters import base
from tests.functional.nova_filters.base import MULTIPLIER, STRONG, of_stack

_LOGGER = 'nova_filters'
_STACK = of_stack('a')


class StackTest(base.StackTestCase):
    """Which servers are members."""

    def test_stacks_and_projects_do_not_see_each_other(self) -> None:
        self.place(_STACK, 3, 2, 1)
        self.place(of_stack('b'), 0, 0, 1)
        self.place(_STACK, 0, 0, 0, 1, project='p2')
        self.place({}, 1, 1, 1, 1)
        for root, project, counts in (
            ('a', 'p1', [3, 2, 1, 0]),
            ('b', 'p1', [0, 0, 1, 0]),
            ('a', 'p2', [0, 0, 0, 1]),
        ):
            request = self.request(of_stack(root), project)
            self.assertEqual(counts, self.members(request))

    def test_without_a_stack_nothing_is_said_and_asked(self) -> None:
        self.place(_STACK, 2, 1)
        states = self.states(self.request({}))
        for request in (
            *map(self.request, (None, {}, {'heat_root_stack_id': ['', 'x']})),
            objects.RequestSpec(),
            objects.RequestSpec(scheduler_hints=None),
        ):
            statements: list[str] = []
            with base.listening(statements.append):
                self.assertEqual([0.0] * 4, self.weigh(request, states))
            self.assertEqual([], statements)

    def test_hints_that_heat_has_not_signed_count_nowhere(self) -> None:
        """Unit tests of signatures have more forgeries, and several keys."""
        good = signing.signed(_STACK)
        forged = signing.signed(_STACK, key=signing.OTHER_KEY)
        for hints in (good, forged, _STACK):
            self.place(hints, 1)
        self.assertEqual([3, 0, 0, 0], self.members(self.request(_STACK)))
        self.set_option('signing_key', [signing.KEY], 'heat_hints')
        self.restart()
        self.assertEqual([1, 0, 0, 0], self.members(self.request(good)))
        for hints, project in (_STACK, 'p1'), (forged, 'p1'), (good, 'p2'):
            request = self.request(hints, project)
            self.assertIsNone(self.weigher().find_team(request))


@ddt.ddt
class OrderTest(base.StackTestCase):
    """Servers in flight, in the order of their requests and actions."""

    def test_flavors_on_hosts_of_their_own_do_not_disturb(self) -> None:
        for hosts, role in ((self.hosts[:1], 'a'), (self.hosts[1:], 'b')):
            self.add_aggregate(hosts, {'role': role})
        self.restart()
        flavors = {
            role: self.add_flavor({f'{inputs.SCOPE}role': role})
            for role in 'ab'
        }
        requests = []
        for number in range(12):
            self.flavor = flavors['ab'[number % 2]]
            requests.append(self.request(_STACK))
        self.assertEqual([6, 2, 2, 2], self.choose_all(requests))

    @ddt.data('deleted', 'hidden', 'queued', 'failed')
    def test_what_comes_to_nothing_is_not_waited_for(self, how) -> None:
        """Unit tests of members ask for states and for what is too old."""
        failed = self.request(_STACK)
        if how in ('deleted', 'hidden'):
            self.cloud.place(failed, self.hosts[0])
            self.cloud.update(failed, **{how: 1})
        elif how == 'queued':
            base.change(models.InstanceMapping, queued_for_delete=True)
        else:
            # In cell0, which has the servers for which there is no host.
            uuid = objects.CellMapping.CELL0_UUID
            cell = self.add_cell('sqlite:////nowhere/at/all', uuid)
            base.change(models.InstanceMapping, cell_id=cell.id)
        sight = self.see(self.request(_STACK))
        self.assertEqual(({}, []), (sight.counts, sight.ahead))

    def test_whoever_could_not_be_seen_comes_later(self) -> None:
        """nova-api stores a request, and later whose it is."""
        group = self.cloud.add_group('anti-affinity')
        for table, member_of, team in (
            (models.InstanceMapping, None, ('stack', 'a', 'p1')),
            (models.InstanceGroupMember, group, ('anti-affinity', group.uuid)),
        ):
            slow, fast = (
                self.request(_STACK, group=member_of) for _ in range(2)
            )
            base.change(table, id=1_000_000 - table.id)
            ahead = []
            for request in (fast, slow):
                stored = self.weigher()._reader.read_members(
                    team, request.instance_uuid
                )
                counted = teams.count_members(
                    request.instance_uuid, stored, {}
                )
                ahead.append(len(counted.ahead))
            self.assertEqual([0, 1], ahead, team)

    def test_whoever_comes_later_does_not_count(self) -> None:
        first = self.request(_STACK)
        self.place(_STACK, 1)
        last = self.request(_STACK)
        self.assertEqual([0, 0, 0, 0], self.members(first))
        self.assertEqual([1, 0, 0, 0], self.members(last))
        # Where a server moves, the others are on their hosts.
        self.cloud.place(first, self.hosts[1], 'active')
        self.cloud.start_action(first, 'migrate', 'resize_prep')
        self.assertEqual([1, 0, 0, 0], self.members(first))

    @ddt.data('evacuate', 'live-migration')
    def test_a_server_counts_once_and_where_it_goes(self, action) -> None:
        request = self.request(_STACK)
        self.cloud.place(request, self.hosts[0], 'active')
        self.cloud.start_action(request, action, 'busy')
        other = self.request(_STACK)
        self.assertEqual([0, 0, 0, 0], self.members(other))
        origin, old, new, _ = self.hosts
        for host, status in (old, 'confirmed'), (new, 'pre-migrating'):
            self.cloud.start_migration(
                request, origin, host, 'evacuation', status
            )
        self.assertEqual([0, 0, 1, 0], self.members(other))
        self.cloud.update(request, host=self.hosts[2], task_state=None)
        self.assertEqual([0, 0, 1, 0], self.members(other))

    def test_members_that_are_resized_at_once_need_another_host(self) -> None:
        """Unit tests of topologies count how often two share a host."""
        *origins, _ = self.hosts
        for number in range(12):
            hints = of_stack(f'root-{number}')
            requests = [self.request(hints) for _ in origins]
            for request, host in zip(requests, origins, strict=True):
                self.cloud.place(request, host, 'active')
                self.cloud.start_action(request, 'resize', 'resize_prep')
                request.ignore_hosts.append(host)
            chosen = self.choose_all(requests)
            self.assertEqual([0, 1, 1, 1], sorted(chosen), hints)

    def test_boots_and_moves_see_each_other(self) -> None:
        boot, move = (self.request(_STACK) for _ in range(2))
        self.cloud.place(move, None, 'shelved_offloaded')
        now = timeutils.utcnow()
        self.cloud.start_action(move, 'unshelve', 'unshelving', now)
        later = self.request(_STACK)
        requests = (boot, move, later)
        ahead = [len(self.see(request).ahead) for request in requests]
        self.assertEqual([0, 1, 2], ahead)


class GroupTest(base.StackTestCase):
    """Server groups with a soft policy."""

    def group(self, multiplier: float, policy: str) -> Any:
        self.set_option('server_group_weight_multiplier', multiplier)
        self.restart()
        return self.cloud.add_group(policy)

    def test_the_group_counts_and_not_the_stack(self) -> None:
        self.place(_STACK, 4)
        for multiplier, policy, hints, servers in (
            (0.0, 'soft-anti-affinity', {}, [4, 0, 0, 0]),
            (STRONG, 'soft-anti-affinity', _STACK, [1, 1, 1, 1]),
            (STRONG, 'soft-affinity', _STACK, [4, 0, 0, 0]),
            (STRONG, 'affinity', _STACK, [4, 0, 0, 0]),
            (STRONG, 'anti-affinity', _STACK, [1, 1, 1, 1]),
        ):
            group = self.group(multiplier, policy)
            requests = (self.request(hints, group=group) for _ in range(4))
            counts = self.choose_all(requests)
            self.assertEqual(servers, sorted(counts, reverse=True))

    def test_a_host_gets_as_many_as_the_rule_allows(self) -> None:
        self.group(STRONG, 'anti-affinity')
        group = self.cloud.add_group('anti-affinity', max_server_per_host='2')
        self.assertEqual({'max_server_per_host': 2}, group.rules)
        requests = [self.request({}, group=group) for _ in range(8)]
        self.assertEqual([2, 2, 2, 2], self.choose_all(requests))

    def test_a_boot_sees_what_a_move_has_claimed(self) -> None:
        """The move came first, and its time is later: both are in seconds."""
        self.group(STRONG, 'anti-affinity')
        group = self.cloud.add_group('anti-affinity')
        origin, *others = self.hosts
        move = self.cloud.request(self.flavor, others, group=group)
        self.cloud.place(move, origin, 'active')
        later = timeutils.utcnow() + datetime.timedelta(seconds=1)
        self.cloud.start_action(move, 'evacuate', 'rebuilding', later)
        claimed = self.cloud.boot(self.scheduler, move).host
        self.hosts = others
        self.assertIn(claimed, others)
        boot = self.request({}, group=group)
        self.assertNotEqual(claimed, self.choose(boot))

    def test_members_count_for_their_stack_too(self) -> None:
        group = self.group(0.0, 'soft-affinity')
        self.cloud.place(self.request(_STACK, group=group), self.hosts[0])
        # Without a multiplier, the group does not count.
        for member_of in (None, group):
            request = self.request(_STACK, group=member_of)
            self.assertEqual([1, 0, 0, 0], self.members(request))


class BesideNovaTest(base.StackTestCase):
    """The weigher among those of Nova."""

    def setUp(self) -> None:
        super().setUp()
        # All that Nova weighs by default speaks for the first host.
        self.hosts[1:] = [f'busy-{number}' for number in range(3)]
        for host in self.hosts[1:]:
            if host not in self.cloud.hosts:
                self.cloud.add_host(host)
                self.cloud.report(
                    host,
                    memory_mb_used=512 * 1024,
                    free_ram_mb=512 * 1024,
                    vcpus_used=512,
                    free_disk_gb=5120,
                    disk_available_least=5120,
                    running_vms=100,
                    current_workload=100,
                    hypervisor_version=7000000,
                )

    def test_a_host_that_others_refuse_is_no_place(self) -> None:
        broken = self.hosts[1]
        self.cloud.report(broken, stats='{"failed_builds": "1"}')
        self.addCleanup(self.cloud.report, broken, stats='{}')
        for stack, options, counts in (
            ('a', {}, [3, 0, 3, 3]),
            # Nobody refuses it, or all are refused alike.
            ('b', {'build_failure_weight_multiplier': 0.0}, [3, 3, 3, 3]),
            # The weigher of this package cannot make up for 100.
            ('c', {'ram_weight_multiplier': 100.0}, [9, 0, 0, 0]),
        ):
            for name, value in options.items():
                self.set_option(name, value, 'filter_scheduler')
            requests = [
                self.request(of_stack(stack)) for _ in range(sum(counts))
            ]
            self.assertEqual(counts, self.choose_all(requests))

    def test_the_documented_multiplier_wins_over_novas_weighers(self) -> None:
        # Neither is where Nova would put it.
        for multiplier, counts in (
            (-STRONG, (2, 1, 1)),
            (STRONG, (0, 0, 0, 3)),
        ):
            self.set_option(MULTIPLIER, multiplier)
            self.place(_STACK, *counts)
            request = self.request(_STACK)
            self.assertEqual(self.hosts[3], self.choose(request))
            self.cloud.forget(request)


class CostTest(base.StackTestCase):
    """What a request asks of the databases, all within a minute."""

    def setUp(self) -> None:
        super().setUp()
        timeutils.set_time_override()
        self.addCleanup(timeutils.clear_time_override)

    def assert_asked(
        self, api: int, cell: int, request: Any, states: Any
    ) -> None:
        """Assert how many statements all weighers send for a request.

        :param api: those to the API database.
        :param cell: those to the cell of the members.
        """
        everywhere: list[str] = []
        in_api: list[str] = []
        with (
            base.listening(everywhere.append),
            base.listening(in_api.append, api_db.get_engine()),
        ):
            self.scheduler.host_manager.get_weighed_hosts(states, request)
        in_cell = len(everywhere) - len(in_api)
        self.assertEqual((api, cell), (len(in_api), in_cell), everywhere)

    def test_a_request_asks_the_databases_few_times(self) -> None:
        self.place(_STACK, 3, 2, 1)
        self.place({}, 1)
        request = self.request(_STACK)
        states = self.states(request)
        # The servers of the project, their stacks, the cells, the members in
        # the cell, and the requests of those in flight. Once a minute, the
        # cells, and the loads of the hosts in the cell.
        self.assert_asked(5, 4, request, states)
        self.assert_asked(3, 1, request, states)
        move = self.request(_STACK)
        self.cloud.place(move, None, 'shelved_offloaded')
        now = timeutils.utcnow()
        self.cloud.start_action(move, 'unshelve', 'unshelving', now)
        # The stack of the new server, and the actions in the cell.
        self.assert_asked(4, 2, request, states)
        self.set_option('server_group_weight_multiplier', STRONG)
        group = self.cloud.add_group('soft-anti-affinity')
        self.cloud.place(self.request({}, group=group), self.hosts[0])
        member = self.request({}, group=group)
        # The members, the cells, the servers, and the members' requests. This
        # scheduler has not read the loads yet.
        self.assert_asked(4, 4, member, self.states(member))
        move = self.request({}, group=group)
        self.cloud.place(move, None, 'shelved_offloaded')
        self.cloud.start_action(move, 'unshelve', 'unshelving', now)
        self.assert_asked(3, 2, member, self.states(member))

    def test_placement_is_asked_only_for_those_before_in_a_strict_group(
        self,
    ) -> None:
        self.set_option('server_group_weight_multiplier', STRONG)
        get = self.cloud.placement.get
        for policy, expected in (
            ('soft-anti-affinity', [[], [], []]),
            ('anti-affinity', [[], [0], [0, 1]]),
        ):
            group = self.cloud.add_group(policy)
            requests = [self.request({}, group=group) for _ in range(3)]
            asked = []
            for request in requests:
                states = self.states(request)
                with mock.patch.object(
                    self.cloud.placement, 'get', side_effect=get
                ) as ask:
                    self.scheduler.host_manager.get_weighed_hosts(
                        states, request
                    )
                urls = [call.args[0] for call in ask.mock_calls]
                asked.append(urls)
            ids = [request.instance_uuid for request in requests]
            urls = [
                [f'/allocations/{ids[number]}' for number in numbers]
                for numbers in expected
            ]
            self.assertEqual(urls, asked, policy)

    def test_what_is_kept_goes_with_the_servers(self) -> None:
        for _ in range(3):
            request = self.request(_STACK)
            self.see(request)
            self.cloud.forget(request)
        request = self.request({'heat_root_stack_id': 'b'})
        self.see(request)
        kept = self.weigher()._reader._kept
        self.assertEqual(
            {'p1': {request.instance_uuid}},
            {project: {*requests} for project, requests in kept.items()},
        )

    def test_a_text_that_is_too_long_is_not_read(self) -> None:
        long = _STACK | {'different_host': 'x' * rows.LONGEST}
        self.place(long, 1)
        self.request(long)
        sight = self.see(self.request(_STACK))
        self.assertEqual(({}, []), (sight.counts, [*sight.ahead]))
        # Such a server has a place, too.
        weights = self.weigh(self.request(long, 'p2'))
        self.assertEqual(1, weights.count(0.0))

    def test_the_project_that_was_read_first_is_forgotten(self) -> None:
        with mock.patch.object(reader, 'LIMIT', 5):
            for project in ('p1', 'p2', 'p3'):
                for _ in range(2):
                    self.see(self.request(_STACK, project))
        kept = self.weigher()._reader._kept
        self.assertEqual(['p2', 'p3'], [*kept])

    def test_nothing_is_kept_of_groups(self) -> None:
        self.set_option('server_group_weight_multiplier', STRONG)
        group = self.cloud.add_group('soft-anti-affinity')
        requests = [self.request({}, group=group) for _ in self.hosts]
        self.assertEqual([1, 1, 1, 1], self.choose_all(requests))
        self.assertEqual({}, self.weigher()._reader._kept)

    def test_many_requests_are_read_in_parts(self) -> None:
        self.place(_STACK, 3, 2)
        request = self.request(_STACK)
        with mock.patch.object(rows, 'READ_AT_ONCE', 2):
            # Three for six requests, twice: their stacks, and their kinds.
            self.assert_asked(9, 4, request, self.states(request))
        self.assertEqual([3, 2, 0, 0], self.members(request))

    def test_what_is_kept_of_a_request_follows_its_row(self) -> None:
        member = self.request(_STACK)
        request = self.request(_STACK)
        sight = self.see(request)
        self.assertTrue(sight.is_alike(*sight.ahead))
        statements: list[str] = []
        with base.listening(statements.append):
            self.see(request)
        self.assertFalse([s for s in statements if 'request_specs.spec' in s])
        # A resize changes the stored request.
        member.flavor = self.add_flavor({'hw:cpu_policy': 'dedicated'})
        member.save()
        sight = self.see(request)
        self.assertFalse(sight.is_alike(*sight.ahead))

    def test_threads_that_read_a_project_at_once_share_the_work(self) -> None:
        """Each begins elsewhere, and skips what another one has read."""
        for _ in range(11):
            self.request(_STACK)
        texts = rows.request_texts
        read: list[str] = []

        def read_beside(context: Any, uuids: Any, word: str) -> Any:
            read.extend(uuids)
            if len(read) == 2:
                # Meanwhile, another thread reads all of them.
                self.see(request)
            return texts(context, uuids, word)

        request = self.request(_STACK)
        with (
            mock.patch.object(rows, 'READ_AT_ONCE', 2),
            mock.patch.object(rows, 'request_texts', read_beside),
        ):
            self.see(request)
        # Only the first part was read twice.
        self.assertEqual(12 + 2, len(read))


@ddt.ddt
class HostileTest(base.StackTestCase):
    """A user may send any hints; only his own project sees them."""

    @ddt.data(
        {'different_host': 'x' * 100_000},
        {f'hint-{number}': f'{number}' for number in range(5_000)},
        {'heat_root_stack_id': 'a\0b', 'heat_path_in_stack': '\0'},
        {'heat_root_stack_id': ['a', 'a']},
        {'heat_root_stack_id': '"heat_root_stack_id": ["a"]'},
        {'heat_root_stack_id': 'a', 'heat_signature': '0' * 64},
    )
    def test_odd_hints_harm_nobody(self, hints) -> None:
        self.place(_STACK | hints, 1, project='p2')
        odd = self.request(_STACK | hints, 'p2')
        with self.assertNoLogs('nova_filters', logging.WARNING):
            self.weigh(odd)
            requests = [self.request(_STACK) for _ in range(4)]
            chosen = {self.choose(request) for request in requests}
        self.assertEqual({*self.hosts}, chosen)


class FaultTest(base.StackTestCase):
    """Nothing that is broken breaks a request."""

    def test_a_database_that_fails_costs_the_weigher_its_say_only(
        self,
    ) -> None:
        self.place(_STACK, 3)
        request = self.request(_STACK)
        # As a driver quotes a part of a password that is not encoded.
        cause = sqlite3.OperationalError("no host 'retpw@db'\nand more lines")
        with (
            base.failing('FROM request_specs', cause),
            self.assertLogs(_LOGGER, logging.WARNING) as logs,
        ):
            boot = self.cloud.boot(self.scheduler, request)
        self.assertIn(boot.host, self.hosts)
        (line,) = logs.output
        self.assertIn(f'Instance {request.instance_uuid} is placed', line)
        self.assertIn(': OperationalError. Check the databases', line)
        # It has not taken the failure for an answer.
        self.assertEqual(3, sum(self.members(request)))

    def test_a_cell_that_fails_costs_its_members(self) -> None:
        self.place(_STACK, 3)
        request = self.request(_STACK)
        states = self.states(request)
        cell = self.cloud.cell_database()
        with (
            base.failing('FROM instances', OSError('gone'), cell),
            self.assertLogs('nova_filters', logging.WARNING) as logs,
        ):
            weights = self.weigh(request, states)
        self.assertEqual(1, weights.count(0.0))
        # The members, and the loads of hosts.
        self.assertEqual(2, len(logs.output))
        for line in logs.output:
            self.assertIn('Check the databases of Nova', line)
            self.assertIn(f'{self.cloud.cell.uuid} (OperationalError)', line)
        self.assertEqual([3, 0, 0, 0], self.members(request))

    def test_without_placement_hosts_are_worked_out(self) -> None:
        self.set_option('server_group_weight_multiplier', STRONG)
        group = self.cloud.add_group('anti-affinity')
        requests = [self.request({}, group=group) for _ in range(4)]
        away = ks_exceptions.ConnectFailure('no Placement')
        with (
            mock.patch.object(self.cloud.placement, 'get', side_effect=away),
            self.assertLogs(_LOGGER, logging.WARNING) as logs,
        ):
            self.assertEqual([1, 1, 1, 1], self.choose_all(requests))
        # The first one asks nothing.
        for request, line in zip(requests[1:], logs.output, strict=True):
            self.assertIn(request.instance_uuid, line)
            self.assertIn('Check [placement]', line)

    def test_an_unexpected_error_costs_the_weigher_its_say_only(self) -> None:
        request = self.request(_STACK)
        with self.assertLogs(_LOGGER, logging.ERROR) as logs:
            self.assertEqual([0.0] * 2, self.weigh(request, [object()] * 2))
        (line,) = logs.output
        self.assertIn('StackAffinityWeigher is left out of this req', line)
        self.set_option(MULTIPLIER, 0.0)
        with self.assertNoLogs(_LOGGER):
            self.assertEqual([0.0] * 2, self.weigh(request, [object()] * 2))

    def test_an_error_without_a_text_costs_the_weigher_its_say_only(
        self,
    ) -> None:
        class WordlessError(Exception):
            def __str__(self) -> Any:
                return None

        request = self.request(_STACK)
        states = self.states(request)
        with (
            mock.patch.object(
                rows, 'project_servers', side_effect=WordlessError
            ),
            self.assertLogs(_LOGGER, logging.ERROR) as logs,
        ):
            self.assertEqual({0.0}, {*self.weigh(request, states)})
        (line,) = logs.output
        self.assertIn('StackAffinityWeigher is left out of this req', line)
        self.assertIn('WordlessError', line)

    def test_a_server_that_the_database_does_not_show_has_no_weights(
        self,
    ) -> None:
        """A Galera node lags, or the server or its group is deleted."""
        self.set_option('server_group_weight_multiplier', STRONG)
        group = self.cloud.add_group('anti-affinity')
        self.place(_STACK, 3)
        for member_of, model in (
            (None, models.InstanceMapping),
            (group, models.InstanceGroupMember),
        ):
            request = self.request(_STACK, group=member_of)
            states = self.states(request)
            with api_db.get_engine().begin() as connection:
                row = model.instance_uuid == request.instance_uuid
                connection.execute(sa.delete(model).where(row))
            with self.assertLogs(_LOGGER, logging.WARNING) as logs:
                weighed = self.scheduler.host_manager.get_weighed_hosts(
                    states, request
                )
            self.assertEqual(1, len({host.weight for host in weighed}))
            (line,) = logs.output
            self.assertIn(request.instance_uuid, line)
            self.assertIn('mysql_wsrep_sync_wait = 1', line)

    def test_a_project_is_kept_if_a_later_read_fails(self) -> None:
        self.place(_STACK, 3)
        self.see(self.request(_STACK))
        request = self.request(_STACK)
        kept = self.weigher()._reader._kept
        before = {*kept['p1']}
        with base.failing('FROM request_specs', OSError('gone')):
            self.assertIsNone(self.see(request))
        self.assertEqual(before, {*kept['p1']})

    def test_a_read_that_never_ends_stops_no_other_boot(self) -> None:
        """A connection that is muted, for example by a moving address."""
        self.place(_STACK, 3)
        muted, *others = (
            self.request(_STACK, project) for project in ('p1', 'p1', 'p2')
        )
        states = self.states(muted)
        begun, released = threading.Event(), threading.Event()
        self.addCleanup(released.set)
        read = rows.request_texts

        def read_slowly(*arguments: Any) -> Any:
            if not begun.is_set():
                begun.set()
                released.wait()
            return read(*arguments)

        with (
            mock.patch.object(rows, 'request_texts', read_slowly),
            futures.ThreadPoolExecutor(2) as pool,
        ):
            first = pool.submit(self.weigh, muted, states)
            self.assertTrue(begun.wait(30))
            rest = pool.submit(
                lambda: [self.weigh(other, states) for other in others]
            )
            try:
                self.assertEqual(2, len(rest.result(30)))
                self.assertFalse(first.done())
            finally:
                released.set()
        self.assertEqual(1, first.result().count(0.0))

    def test_a_member_that_cannot_be_read_is_told(self) -> None:
        self.place(of_stack('stack-1'), 1)
        # The closing brackets are missing.
        text = sa.func.rtrim(models.RequestSpec.spec, '}')
        base.change(models.RequestSpec, spec=text)
        with self.assertLogs(_LOGGER, logging.WARNING) as logs:
            self.weigh(self.request(of_stack('stack-1')))
        self.assertIn('members of its stack or server', logs.output[0])
        # A server that has failed is no member anyway.
        base.change(models.InstanceMapping, cell_id=self.cloud.cell.id)
        with self.cloud.cell_database().begin() as connection:
            values = {'host': None, 'vm_state': 'error'}
            query = sa.update(main_models.Instance).values(**values)
            connection.execute(query)
        with self.assertNoLogs(_LOGGER, logging.WARNING):
            self.weigh(self.request(of_stack('stack-1')))

    def test_members_in_a_cell_without_candidates_count(self) -> None:
        self.set_option('stack_spread_over', ['rack'])
        first, _ = (
            self.add_aggregate(hosts, {'rack': rack})
            for hosts, rack in ((self.hosts[:2], 'a'), (self.hosts[2:], 'b'))
        )
        folder = tempfile.TemporaryDirectory(prefix='opp-cell-')
        self.addCleanup(folder.cleanup)
        cell = self.add_cell(f'sqlite:///{folder.name}/cell2')
        far = 'far-away'
        with mock.patch.object(self.cloud, 'cell', cell):
            bind = self.cloud.cell_database()
            self.addCleanup(bind.dispose)
            main_models.BASE.metadata.create_all(bind)
            for _ in range(4):
                self.cloud.place(self.request(_STACK), far, 'active')
        row = models.AggregateHost(aggregate_id=first.id, host=far)
        with orm.Session(api_db.get_engine()) as session, session.begin():
            session.add(row)
        self.restart()
        counts = self.choose_all(self.request(_STACK) for _ in range(12))
        # Rack a has four members, which the candidates do not show.
        self.assertEqual([4, 8], [sum(counts[:2]), sum(counts[2:])])

    def test_a_dead_cell_with_members_is_told_unless_it_is_disabled(
        self,
    ) -> None:
        cell = self.add_cell('sqlite:////nowhere/at/all')
        self.request(_STACK)
        base.change(models.InstanceMapping, cell_id=cell.id)
        request = self.request(_STACK)
        with self.assertLogs(_LOGGER, logging.WARNING) as logs:
            self.weigh(request)
        (line,) = logs.output
        self.assertIn(cell.uuid, line)
        # Nova does not ask a disabled cell, either.
        cell.disabled = True
        cell.save()
        with self.assertNoLogs(_LOGGER, logging.WARNING):
            self.weigh(request)


class BehindTest(base.StackTestCase):
    """Nodes of a database cluster that do not show the latest rows."""

    def setUp(self) -> None:
        super().setUp()
        self.set_option('server_group_weight_multiplier', STRONG)
        self.api = api_db.get_engine()
        self.cell = self.cloud.cell_database()

    def assert_told(self, request: Any, words: str) -> None:
        """Fail unless weighers log one WARNING for a request."""
        states = self.states(request)
        with self.assertLogs(_LOGGER, logging.WARNING) as logs:
            self.scheduler.host_manager.get_weighed_hosts(states, request)
        (line,) = logs.output
        self.assertIn(words, line)

    def test_a_request_that_is_not_there_is_not_kept(self) -> None:
        self.place(_STACK, 3)
        request = self.request(_STACK)
        missing = models.RequestSpec.instance_uuid != request.instance_uuid
        with base.without_rows(self.api, models.RequestSpec, missing):
            self.assert_told(request, 'members of its stack or server group')
        self.assertEqual([3, 0, 0, 0], self.members(request))

    def test_members_that_start_are_told_without_their_requests(self) -> None:
        group = self.cloud.add_group('anti-affinity')
        for member_of in (None, group):
            hints = of_stack(f'stack of {member_of}')
            first = self.request(hints, group=member_of)
            request = self.request(hints, group=member_of)
            missing = models.RequestSpec.instance_uuid == first.instance_uuid
            with base.without_rows(self.api, models.RequestSpec, missing):
                self.assert_told(request, f'server {first.instance_uuid}')

    def test_a_server_without_its_own_request_has_no_weights(self) -> None:
        group = self.cloud.add_group('anti-affinity')
        for member_of in (None, group):
            request = self.request(_STACK, group=member_of)
            missing = models.RequestSpec.instance_uuid == request.instance_uuid
            with base.without_rows(self.api, models.RequestSpec, missing):
                self.assert_told(request, 'mysql_wsrep_sync_wait')

    def test_a_server_that_its_cell_does_not_show_starts(self) -> None:
        """nova-conductor names the cell after it has written the server."""
        for group in (None, self.cloud.add_group('anti-affinity')):
            chosen = []
            for _ in self.hosts:
                request = self.request(_STACK, group=group)
                missing = main_models.Instance.id > 0
                with base.without_rows(
                    self.cell, main_models.Instance, missing
                ):
                    chosen.append(self.choose(request))
                self.cloud.place(request, chosen[-1], 'active')
            self.assertCountEqual(self.hosts, chosen)

    def test_a_move_that_its_cell_does_not_show_has_no_weights(self) -> None:
        request = self.request(_STACK)
        self.cloud.place(request, self.hosts[0], 'active')
        self.assert_told(request, '[database]')
        # Nova asks for the host of a server that it rebuilds.
        (state, *_) = self.states(request)
        with self.assertNoLogs(_LOGGER, logging.WARNING):
            self.assertEqual([0.0], self.weigh(request, [state]))

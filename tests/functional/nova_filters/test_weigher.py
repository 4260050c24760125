# SPDX-License-Identifier: Apache-2.0

"""The servers of a stack, placed by the real scheduler and its weighers."""

import collections
import concurrent.futures
import contextlib
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import ddt
import sqlalchemy as sa
from nova import objects
from nova.db.api import api as api_db
from nova.db.api import models
from nova.scheduler import weights
from oslo_utils import timeutils
from sqlalchemy import engine as sa_engine

from nova_filters.weighers import rows
from testing.nova import engine, states
from tests import signing
from tests.functional.nova_filters import base

_OPTION = 'stack_affinity_weight_multiplier'
_LOGGER = 'nova_filters.weighers'

#: What it takes to win over Nova's weighers, as the documentation says.
_STRONG = 10.0


@contextlib.contextmanager
def listening(
    listener: Callable[[str], None], bind: Any = sa_engine.Engine
) -> Iterator[None]:
    """Have a function called with each statement to a database meanwhile.

    :param bind: the database; by default, any.
    """

    def call(_conn, _cursor, statement, *_args) -> None:
        listener(statement)

    sa.event.listen(bind, 'before_cursor_execute', call)
    try:
        yield
    finally:
        sa.event.remove(bind, 'before_cursor_execute', call)


@contextlib.contextmanager
def statements() -> Iterator[list[str]]:
    """Collect every statement that is sent to any database meanwhile."""
    found: list[str] = []
    with listening(found.append):
        yield found
    # Not what concerns SQLite's connection alone.
    found[:] = [one for one in found if one not in ('BEGIN', 'SELECT 1')]


def failing(words: str, cause: Exception, bind: Any = None) -> Any:
    """Have a database fail meanwhile, if words stand in a statement.

    :param bind: by default, the API database.
    """

    def fail(statement: str) -> None:
        if words in statement:
            raise sa.exc.OperationalError(statement, {}, cause)

    return listening(fail, bind or api_db.get_engine())


def of_stack(root: str) -> dict[str, Any]:
    """Return the hints of a server of a stack, as Heat's own option does."""
    return {'heat_root_stack_id': root, 'heat_resource_name': 'server'}


class StackTestCase(base.CloudTestCase):
    """Four hosts, and the servers of stacks."""

    weigher_name = 'StackAffinityWeigher'

    def setUp(self) -> None:
        super().setUp()
        self.hosts = [self.add_host() for _ in range(4)]
        self.flavor = self.add_flavor({})
        self.restart()

    def set_multiplier(self, value: float) -> None:
        """Set the weigher's multiplier until the end of the test."""
        self.set_option(_OPTION, value)

    def restart(self) -> None:
        """Start a scheduler that has the options of now, and knows nothing."""
        self.scheduler = self.cloud.scheduler(engine.OURS)

    def request(self, hints: Any, project: str = 'p1') -> Any:
        """Return a request for one server on the four hosts."""
        return self.cloud.request(
            self.flavor, self.hosts, hints, project=project
        )

    def place(self, hints: Any, *counts: int, project: str = 'p1') -> None:
        """Run so many servers with these hints on each of the hosts."""
        for host, count in zip(self.hosts, counts, strict=False):
            for _ in range(count):
                self.cloud.place(self.request(hints, project), host)

    def boot_one(self, hints: dict[str, Any], scheduler: Any = None) -> str:
        """Return the host of a new server, which then runs there."""
        request = self.request(hints)
        host = self.cloud.boot(scheduler or self.scheduler, request).host
        self.assertIsNotNone(host)
        self.cloud.place(request, host)
        return host

    def choose(self, request: Any, scheduler: Any = None) -> str:
        """Return the host that a scheduler chooses; nothing else happens."""
        manager = (scheduler or self.scheduler).host_manager
        best, *_ = manager.get_weighed_hosts(self.states(request), request)
        return str(best.obj.host)

    def choose_all(self, *requests: Any) -> list[int]:
        """Return how many servers hosts get from processes that know nothing.

        The last request comes first.
        """
        chosen = [
            self.choose(one, self.cloud.scheduler(engine.OURS))
            for one in reversed(requests)
        ]
        return [*collections.Counter(chosen).values()]

    def states(self, request: Any) -> list[Any]:
        """Return what the scheduler knows of the four hosts, in order."""
        states = self.scheduler.host_manager.get_host_states_by_uuids(
            self.cloud.context, None, request
        )
        found = {state.host: state for state in states}
        return [found[host] for host in self.hosts]

    def members(self, request: Any) -> list[int]:
        """Return how many members of the stack each of the hosts has."""
        found = self.cloud.members(self.scheduler, request)
        return [found[host] for host in self.hosts]

    def weigh(self, request: Any, states: Any = None) -> list[float]:
        """Return the weights of the hosts."""
        weighed = [
            weights.WeighedHost(state, 0.0)
            for state in (states or self.states(request))
        ]
        return self.weigher().weigh_objects(weighed, request)

    def weigher(self) -> Any:
        """Return the weigher of the scheduler that is tested."""
        weighers = self.scheduler.host_manager.weighers
        names = [type(weigher).__name__ for weigher in weighers]
        return weighers[names.index(self.weigher_name)]


class StackTest(StackTestCase):
    """Which servers are members."""

    def test_stacks_and_projects_do_not_see_each_other(self) -> None:
        self.place(of_stack('a'), 3, 2, 1)
        self.place(of_stack('b'), 0, 0, 1)
        self.place(of_stack('a'), 0, 0, 0, 1, project='p2')
        for root, project, counts in (
            ('a', 'p1', [3, 2, 1, 0]),
            ('b', 'p1', [0, 0, 1, 0]),
            ('a', 'p2', [0, 0, 0, 1]),
        ):
            request = self.request(of_stack(root), project)
            self.assertEqual(counts, self.members(request))

    def test_without_a_stack_nothing_is_said_and_asked(self) -> None:
        self.place(of_stack('a'), 2, 1)
        for hints in (None, {}, {'heat_root_stack_id': ['', 'x']}):
            request = self.request(hints)
            states = self.states(request)
            with statements() as found:
                self.assertEqual({0.0}, set(self.weigh(request, states)))
            self.assertEqual([], found)


@ddt.ddt
class StartingTest(StackTestCase):
    """Servers that no host lists yet, as long as they are not ACTIVE."""

    def setUp(self) -> None:
        super().setUp()
        self.set_multiplier(-_STRONG)
        self.restart()

    @ddt.data(-_STRONG, _STRONG)
    def test_each_process_finds_the_same_order(self, multiplier) -> None:
        self.set_multiplier(multiplier)
        requests = [self.request(of_stack('a')) for _ in range(12)]
        wanted = [3] * 4 if multiplier < 0 else [12]
        self.assertEqual(wanted, self.choose_all(*requests))

    @ddt.data('deleted', 'queued', 'cell0')
    def test_what_comes_to_nothing_is_not_waited_for(self, how) -> None:
        """Unit tests of members ask for states and for what is too old."""
        first = self.choose(self.request(of_stack('a')))
        self.cloud.clear()
        failed = self.request(of_stack('a'))
        if how == 'deleted':
            self.cloud.place(failed, self.hosts[0])
            self.cloud.update(failed, deleted=1)
        elif how == 'queued':
            self.change(models.InstanceMapping, queued_for_delete=True)
        else:
            cell = objects.CellMapping(
                self.cloud.context,
                uuid=objects.CellMapping.CELL0_UUID,
                name='cell0',
                transport_url='none:///',
                database_connection='sqlite://',
            )
            cell.create()
            self.addCleanup(cell.destroy)
            self.change(models.InstanceMapping, cell_id=cell.id)
        self.assertEqual(first, self.choose(self.request(of_stack('a'))))

    def change(self, model: Any, **values: Any) -> None:
        """Change a table of the API database."""
        with api_db.get_engine().begin() as connection:
            connection.execute(sa.update(model.__table__).values(**values))

    def test_rows_that_are_broken_are_passed_over(self) -> None:
        for text in ('', '{', '[1]', '{"nova_object.data": 1}'):
            self.place(of_stack('a'), 1)
            self.change(models.RequestSpec, spec=f'heat_root_stack_id {text}')
        self.place(of_stack('a'), 1)
        request = self.request(of_stack('a'))
        self.assertEqual([1, 0, 0, 0], self.members(request))

    def test_requests_that_wait_share_one_read(self) -> None:
        requests = [self.request(of_stack('a')) for _ in range(16)]
        states = self.states(requests[0])
        team = self.weigher().team(requests[0])
        began, going = threading.Event(), threading.Event()
        reads = []

        def slow(_statement: str) -> None:
            reads.append(1)
            began.set()
            going.wait(30)

        with (
            listening(slow, api_db.get_engine()),
            concurrent.futures.ThreadPoolExecutor(16) as pool,
        ):
            asked = [
                pool.submit(self.weigher().see, team, states, request)
                for request in requests
            ]
            began.wait(30)
            waiting = self.weigher()._reader._waiting
            while len(waiting) < len(requests) - 1:
                time.sleep(0.001)
            going.set()
            ahead = [one.result().ahead for one in asked]
        self.assertEqual(list(range(16)), ahead)
        self.assertLess(len(reads), len(requests))


@ddt.ddt
class MoveTest(StackTestCase):
    """Servers that move, in the order of their actions."""

    def setUp(self) -> None:
        super().setUp()
        self.set_multiplier(-_STRONG)
        self.restart()

    def moving(self, count: int, action: str, host: str | None) -> list[Any]:
        """Return the requests of members that all begin to move."""
        requests = [self.request(of_stack('a')) for _ in range(count)]
        state = 'active' if host else 'shelved_offloaded'
        for request in requests:
            self.cloud.place(request, host, state)
        for request in reversed(requests):
            self.cloud.start_action(request, action, 'busy')
        return requests

    @ddt.data('unshelve', 'evacuate')
    def test_each_process_finds_the_same_order(self, action) -> None:
        host = None if action == 'unshelve' else self.add_host()
        requests = self.moving(8, action, host)
        self.assertEqual([2] * 4, self.choose_all(*requests))

    @ddt.data('evacuate', 'migrate', 'live-migration', 'resize')
    def test_a_server_counts_once_and_where_it_goes(self, action) -> None:
        (request,) = self.moving(1, action, self.hosts[0])
        other = self.request(of_stack('a'))
        self.assertEqual([0, 0, 0, 0], self.members(other))
        with self.cloud.in_cell() as context:
            for status, host in (
                ('confirmed', self.hosts[1]),
                ('pre-migrating', self.hosts[2]),
            ):
                objects.Migration(
                    context,
                    instance_uuid=request.instance_uuid,
                    source_compute=self.hosts[0],
                    dest_compute=host,
                    status=status,
                    migration_type='migration',
                ).create()
        self.assertEqual([0, 0, 1, 0], self.members(other))
        self.cloud.update(request, host=self.hosts[2], task_state=None)
        self.assertEqual([0, 0, 1, 0], self.members(other))

    def test_a_server_that_does_not_move_stays(self) -> None:
        self.moving(1, 'rebuild', self.hosts[0])
        request = self.request(of_stack('a'))
        self.assertEqual([1, 0, 0, 0], self.members(request))

    def test_boots_and_moves_see_each_other(self) -> None:
        self.addCleanup(timeutils.clear_time_override)
        timeutils.set_time_override()
        boot = self.request(of_stack('a'))
        timeutils.advance_time_seconds(1)
        now = timeutils.utcnow()
        with mock.patch.object(self.cloud.context, 'timestamp', now):
            (move,) = self.moving(1, 'unshelve', None)
        timeutils.advance_time_seconds(1)
        later = self.request(of_stack('a'))
        states, weigher = self.states(boot), self.weigher()
        self.assertEqual(
            [0, 1, 2],
            [
                weigher.see(weigher.team(one), states, one).ahead
                for one in (boot, move, later)
            ],
        )


class GroupTest(StackTestCase):
    """Server groups with a soft policy."""

    def setUp(self) -> None:
        super().setUp()
        self.set_multiplier(-_STRONG)

    def start(
        self, policy: str, hints: dict[str, Any], count: int = 8
    ) -> list[int]:
        """Return how many members of a group each host gets, most first."""
        group = self.cloud.add_group(policy)
        counts = collections.Counter(dict.fromkeys(self.hosts, 0))
        for _ in range(count):
            request = self.cloud.request(
                self.flavor, self.hosts, hints, 'p1', group=group
            )
            counts[self.choose(request)] += 1
        return sorted(counts.values(), reverse=True)

    def test_soft_policies_hold_while_servers_start(self) -> None:
        for multiplier, policy, wanted in (
            (0.0, 'soft-anti-affinity', [8, 0, 0, 0]),
            (_STRONG, 'soft-anti-affinity', [2, 2, 2, 2]),
            (_STRONG, 'soft-affinity', [8, 0, 0, 0]),
        ):
            self.set_option('server_group_weight_multiplier', multiplier)
            self.restart()
            self.assertEqual(wanted, self.start(policy, {}), multiplier)

    def test_the_group_counts_and_not_the_stack(self) -> None:
        self.set_option('server_group_weight_multiplier', _STRONG)
        self.restart()
        hints = of_stack('a')
        self.place(hints, 4)
        self.assertEqual([2, 2, 2, 2], self.start('soft-anti-affinity', hints))
        # It has no preference, so the stack counts.
        self.assertEqual([4, 4, 4, 0], self.start('anti-affinity', hints, 12))

    def test_a_member_counts_for_its_stack_too(self) -> None:
        self.set_option('server_group_weight_multiplier', _STRONG)
        self.restart()
        request = self.cloud.request(
            *(self.flavor, self.hosts, of_stack('a'), 'p1'),
            group=self.cloud.add_group('soft-affinity'),
        )
        self.cloud.place(request, self.hosts[1])
        found = self.members(self.request(of_stack('a')))
        self.assertEqual([0, 1, 0, 0], found)


class SpreadOverTest(StackTestCase):
    """Places that are more than a host."""

    def setUp(self) -> None:
        super().setUp()
        self.set_multiplier(-_STRONG)
        self.add_aggregate(self.hosts[:2], {'rack': 'r1'})
        self.add_aggregate(self.hosts[2:], {'rack': 'r2'})

    def spread(self, count: int, *levels: str, without: str = '') -> list[int]:
        """Return how many members of a new stack each host gets."""
        self.set_option('stack_spread_over', list(levels))
        self.restart()
        counts = collections.Counter()
        for number in range(count):
            request = self.request(of_stack('a'))
            if number >= count // 2 and without:
                request.ignore_hosts = [*request.ignore_hosts, without]
            host = self.cloud.boot(self.scheduler, request).host
            counts[host] += 1
            self.cloud.place(request, host)
        return [counts[host] for host in self.hosts]

    def test_racks_first_then_hosts(self) -> None:
        self.assertEqual([3, 3, 3, 3], self.spread(12, 'rack', 'host'))

    def test_a_full_host_counts_for_its_rack(self) -> None:
        found = self.spread(8, 'rack', 'host', without=self.hosts[0])
        self.assertEqual([1, 3, 2, 2], found)

    def test_the_places_of_a_host(self) -> None:
        self.set_option('stack_spread_over', ['availability_zone', 'rack'])
        self.restart()
        for metadata, zone, rack in (
            ([], 'nova', None),
            ([{'rack': 'r1'}, {'availability_zone': 'z'}], 'z', 'r1'),
            # Of two, the first.
            ([{'rack': 'r2'}, {'rack': 'r1'}, {'rack': ''}], 'nova', 'r1'),
        ):
            found = self.weigher()._path('h', states.aggregates(*metadata))
            # Without the key, a host is a place.
            own = ('rack', rack) if rack else ('host', 'h')
            self.assertEqual((('availability_zone', zone), own), found)


class BesideNovaTest(StackTestCase):
    """The weigher among those of Nova."""

    def setUp(self) -> None:
        super().setUp()
        # All that Nova weighs by default speaks for the first host.
        self.hosts[1:] = [f'busy-{number}' for number in range(3)]
        for host in self.hosts[1:]:
            if host not in self.cloud.hosts:
                self.cloud.add_host(host)
                self.make_busy(host)

    def make_busy(self, host: str) -> None:
        """Write what nova-compute would report."""
        with self.cloud.in_cell() as context:
            node = objects.ComputeNode.get_first_node_by_host_for_old_compat(
                context, host
            )
            node.memory_mb_used = node.free_ram_mb = 512 * 1024
            node.vcpus_used = 512
            node.free_disk_gb = node.disk_available_least = 5120
            node.running_vms = node.current_workload = 100
            node.hypervisor_version = 7000000
            node.save()

    def ranking(self, scheduler: Any, request: Any) -> list[Any]:
        """Return hosts and weights, best first."""
        weighed = scheduler.host_manager.get_weighed_hosts(
            self.states(request), request
        )
        return [(host.obj.host, host.weight) for host in weighed]

    def stock(self) -> Any:
        """Return a scheduler that does not know of the weigher."""
        name, group = 'weight_classes', 'filter_scheduler'
        self.set_option(name, ['nova.scheduler.weights.all_weighers'], group)
        scheduler = self.cloud.scheduler(engine.OURS)
        engine.CONF.clear_override(name, group=group)
        modules = {
            type(weigher).__module__.partition('.')[0]
            for weigher in scheduler.host_manager.weighers
        }
        self.assertEqual({'nova'}, modules)
        return scheduler

    def test_what_does_not_concern_it_goes_where_nova_puts_it(self) -> None:
        stock = self.stock()
        self.place(of_stack('a'), 3, 2, 1)
        for hints, multiplier in (
            ({}, -_STRONG),
            ({'group': 'x'}, -_STRONG),
            (of_stack('a'), 0.0),
        ):
            self.set_multiplier(multiplier)
            request = self.request(hints)
            wanted = self.ranking(stock, request)
            self.assertEqual(self.hosts, [host for host, _ in wanted])
            self.assertEqual(wanted, self.ranking(self.scheduler, request))

    def test_the_default_is_weaker_than_novas_weighers(self) -> None:
        self.assertEqual(-1.0, engine.CONF.nova_filters[_OPTION])
        self.place(of_stack('a'), 3)
        request = self.request(of_stack('a'))
        self.assertEqual(self.hosts[0], self.choose(request))

    def test_the_documented_multiplier_wins_over_novas_weighers(self) -> None:
        # A sum of weights between 0 and 1; the two of a million are there to
        # keep servers off broken hosts and in their cell.
        against = sum(
            abs(weigher.weight_multiplier(self.states(self.request({}))[0]))
            for weigher in self.stock().host_manager.weighers
            if type(weigher).__name__
            not in ('BuildFailureWeigher', 'CrossCellWeigher')
        )
        self.assertLess(against, _STRONG)
        # Neither is where Nova would put it.
        for multiplier, counts in (
            (-_STRONG, (2, 1, 1)),
            (_STRONG, (0, 0, 0, 3)),
        ):
            self.set_multiplier(multiplier)
            self.place(of_stack('a'), *counts)
            request = self.request(of_stack('a'))
            self.assertEqual(self.hosts[3], self.choose(request))
            self.cloud.forget(request)


class SignatureTest(StackTestCase):
    """Hints that count only if Heat signed them."""

    def setUp(self) -> None:
        super().setUp()
        self.set_multiplier(-_STRONG)

    def set_keys(self, *keys: str) -> None:
        """Start a scheduler with these keys."""
        self.set_option('signing_key', list(keys), 'heat_hints')
        self.restart()

    def test_a_running_server_with_forged_hints_counts_nowhere(self) -> None:
        good = signing.signed(of_stack('a'))
        for hints in (
            *(good, of_stack('a'), {**good, 'heat_resource_uuid': 'x'}),
            signing.signed(of_stack('a'), key=signing.OTHER_KEY),
            signing.signed(of_stack('a'), project='p2'),
        ):
            self.place(hints, 1)
        self.place(good, 1, project='p2')
        request = self.request(of_stack('a'))
        self.assertEqual([5, 0, 0, 0], self.members(request))
        self.set_keys(signing.KEY)
        self.assertEqual([1, 0, 0, 0], self.members(self.request(good)))

    def test_a_request_with_forged_hints_goes_where_nova_puts_it(self) -> None:
        self.set_keys(signing.KEY)
        self.place(signing.signed(of_stack('a')), 2, 1)
        for hints, project in (
            (of_stack('a'), 'p1'),
            (signing.signed(of_stack('a'), key=signing.OTHER_KEY), 'p1'),
            (signing.signed(of_stack('a')), 'p2'),
        ):
            request = self.request(hints, project)
            self.assertEqual({0.0}, set(self.weigh(request)))

    def test_a_key_is_changed_while_servers_run(self) -> None:
        old = signing.signed(of_stack('a'), key=signing.OTHER_KEY)
        new = signing.signed(of_stack('a'))
        for hints in (old, new):
            self.place(hints, 1)
        for keys, wanted in (
            ([signing.OTHER_KEY], (1, None)),
            ([signing.OTHER_KEY, signing.KEY], (2, 2)),
            ([signing.KEY], (None, 1)),
        ):
            for hints, count in zip((old, new), wanted, strict=True):
                self.set_keys(*keys)
                request = self.request(hints)
                if count is None:
                    self.assertIsNone(self.weigher().team(request))
                    continue
                self.assertEqual([count, 0, 0, 0], self.members(request))


class CostTest(StackTestCase):
    """What a request asks of the databases."""

    def test_a_request_asks_each_database_once_or_twice(self) -> None:
        self.place(of_stack('a'), 3, 2, 1)
        self.place({}, 1)
        request = self.request(of_stack('a'))
        states = self.states(request)
        with statements() as cold:
            found = self.weigh(request, states)
        with statements() as warm:
            self.assertEqual(found, self.weigh(request, states))
        # The cells, servers without a cell, those in it, and their requests.
        self.assertEqual(4, len(cold), cold)
        self.assertEqual(2, len(warm), warm)
        move = self.request(of_stack('a'))
        self.cloud.place(move, None, 'shelved_offloaded')
        self.cloud.start_action(move, 'unshelve', 'unshelving')
        with statements() as moving:
            self.weigh(request, states)
        # The new request, and the actions in the cell.
        self.assertEqual(4, len(moving), moving)

    def test_many_requests_are_read_in_parts(self) -> None:
        self.place(of_stack('a'), 3, 2)
        request = self.request(of_stack('a'))
        states = self.states(request)
        with (
            mock.patch.object(rows, 'READ_AT_ONCE', 2),
            statements() as found,
        ):
            self.weigh(request, states)
        self.assertEqual([3, 2, 0, 0], self.members(request))
        # Three for six requests.
        self.assertEqual(6, len(found), found)


@ddt.ddt
class FaultTest(StackTestCase):
    """Nothing that is broken breaks a request."""

    def test_a_database_that_fails_costs_the_weigher_its_say_only(
        self,
    ) -> None:
        self.place(of_stack('a'), 3)
        request = self.request(of_stack('a'))
        cause = sqlite3.OperationalError('gone\nand more lines')
        with (
            failing('FROM request_specs', cause),
            self.assertLogs(_LOGGER, logging.WARNING) as logs,
        ):
            boot = self.cloud.boot(self.scheduler, request)
        self.assertIn(boot.host, self.hosts)
        self.assertEqual(1, len(logs.records))
        self.assertIn('[api_database]', logs.output[0])
        self.assertIn('gone', logs.output[0])
        self.assertNotIn('more lines', logs.output[0])
        # It has not taken the failure for an answer.
        self.assertEqual(3, sum(self.members(request)))

    def test_an_instance_without_a_stored_request_is_in_no_stack(self) -> None:
        request = self.request(of_stack('a'))
        self.cloud.place(request, self.hosts[0])
        request.destroy()
        found = self.members(self.request(of_stack('a')))
        self.assertEqual([0, 0, 0, 0], found)

    def test_a_cell_that_fails_costs_its_members(self) -> None:
        self.place(of_stack('a'), 3)
        request = self.request(of_stack('a'))
        states = self.states(request)
        with (
            failing(
                'FROM instances', OSError('gone'), self.cloud.cell_database()
            ),
            self.assertLogs('nova_filters', logging.WARNING) as logs,
        ):
            found = self.weigh(request, states)
        self.assertEqual(1, found.count(0.0))
        (line,) = logs.output
        self.assertIn('Check this database', line)
        self.assertEqual([3, 0, 0, 0], self.members(request))

    def test_what_is_no_host_costs_the_weigher_its_say_only(self) -> None:
        request = self.request(of_stack('a'))
        weighed = [weights.WeighedHost(object(), 0.0) for _ in range(3)]
        with self.assertLogs(_LOGGER, logging.WARNING) as logs:
            found = self.weigher().weigh_objects(weighed, request)
        self.assertEqual([0.0] * 3, found)
        self.assertIn('has no say in this request', logs.output[-1])

    def test_a_bare_request_has_no_stack(self) -> None:
        states = self.states(self.request({}))
        nothing = objects.RequestSpec(scheduler_hints=None)
        for request in (objects.RequestSpec(), nothing):
            self.assertEqual([0.0] * 4, self.weigh(request, states))

    @ddt.data('much', '', 'nan', '-inf', '1e999', '1,2')
    def test_an_aggregates_broken_number_leaves_the_option_in_force(
        self, text
    ) -> None:
        self.set_multiplier(7.0)
        state = states.host_state('host', states.aggregates({_OPTION: '-3'}))
        self.assertEqual(-3.0, self.weigher().weight_multiplier(state))
        state = states.host_state('host', states.aggregates({_OPTION: text}))
        # Of some, Nova itself warns.
        with self.assertLogs(level=logging.WARNING):
            self.assertEqual(7.0, self.weigher().weight_multiplier(state))

# SPDX-License-Identifier: Apache-2.0

"""The servers of a stack, placed by the real scheduler and its weighers."""

import collections
import concurrent.futures
import contextlib
import itertools
import logging
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any
from unittest import mock

import ddt
import sqlalchemy as sa
from keystoneauth1 import exceptions as ks_exc
from nova import objects
from nova.db.api import api as api_db
from nova.db.api import models
from nova.objects import fields
from nova.scheduler import host_manager, weights
from oslo_utils import uuidutils
from sqlalchemy import engine as sa_engine

import tests
from nova_filters.weighers import stack_affinity, stack_rows
from testing.nova import engine, states
from tests import signing
from tests.functional.nova_filters import base

_OPTION = 'stack_affinity_weight_multiplier'
_LOGGER = 'nova_filters.weighers.stack_affinity'

#: What it takes to win over Nova's weighers, as the documentation says.
_STRONG = 10.0


@contextlib.contextmanager
def statements() -> Iterator[list[tuple[str, Any]]]:
    """Collect every statement that is sent to any database meanwhile."""
    found: list[tuple[str, Any]] = []

    def record(_conn, _cursor, statement, parameters, *_args) -> None:
        # Not what concerns SQLite's connection alone.
        if statement not in ('BEGIN', 'SELECT 1'):
            found.append((statement, parameters))

    sa.event.listen(sa_engine.Engine, 'before_cursor_execute', record)
    try:
        yield found
    finally:
        sa.event.remove(sa_engine.Engine, 'before_cursor_execute', record)


@contextlib.contextmanager
def failing(words: str, cause: Exception) -> Iterator[None]:
    """Have the API database fail meanwhile, if words stand in a statement."""

    def fail(_conn, _cursor, statement, *_args) -> None:
        if words in statement:
            raise sa.exc.OperationalError(statement, {}, cause)

    bind = api_db.get_engine()
    sa.event.listen(bind, 'before_cursor_execute', fail)
    try:
        yield
    finally:
        sa.event.remove(bind, 'before_cursor_execute', fail)


@contextlib.contextmanager
def database_for_threads() -> Iterator[None]:
    """Copy the API database into a file, which each thread opens itself.

    In memory it is one connection with one transaction for all threads,
    which no deployment has.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = f'{folder}/api.sqlite'
        with (
            api_db.get_engine().connect() as connection,
            contextlib.closing(sqlite3.connect(path)) as copy,
        ):
            connection.connection.dbapi_connection.backup(copy)
        bind = sa.create_engine(f'sqlite:///{path}')
        undo = api_db.context_manager.patch_engine(bind)
        try:
            yield
        finally:
            undo()
            bind.dispose()


def of_stack(root: str) -> dict[str, Any]:
    """Return the hints of a server of a stack, as Heat's own option does."""
    return {'heat_root_stack_id': root, 'heat_resource_name': 'server'}


class StackTestCase(base.CloudTestCase):
    """Four hosts, and the servers of stacks."""

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

    def boot_stack(self, hints: dict[str, Any], *schedulers: Any) -> list[int]:
        """Return how many of eight servers each host got, most first.

        :param hints: those of each server.
        :param schedulers: who takes turns; by default, the one of the test.
        """
        counts = collections.Counter(dict.fromkeys(self.hosts, 0))
        turns = itertools.cycle(schedulers or [self.scheduler])
        for scheduler in itertools.islice(turns, 8):
            counts[self.boot_one(hints, scheduler)] += 1
        return sorted(counts.values(), reverse=True)

    def states(self, request: Any) -> list[Any]:
        """Return what the scheduler knows of the four hosts, in order."""
        states = self.scheduler.host_manager.get_host_states_by_uuids(
            self.cloud.context, None, request
        )
        found = {state.host: state for state in states}
        return [found[host] for host in self.hosts]

    def weigh(self, request: Any, states: Any = None) -> list[float]:
        """Return how many members of the stack each of the hosts has."""
        weighed = [
            weights.WeighedHost(state, 0.0)
            for state in (states or self.states(request))
        ]
        return self.weigher().weigh_objects(weighed, request)

    def weigher(self, name: str = 'StackAffinityWeigher') -> Any:
        """Return a weigher of the scheduler."""
        weighers = self.scheduler.host_manager.weighers
        return next(w for w in weighers if type(w).__name__ == name)


class StackTest(StackTestCase):
    """Spread and packed."""

    def test_stacks_do_not_see_each_other(self) -> None:
        self.place(of_stack('a'), 3, 2, 1)
        self.place(of_stack('b'), 0, 0, 1)
        for root, counts in (('a', [3.0, 2.0, 1.0]), ('b', [0.0, 0.0, 1.0])):
            found = self.weigh(self.request(of_stack(root)))
            self.assertEqual([*counts, 0.0], found)

    def test_an_aggregate_overrides_the_option(self) -> None:
        self.set_multiplier(_STRONG)
        self.add_aggregate(self.hosts, {_OPTION: f'-{_STRONG}'})
        self.restart()
        self.assertEqual([2, 2, 2, 2], self.boot_stack(of_stack('a')))

    def test_the_weigher_has_no_say_without_a_stack(self) -> None:
        self.place(of_stack('a'), 2, 1)
        for hints in (None, {}, {'heat_root_stack_id': ['', 'x']}):
            self.assertEqual({0.0}, set(self.weigh(self.request(hints))))

    def test_a_member_that_moves_is_not_its_own_neighbour(self) -> None:
        request = self.request(of_stack('a'))
        self.cloud.place(request, self.hosts[0])
        other = self.request(of_stack('a'))
        self.cloud.place(other, self.hosts[1])
        self.assertEqual([0.0, 1.0, 0.0, 0.0], self.weigh(request))
        self.assertEqual([1.0, 0.0, 0.0, 0.0], self.weigh(other))

    def test_two_schedulers_find_what_the_other_has_placed(self) -> None:
        self.set_multiplier(-_STRONG)
        other = self.cloud.scheduler(engine.OURS)
        counts = self.boot_stack(of_stack('a'), self.scheduler, other)
        self.assertEqual([2, 2, 2, 2], counts)

    def test_threads_of_two_schedulers_weigh_side_by_side(self) -> None:
        schedulers = [self.cloud.scheduler(engine.OURS) for _ in range(2)]
        weighers = [s.host_manager.weighers[-1] for s in schedulers]
        for weigher in weighers:
            self.assertIsInstance(weigher, stack_affinity.StackAffinityWeigher)
        stacks = [f'stack-{number}' for number in range(8)]
        for stack in stacks:
            self.place(of_stack(stack), 1, 1, 1)
        requests = [self.request(of_stack(stack)) for stack in stacks]
        states = self.states(requests[0])

        def weigh(number: int) -> list[float]:
            weighed = [weights.WeighedHost(state, 0.0) for state in states]
            request = requests[number % len(requests)]
            return weighers[number % 2].weigh_objects(weighed, request)

        with (
            database_for_threads(),
            statements() as found,
            self.assertNoLogs(_LOGGER, logging.WARNING),
            concurrent.futures.ThreadPoolExecutor(16) as pool,
        ):
            weighed = list(pool.map(weigh, range(100)))
        self.assertEqual([[1.0, 1.0, 1.0, 0.0]] * 100, weighed)
        # Two for what is new in each scheduler, one for each request.
        self.assertEqual(2 * 2 + 100, len(found))


class StartingTest(StackTestCase):
    """Servers that no host lists yet, as long as they are not ACTIVE."""

    def setUp(self) -> None:
        super().setUp()
        self.set_multiplier(-_STRONG)
        self.restart()

    def start(self, request: Any, scheduler: Any = None) -> str:
        """Return the host that a server starts on."""
        host = self.cloud.boot(scheduler or self.scheduler, request).host
        self.cloud.put_into_cell(request)
        return str(host)

    def move(self, request: Any, host: str | None) -> None:
        """Have Placement name another host for a server, or none."""
        client, uuid = self.cloud.placement, request.instance_uuid
        if host is None:
            client.delete(f'/allocations/{uuid}')
            return
        given = client.get_allocs_for_consumer(self.cloud.context, uuid)
        ((old, resources),) = given['allocations'].items()
        (state,) = [s for s in self.states(request) if s.host == host]
        self.assertNotEqual(old, state.uuid)
        given['allocations'] = {
            state.uuid: {'resources': resources['resources']}
        }
        client.put(f'/allocations/{uuid}', given, '1.28').raise_for_status()

    def test_members_are_seen_before_they_are_claimed(self) -> None:
        # All twelve at once: none has an allocation when the next is weighed.
        counts = collections.Counter()
        for _ in range(12):
            request = self.request(of_stack('a'))
            best, *_ = self.scheduler.host_manager.get_weighed_hosts(
                self.states(request), request
            )
            counts[best.obj.host] += 1
        self.assertEqual([3] * 4, list(counts.values()))

    def test_members_that_are_packed_are_seen_too(self) -> None:
        self.set_multiplier(_STRONG)
        hosts = {self.start(self.request(of_stack('a'))) for _ in range(12)}
        self.assertEqual(1, len(hosts))

    def test_members_that_another_scheduler_has_placed_are_seen(self) -> None:
        other = self.cloud.scheduler(engine.OURS)
        counts = collections.Counter(
            self.start(self.request(of_stack('a')), scheduler)
            for scheduler in (self.scheduler, other) * 6
        )
        self.assertEqual([3] * 4, sorted(counts.values()))

    def test_placement_is_asked_once_for_each_server(self) -> None:
        count = 500 if tests.ALL else 50
        client = self.cloud.placement
        # On a busy machine they would be asked for again.
        self.weigher().clock = lambda: 0.0
        # It counts the questions; the real Placement answers.
        with mock.patch.object(
            client,
            'get_allocs_for_consumer',
            wraps=client.get_allocs_for_consumer,
        ) as asked:
            for _ in range(count):
                self.start(self.request(of_stack('a')))
            # All of them but the last.
            self.assertEqual(count - 1, asked.call_count)

    def test_what_placement_says_counts(self) -> None:
        request = self.request(of_stack('a'))
        place = self.hosts.index(self.start(request))
        # The conductor has taken another host than the best one.
        self.move(request, self.hosts[place - 1])
        found = self.weigh(self.request(of_stack('a')))
        self.assertEqual((1.0, 1.0), (found[place - 1], sum(found)))

    def test_a_server_that_could_not_start_is_forgotten(self) -> None:
        request = self.request(of_stack('a'))
        self.start(request)
        self.move(request, None)
        found = self.weigh(self.request(of_stack('a')))
        self.assertEqual([0.0] * 4, found)

    def test_a_server_that_has_left_its_host_is_forgotten(self) -> None:
        self.place(of_stack('a'), 1)
        request = self.request(of_stack('a'))
        states = self.states(request)
        self.assertEqual([1.0, 0.0, 0.0, 0.0], self.weigh(request, states))
        states[0].instances = {}
        self.assertEqual([0.0] * 4, self.weigh(request, states))

    def test_a_server_that_moves_counts_where_it_goes_as_well(self) -> None:
        request = self.request(of_stack('a'))
        self.start(request)
        self.cloud.place(request, self.hosts[0])
        request.ignore_hosts = [*request.ignore_hosts, self.hosts[0]]
        self.move(request, None)
        other = self.start(request)
        self.assertNotEqual(self.hosts[0], other)
        found = self.weigh(self.request(of_stack('a')))
        self.assertEqual(
            {self.hosts[0]: 1.0, other: 1.0},
            {h: n for h, n in zip(self.hosts, found, strict=True) if n},
        )

    def test_the_projects_are_kept_apart(self) -> None:
        self.start(self.request(of_stack('a'), 'p2'))
        self.place(of_stack('a'), 2, project='p2')
        for project, members in (('p1', 0.0), ('p2', 3.0)):
            request = self.request(of_stack('a'), project)
            self.assertEqual(members, sum(self.weigh(request)))

    def test_a_placement_that_is_down_costs_what_is_starting(self) -> None:
        other = self.cloud.scheduler(engine.OURS)
        self.start(self.request(of_stack('a')), other)
        self.place(of_stack('a'), 1)
        request = self.request(of_stack('a'))
        states = self.states(request)
        with (
            # The HTTP client below Nova's own error handling.
            mock.patch.object(
                self.cloud.placement,
                'get',
                side_effect=ks_exc.ConnectFailure('nobody answers'),
            ),
            self.assertLogs(_LOGGER, logging.WARNING) as logs,
        ):
            found = self.weigh(request, states)
        self.assertEqual([1.0, 0.0, 0.0, 0.0], found)
        (line,) = logs.output
        self.assertIn('[placement] in the nova.conf', line)
        # It is asked again.
        self.assertEqual(2.0, sum(self.weigh(request, states)))

    def test_what_placement_has_answered_is_not_asked_again(self) -> None:
        other = self.cloud.scheduler(engine.OURS)
        for _ in range(2):
            self.start(self.request(of_stack('a')), other)
        request = self.request(of_stack('a'))
        client = self.cloud.placement
        ask, asked = client.get_allocs_for_consumer, []

        def answer_once(context: Any, uuid: str) -> Any:
            asked.append(uuid)
            if len(asked) == 2:
                raise ks_exc.ConnectFailure('nobody answers')
            return ask(context, uuid)

        with (
            mock.patch.object(client, 'get_allocs_for_consumer', answer_once),
            self.assertLogs(_LOGGER, logging.WARNING),
        ):
            found = [sum(self.weigh(request)) for _ in range(3)]
        self.assertEqual([1.0, 2.0, 2.0], found)
        self.assertEqual(3, len(asked))

    def test_rows_that_could_not_be_read_are_read_later(self) -> None:
        other = self.cloud.scheduler(engine.OURS)
        self.place(of_stack('a'), 1)
        request = self.request(of_stack('a'))
        states = self.states(request)
        self.weigh(request, states)
        self.start(self.request(of_stack('a')), other)
        with (
            failing('request_specs.id IN', OSError('gone')),
            self.assertLogs(_LOGGER, logging.WARNING),
        ):
            self.assertEqual(0.0, sum(self.weigh(request, states)))
        self.assertEqual(2.0, sum(self.weigh(request, states)))

    def test_rows_that_are_deleted_or_broken_are_passed_over(self) -> None:
        table = models.RequestSpec.__table__
        for _ in range(3):
            self.start(self.request(of_stack('a')))
        with api_db.get_engine().begin() as connection:
            connection.execute(table.delete())
            connection.execute(
                table.insert(),
                [
                    {
                        'instance_uuid': uuidutils.generate_uuid(),
                        'spec': f'heat_root_stack_id {text}',
                    }
                    for text in ('', '{', '[1]', '{"nova_object.data": 1}')
                ],
            )
        counts = collections.Counter(
            self.start(self.request(of_stack('a'))) for _ in range(5)
        )
        self.assertEqual([1, 1, 1, 2], sorted(counts.values()))


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
            counts[self.cloud.boot(self.scheduler, request).host] += 1
            self.cloud.put_into_cell(request)
        return [counts[host] for host in self.hosts]

    def test_racks_are_spread(self) -> None:
        one, two, three, four = self.spread(12, 'rack')
        self.assertEqual((6, 6), (one + two, three + four))

    def test_racks_first_then_hosts(self) -> None:
        self.assertEqual([3, 3, 3, 3], self.spread(12, 'rack', 'host'))

    def test_a_full_host_counts_for_its_rack(self) -> None:
        found = self.spread(8, 'rack', 'host', without=self.hosts[0])
        self.assertEqual([1, 3, 2, 2], found)

    def test_a_host_without_the_key_is_a_place(self) -> None:
        lone = self.add_host()
        self.hosts.append(lone)
        found = self.spread(9, 'rack', 'host')
        self.assertEqual(3, found[4])
        self.assertEqual([3, 3], [sum(found[:2]), sum(found[2:4])])

    def test_zones_are_an_aggregates_key(self) -> None:
        for name, hosts in (('z1', self.hosts[:1]), ('z2', self.hosts[1:])):
            self.add_aggregate(hosts, {'availability_zone': name})
        found = self.spread(6, 'availability_zone', 'host')
        self.assertEqual([3, 1, 1, 1], found)


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
        with engine.context.target_cell(
            self.cloud.context, self.cloud.cell
        ) as context:
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

    def test_servers_without_a_stack_go_where_nova_puts_them(self) -> None:
        stock = self.stock()
        self.set_multiplier(-_STRONG)
        self.place(of_stack('a'), 3, 2, 1)
        for hints in ({}, {'group': 'x'}, of_stack('b')):
            request = self.request(hints)
            wanted = self.ranking(stock, request)
            self.assertEqual(self.hosts, [host for host, _ in wanted])
            self.assertEqual(wanted, self.ranking(self.scheduler, request))
            boot = self.cloud.boot(self.scheduler, request)
            self.assertEqual(self.hosts[0], boot.host)

    def test_a_multiplier_of_zero_leaves_everything_to_nova(self) -> None:
        self.set_multiplier(0.0)
        self.place(of_stack('a'), 3)
        request = self.request(of_stack('a'))
        self.assertEqual(
            self.ranking(self.stock(), request),
            self.ranking(self.scheduler, request),
        )

    def test_the_default_is_weaker_than_novas_weighers(self) -> None:
        self.assertEqual(-1.0, engine.CONF.nova_filters[_OPTION])
        self.place(of_stack('a'), 3)
        self.assertEqual(self.hosts[0], self.boot_one(of_stack('a')))

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
        self.set_multiplier(-_STRONG)
        self.assertEqual([2, 2, 2, 2], self.boot_stack(of_stack('a')))

    def test_packing_wins_over_novas_weighers_too(self) -> None:
        self.set_multiplier(_STRONG)
        # Not the host that Nova would take.
        self.place(of_stack('a'), 0, 0, 0, 1)
        self.assertEqual(self.hosts[3], self.boot_one(of_stack('a')))


@ddt.ddt
class SignatureTest(StackTestCase):
    """Hints that count only if Heat signed them."""

    def setUp(self) -> None:
        super().setUp()
        self.set_multiplier(-_STRONG)

    def set_keys(self, *keys: str) -> None:
        """Start a scheduler with these keys."""
        self.set_option('signing_key', list(keys), 'heat_hints')
        self.restart()

    def test_signed_hints_spread_a_stack(self) -> None:
        self.set_keys(signing.KEY)
        hints = signing.signed(of_stack('a'))
        self.assertEqual([2, 2, 2, 2], self.boot_stack(hints))

    def test_a_running_server_with_forged_hints_counts_nowhere(self) -> None:
        good = signing.signed(of_stack('a'))
        for hints in (
            *(good, of_stack('a'), {**good, 'heat_resource_uuid': 'x'}),
            signing.signed(of_stack('a'), key=signing.OTHER_KEY),
            signing.signed(of_stack('a'), project='p2'),
        ):
            self.place(hints, 1)
        self.place(good, 1, project='p2')
        self.assertEqual(
            [5.0, 0.0, 0.0, 0.0], self.weigh(self.request(of_stack('a')))
        )
        self.set_keys(signing.KEY)
        self.assertEqual([1.0, 0.0, 0.0, 0.0], self.weigh(self.request(good)))

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
            ([signing.OTHER_KEY], (1.0, 0.0)),
            ([signing.OTHER_KEY, signing.KEY], (2.0, 2.0)),
            ([signing.KEY], (0.0, 1.0)),
        ):
            for hints, count in zip((old, new), wanted, strict=True):
                self.set_keys(*keys)
                found = self.weigh(self.request(hints))
                self.assertEqual([count, 0.0, 0.0, 0.0], found)


class CostTest(StackTestCase):
    """What a request asks of the databases."""

    def test_stacks_are_read_with_one_query_and_only_once(self) -> None:
        self.place(of_stack('a'), 3, 2, 1)
        self.place({}, 1)
        request = self.request(of_stack('a'))
        states = self.states(request)
        with statements() as cold:
            found = self.weigh(request, states)
        with statements() as warm:
            self.assertEqual(found, self.weigh(request, states))
        self.assertEqual([3.0, 2.0, 1.0, 0.0], found)
        # What the hosts list, the newest rows' ids, and these rows.
        self.assertEqual(3, len(cold), cold)
        # The newest rows' ids only.
        self.assertEqual(1, len(warm), warm)

    def test_a_request_without_a_stack_asks_nothing(self) -> None:
        self.place(of_stack('a'), 1)
        for hints in ({}, {'heat_root_stack_id': ['', '']}):
            request = self.request(hints)
            states = self.states(request)
            with statements() as found:
                self.weigh(request, states)
            self.assertEqual([], found)

    def test_ten_thousand_instances_are_read_at_once(self) -> None:
        count = stack_rows.READ_AT_ONCE + 600
        uuids = [uuidutils.generate_uuid() for _ in range(count)]
        request = self.request(of_stack('a'))
        text = self.spec(request)
        with api_db.get_engine().begin() as connection:
            connection.execute(
                models.RequestSpec.__table__.insert(),
                [{'instance_uuid': uuid, 'spec': text} for uuid in uuids],
            )
        # Four hosts of very different sizes.
        cuts = [0, 100, 1100, 5000, count]
        states = [
            self.state(uuids[start:end])
            for start, end in zip(cuts, cuts[1:], strict=False)
        ]
        with statements() as found:
            with self.assertLogs(_LOGGER, logging.INFO) as logs:
                first = self.weigh(request, states)
            second = self.weigh(request, states)
            third = self.weigh(request, states)
        sizes = [len(parameters) - 1 for _, parameters in found]
        self.assertEqual(stack_rows.READ_AT_ONCE, max(sizes))
        self.assertEqual(stack_rows.READ_AT_ONCE, sum(first))
        # What is missing is missing where most are.
        self.assertEqual([100.0, 1000.0, 3900.0], first[:3])
        self.assertEqual([100.0, 1000.0, 3900.0, count - 5000.0], second)
        self.assertEqual(second, third)
        self.assertEqual(1, len(logs.records))
        self.assertIn('the stacks of 600 of the', logs.output[0])

    def spec(self, request: Any) -> str:
        """Return what Nova stores of a request."""
        table = models.RequestSpec
        stored = sa.select(table.spec).where(
            table.instance_uuid == request.instance_uuid
        )
        with api_db.get_engine().connect() as connection:
            return str(connection.scalar(stored))

    def state(self, uuids: Sequence[str]) -> Any:
        """Return Nova's HostState of a host with these instances."""
        state = host_manager.HostState('host', 'node', None)
        state.uuid = uuidutils.generate_uuid()
        state.instances = dict.fromkeys(uuids)
        return state


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
        self.assertEqual(3.0, sum(self.weigh(request)))

    def test_an_instance_without_a_stored_request_is_in_no_stack(self) -> None:
        request = self.request(of_stack('a'))
        self.cloud.place(request, self.hosts[0])
        request.destroy()
        self.assertEqual({0.0}, set(self.weigh(self.request(of_stack('a')))))

    def test_hosts_that_tell_of_no_instances_have_none(self) -> None:
        self.place(of_stack('a'), 1, 2, 3, 4)
        request = self.request(of_stack('a'))
        states = self.states(request)
        states[1].instances = None
        states[2].instances = {}
        with self.assertNoLogs(_LOGGER, logging.WARNING):
            found = self.weigh(request, states)
        self.assertEqual([1.0, 0.0, 0.0, 4.0], found)

    def test_what_is_no_host_costs_the_weigher_its_say_only(self) -> None:
        request = self.request(of_stack('a'))
        weighed = [weights.WeighedHost(object(), 0.0) for _ in range(3)]
        with self.assertLogs(_LOGGER, logging.WARNING) as logs:
            found = self.weigher().weigh_objects(weighed, request)
        self.assertEqual([0.0] * 3, found)
        self.assertEqual(1, len(logs.records))

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
        state = states.host_state('host', states.aggregates({_OPTION: text}))
        # Of some, Nova itself warns.
        with self.assertLogs(level=logging.WARNING):
            self.assertEqual(7.0, self.weigher().weight_multiplier(state))

    def test_aggregates_that_cannot_be_read_leave_the_option_in_force(
        self,
    ) -> None:
        self.set_multiplier(7.0)
        broken = objects.Aggregate(name='a')
        nothing = objects.Aggregate(name='a')
        # What a row of another release might be read as.
        nothing._obj_metadata = None
        fields_ = nothing.fields['metadata']
        self.assertIsInstance(fields_, fields.DictOfStringsField)
        nothing.obj_reset_changes()
        for aggregates in (None, [broken], [nothing]):
            state = host_manager.HostState('host', 'node', None)
            state.aggregates = aggregates
            with self.assertLogs(_LOGGER, logging.WARNING) as logs:
                found = self.weigher().weight_multiplier(state)
            self.assertEqual(7.0, found)
            self.assertIn('of an aggregate of host host', logs.output[0])

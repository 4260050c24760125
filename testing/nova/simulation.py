# SPDX-License-Identifier: Apache-2.0

"""Boots and moves of many servers, chosen for by many scheduler processes.

The time is simulated. The conductor and the compute nodes write what they
would write, later than the choice.

Import :mod:`testing.nova.engine` first: it chooses Nova's concurrency.
"""

import collections
import contextlib
import datetime
import heapq
import itertools
import random
import types
from collections.abc import Generator, Iterator, Sequence
from typing import Any, Final

from nova import exception, objects
from nova.compute import manager
from oslo_utils import timeutils

from nova_filters import conf
from os_placement_plugins import options
from testing.nova import (
    engine,
    other_servers,
    simulated_cloud,
    spread_case,
)

#: After how many seconds nova-compute has spawned a server.
SPAWNING: Final = 60.0
#: How many seconds pass between two reports of a nova-compute.
REPORTING: Final = 60.0
#: How many seconds it takes to move the memory of a server.
MOVING: Final = 10.0
#: The task state of a server that moves, by the kind of its move.
TASK_STATES: Final = {
    spread_case.UNSHELVE: 'unshelving',
    spread_case.EVACUATE: 'rebuilding',
    spread_case.LIVE_MIGRATION: 'migrating',
    spread_case.RESIZE: 'resize_prep',
}


class Simulation:
    """One case with one seed.

    :param cloud: a cloud without hosts, or with those of another case.
    :param processes: how many scheduler processes share the requests.
    """

    def __init__(
        self,
        cloud: engine.Cloud,
        case: spread_case.Case,
        processes: int,
        seed: int,
    ) -> None:
        self._cloud, self._case = cloud, case
        self._random = random.Random(f'{processes} {seed}')  # noqa: S311
        self._simulated = simulated_cloud.SimulatedCloud(
            cloud, case, processes, seed, self._random
        )
        self._others = other_servers.OtherServers(
            cloud, case, self._simulated.hosts, self._random, self._report
        )
        #: The host that was chosen for each living server. A server that is
        #: to be migrated has its old host before it is asked to.
        self.chosen: dict[str, str] = {}
        #: The servers that ended in ERROR, and the moves without a host.
        self.errors: list[str] = []
        self._requests: dict[int, Any] = {}
        #: The memory of each server, in GiB.
        self._memory: dict[str, int] = {}
        self._now = 0.0
        #: The next moment of each life, with a number that orders equal ones.
        self._events: list[tuple[float, int, Iterator[float]]] = []
        self._order = itertools.count()

    def run(self) -> dict[str, int]:
        """Return how many servers each host has in the end."""
        start = timeutils.utcnow().replace(second=0, microsecond=0)
        start += datetime.timedelta(seconds=self._case.second)
        with contextlib.ExitStack() as stack:
            stack.callback(self._cloud.clear)
            stack.callback(timeutils.clear_time_override)
            stack.enter_context(self._options())
            self._simulated.set_up()
            self._others.set_up()
            self._set_up_moves()
            self._start_lives()
            changes = self._others.change()
            if self._case.others:
                self._wait(0.0, changes)
            while self._events:
                self._now, _, life = heapq.heappop(self._events)
                if life is changes and not self._events:
                    break
                timeutils.set_time_override(
                    start + datetime.timedelta(seconds=self._now)
                )
                delay = next(life, None)
                if delay is not None:
                    self._wait(delay, life)
        counts = collections.Counter(dict.fromkeys(self._simulated.hosts, 0))
        counts.update(self.chosen.values())
        return dict(counts)

    def misplaced(self) -> dict[int, int]:
        """Return how many servers break the hard policy of each group.

        These are the servers that share a host, or that are not on the host
        with most members.
        """
        groups = self._case.groups
        hosts: dict[int, collections.Counter[str]] = {
            number: collections.Counter() for number in range(groups)
        }
        for number, request in self._requests.items():
            host = self.chosen.get(request.instance_uuid)
            if host:
                hosts[number % groups][host] += 1
        broken = {}
        for number, counts in hosts.items():
            if self._case.group == spread_case.TOGETHER:
                kept = max(counts.values())
            else:
                kept = len(counts)
            broken[number] = counts.total() - kept
        return broken

    def _start_lives(self) -> None:
        """Have the servers start or move, one after the other.

        A life yields the seconds until the next thing happens.
        """
        case = self._case
        happen = self._boot
        if case.kind in (spread_case.LIVE_MIGRATION, spread_case.RESIZE):
            happen = self._move
        elif case.kind != spread_case.BOOT:
            happen = self._restore
        for number in range(case.moving or case.servers):
            start = number * case.gap + number % case.groups * case.pause
            self._wait(start, happen(number))

    def _wait(self, delay: float, life: Iterator[float]) -> None:
        """Go on with a life later."""
        event = self._now + delay, next(self._order), life
        heapq.heappush(self._events, event)

    @contextlib.contextmanager
    def _options(self) -> Iterator[None]:
        """Set the options of nova.conf that the case needs, meanwhile."""
        case = self._case
        # No scheduler has loaded the weighers yet.
        options.register(engine.CONF, conf.list_opts())
        levels = ['host']
        if case.racks:
            levels = ['rack', 'host']
        values = {
            'stack_spread_over': levels,
            'stack_affinity_weight_multiplier': -case.multiplier,
            'server_group_weight_multiplier': case.multiplier,
        }
        settings = [('nova_filters', *item) for item in values.items()]
        # With this option, a new scheduler reads the cell in a thread, and
        # nobody knows when it ends. SimulatedCloud sets what it would read.
        settings.append(('filter_scheduler', 'track_instance_changes', False))
        name = 'build_failure_weight_multiplier'
        settings.append(('filter_scheduler', name, case.failure_weight))
        with contextlib.ExitStack() as stack:
            for group, name, value in settings:
                engine.CONF.set_override(name, value, group)
                stack.callback(engine.CONF.clear_override, name, group)
            yield

    def _set_up_moves(self) -> None:
        kind = self._case.kind
        if kind == spread_case.BOOT:
            return
        for number in range(self._case.servers):
            request = self._simulated.request(number)
            self._requests[number] = request
            self._add_memory(request)
            if kind == spread_case.UNSHELVE:
                self._cloud.place(request, None, 'shelved_offloaded')
                continue
            origin = self._origin(number)
            self._cloud.place(request, origin, 'active')
            early = other_servers.early()
            self._cloud.update(request, created_at=early, launched_at=early)
            self._simulated.claim(request, origin)
            self._simulated.tell_schedulers(request, origin)
            self.chosen[request.instance_uuid] = origin

    def _origin(self, number: int) -> str:
        """Return the host on which a server begins."""
        return self._simulated.hosts[self._case.origin(number)]

    def _boot(self, number: int) -> Iterator[float]:
        between = self._random.uniform
        request = self._simulated.request(number)
        self._requests[number] = request
        self._add_memory(request)
        yield between(0.1, 0.6 + self._case.busy)
        hosts = yield from self._choose(request, number)
        if not hosts:
            # Nova would put it into cell 0, where nobody looks either.
            self._cloud.place(request, None, 'error')
            self._fail(request)
            return
        yield between(0.5, 2.0)
        # The conductor puts it into a cell.
        self._cloud.place(request, None)
        yield between(0.3, 1.5)
        # nova-compute claims, and reports what it has left.
        first = hosts[0]
        while hosts:
            host, *alternates = hosts
            self._cloud.update(request, host=host, task_state='spawning')
            self._report(host)
            is_refused = self._violates_policy(request, host)
            # Only the first attempt may fail.
            may_fail = self._case.failing and not is_refused and host == first
            fails = may_fail and self._random.random() < self._case.failing
            if fails:
                yield between(1.0, 10.0)
            elif not is_refused:
                yield SPAWNING
                self._end_build(host, failed=False)
                self._cloud.update(
                    request,
                    vm_state='active',
                    task_state=None,
                    launched_at=timeutils.utcnow(),
                )
                self._simulated.tell_schedulers(request, host)
                return
            self._release(request)
            self._cloud.update(request, host=None, task_state='scheduling')
            self._report(host)
            if fails:
                self._end_build(host, failed=True)
            # The conductor claims an alternate, and asks no scheduler.
            hosts = self._claim_first(request, alternates)
            yield between(0.3, 1.5)
        self._fail(request)

    def _restore(self, number: int) -> Iterator[float]:
        """Evacuate or unshelve a server: its new host builds it."""
        between, kind = self._random.uniform, self._case.kind
        request = self._requests[number]
        now = timeutils.utcnow()
        self._cloud.start_action(request, kind, TASK_STATES[kind], now)
        self.chosen.pop(request.instance_uuid, None)
        yield between(0.1, 0.6 + self._case.busy)
        hosts = yield from self._choose(request, number)
        if not hosts:
            self._fail(request)
            return
        host, *_ = hosts
        yield between(0.8, 3.5)
        if kind == spread_case.EVACUATE:
            self._start_migration(request, self._origin(number), host)
        else:
            self._cloud.update(request, host=host, task_state='spawning')
        self._report(host)
        if self._violates_policy(request, host):
            # Nova tries no other host.
            self._release(request)
            self._fail(request)
            return
        yield SPAWNING
        self._cloud.migrations(request, status='done')
        self._cloud.update(
            request,
            host=host,
            vm_state='active',
            task_state=None,
            launched_at=timeutils.utcnow(),
        )
        self._simulated.tell_schedulers(request, host)

    def _fail(self, request: Any) -> None:
        """End a boot or an evacuation in ERROR."""
        self._cloud.migrations(request, status='failed')
        self._cloud.update(request, vm_state='error', task_state=None)
        self.errors.append(request.instance_uuid)

    def _move(self, number: int) -> Iterator[float]:
        """Migrate or resize a server, which has its old host meanwhile."""
        case, between = self._case, self._random.uniform
        request, origin = self._requests[number], self._origin(number)
        time = timeutils.utcnow()
        if number % 2:
            time -= datetime.timedelta(seconds=case.clock)
        state = TASK_STATES[case.kind]
        self._cloud.start_action(request, case.kind, state, time)
        del self.chosen[request.instance_uuid]
        asked = request.obj_clone()
        asked.ignore_hosts = [origin]
        yield between(0.1, 0.4 + case.busy)
        self._simulated.keep_origin(request, origin)
        yield between(0.0, 0.2)
        hosts = yield from self._choose(asked, number)
        while hosts:
            host, *alternates = hosts
            yield between(0.5, 2.0)
            if not self._violates_policy(request, host):
                break
            self._release(request)
            if case.kind == spread_case.LIVE_MIGRATION:
                # The conductor asks for another host.
                asked.ignore_hosts.append(host)
                hosts = yield from self._choose(asked, number)
            else:
                hosts = self._claim_first(request, alternates)
        self._simulated.leave_origin(request)
        if not hosts:
            self._claim(request, origin)
            self._cloud.update(request, task_state=None)
            self.errors.append(request.instance_uuid)
            return
        self._start_migration(request, origin, host)
        self._report(host)
        yield MOVING
        self._cloud.migrations(request, status='completed')
        self._cloud.update(request, host=host, task_state=None)
        self._simulated.tell_schedulers(request, host, origin)

    def _start_migration(self, request: Any, origin: str, host: str) -> None:
        kind = self._case.kind
        if kind == spread_case.EVACUATE:
            # Another name than that of the action.
            kind = 'evacuation'
        self._cloud.start_migration(request, origin, host, kind)
        # Nova's late check looks for both.
        self._cloud.migrations(request, source_node=origin, dest_node=host)

    def _violates_policy(self, request: Any, host: str) -> bool:
        """Tell whether nova-compute refuses a server because of its group.

        This is the late check of Nova: nova-compute has claimed the server,
        and counts the members of the group on its host.
        """
        if not self._case.late_check:
            return False
        # A ComputeManager would need a hypervisor. The check reads these two.
        service = types.SimpleNamespace(
            host=host, _get_nodename=lambda instance: host
        )
        with self._cloud.in_cell() as context:
            instance = objects.Instance(context, uuid=request.instance_uuid)
            try:
                manager.ComputeManager._validate_instance_group_policy(
                    service, context, instance, request.scheduler_hints
                )
            except exception.GroupAffinityViolation:
                return True
        return False

    def _choose(
        self, request: Any, number: int
    ) -> Generator[float, None, Sequence[str]]:
        """Return the chosen host of a server, then the others that passed.

        :returns: an empty list if no host is left.
        """
        asked = request.obj_clone()
        states = self._simulated.choose(asked, number)
        yield self._case.claiming
        by_host = {state.host: state for state in states}
        hosts = self._claim_first(request, [*by_host])
        if hosts:
            self._simulated.consume(by_host[hosts[0]], asked)
        return hosts[: engine.CONF.scheduler.max_attempts]

    def _claim_first(
        self, request: Any, hosts: Sequence[str]
    ) -> Sequence[str]:
        """Claim the first of some hosts that has room.

        :returns: this host, and those after it; empty if no host has room.
        """
        for number, host in enumerate(hosts):
            if self._claim(request, host):
                return hosts[number:]
        return []

    def _claim(self, request: Any, host: str) -> bool:
        """Claim a host for a server in Placement, if there is room."""
        is_claimed = self._simulated.claim(request, host)
        if is_claimed:
            self.chosen[request.instance_uuid] = host
        return is_claimed

    def _release(self, request: Any) -> None:
        """Delete the claims of a server that has failed on its host."""
        self._simulated.release(request)
        del self.chosen[request.instance_uuid]

    def _end_build(self, host: str, *, failed: bool) -> None:
        """Have nova-compute count the builds that failed.

        It tells so with its next report, once a minute at least.
        """
        count = 0
        if failed:
            count = self._simulated.failed_builds[host] + 1
        self._simulated.failed_builds[host] = count
        self._wait(self._random.uniform(0.0, REPORTING), self._tell(host))

    def _tell(self, host: str) -> Iterator[float]:
        self._report(host)
        yield from ()

    def _report(self, host: str) -> None:
        """Have a nova-compute report what its host has."""
        servers = [uuid for uuid in self.chosen if self.chosen[uuid] == host]
        memory = sum(self._memory[uuid] for uuid in servers)
        others = self._others.count(host)
        self._simulated.report(
            host,
            len(servers) + others,
            memory + others * other_servers.MEMORY,
        )

    def _add_memory(self, request: Any) -> None:
        memory = request.flavor.memory_mb // 1024
        self._memory[request.instance_uuid] = memory

    def memory(self) -> dict[str, int]:
        """Return the memory that each host has given away, in GiB."""
        by_host = {
            host: self._others.count(host) * other_servers.MEMORY
            for host in self._simulated.hosts
        }
        for uuid, host in self.chosen.items():
            by_host[host] += self._memory[uuid]
        return by_host

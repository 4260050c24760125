# SPDX-License-Identifier: Apache-2.0

"""Boots and moves of many servers, chosen for by many scheduler processes.

The time is simulated; each choice is made by Nova's own scheduler with the
weighers of nova.conf. Each process is a scheduler with a memory of its own.
The conductor and the compute nodes write what they would write, later than
the choice. Nothing is claimed in Placement; full hosts are no candidates.
"""

import collections
import contextlib
import dataclasses
import datetime
import heapq
import itertools
import random
from collections.abc import Callable
from typing import Any, Final
from unittest import mock

import sqlalchemy as sa
from nova import objects
from nova.db.main import models as main_models
from nova.scheduler.client import report
from oslo_utils import timeutils

from testing.nova import engine

#: After how many seconds nova-compute has spawned a server.
SPAWNING: Final = 60.0
#: The memory of a host, and of the one that the other weighers prefer.
MEMORY_GIB: Final = 256
PREFERRED_GIB: Final = 4 * MEMORY_GIB

#: How a server comes to its host.
BOOT, UNSHELVE, EVACUATE = 'boot', 'unshelve', 'evacuate'


@dataclasses.dataclass(frozen=True)
class Case:
    """What happens.

    :param servers: how many servers there are.
    :param hosts: how many hosts there are; the first is the preferred one.
    :param gap: the seconds between one request and the next.
    :param flavors: the servers take turns with flavors; of each, which
        hosts it may use.
    :param zones: whether each flavor is a zone of its own.
    :param racks: how many hosts each rack has; empty if there are no racks.
    :param room: how many servers fit on each host; 0 if there is no limit.
    :param dying: the share of boots that fail on the compute node.
    :param subset: Nova's ``host_subset_size``.
    :param fresh: whether each request meets a process that knows nothing.
    :param group: the policy of the server group; empty if it is a stack.
    :param kind: boots or moves.
    """

    servers: int
    hosts: int
    gap: float = 0.0
    flavors: tuple[range, ...] = ()
    zones: bool = False
    racks: tuple[int, ...] = ()
    room: tuple[int, ...] = ()
    dying: float = 0.0
    subset: int = 1
    fresh: bool = False
    group: str = ''
    kind: str = BOOT


class Simulation:
    """One case with one seed.

    :param cloud: a cloud without hosts, or with those of another case.
    :param processes: how many scheduler processes share the requests.
    """

    def __init__(
        self, cloud: engine.Cloud, case: Case, processes: int, seed: int
    ) -> None:
        self._cloud, self._case = cloud, case
        self._random = random.Random(  # noqa: S311
            f'{case} {processes} {seed}'
        )
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._now = 0.0
        self._hosts = [f'sim-{n}' for n in range(case.hosts)]
        #: The host that was chosen for each living server.
        self.chosen: dict[str, str] = {}
        #: What each compute node has told every scheduler.
        self._lists: dict[str, Any] = {host: {} for host in self._hosts}
        self._processes = processes

    def run(self) -> dict[str, int]:
        """Return how many servers each host has in the end."""
        start = timeutils.utcnow()
        with contextlib.ExitStack() as stack:
            stack.callback(self._cloud.clear)
            stack.callback(timeutils.clear_time_override)
            stack.enter_context(
                mock.patch.object(
                    report.SchedulerReportClient,
                    'get_allocs_for_consumer',
                    lambda _self, _context, uuid: self._allocations(uuid),
                )
            )
            self._set_up(stack)
            for number in range(self._case.servers):
                self._at(number * self._case.gap, self._begin, number)
            while self._events:
                self._now, _, event = heapq.heappop(self._events)
                timeutils.set_time_override(
                    start + datetime.timedelta(seconds=self._now)
                )
                event()
        counts = collections.Counter(dict.fromkeys(self._hosts, 0))
        counts.update(self.chosen.values())
        return dict(counts)

    def _at(self, when: float, event: Callable[..., None], *args: Any) -> None:
        """Have something happen."""
        heapq.heappush(
            self._events,
            (when, next(self._numbers), lambda: event(*args)),
        )

    def _later(
        self, low: float, high: float, event: Callable[..., None], *args: Any
    ) -> None:
        """Have something happen between so many seconds from now."""
        self._at(self._now + self._random.uniform(low, high), event, *args)

    def _set_up(self, stack: contextlib.ExitStack) -> None:
        """Make hosts, flavors, processes, and servers that shall move."""
        case, cloud = self._case, self._cloud
        engine.CONF.set_override(
            'host_subset_size', case.subset, group='filter_scheduler'
        )
        stack.callback(
            engine.CONF.clear_override,
            'host_subset_size',
            group='filter_scheduler',
        )
        for host in self._hosts:
            if host not in cloud.hosts:
                memory = PREFERRED_GIB if host == 'sim-0' else MEMORY_GIB
                cloud.add_host(host, memory)
        hosts = iter(self._hosts)
        for number, count in enumerate(case.racks):
            cloud.add_aggregate(
                f'rack-{number}',
                list(itertools.islice(hosts, count)),
                {'rack': f'rack-{number}'},
            )
        places = case.flavors or (range(case.hosts),)
        self._flavors = [
            (
                cloud.add_flavor(
                    f'flavor-{n}', {} if case.zones else {'n': f'{n}'}
                ),
                [self._hosts[host] for host in hosts],
                f'zone-{n}' if case.zones else None,
            )
            for n, hosts in enumerate(places)
        ]
        self._report(*self._hosts)
        self._schedulers = [
            self._scheduler()
            for _ in range(0 if case.fresh else self._processes)
        ]
        with cloud.in_cell() as context:
            nodes = objects.ComputeNodeList.get_all(context)
        self._nodes = {node.host: node.uuid for node in nodes}
        self._group = cloud.add_group(case.group) if case.group else None
        self._moving = []
        if case.kind != BOOT:
            self._moving = [
                self._request(number) for number in range(case.servers)
            ]
            evacuated = case.kind == EVACUATE
            host = self._hosts[0] if evacuated else None
            state = 'active' if evacuated else 'shelved_offloaded'
            for request in self._moving:
                cloud.place(request, host, state)
                if host:
                    self._listed(request.instance_uuid, host)

    def _scheduler(self) -> Any:
        """Return a new scheduler process."""
        scheduler = self._cloud.scheduler()
        manager = scheduler.host_manager
        # A new process would read the cell, which knows more than the lists.
        manager._instance_info = {
            host: {'instances': uuids, 'updated': True}
            for host, uuids in self._lists.items()
        }
        return scheduler

    def _request(self, number: int) -> Any:
        """Store a request, as nova-api does."""
        flavor, _, zone = self._flavors[number % len(self._flavors)]
        hints = {} if self._group else {'heat_root_stack_id': 'stack'}
        return self._cloud.request(
            flavor, None, hints, zone=zone, group=self._group
        )

    def _begin(self, number: int) -> None:
        """Have nova-api take one request."""
        if self._case.kind == BOOT:
            request = self._request(number)
        else:
            request = self._moving[number]
            self._cloud.start_action(
                request,
                self._case.kind,
                'rebuilding' if self._case.kind == EVACUATE else 'unshelving',
            )
        self._later(0.1, 0.6, self._ask, request, number)

    def _ask(self, request: Any, number: int) -> None:
        """Have a scheduler choose a host."""
        case = self._case
        candidates = [
            self._nodes[host]
            for host in self._flavors[number % len(self._flavors)][1]
            if not self._is_full(host)
            and not (case.kind == EVACUATE and host == self._hosts[0])
        ]
        scheduler = (
            self._scheduler()
            if case.fresh
            else self._random.choice(self._schedulers)
        )
        request = request.obj_clone()
        states = scheduler.host_manager.get_host_states_by_uuids(
            self._cloud.context, candidates, request
        )
        with mock.patch.object(random, 'choice', self._random.choice):
            hosts = scheduler._get_sorted_hosts(request, states, 0)
        if not hosts:
            return
        self.chosen[request.instance_uuid] = hosts[0].host
        if case.kind == BOOT:
            self._later(0.5, 2.0, self._create, request)
        else:
            self._later(0.8, 3.5, self._claim, request)

    def _is_full(self, host: str) -> bool:
        """Tell whether Placement would not offer a host."""
        room = self._case.room
        taken = collections.Counter(self.chosen.values())[host]
        return bool(room) and taken >= room[self._hosts.index(host)]

    def _create(self, request: Any) -> None:
        """Have the conductor put a server into a cell."""
        self._cloud.place(request, None)
        self._later(0.3, 1.5, self._claim, request)

    def _claim(self, request: Any) -> None:
        """Have nova-compute claim, and report what it has left."""
        uuid = request.instance_uuid
        if self._random.random() < self._case.dying:
            self._cloud.update(request, vm_state='error')
            del self.chosen[uuid]
            return
        host = self.chosen[uuid]
        self._cloud.update(request, host=host, task_state='spawning')
        self._report(host)
        self._at(self._now + SPAWNING, self._active, request, host)

    def _active(self, request: Any, host: str) -> None:
        """Have nova-compute tell every scheduler of a server."""
        self._cloud.update(request, vm_state='active', task_state=None)
        self._listed(request.instance_uuid, host)

    def _listed(self, uuid: str, host: str) -> None:
        self._lists[host][uuid] = objects.Instance(uuid=uuid)

    def _report(self, *hosts: str) -> None:
        """Have compute nodes report their usage."""
        table = main_models.ComputeNode
        counts = collections.Counter(self.chosen.values())
        with self._cloud.cell_database().begin() as connection:
            for host in hosts:
                total = (
                    PREFERRED_GIB if host == 'sim-0' else MEMORY_GIB
                ) * 1024
                connection.execute(
                    sa.update(table.__table__)
                    .where(table.host == host)
                    .values(
                        vcpus_used=counts[host],
                        memory_mb_used=1024 * counts[host],
                        free_ram_mb=total - 1024 * counts[host],
                        local_gb_used=counts[host],
                        free_disk_gb=10240 - counts[host],
                        running_vms=counts[host],
                    )
                )

    def _allocations(self, uuid: str) -> Any:
        """Return what Placement would say of a server."""
        host = self.chosen.get(uuid)
        return {'allocations': {self._nodes[host]: {}} if host else {}}

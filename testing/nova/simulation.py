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
from collections.abc import Iterator, Mapping
from typing import Any, Final
from unittest import mock

from nova import objects
from oslo_utils import timeutils, uuidutils

from testing.nova import engine

#: After how many seconds nova-compute has spawned a server.
SPAWNING: Final = 60.0
#: How a server comes to its host.
BOOT, UNSHELVE, EVACUATE = 'boot', 'unshelve', 'evacuate'
#: What keeps a role on its hosts: Placement, aggregates whose metadata are
#: the flavor's extra specs, isolated images, or the hint ``different_host``.
PLACEMENT: Final = 'placement'
AGGREGATES: Final = 'aggregates'
ISOLATED_IMAGES: Final = 'isolated images'
DIFFERENT_HOST: Final = 'different_host'
#: The prefix of the extra specs that aggregates decide.
SCOPE: Final = 'aggregate_instance_extra_specs:'


@dataclasses.dataclass(frozen=True)
class Role:
    """The servers of a stack that are alike, such as its databases.

    :param hosts: the hosts that the role may use; empty if it may use all.
    :param extra_specs: the extra specs of the flavor.
    :param memory_mb: the memory of the flavor.
    :param image: the name of the image; roles may share an image.
    :param properties: the properties of the image.
    :param hints: the scheduler hints, without those of the stack.
    """

    hosts: range = range(0)
    extra_specs: Mapping[str, str] = dataclasses.field(default_factory=dict)
    memory_mb: int = 64
    image: str = ''
    properties: Mapping[str, str] = dataclasses.field(default_factory=dict)
    hints: Mapping[str, str] = dataclasses.field(default_factory=dict)


class WrongHostError(Exception):
    """A server came to a host that its role may not use."""


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
    :param subset: Nova's ``host_subset_size``, which the caller sets.
    :param fresh: whether each request meets a process that knows nothing.
    :param group: the policy of the server group; empty if it is a stack.
    :param kind: boots or moves.
    :param roles: equally many servers have each role, in random order.
    :param apart: what keeps each role on its hosts.
    :param filters: the filters that nova.conf enables.
    :param max_skew: the option of this name.
    :param failing: the share of builds that fail once. The conductor then
        tries the next alternate.
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
    # What is printed of a case seeds it. So these do not change older cases.
    roles: tuple[Role, ...] = dataclasses.field(default=(), repr=False)
    apart: str = dataclasses.field(default='', repr=False)
    filters: tuple[str, ...] = dataclasses.field(default=(), repr=False)
    max_skew: int = dataclasses.field(default=0, repr=False)
    failing: float = dataclasses.field(default=0.0, repr=False)


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
        # Among equal hosts, it decides who comes first.
        self._project = f'project-{seed}'
        roles = itertools.cycle(case.roles)
        self._roles = list(itertools.islice(roles, case.servers))
        order = random.Random(f'{case} roles {seed}')  # noqa: S311
        order.shuffle(self._roles)
        self._hosts = [f'sim-{n}' for n in range(case.hosts)]
        #: The host that was chosen for each living server.
        self.chosen: dict[str, str] = {}
        #: The servers that ended in ERROR, without those that were to die.
        self.errors: list[str] = []
        #: What each compute node has told every scheduler.
        self._lists: dict[str, Any] = {host: {} for host in self._hosts}
        self._processes = processes

    def run(self) -> dict[str, int]:
        """Return how many servers each host has in the end."""
        start, servers = timeutils.utcnow(), self._case.servers
        with contextlib.ExitStack() as stack:
            stack.callback(self._cloud.clear)
            stack.callback(timeutils.clear_time_override)
            stack.enter_context(self._options())
            self._set_up()
            events = [
                (number * self._case.gap, number, self._live(number))
                for number in range(servers)
            ]
            order = itertools.count(servers)
            while events:
                now, _, server = heapq.heappop(events)
                timeutils.set_time_override(
                    start + datetime.timedelta(seconds=now)
                )
                delay = next(server, None)
                if delay is not None:
                    event = now + delay, next(order), server
                    heapq.heappush(events, event)
        counts = collections.Counter(dict.fromkeys(self._hosts, 0))
        counts.update(self.chosen.values())
        return dict(counts)

    @contextlib.contextmanager
    def _options(self) -> Iterator[None]:
        """Set the options of nova.conf that the case needs, meanwhile."""
        case = self._case
        isolated_hosts: list[str] = []
        isolated_images: list[str] = []
        self._images = {
            role.image: uuidutils.generate_uuid() for role in case.roles
        }
        if case.apart == ISOLATED_IMAGES:
            # The other roles have the hosts that are left.
            isolated = case.roles[0]
            isolated_hosts = [self._hosts[n] for n in isolated.hosts]
            isolated_images = [self._images[isolated.image]]
        values = (
            ('isolated_hosts', isolated_hosts, 'filter_scheduler'),
            ('isolated_images', isolated_images, 'filter_scheduler'),
            ('max_skew', case.max_skew, 'nova_filters'),
        )
        with contextlib.ExitStack() as stack:
            for name, value, group in values:
                engine.CONF.set_override(name, value, group)
                stack.callback(engine.CONF.clear_override, name, group)
            yield

    def _set_up(self) -> None:
        """Make hosts, flavors, processes, and servers that shall move."""
        case, cloud = self._case, self._cloud
        for host in self._hosts:
            if host not in cloud.hosts:
                cloud.add_host(host, _memory_gib(host))
        hosts = iter(self._hosts)
        for number, count in enumerate(case.racks):
            name = f'rack-{number}'
            rack_hosts = [*itertools.islice(hosts, count)]
            cloud.add_aggregate(name, rack_hosts, {'rack': name})
        self._flavors = []
        for n in range(len(case.flavors) or 1):
            extra_specs = {'n': f'{n}'}
            if case.zones:
                extra_specs = {}
            self._flavors.append(cloud.add_flavor(f'flavor-{n}', extra_specs))
        self._set_up_roles()
        self._report(*self._hosts)
        processes = self._processes
        if case.fresh:
            processes = 0
        self._schedulers = [self._scheduler() for _ in range(processes)]
        with cloud.in_cell() as context:
            nodes = objects.ComputeNodeList.get_all(context)
        self._nodes = {node.host: node.uuid for node in nodes}
        self._group = cloud.add_group(case.group) if case.group else None
        self._moving = []
        if case.kind == BOOT:
            return
        for number in range(case.servers):
            request = self._request(number)
            self._moving.append(request)
            if case.kind == EVACUATE:
                cloud.place(request, self._hosts[0], 'active')
                self._list(request, self._hosts[0])
            else:
                cloud.place(request, None, 'shelved_offloaded')

    def _set_up_roles(self) -> None:
        """Make the flavors of the roles, and what keeps them on hosts."""
        case, cloud = self._case, self._cloud
        #: By what a flavor has. Roles that differ in images share a flavor.
        self._role_flavors: dict[Any, Any] = {}
        #: A server on each host that belongs to no stack.
        self._residents: dict[str, str] = {}
        for number, role in enumerate(case.roles):
            key = _flavor_key(role)
            if key not in self._role_flavors:
                self._role_flavors[key] = cloud.add_flavor(
                    f'role-{number}', role.extra_specs, role.memory_mb
                )
            if case.apart == AGGREGATES:
                metadata = {
                    name.removeprefix(SCOPE): value
                    for name, value in role.extra_specs.items()
                }
                hosts = [self._hosts[n] for n in role.hosts]
                if metadata:
                    cloud.add_aggregate(f'role-{number}', hosts, metadata)
        if case.apart == DIFFERENT_HOST:
            for host in self._hosts:
                resident = cloud.request(
                    self._flavors[0], project=self._project
                )
                cloud.place(resident, host, 'active')
                self._list(resident, host)
                self._residents[host] = resident.instance_uuid

    def _scheduler(self) -> Any:
        """Return a new scheduler process."""
        scheduler = self._cloud.scheduler(*self._case.filters)
        manager = scheduler.host_manager
        # A new process would read the cell, which knows more than the lists.
        manager._instance_info = {
            host: {'instances': uuids, 'updated': True}
            for host, uuids in self._lists.items()
        }
        return scheduler

    def _request(self, number: int) -> Any:
        """Store a request, as nova-api does."""
        if self._case.roles:
            return self._role_request(self._roles[number])
        which = number % len(self._flavors)
        return self._cloud.request(
            self._flavors[which],
            None,
            {} if self._group else {'heat_root_stack_id': 'stack'},
            self._project,
            zone=f'zone-{which}' if self._case.zones else None,
            group=self._group,
        )

    def _role_request(self, role: Role) -> Any:
        """Store the request of a server that has a role."""
        hints: dict[str, Any] = {'heat_root_stack_id': 'stack', **role.hints}
        if self._case.apart == DIFFERENT_HOST:
            hints['different_host'] = [
                self._residents[host]
                for number, host in enumerate(self._hosts)
                if number not in role.hosts
            ]
        return self._cloud.request(
            self._role_flavors[_flavor_key(role)],
            hints=hints,
            project=self._project,
            image={
                'id': self._images[role.image],
                'properties': dict(role.properties),
            },
        )

    def _live(self, number: int) -> Iterator[float]:
        """Yield the seconds until the next thing happens to a server."""
        kind, between = self._case.kind, self._random.uniform
        if kind == BOOT:
            request = self._request(number)
        else:
            request = self._moving[number]
            state = 'rebuilding' if kind == EVACUATE else 'unshelving'
            self._cloud.start_action(request, kind, state)
        yield between(0.1, 0.6)
        hosts = self._choose(request.obj_clone(), number)
        if not hosts:
            self.errors.append(request.instance_uuid)
            if kind == BOOT:
                # Nova would put it into cell 0, where nobody looks either.
                self._cloud.place(request, None, 'error')
            return
        host = hosts.pop(0)
        self.chosen[request.instance_uuid] = host
        if kind == BOOT:
            yield between(0.5, 2.0)
            # The conductor puts it into a cell.
            self._cloud.place(request, None)
            yield between(0.3, 1.5)
        else:
            yield between(0.8, 3.5)
        # nova-compute claims, and reports what it has left.
        if self._random.random() < self._case.dying:
            self._cloud.update(request, vm_state='error')
            del self.chosen[request.instance_uuid]
            return
        self._cloud.update(request, host=host, task_state='spawning')
        self._report(host)
        if self._case.failing and self._random.random() < self._case.failing:
            yield between(1.0, 10.0)
            del self.chosen[request.instance_uuid]
            self._cloud.update(request, host=None, task_state='scheduling')
            self._report(host)
            if not hosts:
                self._cloud.update(request, vm_state='error', task_state=None)
                self.errors.append(request.instance_uuid)
                return
            # The conductor claims an alternate, and asks no scheduler.
            host = hosts.pop(0)
            self.chosen[request.instance_uuid] = host
            yield between(0.3, 1.5)
            self._cloud.update(request, host=host, task_state='spawning')
            self._report(host)
        yield SPAWNING
        self._cloud.update(request, vm_state='active', task_state=None)
        self._list(request, host)

    def _choose(self, request: Any, number: int) -> list[str]:
        """Return the host that a scheduler chooses, then the alternates.

        :returns: an empty list if no host is left.
        :raises WrongHostError: if the case does not keep a role on its hosts.
        """
        case, hosts = self._case, range(self._case.hosts)
        if case.flavors:
            hosts = case.flavors[number % len(case.flavors)]
        if case.apart == PLACEMENT:
            hosts = self._roles[number].hosts
        counts = collections.Counter(self.chosen.values())
        candidates = [
            self._nodes[self._hosts[n]]
            for n in hosts
            # Placement offers no host that is full.
            if (not case.room or counts[self._hosts[n]] < case.room[n])
            and not (case.kind == EVACUATE and n == 0)
        ]
        if case.fresh:
            scheduler = self._scheduler()
        else:
            scheduler = self._random.choice(self._schedulers)
        states = scheduler.host_manager.get_host_states_by_uuids(
            self._cloud.context, candidates, request
        )
        with mock.patch.object(random, 'choice', self._random.choice):
            sorted_states = scheduler._get_sorted_hosts(request, states, 0)
        names = [state.host for state in sorted_states]
        if case.roles and self._roles[number].hosts:
            expected = {self._hosts[n] for n in self._roles[number].hosts}
            if not expected >= set(names):
                raise WrongHostError(f'{names} are not within {expected}')
        return names[: engine.CONF.scheduler.max_attempts]

    def _list(self, request: Any, host: str) -> None:
        """Have nova-compute tell every scheduler of a server."""
        uuid = request.instance_uuid
        self._lists[host][uuid] = objects.Instance(uuid=uuid)

    def _report(self, *hosts: str) -> None:
        """Have compute nodes report their usage."""
        counts = collections.Counter(self.chosen.values())
        for host in hosts:
            count = counts[host]
            self._cloud.report(
                host,
                vcpus_used=count,
                memory_mb_used=1024 * count,
                free_ram_mb=1024 * (_memory_gib(host) - count),
                local_gb_used=count,
                free_disk_gb=10240 - count,
                running_vms=count,
            )


def _memory_gib(host: str) -> int:
    """Return the memory of a host; the other weighers prefer the first."""
    if host == 'sim-0':
        return 1024
    return 256


def _flavor_key(role: Role) -> Any:
    """Return what the flavor of a role differs in from others."""
    return role.memory_mb, tuple(sorted(role.extra_specs.items()))

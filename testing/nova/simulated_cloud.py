# SPDX-License-Identifier: Apache-2.0

"""The hosts, requests and schedulers of a simulation.

Each choice is made by Nova's own scheduler with the weighers of nova.conf.
Each process is a scheduler with a memory of its own.
"""

import collections
import itertools
import json
import random
import uuid
from typing import Any
from unittest import mock

from nova import objects
from nova.scheduler import manager, utils

from testing.nova import engine, spread_case


class SimulatedCloud:
    """The cloud of one case with one seed.

    :param cloud: a cloud without hosts, or with those of another case.
    :param processes: how many scheduler processes share the requests.
    :param draw: what is drawn from, as in the rest of the simulation.
    """

    def __init__(
        self,
        cloud: engine.Cloud,
        case: spread_case.Case,
        processes: int,
        seed: int,
        draw: random.Random,
    ) -> None:
        self._cloud, self._case, self._random = cloud, case, draw
        # Among equal hosts, it decides who comes first.
        self._project = f'project-{seed}'
        #: The number of each server's role.
        self._roles = [n % len(case.roles) for n in range(case.servers)]
        draw.shuffle(self._roles)
        self.hosts = [f'sim-{n}' for n in range(case.hosts)]
        # Nova keeps hosts in a set. Its order would differ with each run.
        self._order = draw.sample(self.hosts, len(self.hosts))
        #: The builds that failed on each host since the last one succeeded.
        self.failed_builds = collections.Counter(
            dict(zip(self.hosts, case.failed_builds, strict=False))
        )
        #: The hosts that each server or migration has claimed in Placement.
        self._claims: dict[str, set[str]] = {}
        self._rooms = dict(zip(self.hosts, case.rooms, strict=False))
        self._processes = processes
        self._schedulers: list[Any] = []

    def set_up(self) -> None:
        """Make hosts, flavors, the group and processes."""
        case, cloud = self._case, self._cloud
        for host in self.hosts:
            if host not in cloud.hosts:
                cloud.add_host(host)
            self.report(host, 0, 0)
        self._flavors = [
            cloud.add_flavor(
                f'role-{number}', role.extra_specs, role.memory * 1024
            )
            for number, role in enumerate(case.roles)
        ]
        self._add_racks()
        for number in range(self._processes):
            scheduler = cloud.scheduler(*case.filters)
            if number < case.old_processes:
                scheduler.host_manager.weighers = [
                    weigher
                    for weigher in scheduler.host_manager.weighers
                    if type(weigher).__module__.startswith('nova.')
                ]
            if case.tracking:
                # A new process knows what nova-compute tells from now on.
                scheduler.host_manager._instance_info = {
                    host: {'instances': {}, 'updated': True}
                    for host in self.hosts
                }
            self._schedulers.append(scheduler)
        with cloud.in_cell() as context:
            nodes = objects.ComputeNodeList.get_all(context)
        self._nodes = {node.host: node.uuid for node in nodes}
        self._groups = [self._add_group() for _ in range(case.groups)]

    def _add_racks(self) -> None:
        """Put the hosts into racks, each of which is an aggregate."""
        hosts = iter(self.hosts)
        for number, size in enumerate(self._case.racks):
            rack = f'rack-{number}'
            members = [*itertools.islice(hosts, size)]
            self._cloud.add_aggregate(rack, members, {'rack': rack})

    def _add_group(self) -> Any:
        """Return a server group; None if the servers are in a stack."""
        policy = self._case.group
        if not policy:
            return None
        # Among equal hosts, the id decides who comes first.
        number = uuid.UUID(int=self._random.getrandbits(128), version=4)
        return self._cloud.add_group(policy, str(number))

    def request(self, number: int) -> Any:
        """Store a request, as nova-api does."""
        group = self._groups[number % self._case.groups]
        hints = {}
        if not group:
            hints['heat_root_stack_id'] = 'stack'
        return self._cloud.request(
            self._flavors[self._roles[number]],
            hints=hints,
            project=self._project,
            group=group,
        )

    def choose(self, request: Any, number: int) -> list[Any]:
        """Return the HostStates that pass, the one that is chosen first.

        :param number: the number of the server.
        :returns: an empty list if no host is left.
        """
        case = self._case
        # What Placement offers.
        role = case.roles[self._roles[number]]
        offered = role.hosts or range(case.hosts)
        dead = set()
        if case.kind == spread_case.EVACUATE:
            moving = range(case.moving or case.servers)
            dead = {case.origin(other) for other in moving}
        hosts = [self.hosts[place] for place in offered if place not in dead]
        candidates = [self._nodes[host] for host in hosts if self._fits(host)]
        scheduler = self._random.choice(self._schedulers)
        # As the conductor does before it asks a scheduler. Without a cell, it
        # would read the database of cell 0, too, which is not there.
        with self._cloud.in_cell() as context:
            utils.setup_instance_group(context, request)
        states = sorted(
            scheduler.host_manager.get_host_states_by_uuids(
                self._cloud.context, candidates, request
            ),
            key=lambda state: self._order.index(state.host),
        )
        with mock.patch.object(random, 'choice', self._random.choice):
            return list(scheduler._get_sorted_hosts(request, states, 0))

    def _fits(self, host: str) -> bool:
        """Tell whether there is room for one more server on a host."""
        claimed = sum(host in hosts for hosts in self._claims.values())
        return claimed < self._rooms.get(host, len(self._roles))

    def claim(self, request: Any, host: str) -> bool:
        """Claim a host for a server in Placement, if there is room.

        A server that is evacuated keeps the claim of its old host.
        """
        if not self._fits(host):
            return False
        server = request.instance_uuid
        self._claims.setdefault(server, set()).add(host)
        # It takes as long as the rest, and only these groups ask for it.
        if self._case.group == spread_case.STRICT:
            resources = {'VCPU': 1, 'MEMORY_MB': 64, 'DISK_GB': 1}
            self._cloud.placement.claim_resources(
                self._cloud.context,
                server,
                {'allocations': {self._nodes[host]: {'resources': resources}}},
                self._project,
                engine.PROJECT,
                '1.36',
            )
        return True

    def release(self, request: Any) -> None:
        """Delete the claims of a server."""
        server = request.instance_uuid
        self._claims.pop(server, None)
        if self._case.group == spread_case.STRICT:
            self._cloud.placement.delete_allocation_for_instance(
                self._cloud.context, server, force=True
            )

    def keep_origin(self, request: Any, origin: str) -> None:
        """Give the claim of a server to its migration, as the conductor does.

        The server has no claim until a scheduler has chosen a new host.
        """
        self.release(request)
        self._claims[f'migration of {request.instance_uuid}'] = {origin}

    def leave_origin(self, request: Any) -> None:
        """Delete the claim of a migration that has ended."""
        del self._claims[f'migration of {request.instance_uuid}']

    def consume(self, state: Any, request: Any) -> None:
        """Have the scheduler that chose a host remember its choice.

        :param state: the HostState of the host that the scheduler has claimed.
        """
        manager.SchedulerManager._consume_selected_host(
            state, request, request.instance_uuid
        )

    def tell_schedulers(
        self, request: Any, host: str, origin: str | None = None
    ) -> None:
        """Have nova-compute tell every scheduler that a server has come."""
        if not self._case.tracking:
            return
        number = request.instance_uuid
        instance = objects.Instance(uuid=number)
        for scheduler in self._schedulers:
            known = scheduler.host_manager._instance_info
            if origin:
                known[origin]['instances'].pop(number, None)
            known[host]['instances'][number] = instance

    def report(self, host: str, servers: int, memory: int) -> None:
        """Have a compute node report its usage and the builds that failed.

        :param servers: how many servers the host has.
        :param memory: the memory of these servers, in GiB.
        """
        stats = {'failed_builds': str(self.failed_builds[host])}
        total = self._memory_gib(host)
        self._cloud.report(
            host,
            stats=json.dumps(stats),
            vcpus_used=servers,
            memory_mb=1024 * total,
            memory_mb_used=1024 * memory,
            free_ram_mb=1024 * (total - memory),
            local_gb_used=servers,
            free_disk_gb=10240 - servers,
            running_vms=servers,
        )

    def _memory_gib(self, host: str) -> int:
        """Return the memory of a host."""
        number = self.hosts.index(host)
        if self._case.memory:
            return self._case.memory[number]
        # All of Nova's weighers prefer the first.
        return 256 if number else 1024

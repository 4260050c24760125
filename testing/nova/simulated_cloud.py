# SPDX-License-Identifier: Apache-2.0

"""The hosts, flavors, requests and schedulers of a simulation.

Each choice is made by Nova's own scheduler with the weighers of nova.conf.
Each process is a scheduler with a memory of its own. Nothing is claimed in
Placement; full hosts are no candidates.
"""

import itertools
import json
import random
import uuid
from collections.abc import Mapping
from typing import Any
from unittest import mock

from nova import objects
from nova.scheduler import utils
from oslo_utils import uuidutils

from testing.nova import engine, spread_case


class WrongHostError(Exception):
    """A server came to a host that its role may not use."""


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
        roles = itertools.cycle(case.roles)
        self._roles = list(itertools.islice(roles, case.servers))
        order = random.Random(f'{case} roles {seed}')  # noqa: S311
        order.shuffle(self._roles)
        self.hosts = [f'sim-{n}' for n in range(case.hosts)]
        # Nova keeps hosts in a set. Its order would differ with each run.
        self._ties = random.Random(f'{case} ties {seed}')  # noqa: S311
        self._order = self._ties.sample(self.hosts, len(self.hosts))
        #: What each compute node has told every scheduler.
        self._lists: dict[str, Any] = {host: {} for host in self.hosts}
        self._processes = processes
        self._schedulers: list[Any] = []
        self._images = {
            role.image: uuidutils.generate_uuid() for role in case.roles
        }

    def options(self) -> list[tuple[str, Any, str]]:
        """Return the options of nova.conf that the case needs.

        :returns: the name, the value and the group of each option.
        """
        case = self._case
        isolated_hosts: list[str] = []
        isolated_images: list[str] = []
        if case.apart == spread_case.ISOLATED_IMAGES:
            # The other roles have the hosts that are left.
            isolated = case.roles[0]
            isolated_hosts = [self.hosts[n] for n in isolated.hosts]
            isolated_images = [self._images[isolated.image]]
        return [
            ('isolated_hosts', isolated_hosts, 'filter_scheduler'),
            ('isolated_images', isolated_images, 'filter_scheduler'),
        ]

    def set_up(self) -> None:
        """Make hosts, flavors, the group and processes."""
        case, cloud = self._case, self._cloud
        for number, host in enumerate(self.hosts):
            if host not in cloud.hosts:
                cloud.add_host(host, _memory_gib(host))
            stats = {}
            if number in case.failed_hosts:
                stats['failed_builds'] = '1'
            cloud.report(host, stats=json.dumps(stats))
        hosts = iter(self.hosts)
        for number, count in enumerate(case.racks):
            name = f'rack-{number}'
            rack_hosts = [*itertools.islice(hosts, count)]
            cloud.add_aggregate(name, rack_hosts, {'rack': name})
        if case.strong_hosts:
            strong_hosts = [self.hosts[n] for n in case.strong_hosts]
            metadata = {'ram_weight_multiplier': '100'}
            cloud.add_aggregate('strong', strong_hosts, metadata)
        self._flavors = []
        for n in range(len(case.flavors) or 1):
            extra_specs = {'n': f'{n}'}
            if case.zones:
                extra_specs = {}
            self._flavors.append(cloud.add_flavor(f'flavor-{n}', extra_specs))
        self._set_up_roles()
        self.report({}, *self.hosts)
        processes = self._processes
        if case.fresh:
            processes = 0
        self._schedulers = [self._scheduler() for _ in range(processes)]
        with cloud.in_cell() as context:
            nodes = objects.ComputeNodeList.get_all(context)
        self._nodes = {node.host: node.uuid for node in nodes}
        self._group = self._add_group()

    def _add_group(self) -> Any:
        """Return the server group; None if the servers are in a stack."""
        case = self._case
        if not case.group:
            return None
        rules = {}
        if case.max_server_per_host:
            rules['max_server_per_host'] = str(case.max_server_per_host)
        # Among equal hosts, the id decides who comes first.
        number = uuid.UUID(int=self._ties.getrandbits(128), version=4)
        return self._cloud.add_group(case.group, rules, str(number))

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
            if case.apart == spread_case.AGGREGATES:
                metadata = {
                    name.removeprefix(spread_case.SCOPE): value
                    for name, value in role.extra_specs.items()
                }
                hosts = [self.hosts[n] for n in role.hosts]
                if metadata:
                    cloud.add_aggregate(f'role-{number}', hosts, metadata)
        if case.apart == spread_case.DIFFERENT_HOST:
            for host in self.hosts:
                resident = cloud.request(
                    self._flavors[0], project=self._project
                )
                cloud.place(resident, host, 'active')
                self.tell_schedulers(resident, host)
                self._residents[host] = resident.instance_uuid

    def _scheduler(self) -> Any:
        """Return a new scheduler process."""
        scheduler = self._cloud.scheduler(*self._case.filters)
        manager = scheduler.host_manager
        # A new process would read the cell, which knows more than the lists.
        manager._instance_info = {
            host: {'instances': {**servers}, 'updated': True}
            for host, servers in self._lists.items()
        }
        return scheduler

    def request(self, number: int) -> Any:
        """Store a request, as nova-api does."""
        if self._case.roles:
            return self._role_request(self._roles[number])
        which = number % len(self._flavors)
        return self._cloud.request(
            self._flavors[which],
            None,
            self._team_hints(),
            self._project,
            zone=f'zone-{which}' if self._case.zones else None,
            group=self._group,
        )

    def _role_request(self, role: spread_case.Role) -> Any:
        """Store the request of a server that has a role."""
        hints: dict[str, Any] = {**self._team_hints(), **role.hints}
        if self._case.apart == spread_case.DIFFERENT_HOST:
            hints['different_host'] = [
                self._residents[host]
                for number, host in enumerate(self.hosts)
                if number not in role.hosts
            ]
        return self._cloud.request(
            self._role_flavors[_flavor_key(role)],
            hints=hints,
            project=self._project,
            group=self._group,
            image={
                'id': self._images[role.image],
                'properties': dict(role.properties),
            },
        )

    def _team_hints(self) -> dict[str, str]:
        """Return the hints of the stack; none if there is a server group."""
        if self._group:
            return {}
        return {'heat_root_stack_id': 'stack'}

    def larger_flavor(self, request: Any) -> Any:
        """Return a new flavor for the resize of a server."""
        return self._cloud.add_flavor(
            f'larger-{request.instance_uuid}',
            request.flavor.extra_specs,
            2 * request.flavor.memory_mb,
        )

    def choose(
        self, request: Any, number: int, counts: Mapping[str, int]
    ) -> list[str]:
        """Return all hosts that pass, the host that a scheduler chooses first.

        :param number: the number of the server.
        :param counts: the number of servers on each host.
        :returns: an empty list if no host is left.
        :raises WrongHostError: if the case does not keep a role on its hosts.
        """
        case, hosts = self._case, range(self._case.hosts)
        if case.flavors:
            hosts = case.flavors[number % len(case.flavors)]
        if case.apart == spread_case.PLACEMENT:
            hosts = self._roles[number].hosts
        candidates = [
            self._nodes[self.hosts[n]]
            for n in hosts
            # Placement offers no host that is full.
            if (not case.room or counts[self.hosts[n]] < case.room[n])
            and not (case.kind == spread_case.EVACUATE and n == 0)
        ]
        if case.fresh:
            scheduler = self._scheduler()
        else:
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
            sorted_states = scheduler._get_sorted_hosts(request, states, 0)
        if sorted_states:
            # A scheduler remembers where it has put the members of groups.
            scheduler._consume_selected_host(
                sorted_states[0], request, request.instance_uuid
            )
        names = [state.host for state in sorted_states]
        if case.roles and self._roles[number].hosts:
            expected = {self.hosts[n] for n in self._roles[number].hosts}
            if not expected >= set(names):
                raise WrongHostError(f'{names} are not within {expected}')
        return names

    def tell_schedulers(
        self, request: Any, host: str, origin: str | None = None
    ) -> None:
        """Have nova-compute tell every scheduler of a server.

        :param origin: the host that the server has left.
        """
        number = request.instance_uuid
        instance = objects.Instance(uuid=number)
        all_lists = [self._lists]
        for scheduler in self._schedulers:
            known = scheduler.host_manager._instance_info
            all_lists.append(
                {name: info['instances'] for name, info in known.items()}
            )
        for lists in all_lists:
            if origin:
                lists[origin].pop(number, None)
            lists[host][number] = instance

    def report(self, counts: Mapping[str, int], *hosts: str) -> None:
        """Have compute nodes report their usage.

        :param counts: the number of servers on each host.
        """
        for host in hosts:
            count = counts.get(host, 0)
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


def _flavor_key(role: spread_case.Role) -> Any:
    """Return what the flavor of a role differs in from others."""
    return role.memory_mb, tuple(sorted(role.extra_specs.items()))

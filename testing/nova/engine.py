# SPDX-License-Identifier: Apache-2.0

"""A nova-scheduler in this process, with a real Placement beside it.

Importing this module chooses Nova's concurrency as the nova-scheduler
command does, so it comes before any other import of Nova. A process can hold
one :class:`Cloud`: Nova's configuration and databases are global.
"""

# Must be the first import: it chooses Nova's concurrency.
from testing.nova import databases  # isort: skip

import datetime
import logging
from collections.abc import Mapping, Sequence
from logging import handlers
from typing import Any, NamedTuple

from nova import exception, objects, version
from nova.scheduler import manager
from oslo_utils import uuidutils

from nova_filters.members import reader

CONF = databases.CONF

#: The filter under test and the one it is compared with.
OURS = 'AggregateInstanceTypeFilter'
IN_TREE = 'AggregateInstanceExtraSpecsFilter'
LOGGER = 'nova_filters.filters.aggregate_instance_type'

PROJECT = databases.PROJECT


class Boot(NamedTuple):
    """The host, or None for NoValidHost, and the reasons in the log."""

    host: str | None
    reasons: str


class Cloud(databases.Databases):
    """Databases with hosts, aggregates and flavors, and schedulers on them."""

    def add_aggregate(
        self, name: str, hosts: Sequence[str], metadata: Mapping[str, str]
    ) -> Any:
        aggregate = objects.Aggregate(
            self.context, name=name, metadata=dict(metadata)
        )
        aggregate.create()
        for host in hosts:
            aggregate.add_host(host)
        return aggregate

    def add_flavor(
        self, name: str, extra_specs: Mapping[str, str], memory_mb: int = 64
    ) -> Any:
        """Return a new small flavor, read back from the database."""
        flavor = objects.Flavor(
            self.context,
            name=name,
            flavorid=uuidutils.generate_uuid(),
            vcpus=1,
            memory_mb=memory_mb,
            root_gb=1,
            ephemeral_gb=0,
            swap=0,
            rxtx_factor=1.0,
            is_public=True,
            extra_specs=dict(extra_specs),
        )
        flavor.create()
        return objects.Flavor.get_by_name(self.context, name)

    def scheduler(self, *enabled_filters: str) -> manager.SchedulerManager:
        """Return a new scheduler with these filters after ComputeFilter."""
        # Each scheduler has a memory of its own, as each process has.
        reader.shared.cache_clear()
        CONF.set_override(
            'enabled_filters',
            ['ComputeFilter', *enabled_filters],
            group='filter_scheduler',
        )
        try:
            return manager.SchedulerManager()
        finally:
            # A scheduler reads the option once, when it starts.
            CONF.clear_override('enabled_filters', group='filter_scheduler')

    def request(
        self,
        flavor: Any,
        only: Sequence[str] | None = None,
        hints: Mapping[str, Any] | None = None,
        project: str = PROJECT,
        group: Any = None,
    ) -> Any:
        """Return a request for one server, built and stored as by Nova's API.

        :param only: the hosts that may be considered; None is all of them.
        """
        stored_hints = dict(hints or {})
        if group:
            stored_hints['group'] = group.uuid
        request = objects.RequestSpec.from_components(
            self.context,
            instance_uuid=uuidutils.generate_uuid(),
            image=objects.ImageMeta.from_dict(
                {'id': uuidutils.generate_uuid()}
            ),
            flavor=flavor,
            numa_topology=None,
            pci_requests=objects.InstancePCIRequests(requests=[]),
            filter_properties={'scheduler_hints': stored_hints},
            instance_group=group,
            availability_zone=None,
            project_id=project,
            user_id=PROJECT,
        )
        # The API stores both before it asks for a host.
        request.create()
        objects.InstanceMapping(
            self.context,
            instance_uuid=request.instance_uuid,
            project_id=project,
            user_id=PROJECT,
            cell_mapping=None,
        ).create()
        if group is not None:
            objects.InstanceGroup.add_members(
                self.context, group.uuid, [request.instance_uuid]
            )
        if only is not None:
            request.ignore_hosts = [h for h in self.hosts if h not in only]
        return request

    def boot(self, scheduler: manager.SchedulerManager, request: Any) -> Boot:
        """Ask a scheduler for a host, as the conductor does."""
        handler = handlers.BufferingHandler(capacity=9999)
        logger = logging.getLogger(LOGGER)
        logger.addHandler(handler)
        host = None
        try:
            selected = scheduler.select_destinations(
                self.context,
                spec_obj=request,
                instance_uuids=[request.instance_uuid],
                return_objects=True,
                return_alternates=False,
            )
            host = selected[0][0].service_host
        except Exception as exc:
            # The RPC decorator wraps what it expects.
            cause = getattr(exc, 'exc_info', (None, exc))[1]
            if not isinstance(cause, exception.NoValidHost):
                raise
        finally:
            logger.removeHandler(handler)
        return Boot(host, _reasons(handler.buffer))

    def filtered(
        self, scheduler: manager.SchedulerManager, request: Any
    ) -> list[str]:
        """Return the hosts that a scheduler's filters leave, sorted."""
        left = scheduler.host_manager.get_filtered_hosts(
            self.states(scheduler, request), request
        )
        return sorted(state.host for state in left)

    def members(
        self, scheduler: manager.SchedulerManager, request: Any
    ) -> dict[str, int]:
        """Return how many servers of its stack a request meets, by host."""
        weigher = stack_weigher(scheduler)
        states = self.states(scheduler, request)
        team = weigher.find_team(request)
        counts: Mapping[str, int] = {}
        if team:
            members = weigher.count_members(team, states, request)
            counts = members.counts
        return {host: counts.get(host, 0) for host in sorted(self.hosts)}

    def states(self, scheduler: Any, request: Any) -> list[Any]:
        return list(
            scheduler.host_manager.get_host_states_by_uuids(
                self.context, None, request
            )
        )

    def place(
        self, request: Any, host: str | None, vm_state: str = 'building'
    ) -> None:
        """Write a server into its cell, as the conductor does."""
        with self.in_cell() as cell_context:
            objects.Instance(
                cell_context,
                uuid=request.instance_uuid,
                project_id=request.project_id,
                user_id=PROJECT,
                host=host,
                vm_state=vm_state,
                memory_mb=request.flavor.memory_mb,
                flavor=request.flavor,
                system_metadata={},
            ).create()
        mapping = objects.InstanceMapping.get_by_instance_uuid(
            self.context, request.instance_uuid
        )
        mapping.cell_mapping = self.cell
        mapping.save()

    def forget(self, request: Any) -> None:
        """Delete a request that came to nothing, as nova-api does."""
        request.destroy()
        objects.InstanceMapping(
            self.context, instance_uuid=request.instance_uuid
        ).destroy()

    def start_action(
        self,
        request: Any,
        action: str,
        task_state: str,
        start_time: datetime.datetime | None = None,
    ) -> None:
        """Write down that a server is to move, as nova-api does.

        :param start_time: the time of nova-api's clock; None is the same time
            for all actions.
        """
        self.update(request, task_state=task_state)
        with self.in_cell() as cell_context:
            if start_time:
                cell_context.timestamp = start_time
            cell_context.request_id = f'req-{uuidutils.generate_uuid()}'
            objects.InstanceAction.action_start(
                cell_context, request.instance_uuid, action, want_result=False
            )

    def start_migration(
        self,
        request: Any,
        origin: str,
        destination: str,
        kind: str,
        status: str = 'migrating',
    ) -> None:
        """Write down where a server goes, as its new nova-compute does.

        :param kind: as Nova writes it: a live migration or others.
        """
        with self.in_cell() as cell_context:
            objects.Migration(
                cell_context,
                instance_uuid=request.instance_uuid,
                source_compute=origin,
                dest_compute=destination,
                status=status,
                migration_type=kind,
            ).create()

    def add_group(
        self, policy: str, uuid: str | None = None, **rules: str
    ) -> Any:
        group = objects.InstanceGroup(
            self.context,
            uuid=uuid or uuidutils.generate_uuid(),
            name=policy,
            project_id=PROJECT,
            user_id=PROJECT,
            policy=policy,
            rules=rules,
        )
        group.create()
        return group


def stack_weigher(scheduler: manager.SchedulerManager) -> Any:
    """Return the StackAffinityWeigher of a scheduler."""
    (stack_weigher,) = (
        weigher
        for weigher in scheduler.host_manager.weighers
        if type(weigher).__name__ == 'StackAffinityWeigher'
    )
    return stack_weigher


def _reasons(logged: list[logging.LogRecord]) -> str:
    return '; '.join(
        str(record.args['reasons'])
        for record in logged
        if record.levelno == logging.INFO and isinstance(record.args, Mapping)
    )


def nova_version() -> str:
    return str(version.version_string())

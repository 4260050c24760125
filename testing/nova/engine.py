# SPDX-License-Identifier: Apache-2.0

"""A nova-scheduler in this process, with a real Placement beside it.

Importing this module chooses Nova's concurrency as the nova-scheduler
command does, so it comes before any other import of Nova. A process can hold
one :class:`Cloud`: Nova's configuration and databases are global.
"""

# Must be the first import of Nova: release 29 patches on import, release 34
# chooses native threads when asked to, as in nova/cmd/scheduler.py.
from nova import monkey_patch

if hasattr(monkey_patch, 'patch'):
    monkey_patch.patch(backend='threading')

# The rest must follow it.
# ruff: noqa: E402
import contextlib
import dataclasses
import datetime
import logging
import pathlib
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from logging import handlers
from typing import Any

import nova.conf
import sqlalchemy as sa
from keystoneauth1 import adapter as ks_adapter
from keystoneauth1 import session as ks_session
from keystoneauth1 import token_endpoint
from nova import config, context, exception, objects, version
from nova.db.api import api as api_db
from nova.db.api import models as api_models
from nova.db.main import api as main_db
from nova.db.main import models as main_models
from nova.scheduler import manager
from nova.scheduler.client import report
from oslo_log import log as oslo_logging
from oslo_utils import timeutils, uuidutils
from placement import db_api as placement_db
from placement.db.sqlalchemy import models as claims
from placement.tests.functional.fixtures import placement

from nova_filters.weighers import reader

CONF = nova.conf.CONF

#: The filter under test and the one it is compared with.
OURS = 'AggregateInstanceTypeFilter'
IN_TREE = 'AggregateInstanceExtraSpecsFilter'
LOGGER = 'nova_filters.filters.aggregate_instance_type'

#: The scheduler's whole nova.conf. The instances of a host are read from the
#: database with each request, because no nova-compute reports them; for the
#: same reason the services count as up for a day. A database in memory goes
#: with its connection, which by default lives for an hour.
NOVA_CONF = """
[api_database]
connection = sqlite://
connection_recycle_time = -1

[database]
connection = sqlite://
connection_recycle_time = -1

[filter_scheduler]
available_filters = nova.scheduler.filters.all_filters
available_filters = nova_filters.all_filters
weight_classes = nova.scheduler.weights.all_weighers,nova_filters.all_weighers
track_instance_changes = false

[oslo_messaging_notifications]
driver = noop

[DEFAULT]
transport_url = fake://
service_down_time = 86400
"""

#: What each host has, beside memory.
_TOTALS = {'vcpus': 1024, 'local_gb': 10240}
#: Tables of Placement that clear() empties: what servers take of the hosts.
_CLAIMS = (claims.Allocation.__table__, claims.Consumer.__table__)
#: Tables that clear() leaves: those of the hosts.
_KEPT = {'cell_mappings', 'host_mappings', 'services', 'compute_nodes'}


def _counting(tables: Iterable[sa.Table]) -> str:
    """Return the SQL that counts the rows of each table.

    As text: SQLAlchemy would need 20 ms each time to write it.
    """
    return ' UNION ALL '.join(
        f"SELECT '{table.name}', count(*) FROM {table.name}"  # noqa: S608
        for table in tables
        if table.name not in _KEPT
    )


_COUNT_CLAIMS = _counting(_CLAIMS)
_COUNT_API = _counting(api_models.BASE.metadata.sorted_tables)
_COUNT_CELL = _counting(main_models.BASE.metadata.sorted_tables)

PROJECT = uuidutils.generate_uuid(dashed=False)


@dataclasses.dataclass(frozen=True)
class Boot:
    """What came of one boot request.

    :param host: the host that the scheduler chose, None for NoValidHost.
    :param reasons: what the filter's one INFO line gave as the reasons.
    """

    host: str | None
    reasons: str


@contextlib.contextmanager
def records(level: int = logging.DEBUG) -> Iterator[list[logging.LogRecord]]:
    """Collect what the filter logs meanwhile, which may be nothing.

    :param level: the logger's level meanwhile; NOTSET leaves it as it is.
    """
    handler = handlers.BufferingHandler(capacity=9999)
    logger = logging.getLogger(LOGGER)
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(level or before)
    try:
        yield handler.buffer
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


class Cloud:
    """Databases with hosts, aggregates and flavors, and schedulers on them.

    :param log: the file for the services' logs; None leaves logging alone.
    """

    def __init__(self, log: pathlib.Path | None = None) -> None:
        self.hosts: list[str] = []
        self._set_up_config(log)
        self.context = context.get_admin_context()
        self.context.project_id = PROJECT
        self.context.user_id = PROJECT
        self._set_up_databases()
        api = placement.PlacementFixture()
        # Never taken down: Nova's own databases stay as well.
        api.setUp()
        # The constructor's own parameter for a prepared HTTP adapter.
        self.placement = report.SchedulerReportClient(
            adapter=ks_adapter.Adapter(
                ks_session.Session(
                    auth=token_endpoint.Token(api.endpoint, api.token)
                ),
                service_type='placement',
                raise_exc=False,
            )
        )
        report.PLACEMENTCLIENT = self.placement

    def _set_up_config(self, log: pathlib.Path | None) -> None:
        """Configure Nova from a file, as its command does."""
        warnings.simplefilter('ignore')
        text = NOVA_CONF + (f'log_file = {log}\n' if log is not None else '')
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'nova.conf'
            path.write_text(text)
            config.parse_args(
                ['nova-scheduler'], default_config_files=[str(path)]
            )
        if log is not None:
            oslo_logging.setup(CONF, 'nova')
            logging.captureWarnings(True)
        objects.register_all()

    def _set_up_databases(self) -> None:
        """Create the API database and one cell."""
        api_models.BASE.metadata.create_all(api_db.get_engine())
        self.cell = objects.CellMapping(
            self.context,
            uuid=uuidutils.generate_uuid(),
            name='cell1',
            transport_url='none:///',
            database_connection='sqlite://',
        )
        self.cell.create()
        main_models.BASE.metadata.create_all(self.cell_database())

    def in_cell(self) -> Any:
        """Return a context manager, whose value is a context of the cell."""
        return context.target_cell(self.context, self.cell)

    def cell_database(self) -> Any:
        """Return the SQLAlchemy engine of the cell's database."""
        with self.in_cell() as cell_context:
            return main_db.get_engine(context=cell_context)

    def add_host(self, name: str, memory_gib: int = 1024) -> None:
        """Add a compute host: service, node, mapping, resource provider."""
        uuid = uuidutils.generate_uuid()
        with self.in_cell() as cell_context:
            objects.Service(
                cell_context,
                host=name,
                binary='nova-compute',
                topic='compute',
                report_count=1,
                disabled=False,
                last_seen_up=timeutils.utcnow(),
            ).create()
            objects.ComputeNode(
                cell_context,
                uuid=uuid,
                host=name,
                hypervisor_hostname=name,
                **_TOTALS,
                memory_mb=memory_gib * 1024,
                vcpus_used=0,
                memory_mb_used=0,
                local_gb_used=0,
                free_ram_mb=memory_gib * 1024,
                free_disk_gb=_TOTALS['local_gb'],
                hypervisor_type='QEMU',
                hypervisor_version=8000000,
                cpu_info='{}',
                host_ip='127.0.0.1',
                cpu_allocation_ratio=1.0,
                ram_allocation_ratio=1.0,
                disk_allocation_ratio=1.0,
                supported_hv_specs=[],
            ).create()
        self.hosts.append(name)
        objects.HostMapping(
            self.context, host=name, cell_mapping=self.cell
        ).create()
        # As nova-compute tells Placement.
        tree = self.placement.get_provider_tree_and_ensure_root(
            self.context, uuid, name=name
        )
        totals = {
            'VCPU': _TOTALS['vcpus'],
            'MEMORY_MB': memory_gib * 1024,
            'DISK_GB': _TOTALS['local_gb'],
        }
        inventory = {
            resource_class: {'total': total}
            for resource_class, total in totals.items()
        }
        tree.update_inventory(name, inventory)
        # The scheduler of release 34 asks for it.
        tree.update_traits(name, ['OWNER_NOVA'])
        self.placement.update_from_provider_tree(self.context, tree)

    def add_aggregate(
        self, name: str, hosts: Sequence[str], metadata: Mapping[str, str]
    ) -> Any:
        """Add an aggregate.

        :returns: Nova's Aggregate.
        """
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
        """Add a small flavor.

        :returns: Nova's Flavor, read back from the database.
        """
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

    def clear(self) -> None:
        """Remove all but the hosts, which take long to make."""
        with placement_db.get_placement_engine().begin() as connection:
            for table in _CLAIMS:
                connection.execute(table.delete())
        for base, bind in (
            (api_models.BASE, api_db.get_engine()),
            (main_models.BASE, self.cell_database()),
        ):
            with bind.begin() as connection:
                for table in reversed(base.metadata.sorted_tables):
                    if table.name not in _KEPT:
                        connection.execute(table.delete())

    def rows(self) -> dict[str, int]:
        """Count what :meth:`clear` removes.

        :returns: the number of rows, by database and table; a table without
            rows is left out.
        """
        counts: dict[str, int] = {}
        for database, bind, query in (
            ('Placement', placement_db.get_placement_engine(), _COUNT_CLAIMS),
            ('nova_api', api_db.get_engine(), _COUNT_API),
            ('the cell', self.cell_database(), _COUNT_CELL),
        ):
            with bind.connect() as connection:
                for name, count in connection.exec_driver_sql(query):
                    if count:
                        counts[f'rows of table {name} in {database}'] = count
        return counts

    def scheduler(self, *enabled_filters: str) -> manager.SchedulerManager:
        """Return a new scheduler.

        :param enabled_filters: what nova.conf's option of this name holds,
            after ComputeFilter.
        """
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
        zone: str | None = None,
        group: Any = None,
        image: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return a request for one server, built and stored as by Nova's API.

        :param only: the hosts that may be considered; None is all of them.
        :param zone: the zone that the server must be in.
        :param group: the server group, as Nova's InstanceGroup.
        :param image: the image, as Glance describes it; None is an image
            that no other server has.
        :returns: Nova's RequestSpec.
        """
        stored_hints = dict(hints or {})
        if group:
            stored_hints['group'] = group.uuid
        request = objects.RequestSpec.from_components(
            self.context,
            instance_uuid=uuidutils.generate_uuid(),
            image=objects.ImageMeta.from_dict(
                image or {'id': uuidutils.generate_uuid()}
            ),
            flavor=flavor,
            numa_topology=None,
            pci_requests=objects.InstancePCIRequests(requests=[]),
            filter_properties={'scheduler_hints': stored_hints},
            instance_group=group,
            availability_zone=zone,
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
        """Ask a scheduler for a host, as the conductor does.

        :returns: the host, or the reasons for NoValidHost.
        """
        with records(logging.NOTSET) as logged:
            try:
                selected = scheduler.select_destinations(
                    self.context,
                    spec_obj=request,
                    instance_uuids=[request.instance_uuid],
                    return_objects=True,
                    return_alternates=False,
                )
            except Exception as exc:
                # The RPC decorator wraps what it expects.
                cause = getattr(exc, 'exc_info', (None, exc))[1]
                if not isinstance(cause, exception.NoValidHost):
                    raise
                return Boot(None, _reasons(logged))
        return Boot(selected[0][0].service_host, _reasons(logged))

    def filtered(
        self, scheduler: manager.SchedulerManager, request: Any
    ) -> list[str]:
        """Return the hosts that a scheduler's filters leave of all.

        :returns: the names of the hosts, sorted; nothing is claimed.
        """
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
        team = weigher.team(request)
        counts: Mapping[str, int] = {}
        if team:
            counts = weigher.see_members(team, states, request).sight.counts
        return {host: counts.get(host, 0) for host in sorted(self.hosts)}

    def states(self, scheduler: Any, request: Any) -> list[Any]:
        """Return the HostStates of all hosts."""
        return list(
            scheduler.host_manager.get_host_states_by_uuids(
                self.context, None, request
            )
        )

    def place(
        self, request: Any, host: str | None, vm_state: str = 'building'
    ) -> None:
        """Write a server into its cell, as the conductor does.

        :param host: the host that nova-compute has written down; None if
            there is none yet.
        """
        with self.in_cell() as cell_context:
            objects.Instance(
                cell_context,
                uuid=request.instance_uuid,
                project_id=request.project_id,
                user_id=PROJECT,
                host=host,
                vm_state=vm_state,
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

    def update(self, request: Any, **values: Any) -> None:
        """Change columns of a server in its cell."""
        self._write(main_models.Instance.uuid == request.instance_uuid, values)

    def report(self, host: str, **values: Any) -> None:
        """Write what the nova-compute of a host reports into its cell."""
        self._write(main_models.ComputeNode.host == host, values)

    def _write(self, where: Any, values: Mapping[str, Any]) -> None:
        """Change columns of the rows for which a condition holds."""
        query = sa.update(where.left.table).where(where).values(**values)
        with self.cell_database().begin() as connection:
            connection.execute(query)

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

    def add_group(
        self,
        policy: str,
        rules: Mapping[str, str] | None = None,
        uuid: str | None = None,
    ) -> Any:
        """Add a server group.

        :param uuid: the id of the group; None is a new one.
        :returns: Nova's InstanceGroup.
        """
        group = objects.InstanceGroup(
            self.context,
            uuid=uuid or uuidutils.generate_uuid(),
            name=policy,
            project_id=PROJECT,
            user_id=PROJECT,
            policy=policy,
            rules=dict(rules or {}),
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
    """Return the reasons that the filter's INFO lines give."""
    return '; '.join(
        str(record.args['reasons'])
        for record in logged
        if record.levelno == logging.INFO and isinstance(record.args, Mapping)
    )


def nova_version() -> str:
    """Return the version of the installed Nova."""
    return str(version.version_string())

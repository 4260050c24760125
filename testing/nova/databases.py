# SPDX-License-Identifier: Apache-2.0

"""The databases of Nova and Placement in this process, and hosts in them.

Importing this module chooses Nova's concurrency as the nova-scheduler
command does, so it comes before any other import of Nova. A process can hold
one :class:`Databases`: Nova's configuration and databases are global.
"""

# Must be the first import of Nova: release 29 patches on import, release 34
# chooses native threads when asked to, as in nova/cmd/scheduler.py.
from nova import monkey_patch

if hasattr(monkey_patch, 'patch'):
    monkey_patch.patch(backend='threading')

# The rest must follow it.
# ruff: noqa: E402
import logging
import pathlib
import tempfile
import warnings
from typing import Any

import nova.conf
import sqlalchemy as sa
from keystoneauth1 import adapter as ks_adapter
from keystoneauth1 import session as ks_session
from keystoneauth1 import token_endpoint
from nova import config, context, objects
from nova.db.api import api as api_db
from nova.db.api import models as api_models
from nova.db.main import api as main_db
from nova.db.main import models as main_models
from nova.scheduler.client import report
from oslo_log import log as oslo_logging
from oslo_utils import timeutils, uuidutils
from placement import db_api as placement_db
from placement.db.sqlalchemy import models as claims
from placement.tests.functional.fixtures import placement

CONF = nova.conf.CONF
PROJECT = uuidutils.generate_uuid(dashed=False)

#: The scheduler's whole nova.conf. The instances of a host are read from the
#: database with each request, because no nova-compute reports them; for the
#: same reason the services count as up for a day. A database in memory goes
#: with its connection, which by default lives for an hour.
NOVA_CONF = """
[api_database]
connection = {api}
connection_recycle_time = -1

[database]
connection = {cell}
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
_CPUS = 1024
_DISK_GB = 10240
#: Tables of Nova that clear() leaves: those of the hosts.
_KEPT = {'cell_mappings', 'host_mappings', 'services', 'compute_nodes'}


class Databases:
    """Nova's databases with one cell, a Placement, and hosts.

    :param log: the file for the services' logs; None leaves logging alone.
    :param api: the URL of the API database, which is empty.
    :param cell: the URL of the cell's database, which is empty.
    """

    def __init__(
        self,
        log: pathlib.Path | None = None,
        api: str = 'sqlite://',
        cell: str = 'sqlite://',
    ) -> None:
        self.hosts: list[str] = []
        self._urls = {'api': api, 'cell': cell}
        self._set_up_config(log)
        self.context = context.get_admin_context()
        self.context.project_id = PROJECT
        self.context.user_id = PROJECT
        self._set_up_databases()
        fixture = placement.PlacementFixture()
        # Never taken down: Nova's own databases stay as well.
        fixture.setUp()
        # The constructor's own parameter for a prepared HTTP adapter.
        self.placement = report.SchedulerReportClient(
            adapter=ks_adapter.Adapter(
                ks_session.Session(
                    auth=token_endpoint.Token(fixture.endpoint, fixture.token)
                ),
                service_type='placement',
                raise_exc=False,
            )
        )
        report.PLACEMENTCLIENT = self.placement

    def _set_up_config(self, log: pathlib.Path | None) -> None:
        """Configure Nova from a file, as its command does."""
        warnings.simplefilter('ignore')
        text = NOVA_CONF.format(**self._urls)
        if log is not None:
            text += f'log_file = {log}\n'
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
            database_connection=self._urls['cell'],
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
                vcpus=_CPUS,
                memory_mb=memory_gib * 1024,
                local_gb=_DISK_GB,
                vcpus_used=0,
                memory_mb_used=0,
                local_gb_used=0,
                free_ram_mb=memory_gib * 1024,
                free_disk_gb=_DISK_GB,
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
        inventory = {
            'VCPU': {'total': _CPUS},
            'MEMORY_MB': {'total': memory_gib * 1024},
            'DISK_GB': {'total': _DISK_GB},
        }
        tree.update_inventory(name, inventory)
        # The scheduler of release 34 asks for it.
        tree.update_traits(name, ['OWNER_NOVA'])
        self.placement.update_from_provider_tree(self.context, tree)

    def clear(self) -> None:
        """Remove all but the hosts, which take long to make."""
        with placement_db.get_placement_engine().begin() as connection:
            for model in claims.Allocation, claims.Consumer:
                connection.execute(model.__table__.delete())
        for base, bind in (
            (api_models.BASE, api_db.get_engine()),
            (main_models.BASE, self.cell_database()),
        ):
            with bind.begin() as connection:
                for table in reversed(base.metadata.sorted_tables):
                    if table.name not in _KEPT:
                        connection.execute(table.delete())

    def report(self, host: str, **values: Any) -> None:
        """Write what the nova-compute of a host reports into its cell."""
        self._change(main_models.ComputeNode, {'host': host}, values)

    def update(self, request: Any, **values: Any) -> None:
        """Change columns of a server in its cell."""
        where = {'uuid': request.instance_uuid}
        self._change(main_models.Instance, where, values)

    def migrations(self, request: Any, **values: Any) -> None:
        """Change columns of the latest migration of a server, if any."""
        migration = main_models.Migration
        latest = sa.select(sa.func.max(migration.id)).where(
            migration.instance_uuid == request.instance_uuid
        )
        with self.cell_database().begin() as connection:
            where = {'id': connection.scalar(latest)}
        self._change(migration, where, values)

    def _change(self, model: Any, where: Any, values: Any) -> None:
        query = sa.update(model).filter_by(**where).values(**values)
        with self.cell_database().begin() as connection:
            connection.execute(query)

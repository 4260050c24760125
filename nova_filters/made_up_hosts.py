# SPDX-License-Identifier: Apache-2.0

"""Ask filters and weighers about two hosts that do not exist.

The upgrade check starts the part of nova-scheduler that loads filters and
weighers, without Nova's databases.
"""

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any, Final

from os_placement_plugins import errors, time_limit

#: Seconds in which a filter or a weigher has to answer.
LIMIT: Final = 3.0

_NAMES: Final = ('made-up-host-1', 'made-up-host-2')
_UUID: Final = '00000000-0000-4000-8000-000000000000'


def start() -> Any:
    """Return Nova's HostManager with the plug-ins that nova.conf names.

    :raises Exception: the error that keeps nova-scheduler from starting.
    """
    from nova import objects
    from nova.scheduler import host_manager

    class HostManager(host_manager.HostManager):  # type: ignore[misc]
        """Nova's HostManager, started without Nova's databases."""

        def refresh_cells_caches(self) -> None:
            self.cells: dict[str, Any] = {}

        def _init_aggregates(self) -> None:
            pass

        def _init_instance_info(self, computes_by_cell: Any = None) -> None:
            pass

    objects.register_all()
    return HostManager()


@dataclasses.dataclass(frozen=True)
class Failure:
    """A filter or weigher that raises.

    :param name: the name of the plug-in's class.
    :param error: the exception that the plug-in raises.
    :param certain: whether the plug-in would certainly raise with real hosts,
        too.
    """

    name: str
    error: Exception
    certain: bool


def failures(manager: Any) -> Iterator[Failure]:
    """Yield a failure for each plug-in that raises an unexpected error.

    :param manager: the HostManager that :func:`start` returns.
    """
    from nova import filters, weights

    request = _request()
    roles = (
        (
            manager.enabled_filters,
            filters.BaseFilter,
            manager.filter_handler.get_filtered_objects,
        ),
        (
            manager.weighers,
            weights.BaseWeigher,
            manager.weight_handler.get_weighed_objects,
        ),
    )
    for plugins, base, ask in roles:
        for plugin in plugins:
            call = functools.partial(ask, [plugin], _hosts(manager), request)
            try:
                time_limit.call(call, LIMIT)
            except Exception as exc:
                if not _is_expected(plugin, exc):
                    yield Failure(
                        name=type(plugin).__name__,
                        error=exc,
                        certain=_is_certain(plugin, base, exc),
                    )
                if isinstance(exc, TimeoutError):
                    # Do not ask the other plug-ins: each may wait for the same
                    # service until the time limit.
                    return


def _is_expected(plugin: Any, exc: Exception) -> bool:
    """Tell whether an error is only due to the made-up hosts.

    Some of Nova's own filters and weighers fail with made-up hosts. For
    example, a filter reads images of servers from a database, and a weigher
    needs the hosts' metrics.
    """
    from nova import exception

    return _is_in_tree(plugin) and (
        errors.is_of_database(exc) or isinstance(exc, exception.NovaException)
    )


def _is_certain(plugin: Any, base: type, exc: Exception) -> bool:
    """Tell whether a plug-in would certainly raise with real hosts, too.

    A plug-in of another package may raise only with the made-up hosts: it may
    read a database, or need attributes that these hosts do not have.

    :param base: the class of Nova that the plug-in must extend.
    """
    if isinstance(exc, TimeoutError) or errors.is_of_database(exc):
        return False
    if isinstance(exc, NotImplementedError) or _is_in_tree(plugin):
        return True
    return not isinstance(plugin, base)


def _is_in_tree(plugin: Any) -> bool:
    """Tell whether a plug-in is Nova's own."""
    return type(plugin).__module__.partition('.')[0] == 'nova'


def _request() -> Any:
    """Return Nova's RequestSpec for a server that is not in a group."""
    from nova import context, objects

    flavor = objects.Flavor(
        id=1,
        name='made-up',
        flavorid='made-up',
        vcpus=1,
        memory_mb=64,
        root_gb=1,
        ephemeral_gb=0,
        swap=0,
        rxtx_factor=1.0,
        vcpu_weight=0,
        disabled=False,
        is_public=True,
        extra_specs={},
    )
    return objects.RequestSpec.from_components(
        context.get_admin_context(),
        instance_uuid=_UUID,
        image=objects.ImageMeta.from_dict({'id': _UUID}),
        flavor=flavor,
        numa_topology=None,
        pci_requests=objects.InstancePCIRequests(requests=[]),
        filter_properties={},
        instance_group=None,
        availability_zone=None,
        project_id=_UUID,
        user_id=_UUID,
    )


def _hosts(manager: Any) -> list[Any]:
    """Return Nova's HostStates of two empty hosts."""
    from nova import objects
    from oslo_utils import timeutils

    hosts = []
    now = timeutils.utcnow(with_timezone=True)
    for name in _NAMES:
        compute = objects.ComputeNode(
            uuid=_UUID,
            host=name,
            hypervisor_hostname=name,
            hypervisor_type='QEMU',
            hypervisor_version=8000000,
            host_ip='127.0.0.1',
            cpu_info='{}',
            vcpus=64,
            vcpus_used=0,
            memory_mb=65536,
            memory_mb_used=0,
            free_ram_mb=65536,
            local_gb=1024,
            local_gb_used=0,
            free_disk_gb=1024,
            disk_available_least=1024,
            cpu_allocation_ratio=1.0,
            ram_allocation_ratio=1.0,
            disk_allocation_ratio=1.0,
            supported_hv_specs=[],
            numa_topology=None,
            pci_device_pools=None,
            metrics=None,
            stats={},
            updated_at=now,
        )
        service = {
            'host': name,
            'binary': 'nova-compute',
            'topic': 'compute',
            'disabled': False,
            'disabled_reason': None,
            'forced_down': False,
            'report_count': 1,
            'created_at': now,
            'last_seen_up': now,
        }
        state = manager.host_state_cls(name, name, _UUID)
        state.update(compute, service, aggregates=[], inst_dict={})
        hosts.append(state)
    return hosts

# SPDX-License-Identifier: Apache-2.0

"""Hosts and requests as a filter sees them: Nova's objects, no database.

Import :mod:`testing.nova.engine` first: it chooses Nova's concurrency.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from nova import objects
from nova.scheduler import host_manager
from oslo_utils import uuidutils

# Nova knows its objects by name only after this.
objects.register_all()


def host_state(name: str, aggregates: Iterable[Any] = ()) -> Any:
    """Return a host.

    :returns: Nova's HostState.
    """
    state = host_manager.HostState(name, name, None)
    state.aggregates = list(aggregates)
    return state


def aggregates(*metadata: Mapping[str, str | None]) -> list[Any]:
    """Return aggregates named a0, a1, …

    :returns: Nova's Aggregates.
    """
    return [
        objects.Aggregate(id=number, name=f'a{number}', metadata=dict(data))
        for number, data in enumerate(metadata)
    ]


def request(extra_specs: Mapping[str, str]) -> Any:
    """Return a request for one server.

    :returns: Nova's RequestSpec.
    """
    return objects.RequestSpec(
        instance_uuid=uuidutils.generate_uuid(),
        flavor=objects.Flavor(extra_specs=dict(extra_specs)),
        scheduler_hints={},
    )

# SPDX-License-Identifier: Apache-2.0

"""Hosts and requests as a filter sees them: Nova's objects, no database.

Import :mod:`testing.nova.engine` first: it chooses Nova's concurrency.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
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


def random_requests(
    number: int,
    rng: random.Random,
    draw_extra_specs: Callable[[random.Random], dict[str, str]],
    draw_metadata: Callable[[random.Random], dict[str, str]],
) -> Iterator[tuple[Any, list[Any]]]:
    """Yield random requests, each with eight hosts in random aggregates.

    :param number: of the requests. After ten, the metadata of the aggregates
        change.
    """
    pool = aggregates(*({} for _ in range(10)))
    hosts = [host_state(f'h{n}') for n in range(8)]
    spec = request({})
    for count in range(number):
        if count % 10 == 0:
            for aggregate in pool:
                aggregate.metadata = draw_metadata(rng)
        for host in hosts:
            host.aggregates = rng.sample(pool, rng.choice((0, 1, 1, 1, 2, 3)))
        spec.flavor.extra_specs = draw_extra_specs(rng)
        yield spec, hosts

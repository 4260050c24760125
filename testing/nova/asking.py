# SPDX-License-Identifier: Apache-2.0

"""Ask the weigher that a nova-scheduler has loaded."""

from typing import Any

from testing.nova import engine


def members(
    cloud: engine.Cloud, scheduler: Any, request: Any
) -> dict[str, int]:
    """Return how many servers of its stack a request meets, by host."""
    manager = scheduler.host_manager
    (weigher,) = (
        weigher
        for weigher in manager.weighers
        if type(weigher).__name__ == 'StackAffinityWeigher'
    )
    states = manager.get_host_states_by_uuids(cloud.context, None, request)
    team = weigher.team(request)
    counts = weigher.see(team, list(states), request).counts if team else {}
    return {host: counts.get(host, 0) for host in sorted(cloud.hosts)}

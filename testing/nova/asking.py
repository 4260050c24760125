# SPDX-License-Identifier: Apache-2.0

"""Ask the filter and the weigher that a nova-scheduler has loaded."""

from typing import Any

from testing.nova import cases, engine, states


def passes(scheduler: Any, case: cases.Case) -> bool:
    """Return whether the filter lets a flavor boot on a host.

    :param case: the host and the flavor; neither is in a database.
    """
    manager = scheduler.host_manager
    ours = manager.filter_cls_map[engine.OURS]
    filters = [one for one in manager.enabled_filters if type(one) is ours]
    host = states.host_state('host', states.aggregates(*case.aggregates))
    option, group = 'exempt_metadata_keys', 'nova_filters'
    engine.CONF.set_override(option, list(case.exempt), group=group)
    try:
        return bool(
            manager.filter_handler.get_filtered_objects(
                filters, [host], states.request(case.flavor)
            )
        )
    finally:
        engine.CONF.clear_override(option, group=group)


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

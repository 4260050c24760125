# SPDX-License-Identifier: Apache-2.0

"""The places that a host shares with others."""

from typing import Any, Final

#: The kind of place that each host is by itself.
HOST: Final = 'host'


def names(host_state: Any, level: str) -> tuple[str, ...]:
    """Return the names of the places of one kind that a host is in, sorted.

    :param host_state: Nova's HostState.
    :param level: a metadata key of aggregates; for ``host`` there are none.
    """
    if level == HOST:
        return ()
    found = {
        aggregate.metadata.get(level)
        for aggregate in host_state.aggregates or ()
    }
    return tuple(sorted(filter(None, found)))

# SPDX-License-Identifier: Apache-2.0

"""One look for all actions of a process that ask for it at the same time.

When a region dies, all nodes there are recovered at once. Each of these
actions needs a look that begins after the action: an older one may have found
a silence that is over.
"""

from collections.abc import Callable
from concurrent import futures
from typing import Any

# Cluster id -> the look that has not begun yet, and the one that runs.
_waiting: dict[str, 'futures.Future[Any]'] = {}
_running: dict[str, 'futures.Future[Any]'] = {}


def share(cluster_id: str, look: Callable[[], Any]) -> Any:
    """Return what a look finds that begins after this call.

    :param cluster_id: the cluster whose regions are looked at.
    :param look: looks at the regions. It is not called if somebody else is
        about to look.
    :returns: what the look returns.
    :raises: what the look raises, to all who share it.
    """
    new: futures.Future[Any] = futures.Future()
    shared = _waiting.setdefault(cluster_id, new)
    if shared is new:
        _lead(cluster_id, new, look)
    return shared.result()


def _lead(
    cluster_id: str, shared: 'futures.Future[Any]', look: Callable[[], Any]
) -> None:
    """Look as soon as nobody else looks, for all who wait."""
    try:
        before = _running.get(cluster_id)
        if before:
            futures.wait([before])
        _running[cluster_id] = shared
        del _waiting[cluster_id]
        shared.set_result(look())
    except BaseException as exc:
        # Also if this thread is killed: the others must not wait for ever.
        shared.set_exception(exc)
    finally:
        for looks in (_waiting, _running):
            if looks.get(cluster_id) is shared:
                del looks[cluster_id]

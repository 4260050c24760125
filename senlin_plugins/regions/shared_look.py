# SPDX-License-Identifier: Apache-2.0

"""Share one check of the regions among the waiting actions of a process.

When a region fails, Senlin recovers all its nodes at once, with one action for
each node. Each action needs a check that begins after the action, because the
result of an older check may be out of date.
"""

from collections.abc import Callable
from concurrent import futures
from typing import Any

# Cluster id -> the check that has not begun yet.
_waiting: dict[str, 'futures.Future[Any]'] = {}
# Cluster id -> the check that runs.
_running: dict[str, 'futures.Future[Any]'] = {}


def share(cluster_id: str, look: Callable[[], Any]) -> Any:
    """Return the result of a check that begins after this call.

    :param cluster_id: the cluster whose regions are checked.
    :param look: a function that checks the regions. It is not called if
        another thread already waits to start a check for the cluster.
    :returns: the result of the check.
    :raises: the exception of the check, in each thread that shares the check.
    """
    new: futures.Future[Any] = futures.Future()
    shared = _waiting.setdefault(cluster_id, new)
    if shared is new:
        _lead(cluster_id, new, look)
    return shared.result()


def _lead(
    cluster_id: str, shared: 'futures.Future[Any]', look: Callable[[], Any]
) -> None:
    """Wait for the running check, then check for all waiting threads."""
    try:
        before = _running.get(cluster_id)
        if before:
            futures.wait([before])
        _running[cluster_id] = shared
        del _waiting[cluster_id]
        shared.set_result(look())
    except BaseException as exc:
        # BaseException includes the end of a green thread that is killed. The
        # other threads must not wait for ever.
        shared.set_exception(exc)
    finally:
        for looks in (_waiting, _running):
            if looks.get(cluster_id) is shared:
                del looks[cluster_id]

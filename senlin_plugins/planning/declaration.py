# SPDX-License-Identifier: Apache-2.0

"""The commands with which the owner of a cluster gives up a region.

Senlin refuses to change a cluster in status ERROR. A cluster leaves this
status as soon as its minimum size is not above the number of its active nodes.
So if a cluster is in this status, the first command sets the minimum size to
0.
"""

import shlex
from collections.abc import Iterable, Sequence
from typing import Any, Final

ERROR: Final = 'ERROR'
#: The largest number of ids in a command. If there are more ids, the command
#: has a note in their place that says where to find the ids.
LISTED: Final = 10
#: The separator of commands that are run one after the other.
THEN: Final = '; '


def declare_out(cluster: Any, region: str) -> str:
    """Return the commands that declare a region out.

    :param cluster: a cluster of Senlin's engine or API, with its status and
        its minimum size.
    """
    return THEN.join(commands_to_change(cluster, _declare(cluster, region)))


def commands_to_change(cluster: Any, command: str) -> list[str]:
    """Return the commands that change a cluster, even in status ERROR.

    :param cluster: as for :func:`declare_out`.
    :param command: the command that changes the cluster.
    """
    if cluster.status != ERROR:
        return [command]
    commands = [_resize(cluster, 0), command]
    if cluster.min_size:
        commands.append(_resize(cluster, cluster.min_size))
    return commands


def delete(
    cluster: Any, ids: Sequence[str], held_regions: Iterable[str]
) -> str:
    """Return the commands that delete a cluster without some of its servers.

    Senlin does not delete these servers: if their region works again, the
    servers still exist.

    :param cluster: as for :func:`declare_out`.
    :param ids: the ids of the servers, or of their nodes.
    :param held_regions: the regions in which the cluster still has nodes.
    """
    commands = [_declare(cluster, region) for region in held_regions]
    if commands:
        commands.append(f'{_resize(cluster, 0)} --capacity 0')
    shown = ' '.join(ids)
    if len(ids) > LISTED:
        shown = f'<ids from openstack cluster region list --long {cluster.id}>'
    commands.append(f'openstack cluster region forget {cluster.id} {shown}')
    commands.append(f'openstack cluster delete {cluster.id}')
    if cluster.status == ERROR:
        commands.insert(0, _resize(cluster, 0))
    return THEN.join(commands)


def _declare(cluster: Any, region: str) -> str:
    """Return the command that declares a region out."""
    name = shlex.quote(region)
    return f'openstack cluster region set --out {cluster.id} {name}'


def _resize(cluster: Any, minimum: int) -> str:
    """Return the command that changes the minimum size."""
    return f'openstack cluster resize {cluster.id} --min-size {minimum}'

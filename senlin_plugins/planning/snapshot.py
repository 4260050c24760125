# SPDX-License-Identifier: Apache-2.0

"""The snapshot of a cluster. A decision depends only on the snapshot."""

import collections
import dataclasses
import datetime
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from senlin_plugins.planning.apportionment import Region
from senlin_plugins.planning.sizing import Change

#: The status of a node whose creation has not begun.
INIT: Final = 'INIT'
#: The region of nodes for which no region is chosen yet. If nodes are added,
#: no plan counts these nodes. If nodes are removed, these nodes leave first,
#: because they have no servers.
NO_REGION: Final = '(none)'


class Node(NamedTuple):
    """A node of a cluster.

    :param id: its id.
    :param region: the region in which the node counts; empty if the region is
        unknown, and :data:`NO_REGION` if no region is chosen yet.
    :param zone: its availability zone, if its data name one.
    :param status: its status.
    :param tainted: whether a user has marked it as tainted through the API.
    :param position: its index in the cluster.
    :param created_at: when it was created; ``None`` if it never was.
    :param profile_created_at: when its profile was created, as text that
        sorts like time.
    :param lot: a random number between 0 and 1, for a random order of nodes.
    """

    id: str
    region: str = ''
    zone: str | None = None
    status: str = 'ACTIVE'
    tainted: bool = False
    position: int = -1
    created_at: datetime.datetime | None = None
    profile_created_at: str | None = None
    lot: float = 0.0


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """A cluster under a region placement policy, and the requested change.

    :param change: how many nodes come or go.
    :param regions: the regions of the policy's spec.
    :param current: region name -> number of nodes that count in the region
        now.
    :param out_of_reach: the names of regions in which no node is created or
        deleted now. Some of these regions may not be in the spec.
    :param nodes: the nodes of the cluster.
    """

    change: Change
    regions: Sequence[Region]
    current: Mapping[str, int]
    out_of_reach: Collection[str] = ()
    nodes: Sequence[Node] = ()

    @property
    def usable(self) -> list[Region]:
        """The regions in which a plan creates or keeps nodes.

        If the cluster shrinks, the nodes of all other regions within reach
        leave first.
        """
        return [
            region
            for region in self.regions
            if region.name not in self.out_of_reach
        ]

    @property
    def movable(self) -> dict[str, int]:
        """Region name -> number of nodes, without regions out of reach."""
        return {
            name: count
            for name, count in self.current.items()
            if name not in self.out_of_reach
        }

    def after(self, plan: Mapping[str, int]) -> 'Snapshot':
        """Return the cluster after a plan has been carried out.

        :param plan: region name -> nodes to add or to remove there.
        """
        sign = 1 if self.change.growing else -1
        current = dict(self.current)
        for name, count in plan.items():
            current[name] = current.get(name, 0) + sign * count
        return dataclasses.replace(self, current=current)


def placement(node: Any) -> dict[str, Any]:
    """Return the placement in a node's data.

    :param node: a node of Senlin's engine, database or API, or anything
        without ``data``.
    """
    return (getattr(node, 'data', None) or {}).get('placement') or {}


def recorded_region(node: Any) -> str | None:
    """Return the region that a node's data name.

    :param node: as for :func:`placement`.
    :returns: the name, or ``None`` if none is recorded.
    """
    return placement(node).get('region_name')


def fixed_region(context: Mapping[str, Any] | None) -> str | None:
    """Return the region that a profile names in its ``context``.

    The region in a node's data takes precedence over this region.

    :param context: the ``context`` of the profile, or of its spec.
    :returns: the name, or ``None`` if the profile leaves the region open.
    """
    return (context or {}).get('region_name') or None


def counted_region(node: Any, fixed: str | None, default: str | None) -> str:
    """Return the region in which a node counts.

    A node can be a member of the cluster before its NODE_CREATE has run. Until
    then, the node may have no region.

    :param node: a node of Senlin's engine, database or API.
    :param fixed: the region that its profile names, if any.
    :param default: Senlin's ``default_region_name``, if it is known.
    :returns: the name; :data:`NO_REGION` if no region is chosen yet, and empty
        if the region is unknown.
    """
    if node.status == INIT:
        default = NO_REGION
    return recorded_region(node) or fixed or default or ''


def distribution(nodes: Iterable[Node]) -> dict[str, int]:
    """Return region name -> number of nodes."""
    return collections.Counter(node.region for node in nodes)

# SPDX-License-Identifier: Apache-2.0

"""What a region that is out or full means for the nodes of a cluster.

A policy of version 1.1 keeps what it knows in the data of the cluster, under
:data:`DATA_KEY`, where the API shows it:

``regions``
    name -> ``state`` (``out`` or ``full``), ``why`` and ``since``, for each
    region with which something is wrong.
``servers``
    what may be left behind: the server of each node that was in a region
    while that was out, whatever became of the node since.
"""

import dataclasses
import datetime
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.placement import place
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.snapshot import (
    Failure,
    Node,
    Snapshot,
    distribution,
)

DATA_KEY: Final = 'region_placement'
OUT: Final = 'out'
FULL: Final = 'full'
#: Why a region is out that is not in Keystone.
UNKNOWN: Final = 'Keystone does not know it'


class Left(NamedTuple):
    """A server that may be left behind.

    :param region: where it is.
    :param node: the id of the node that it was made for.
    :param name: the name of that node.
    :param server: its id; ``None`` if nobody knows whether there is one.
    :param ports: the ports that Senlin made for it, as Senlin keeps them.
    :param since: when its region was found out, ISO 8601 in UTC.
    """

    region: str
    node: str
    name: str
    server: str | None
    ports: Sequence[Any]
    since: str

    def is_held(self, region: str | None, server: str | None) -> bool:
        """Tell whether its node still has it, or may have it.

        :param region: the region that the node's data name.
        :param server: the node's physical id.
        """
        # A server that nobody knew then may be the one that the node has now.
        return region == self.region and self.server in (None, server)


def read_left(data: Mapping[str, Any]) -> list[Left]:
    """Return what may be left behind, from the data of a cluster."""
    kept = (data.get(DATA_KEY) or {}).get('servers') or ()
    return [Left(**entry) for entry in kept]


def read_states(data: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the regions with which something is wrong, from those data."""
    return dict((data.get(DATA_KEY) or {}).get('regions') or {})


def describe(data: Mapping[str, Any]) -> dict[str, Failure]:
    """Return what is wrong with the regions to avoid."""
    return {
        name: Failure(
            f'is {state["state"]}: {state["why"]}', state['state'] == OUT
        )
        for name, state in read_states(data).items()
    }


def find_full(
    refusals: Iterable[Mapping[str, str]],
    now: datetime.datetime,
    seconds: int,
) -> dict[str, str]:
    """Return the regions that have refused a node of late, and why.

    :param refusals: ``region``, ``at`` (ISO 8601 with zone) and ``why``.
    :param now: the time, with a zone.
    :param seconds: how long a region counts as full.
    """
    since = now - datetime.timedelta(seconds=seconds)
    return {
        refusal['region']: refusal['why']
        for refusal in sorted(refusals, key=lambda refusal: refusal['at'])
        if datetime.datetime.fromisoformat(refusal['at']) > since
    }


def find_states(
    full: Mapping[str, str], faults: Iterable[tuple[str, str, bool]]
) -> dict[str, dict[str, Any]]:
    """Return the state of each region with which something is wrong.

    :param full: region name -> why it is full.
    :param faults: regions that are out, why, and whether they are dead: not
        even deleting is possible there. That matters more than the rest.
    """
    found: dict[str, dict[str, Any]] = {
        name: {'state': FULL, 'why': why} for name, why in full.items()
    }
    for name, why, dead in sorted(faults, key=lambda fault: fault[2]):
        found[name] = {'state': OUT, 'why': why, 'dead': dead}
    return found


def keep(
    data: Mapping[str, Any],
    found: Mapping[str, Mapping[str, Any]],
    left: Iterable[Left],
    held: Iterable[Left],
    moving: Collection[str],
    now: str,
) -> dict[str, Any]:
    """Return the data of a cluster with what is known of its regions.

    :param data: the data until now.
    :param found: the states of regions with which something is wrong.
    :param left: what was noted before, and is not cleared up yet.
    :param held: what the nodes have now.
    :param moving: ids of nodes that may leave it behind in this action.
    :param now: the time, ISO 8601 in UTC.
    """

    def is_out(region: str) -> bool:
        return found.get(region, {}).get('state') == OUT

    before = read_states(data)
    states = {}
    for name, state in found.items():
        old = before.get(name, {})
        lasts = old.get('state') == state['state']
        states[name] = {**state, 'since': old['since'] if lasts else now}
    lost = [
        entry
        for entry in held
        if is_dead(found, entry.region)
        # A full region has refused what nobody knows of.
        or (entry.node in moving and (entry.server or is_out(entry.region)))
    ]
    # What was noted before says since when.
    noted = {(e.region, e.node, e.server): e for e in [*lost, *left]}
    kept = {key: data[key] for key in data if key != DATA_KEY}
    if states or noted:
        servers = [entry._asdict() for entry in noted.values()]
        kept[DATA_KEY] = {'regions': states, 'servers': servers}
    return kept


def is_dead(states: Mapping[str, Mapping[str, Any]], region: str) -> bool:
    """Tell whether not even deleting is possible in a region."""
    return bool(states.get(region, {}).get('dead'))


def find_changes(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> dict[str, dict[str, str]]:
    """Return the new states of regions, empty for those that work again.

    :param before: the data of the cluster before.
    :param after: these data now.
    """
    old, new = read_states(before), read_states(after)
    return {
        name: new.get(name, {})
        for name in sorted({*old, *new})
        if old.get(name, {}).get('state') != new.get(name, {}).get('state')
    }


def anticipate(snapshot: Snapshot, node: str) -> Snapshot:
    """Count nodes that others are moving in their new regions.

    :param snapshot: the cluster.
    :param node: the id of the node that the action is about.
    """
    nodes = [
        n._replace(region=n.moves_to)
        if n.moves_to and n.id != node and n.region in snapshot.failing
        else n
        for n in snapshot.nodes
    ]
    current = distribution(nodes, snapshot.change.growing)
    return dataclasses.replace(snapshot, nodes=nodes, current=current)


def move(
    snapshot: Snapshot, ids: Collection[str]
) -> tuple[dict[str, str], Decision, Snapshot]:
    """Give nodes a new region.

    :param snapshot: the cluster; its change does not matter.
    :param ids: the nodes that cannot be recreated where they were; some may
        have moved since.
    :returns: node id -> its new region, in the order of the indices; the
        plan for them, or a refusal; and the cluster with the nodes in their
        new places, with the same change.
    """
    lost: list[Node] = []
    staying: list[Node] = []
    for node in sorted(snapshot.nodes, key=lambda node: node.position):
        moves = node.id in ids and node.region in snapshot.failing
        (lost if moves else staying).append(node)
    if not lost:
        return {}, Decision(), snapshot
    moving = dataclasses.replace(
        snapshot,
        change=Change(growing=True, count=len(lost)),
        current=distribution(staying, growing=True),
    )
    decision = place(moving)
    if decision.refusal:
        return {}, decision, snapshot
    names = [node.id for node in lost]
    moves_to = dict(zip(names, decision.placements, strict=True))
    after = dataclasses.replace(
        moving.after(decision.plan), change=snapshot.change
    )
    return moves_to, decision, after

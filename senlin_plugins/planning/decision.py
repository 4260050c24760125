# SPDX-License-Identifier: Apache-2.0

"""What the two policies decide, from what they have read."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from senlin_plugins.planning import apportionment, selection
from senlin_plugins.planning.snapshot import Node, Snapshot


@dataclasses.dataclass(frozen=True)
class Decision:
    """What a policy decides about an action.

    :param plan: region name -> nodes to add or to remove there; regions
        that stay as they are do not appear.
    :param candidates: ids of the nodes to delete, the first to go first.
    :param refusal: why the action cannot be carried out; empty if it can.
    :param shortage: region or zone -> how many nodes it lacked to give what
        another policy asks of it.
    """

    plan: Mapping[str, int] = dataclasses.field(default_factory=dict)
    candidates: tuple[str, ...] = ()
    refusal: str = ''
    shortage: Mapping[str, int] = dataclasses.field(default_factory=dict)

    @property
    def placements(self) -> list[str]:
        """The region of each new node."""
        return [name for name, n in self.plan.items() for _ in range(n)]


def place(snapshot: Snapshot) -> Decision:
    """Decide which regions nodes come to, or which nodes leave them.

    Scenarios S1 to S4 of the region placement policy.

    :param snapshot: the cluster; its change adds or removes some nodes.
    """
    change = snapshot.change
    plan = apportionment.grow if change.growing else apportionment.shrink
    outcome = plan(snapshot.usable, snapshot.movable, change.count)
    if change.growing or not outcome.feasible:
        return Decision(outcome.plan, refusal=outcome.reason)
    chosen = selection.select(
        snapshot.nodes,
        change.count,
        selection.Criterion.RANDOM,
        per_region=outcome.plan,
    )
    return Decision(outcome.plan, chosen.candidates)


def choose(
    nodes: Iterable[Node],
    count: int,
    criterion: selection.Criterion,
    decided: Mapping[str, Any],
) -> Decision:
    """Decide which nodes leave a cluster (S2 to S6 of the deletion policy).

    :param nodes: the nodes of the cluster.
    :param count: how many of them leave.
    :param criterion: which healthy nodes go first.
    :param decided: the ``deletion`` that other policies left in the
        action's data.
    """
    chosen = selection.select(
        nodes,
        count,
        criterion,
        # The document spells it both ways.
        per_region=decided.get('regions') or decided.get('region'),
        per_zone=decided.get('zones'),
    )
    return Decision(candidates=chosen.candidates, shortage=chosen.shortage)


def accept(named: object, members: Iterable[str]) -> Decision:
    """Decide about nodes that a request names (S1 of the deletion policy).

    A webhook may name anything, and a node may be gone since the API looked.

    :param named: the value of ``candidates`` in the request.
    :param members: the ids of the cluster's nodes.
    :returns: a decision with each node once, or a refusal.
    """
    if not isinstance(named, list) or not all(
        isinstance(node_id, str) for node_id in named
    ):
        return Decision(
            refusal=f"The value of 'candidates' is '{named}': it must be a "
            'list of node ids.'
        )
    known = set(members)
    strangers = [node_id for node_id in named if node_id not in known]
    if strangers:
        return Decision(
            refusal=f"The 'candidates' '{', '.join(strangers)}' are not in "
            'the cluster.'
        )
    return Decision(candidates=tuple(dict.fromkeys(named)))

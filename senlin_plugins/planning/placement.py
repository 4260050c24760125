# SPDX-License-Identifier: Apache-2.0

"""Decide where the nodes of a cluster come to, and which nodes leave it."""

import dataclasses

from senlin_plugins.planning import apportionment, selection
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.snapshot import Snapshot


def place(snapshot: Snapshot) -> Decision:
    """Decide for the region placement policy (scenarios S1 to S4).

    :param snapshot: the cluster; its change adds or removes some nodes.
    :returns: the plan, with candidates if nodes leave, or a refusal.
    """
    change = snapshot.change
    plan = apportionment.grow if change.growing else apportionment.shrink
    planned = plan(snapshot.usable, snapshot.movable, change.count)
    if change.growing or planned.refusal:
        return planned
    chosen = selection.select(
        snapshot.nodes,
        change.count,
        selection.Criterion.RANDOM,
        {'regions': planned.plan},
    )
    return dataclasses.replace(planned, candidates=chosen.candidates)

# SPDX-License-Identifier: Apache-2.0

"""Decide where the nodes of a cluster come to, and which nodes leave it."""

import dataclasses

from senlin_plugins.planning import apportionment, selection
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.region_spec import Strategy
from senlin_plugins.planning.snapshot import Snapshot


def place(snapshot: Snapshot) -> Decision:
    """Decide for the region placement policy (scenarios S1 to S4).

    :param snapshot: the cluster; its change adds or removes some nodes.
    :returns: the plan, with candidates if nodes leave, or a refusal.
    """
    change = snapshot.change
    if change.growing:
        return _grow(snapshot)
    planned = apportionment.shrink(
        snapshot.usable, snapshot.movable, change.count
    )
    if planned.refusal:
        return planned
    chosen = selection.select(
        snapshot.nodes,
        change.count,
        selection.Criterion.RANDOM,
        {'regions': planned.plan},
    )
    return dataclasses.replace(planned, candidates=chosen.candidates)


def _grow(snapshot: Snapshot) -> Decision:
    """Plan around regions that are out or full, and say what they miss."""
    missed = [r.name for r in snapshot.regions if r.name in snapshot.failing]
    if missed and snapshot.strategy is Strategy.EVEN:
        why = snapshot.failing[missed[0]].describe()
        return Decision(
            refusal=f"Region '{missed[0]}' {why}. The strategy 'even' "
            'adds no nodes meanwhile.'
        )
    count, current = snapshot.change.count, snapshot.movable
    planned = apportionment.grow(snapshot.usable, current, count)
    if not missed or planned.refusal:
        return planned
    sound = dataclasses.replace(snapshot, failing={})
    ideal = apportionment.grow(sound.usable, current, count).plan
    owed = {name: ideal[name] for name in missed if name in ideal}
    return dataclasses.replace(planned, owed=owed)

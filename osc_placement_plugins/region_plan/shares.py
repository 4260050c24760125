# SPDX-License-Identifier: Apache-2.0

"""What each region of a cluster gains or loses by a decision, and why."""

import fractions
from typing import NamedTuple

from senlin_plugins.planning.apportionment import (
    NO_FEASIBLE_PLAN,
    NO_USABLE_REGION,
)
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.plan import Snapshot
from senlin_plugins.planning.spec import NO_CAP, Region


class Share(NamedTuple):
    """The effect of a decision on one region.

    :param weight: the weight; ``None`` if the policy does not name the region.
    :param current: the number of nodes before the change.
    :param result: the number of nodes after the change.
    :param target: what ``result`` would be by the weights alone; ``None`` if
        no region has a weight.
    :param why: the rule that prevents the target; empty if no rule prevents
        it.
    """

    name: str
    weight: int | None
    cap: int | None
    current: int
    result: int
    target: fractions.Fraction | None
    why: str


def list_shares(snapshot: Snapshot, decision: Decision) -> list[Share]:
    """Return the effect of a decision on each region, with the reason.

    :param decision: the decision, which is not a refusal.
    :returns: the regions in the order of the policy, and then other regions
        that have nodes.
    """
    before, after = snapshot.current, snapshot.after(decision.plan).current
    total = sum(after.values())
    weights = sum(region.weight for region in snapshot.regions)
    names = [region.name for region in snapshot.regions]
    strays = sorted(before.keys() - names)
    shares = []
    for region in [*snapshot.regions, *(Region(name, 0) for name in strays)]:
        name = region.name
        is_stray = name in strays
        if is_stray and not before[name]:
            continue
        result = after.get(name, 0)
        target = None
        if weights:
            target = fractions.Fraction(region.weight * total, weights)
        shares.append(
            Share(
                name=name,
                weight=None if is_stray else region.weight,
                cap=None if region.cap == NO_CAP else region.cap,
                current=before.get(name, 0),
                result=result,
                target=target,
                why=_explain_region(snapshot, region, is_stray, result),
            )
        )
    return shares


def _explain_region(
    snapshot: Snapshot, region: Region, is_stray: bool, result: int
) -> str:
    """Return the rule that prevents the target of a region; empty if none.

    :param is_stray: whether the policy does not name the region.
    :param result: the number of nodes in the region after the change.
    """
    growing = snapshot.change.growing
    if is_stray and growing:
        return 'not in the policy: gets no nodes'
    if region.name in snapshot.out_of_reach:
        return 'out of reach: left as it is'
    if is_stray:
        return 'not in the policy: its nodes leave first'
    if region.cap != NO_CAP:
        if snapshot.current.get(region.name, 0) > region.cap:
            cap = f'past its cap of {region.cap}'
            if growing:
                return f'{cap}: keeps its nodes, gets none'
            return f'{cap}: its nodes above the cap leave early'
        if growing and region.cap == result:
            return f'at its cap of {region.cap}: gets no more nodes'
    if region.weight:
        return ''
    if growing:
        return 'weight 0: gets nodes only when the others are full'
    return 'weight 0: its nodes leave before those of the others'


def explain_refusal(snapshot: Snapshot, refusal: str) -> str:
    """Return the reason of a refusal, with the numbers of nodes."""
    if refusal == NO_USABLE_REGION:
        return f'{refusal} All regions of the policy are out of reach.'
    if refusal != NO_FEASIBLE_PLAN:
        return refusal
    movable = snapshot.movable
    if snapshot.change.growing:
        room = 0
        for region in snapshot.usable:
            room += max(0, region.cap - movable.get(region.name, 0))
        return f'{refusal} The caps leave room for {room}.'
    return f'{refusal} {sum(movable.values())} can be removed.'

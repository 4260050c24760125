# SPDX-License-Identifier: Apache-2.0

"""What each region of a cluster gains or loses by a decision, and why."""

import dataclasses
import fractions

from senlin_plugins.planning.apportionment import (
    NO_FEASIBLE_PLAN,
    NO_USABLE_REGION,
)
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.plan import Snapshot
from senlin_plugins.planning.spec import NO_CAP, Region

# The reasons for the result in a region; str.format() fills in the numbers.
STRAY_GROWING = 'not in the policy: gets no nodes'
STRAY_SHRINKING = 'not in the policy: its nodes leave first'
OUT_OF_REACH = 'out of reach: left as it is'
PAST_CAP = 'past its cap of {cap}: keeps its nodes, gets none'
ABOVE_CAP = 'past its cap of {cap}: its nodes above the cap leave early'
AT_CAP = 'at its cap of {cap}: gets no more nodes'
LAST_RESORT = 'weight 0: gets nodes only when the others are full'
LEAVES_EARLY = 'weight 0: its nodes leave before those of the others'


@dataclasses.dataclass(frozen=True)
class Share:
    """The effect of a decision on one region.

    :param weight: the weight; ``None`` if the policy does not name the region.
    :param cap: the cap; ``None`` if there is none.
    :param current: the number of nodes now.
    :param result: the number of nodes after the change.
    :param target: the number of nodes after the change if only the weights
        counted; ``None`` if no region has a weight.
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

    :param snapshot: the cluster before the change.
    :param decision: the decision, which is not a refusal.
    :returns: the regions in the order of the policy, and then other regions
        that have nodes.
    """
    before, after = snapshot.current, snapshot.after(decision.plan).current
    total = sum(after.values())
    weights = sum(region.weight for region in snapshot.regions)
    shares = []
    for region in snapshot.regions:
        name = region.name
        target = None
        if weights:
            target = fractions.Fraction(region.weight * total, weights)
        shares.append(
            Share(
                name=name,
                weight=region.weight,
                cap=None if region.cap == NO_CAP else region.cap,
                current=before.get(name, 0),
                result=after.get(name, 0),
                target=target,
                why=_explain_region(snapshot, region, after.get(name, 0)),
            )
        )
    strays = before.keys() - {region.name for region in snapshot.regions}
    for name in sorted(strays):
        if before[name]:
            shares.append(
                Share(
                    name=name,
                    weight=None,
                    cap=None,
                    current=before[name],
                    result=after[name],
                    target=fractions.Fraction(),
                    why=_explain_stray(snapshot, name),
                )
            )
    return shares


def _explain_stray(snapshot: Snapshot, name: str) -> str:
    """Return what happens to a region that the policy does not name."""
    if snapshot.change.growing:
        return STRAY_GROWING
    if name in snapshot.out_of_reach:
        return OUT_OF_REACH
    return STRAY_SHRINKING


def _explain_region(snapshot: Snapshot, region: Region, result: int) -> str:
    """Return the rule that prevents the target of a region; empty if none.

    :param result: the number of nodes in the region after the change.
    """
    if region.name in snapshot.out_of_reach:
        return OUT_OF_REACH
    growing = snapshot.change.growing
    if region.cap != NO_CAP:
        if snapshot.current.get(region.name, 0) > region.cap:
            why = PAST_CAP if growing else ABOVE_CAP
            return why.format(cap=region.cap)
        if growing and region.cap == result:
            return AT_CAP.format(cap=region.cap)
    if region.weight:
        return ''
    return LAST_RESORT if growing else LEAVES_EARLY


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

# SPDX-License-Identifier: Apache-2.0

"""What a scaling would make of a cluster, and why.

The plan is that of :mod:`senlin_plugins.planning.apportionment`, as the region
placement policy uses it; here stands only what explains it.
"""

import dataclasses
import fractions
from collections.abc import Collection, Iterator, Mapping, Sequence

from senlin_plugins.planning import apportionment, sizing
from senlin_plugins.planning.apportionment import NO_CAP, Outcome, Region

# Why a region gets what it gets; the numbers are filled in.
STRAY_GROWING = 'not in the policy: gets no nodes'
STRAY_SHRINKING = 'not in the policy: its nodes leave first'
OUT_OF_REACH = 'out of reach: left as it is'
PAST_CAP = 'past its cap of {cap}: keeps its nodes, gets none'
CAP_BINDS = 'its cap of {cap} binds: {kept} more would come here'
LAST_RESORT = 'weight 0: gets nodes only when the others are full'
LEAVES_EARLY = 'weight 0: its nodes leave before those of the others'
HAS_ITS_SHARE = 'holds its share already'
OTHERS_GET = 'others are further below their shares'
BELOW_ITS_SHARE = 'holds no more than its share'
OTHERS_GIVE = 'others are further above their shares'


@dataclasses.dataclass(frozen=True)
class Share:
    """What happens in one region.

    :param name: the region's name.
    :param weight: its weight; None for a region that the policy does not
        name.
    :param cap: its cap; None where there is none.
    :param current: its nodes now.
    :param change: how many it gets, or gives when negative.
    :param target: its share of the resulting nodes by weight alone, whatever
        the caps; None when no region has a weight.
    :param why: what kept it from its share; empty when nothing did.
    """

    name: str
    weight: int | None
    cap: int | None
    current: int
    change: int
    target: fractions.Fraction | None
    why: str

    @property
    def result(self) -> int:
        """Return how many nodes the region has in the end."""
        return self.current + self.change


@dataclasses.dataclass(frozen=True)
class Situation:
    """A cluster, and what its policy can do with it.

    :param regions: the regions of the policy's spec.
    :param current: region name -> nodes that are there now.
    :param out_of_reach: names of regions that cannot be used now.
    """

    regions: Sequence[Region]
    current: Mapping[str, int]
    out_of_reach: Collection[str] = ()

    @property
    def usable(self) -> list[Region]:
        """Return the regions that nodes can be created in."""
        return [r for r in self.regions if r.name not in self.out_of_reach]

    @property
    def movable(self) -> dict[str, int]:
        """Return the distribution less what the policy leaves alone."""
        held = {r.name for r in self.regions if r.name in self.out_of_reach}
        return {
            name: count
            for name, count in self.current.items()
            if name not in held
        }

    def plan(self, change: sizing.Change) -> Outcome:
        """Return what the region placement policy decides.

        :param change: how many nodes come or go.
        """
        decide = apportionment.grow if change.growing else apportionment.shrink
        return decide(self.usable, self.movable, change.count)

    def after(self, change: Mapping[str, int]) -> 'Situation':
        """Return the cluster after a change.

        :param change: region name -> nodes that come, or go when negative.
        """
        names = self.current.keys() | change.keys()
        return dataclasses.replace(
            self,
            current={
                name: self.current.get(name, 0) + change.get(name, 0)
                for name in names
            },
        )


def signed(outcome: Outcome, growing: bool) -> dict[str, int]:
    """Return a plan with the sign of its direction.

    :param outcome: what was planned.
    :param growing: whether nodes come.
    """
    sign = 1 if growing else -1
    return {name: sign * count for name, count in outcome.plan.items()}


def explain(
    situation: Situation, change: sizing.Change, outcome: Outcome
) -> list[Share]:
    """Say what a plan does in each region, and why.

    :param situation: the cluster before.
    :param change: how many nodes come or go.
    :param outcome: the plan for it.
    :returns: the regions of the policy in their order, then the others.
    """
    plan = signed(outcome, change.growing)
    total = sum(situation.current.values()) + sum(plan.values())
    weights = sum(region.weight for region in situation.regions)
    uncapped = _uncapped(situation, change)
    shares = []
    for region in situation.regions:
        target = fractions.Fraction(region.weight * total, weights or 1)
        moved = plan.get(region.name, 0)
        why = _why_held(situation, change, region, moved, uncapped)
        if not moved and not why:
            why = _why_unchanged(
                situation.current.get(region.name, 0), target, change.growing
            )
        shares.append(
            Share(
                name=region.name,
                weight=region.weight,
                cap=None if region.cap == NO_CAP else region.cap,
                current=situation.current.get(region.name, 0),
                change=moved,
                target=target if weights else None,
                why=why,
            )
        )
    named = {region.name for region in situation.regions}
    stray = STRAY_GROWING if change.growing else STRAY_SHRINKING
    for name in sorted(situation.current.keys() - named):
        current, moved = situation.current[name], plan.get(name, 0)
        if current:
            target = fractions.Fraction(0)
            shares.append(
                Share(name, None, None, current, moved, target, stray)
            )
    return shares


def _uncapped(situation: Situation, change: sizing.Change) -> dict[str, int]:
    """Return what the plan would be if no region had a cap."""
    if not change.growing:
        return {}
    free = [dataclasses.replace(r, cap=NO_CAP) for r in situation.regions]
    return dict(dataclasses.replace(situation, regions=free).plan(change).plan)


def _why_held(
    situation: Situation,
    change: sizing.Change,
    region: Region,
    moved: int,
    uncapped: Mapping[str, int],
) -> str:
    """Say which rule keeps a region from its share; nothing if none does."""
    if region.name in situation.out_of_reach:
        return OUT_OF_REACH
    now = situation.current.get(region.name, 0)
    if change.growing:
        if region.cap != NO_CAP and now > region.cap:
            return PAST_CAP.format(cap=region.cap)
        kept = uncapped.get(region.name, 0) - moved
        if region.cap == now + moved and kept > 0:
            return CAP_BINDS.format(cap=region.cap, kept=kept)
    if not region.weight:
        return LAST_RESORT if change.growing else LEAVES_EARLY
    return ''


def _why_unchanged(now: int, target: fractions.Fraction, growing: bool) -> str:
    """Say why a region that no rule holds stays as it is."""
    if growing:
        return HAS_ITS_SHARE if now >= target else OTHERS_GET
    return BELOW_ITS_SHARE if now <= target else OTHERS_GIVE


def explain_refusal(
    situation: Situation, change: sizing.Change, outcome: Outcome
) -> str:
    """Say with numbers why there is no plan.

    :param situation: the cluster as it is.
    :param change: how many nodes were to come or go.
    :param outcome: the refusal.
    :returns: the policy's reason, and what stands behind it.
    """
    if not situation.usable:
        return f'{outcome.reason} All regions of the policy are out of reach.'
    movable = situation.movable
    if change.growing:
        room = sum(
            max(0, region.cap - movable.get(region.name, 0))
            for region in situation.usable
        )
        return (
            f'{outcome.reason} {_nodes(change.count)} to be added, and the '
            f'caps leave room for {room}.'
        )
    return (
        f'{outcome.reason} {_nodes(change.count)} to be removed, and '
        f'{sum(movable.values())} can be.'
    )


def _nodes(count: int) -> str:
    """Return a number of nodes as the subject of a sentence."""
    return '1 node is' if count == 1 else f'{count} nodes are'


def steps(
    situation: Situation, change: sizing.Change
) -> Iterator[tuple[str, Situation]]:
    """Let the policy decide node after node.

    :param situation: the cluster as it is.
    :param change: how many nodes come or go, for which there is a plan.
    :returns: the region of each node, and the cluster after it.
    """
    one = sizing.Change(change.growing, 1)
    for _ in range(change.count):
        plan = signed(situation.plan(one), change.growing)
        situation = situation.after(plan)
        (name,) = plan
        yield name, situation

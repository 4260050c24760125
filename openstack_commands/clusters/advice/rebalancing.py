# SPDX-License-Identifier: Apache-2.0

"""Plan the steps of a rebalance, which first grow and then shrink a cluster.

A step consists of two plans of the policy: one for new nodes, and one for
nodes that leave. Each node has a cost
(:mod:`senlin_plugins.planning.apportionment`). A step adds the new nodes that
cost least, and removes the nodes that cost most. A step is planned only if it
lowers the sum of the costs.
"""

import dataclasses
import fractions
import operator
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from senlin_plugins.planning.placement import place
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.snapshot import Snapshot


class Step(NamedTuple):
    """One step: add nodes, and then remove the same number.

    If the cluster does not have the wanted size, the first step only adds or
    only removes nodes.

    :param add: region name -> nodes to add there.
    :param remove: region name -> nodes to remove there afterwards.
    :param after: region name -> nodes after the step.
    """

    add: Mapping[str, int]
    remove: Mapping[str, int]
    after: Mapping[str, int]

    @property
    def changes(self) -> int:
        """How many nodes come and go."""
        return sum(self.add.values()) + sum(self.remove.values())


def steps(
    snapshot: Snapshot, size: int, surge: int, closed: Collection[str] = ()
) -> Iterator[Step]:
    """Yield steps until no further step makes the distribution better.

    :param snapshot: the cluster; ``snapshot.change`` is ignored.
    :param size: the number of nodes before each step. If the cluster has
        another size, the first step changes it to this size.
    :param surge: how many nodes may be added in one step.
    :param closed: regions that can lose nodes, but get no new nodes.
    """
    missing = size - sum(snapshot.current.values())
    if missing:
        plan, after = _carry_out(snapshot, missing, closed)
        if not plan:
            return
        if missing > 0:
            yield Step(plan, {}, after.current)
        else:
            yield Step({}, plan, after.current)
        snapshot = after
    # A step cannot move more nodes than the cluster has.
    most = min(size, surge)
    step = _find_step(snapshot, most, closed)
    while step:
        yield step
        snapshot = dataclasses.replace(snapshot, current=step.after)
        step = _find_step(snapshot, most, closed)


def _find_step(
    snapshot: Snapshot, count: int, closed: Collection[str]
) -> Step | None:
    """Return the step that moves as many nodes as possible.

    :param count: the largest number of nodes to move.
    :returns: the step; ``None`` if no step lowers the sum of the costs.
    """
    while count > 0:
        add, grown = _carry_out(snapshot, count, closed)
        if not add:
            # The caps leave no room for so many nodes.
            count -= 1
            continue
        remove, after = _carry_out(grown, -count, closed)
        added = sorted(_costs(snapshot, snapshot.current, grown.current))
        removed = sorted(_costs(snapshot, after.current, grown.current))
        # A move lowers the sum of the costs only if the new node costs less
        # than the removed node.
        gains = sum(map(operator.lt, added, reversed(removed)))
        if gains == count:
            return Step(add, remove, after.current)
        count = gains
    return None


def _costs(
    snapshot: Snapshot, few: Mapping[str, int], many: Mapping[str, int]
) -> Iterator[tuple[int, fractions.Fraction]]:
    """Yield the costs of the nodes that ``many`` has in addition to ``few``.

    If a cluster shrinks, the nodes with the highest costs leave first: nodes
    in regions that must become empty. Then follow nodes above a cap, nodes in
    regions with weight 0, and all other nodes.

    :param few: region name -> number of nodes.
    :param many: the same regions with as many nodes or more.
    """
    shrinking = dataclasses.replace(snapshot.change, growing=False)
    leaving = dataclasses.replace(snapshot, change=shrinking)
    regions = {region.name: region for region in leaving.usable}
    for name, count in many.items():
        region = regions.get(name)
        for number in range(few.get(name, 0) + 1, count + 1):
            tier = 3
            if region:
                above = region.cap in range(number)
                tier = 2 if above else int(not region.weight)
            weight = region.weight if region else 0
            yield tier, fractions.Fraction(2 * number - 1, weight or 1)


def _carry_out(
    snapshot: Snapshot, count: int, closed: Collection[str]
) -> tuple[Mapping[str, int], Snapshot]:
    """Return the plan for a change, and the cluster after the change.

    If the change is refused, the plan is empty and the cluster does not
    change.

    :param count: how many nodes to add; negative to remove nodes.
    """
    growing = count > 0
    gone = set(snapshot.out_of_reach)
    if growing:
        gone.update(closed)
    changing = dataclasses.replace(
        snapshot,
        change=Change(growing=growing, count=abs(count)),
        out_of_reach=gone,
    )
    plan = place(changing).plan
    current = changing.after(plan).current
    return plan, dataclasses.replace(snapshot, current=current)

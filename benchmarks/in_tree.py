# SPDX-License-Identifier: Apache-2.0

"""The region placement algorithm that comes with Senlin, to compare with."""

from collections.abc import Callable

from senlin_plugins.planning.apportionment import NO_FEASIBLE_PLAN
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.plan import Snapshot


def planner() -> Callable[[Snapshot], Decision]:
    """Return Senlin's planner, with the interface of this package's."""
    # Needs Senlin: not before it is wanted.
    from senlin.policies import region_placement

    create_plan = region_placement.RegionPlacementPolicy._create_plan

    def place(snapshot: Snapshot) -> Decision:
        # It counts the nodes in the usable regions of its spec only.
        regions = {
            region.name: {'weight': region.weight, 'cap': region.cap}
            for region in snapshot.usable
        }
        current = {name: snapshot.current.get(name, 0) for name in regions}
        change = snapshot.change
        try:
            # The method reads nothing of the policy object.
            plan = create_plan(
                None, current, regions, change.count, change.growing
            )
        except Exception as exc:
            return Decision(refusal=f'{type(exc).__name__}: {exc}')
        if not plan:
            return Decision(refusal=NO_FEASIBLE_PLAN)
        return Decision(plan)

    return place

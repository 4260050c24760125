# SPDX-License-Identifier: Apache-2.0

"""Run the region placement algorithm that comes with Senlin, if it is here."""

import importlib
from collections.abc import Iterable, Mapping

from osc_lib import exceptions

from senlin_plugins.planning import projection, sizing
from senlin_plugins.planning.apportionment import (
    NO_FEASIBLE_PLAN,
    Outcome,
    Region,
)


class InTreePolicy:
    """Senlin's own planner, with the interface of this package's.

    :raises CommandError: when Senlin is not installed here.
    """

    def __init__(self) -> None:
        try:
            module = importlib.import_module(
                'senlin.policies.region_placement'
            )
        except ImportError as exc:
            raise exceptions.CommandError(
                '--compare runs the policy of Senlin itself, and Senlin is '
                f'not installed here ({exc}): install '
                'os-placement-plugins[senlin] beside the openstack command'
            ) from exc
        self._plan = module.RegionPlacementPolicy._create_plan

    def plan(
        self, situation: projection.Situation, change: sizing.Change
    ) -> Outcome:
        """Return what the in-tree policy decides.

        It counts the nodes in the usable regions of its spec only.

        :param situation: the cluster as it is.
        :param change: how many nodes come or go.
        :returns: its plan, or a reason.
        """
        usable = situation.usable
        current = {
            region.name: situation.current.get(region.name, 0)
            for region in usable
        }
        try:
            # The method reads nothing of the policy object.
            plan: Mapping[str, int] | None = self._plan(
                None, current, _as_spec(usable), change.count, change.growing
            )
        except Exception as exc:
            return Outcome({}, f'{type(exc).__name__}: {exc}')
        return Outcome(plan) if plan else Outcome({}, NO_FEASIBLE_PLAN)


def _as_spec(regions: Iterable[Region]) -> dict[str, dict[str, int]]:
    """Return regions as the in-tree policy keeps them."""
    return {
        region.name: {'weight': region.weight, 'cap': region.cap}
        for region in regions
    }

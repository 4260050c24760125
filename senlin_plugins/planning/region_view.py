# SPDX-License-Identifier: Apache-2.0

"""The regions of a cluster, with the settings and states that are in force.

The view is read once for an action. All decisions for the action use this
view, so a region has the same state in all decisions.
"""

import dataclasses
import functools
from collections.abc import Iterable, Mapping
from typing import Any

from senlin_plugins.planning import region_spec, region_state
from senlin_plugins.planning.region_spec import Override, Spec
from senlin_plugins.planning.region_state import Left, Notes, State
from senlin_plugins.planning.snapshot import recorded_region


@dataclasses.dataclass(frozen=True)
class View:
    """The regions of a cluster, as they are at a given time.

    :param spec: the spec of the policy.
    :param override: the regions, with the settings of the cluster's owner.
    :param notes: the states of the regions.
    :param now: the time of the view; empty for a policy of version 1.0, which
        reads no states.
    :param forgotten: the ids of the servers and nodes that the owner has
        forgotten.
    """

    spec: Spec
    override: Override
    notes: Notes = Notes()
    now: str = ''
    forgotten: frozenset[str] = frozenset()

    @functools.cached_property
    def states(self) -> Mapping[str, State]:
        """Region name -> state, for the regions that do not work."""
        return self.notes.in_force(self.override.declared, self.now)

    @functools.cached_property
    def left(self) -> list[Left]:
        """The servers left behind, except the forgotten ones."""
        return self.notes.remaining(self.forgotten)

    @functools.cached_property
    def names(self) -> set[str]:
        """The names of the regions of the policy."""
        return {region.name for region in self.spec.regions}

    @functools.cached_property
    def taking_nodes(self) -> set[str]:
        """The regions that are neither declared out nor have cap 0."""
        return self.names - self.override.declared - self._drained

    def after(self, notes: Notes, now: str) -> 'View':
        """Return the view with new states.

        :param notes: the states after a check of the regions.
        :param now: the time of the check.
        """
        return dataclasses.replace(self, notes=notes, now=now)

    def state_of(self, node: Any) -> State | None:
        """Return the state of a node's region; None if the region works.

        :param node: a node of Senlin's engine or database.
        """
        return self.states.get(recorded_region(node) or '')

    def is_unfit(self, node: Any) -> bool:
        """Tell whether a node, if recreated, must go to another region."""
        state = self.state_of(node)
        if state and state.moves:
            return True
        return recorded_region(node) in self._drained

    def find_lost(self, nodes: Iterable[Any], active: str) -> list[str]:
        """Return the ids of the nodes that need another region.

        :param nodes: nodes of Senlin's engine or database.
        :param active: the status of a healthy node.
        """
        lost = []
        for node in nodes:
            state = self.state_of(node)
            given_up = bool(state and state.is_dead)
            if given_up or (node.status != active and self.is_unfit(node)):
                lost.append(node.id)
        return lost

    @functools.cached_property
    def _drained(self) -> set[str]:
        """The regions with cap 0, which all nodes must leave."""
        return {
            region.name for region in self.override.regions if not region.cap
        }


def read(
    spec: Spec,
    metadata: Mapping[str, Any] | None,
    data: Mapping[str, Any] | None,
    now: str,
) -> View:
    """Return the view of a cluster for a policy of version 1.1.

    :param metadata: the metadata of the cluster.
    :param data: the data of the cluster.
    :param now: the time, as :func:`region_state.show_time` shows it.
    """
    return View(
        spec=spec,
        override=region_spec.override(spec.regions, metadata),
        notes=region_state.read(data),
        now=now,
        forgotten=frozenset(region_spec.forgotten(metadata)),
    )

# SPDX-License-Identifier: Apache-2.0

"""The decision of a policy about an action."""

import dataclasses
from collections.abc import Mapping

from senlin_plugins.planning.sizing import Change


@dataclasses.dataclass(frozen=True)
class Decision:
    """A plan, a list of nodes to delete, both, a refusal, or a change left.

    :param plan: region name -> number of nodes to add or to remove; unchanged
        regions are left out.
    :param candidates: ids of the nodes to delete, in the order of deletion.
    :param refusal: why the action is refused; empty if it is not refused.
    :param shortage: region or zone -> how many nodes it lacks, if more nodes
        must leave than it has. Nodes of other regions or zones leave instead.
    :param node_regions: node id -> the region to record in the node's data,
        for nodes of the cluster without a recorded region.
    :param left: the change that the policy leaves to Senlin's engine.
    """

    plan: Mapping[str, int] = dataclasses.field(default_factory=dict)
    candidates: tuple[str, ...] = ()
    refusal: str = ''
    shortage: Mapping[str, int] = dataclasses.field(default_factory=dict)
    node_regions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    left: Change | None = None

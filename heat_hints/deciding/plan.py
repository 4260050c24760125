# SPDX-License-Identifier: Apache-2.0

"""Plan the place of each member of a group that a template names.

The plan depends only on the template, the parameters and the name of one
stack, the id of the root stack, and the list of places. So each heat-engine
makes the same plan.
"""

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Sequence

from heat_hints.deciding.resource import Sibling


@dataclasses.dataclass(frozen=True)
class Member:
    """A member of a group.

    :param rank: the number of the member in the group, counted from 0.
    :param place: the place that is planned for the member.
    """

    group: str
    rank: int
    place: str


def find_member(
    siblings: Iterable[Sibling],
    name: str,
    root_stack_id: str,
    places: Sequence[str],
) -> Member | None:
    """Return the group, the rank and the place of a resource.

    The members take the places in turn, in the order of their ranks. The place
    of rank 0 comes from a hash that includes the group's name. Without this
    hash, all groups with one member would use the first place.

    :param siblings: the resources of the stack, in the template's order.
    :param name: the name of the resource.
    :param places: the places, at least one.
    :returns: ``None`` if the resource is in no group.
    """
    resources = {sibling.name: sibling for sibling in siblings}
    resource = resources.get(name)
    if resource is None or resource.group is None:
        return None
    group = resource.group
    rank = resource.index
    # If a ResourceGroup has given the resource an index, the index is the
    # rank: the index stays the same if other members are removed.
    if rank is None:
        members = [s.name for s in resources.values() if s.group == group]
        rank = members.index(name)
    text = json.dumps([root_stack_id, resource.path[-1].stack, group])
    begin = int(hashlib.sha256(text.encode()).hexdigest(), 16)
    place = places[(begin + rank) % len(places)]
    return Member(group=group, rank=rank, place=place)

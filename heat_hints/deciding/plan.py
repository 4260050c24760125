# SPDX-License-Identifier: Apache-2.0

"""Plan where the members of a named group go.

The plan depends only on the template and the name of one stack, the id of the
root stack, and the list of places. So each engine makes the same plan.
"""

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Sequence

from heat_hints.deciding.resource import Sibling


@dataclasses.dataclass(frozen=True)
class Member:
    """A member of a group, with its number from 0, and its place."""

    group: str
    rank: int
    place: str


def find_member(
    siblings: Iterable[Sibling],
    name: str,
    root_stack_id: str,
    places: Sequence[str],
) -> Member | None:
    """Return a resource as a member; ``None`` if it is in no group.

    Members take the places in turn, in the order of their ranks. A hash that
    includes the group's name decides where a group begins. Otherwise, all
    groups with one member would use the first place.

    :param siblings: the resources of the stack, in the template's order.
    :param name: the name of the resource.
    :param places: the places, at least one.
    """
    resources = {sibling.name: sibling for sibling in siblings}
    resource = resources.get(name)
    if resource is None or resource.group is None:
        return None
    group = resource.group
    rank = resource.index
    # The index in a ResourceGroup stays the same if other members are removed.
    if rank is None:
        members = [s.name for s in resources.values() if s.group == group]
        rank = members.index(name)
    text = json.dumps([root_stack_id, resource.path[-1].stack, group])
    begin = int(hashlib.sha256(text.encode()).hexdigest(), 16)
    place = places[(begin + rank) % len(places)]
    return Member(group=group, rank=rank, place=place)

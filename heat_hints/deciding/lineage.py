# SPDX-License-Identifier: Apache-2.0

"""Find the stacks above a stack, up to the root stack.

Once a stack is stored, its parent, its name and the resource that made the
stack never change. So a lineage that was found once is right for ever.
"""

import dataclasses
from collections.abc import Callable

#: How many stacks each worker remembers; one takes less than 1 KiB.
REMEMBERED = 4096


@dataclasses.dataclass(frozen=True)
class StackRow:
    """What the database says about one stack.

    :param id: the stack's id.
    :param name: the stack's name.
    :param owner_id: the id of the stack above, ``None`` for a root stack.
    :param parent_resource: the name of the resource, in the stack above,
        that made this stack; ``None`` for a root stack.
    """

    id: str
    name: str
    owner_id: str | None
    parent_resource: str | None


#: Reads one stack by its id; returns ``None`` if there is no such stack.
Load = Callable[[str], StackRow | None]


#: The stacks from the root stack down to a stack.
Lineage = tuple[StackRow, ...]


class LineageCache:
    """Find lineages, and remember them.

    :param size: how many stacks to remember; the next one clears the memory.
    """

    def __init__(self, size: int = REMEMBERED) -> None:
        self._size = size
        self._known: dict[str, Lineage] = {}

    def find(
        self, stack: StackRow, load: Load, below: Lineage = ()
    ) -> Lineage:
        """Return the stacks from the root stack down to a stack.

        :param stack: the stack itself, known without a query.
        :param load: called once for each stack above that is not remembered.
        :param below: the stacks below, for which this one is looked up.
        :raises LookupError: if a stack above is gone, or the stacks form a
            ring.
        """
        known = self._known.get(stack.id)
        if known:
            return known
        above: Lineage = ()
        if stack.owner_id is not None:
            below = (stack, *below)
            above = self._known.get(stack.owner_id) or self.find(
                _load_owner(stack.owner_id, load, below), load, below
            )
        if len(self._known) >= self._size:
            self._known.clear()
        self._known[stack.id] = lineage = (*above, stack)
        return lineage


def _load_owner(owner_id: str, load: Load, below: Lineage) -> StackRow:
    """Return the stack above; it must be there, and above all others."""
    stack_id = below[0].id
    if any(owner_id == stack.id for stack in below):
        raise LookupError(
            f'stack "{stack_id}" is nested in itself through "{owner_id}"'
        )
    owner = load(owner_id)
    if owner is None:
        raise LookupError(
            f'stack "{owner_id}", which holds stack "{stack_id}", is gone'
        )
    return owner

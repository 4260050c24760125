# SPDX-License-Identifier: Apache-2.0

"""Find the stacks above a stack, up to the root stack.

Once a stack is stored, its parent, its name and the resource that made the
stack never change. So a lineage that was found once is right for ever.
"""

import collections
import dataclasses
import threading
from collections.abc import Callable

#: How many stacks each worker remembers; one takes about 1 KiB.
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
    """Find lineages, and remember those that were used last.

    :param size: how many stacks to remember.
    """

    def __init__(self, size: int = REMEMBERED) -> None:
        self._size = size
        self._known = collections.OrderedDict[str, Lineage]()
        self._lock = threading.Lock()

    def find(self, stack: StackRow, load: Load) -> Lineage:
        """Return the stacks from the root stack down to a stack.

        :param stack: the stack itself, known without a query.
        :param load: called once for each stack above that is not
            remembered, outside the lock.
        :raises LookupError: if a stack above is gone, or the stacks form a
            ring.
        """
        return self._recall(stack.id) or self._trace(stack, load, ())

    def _trace(self, stack: StackRow, load: Load, below: Lineage) -> Lineage:
        """Return a lineage that is not remembered, and remember it."""
        above: Lineage = ()
        if stack.owner_id is not None:
            above = self._recall(stack.owner_id)
            if not above:
                below = (*below, stack)
                owner = _load_owner(stack.owner_id, load, below)
                above = self._trace(owner, load, below)
        lineage = (*above, stack)
        with self._lock:
            self._known[stack.id] = lineage
            self._known.move_to_end(stack.id)
            while len(self._known) > self._size:
                self._known.popitem(last=False)
        return lineage

    def _recall(self, stack_id: str) -> Lineage:
        """Return a lineage that is remembered; empty if none is."""
        with self._lock:
            if stack_id in self._known:
                self._known.move_to_end(stack_id)
            return self._known.get(stack_id, ())


def _load_owner(owner_id: str, load: Load, below: Lineage) -> StackRow:
    """Return the stack above; it must be there, and above all others."""
    stack_id = below[-1].id
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

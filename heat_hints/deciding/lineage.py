# SPDX-License-Identifier: Apache-2.0

"""Find the stacks above a stack, up to the root stack, and remember them.

Once a stack is stored, its parent, name and parent resource never change.
"""

import dataclasses
import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Found = TypeVar('Found')


@dataclasses.dataclass(frozen=True)
class StackRow:
    """What the database says about one stack.

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


class Memory:
    """Remember what never changes; several threads may ask.

    :param size: how many answers are remembered; the oldest goes first.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._known: dict[Hashable, Any] = {}
        self._lock = threading.Lock()

    def get_or(self, key: Hashable, find: Callable[[], Found]) -> Found:
        """Return what is remembered, or find it, which is never ``None``."""
        with self._lock:
            found: Found | None = self._known.pop(key, None)
            if found is not None:
                self._known[key] = found
                return found
        # Two threads at once may both look, and find the same.
        found = find()
        with self._lock:
            self._known[key] = found
            if len(self._known) > self._size:
                del self._known[next(iter(self._known))]
        return found


def find(
    stack_id: str, load: Load, known: Memory, below: tuple[str, ...] = ()
) -> Lineage:
    """Return the stacks from the root stack down to a stack.

    :param stack_id: the stack's id.
    :param load: called once for each stack that is not remembered.
    :param below: the ids of the stacks below, for which this one is found.
    :raises LookupError: if a stack above is gone, or the stacks form a ring.
    """

    def look() -> Lineage:
        if stack_id in below:
            raise LookupError(
                f'stack "{below[0]}" is nested in itself through "{stack_id}"'
            )
        row = load(stack_id)
        if row is None:
            held = f', which holds stack "{below[0]}",' if below else ''
            raise LookupError(f'stack "{stack_id}"{held} is gone')
        if row.owner_id is None:
            return (row,)
        above = find(row.owner_id, load, known, (stack_id, *below))
        return (*above, row)

    return known.get_or(stack_id, look)

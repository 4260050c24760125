# SPDX-License-Identifier: Apache-2.0

"""Find the stacks above a stack, up to the root stack.

Once a stack is stored, its parent, name and parent resource never change.
"""

import dataclasses
from collections.abc import Callable


@dataclasses.dataclass(frozen=True)
class StackRow:
    """The columns of a stack's row that this module needs.

    :param owner_id: the id of the stack above, ``None`` for a root stack.
    :param parent_resource: the name of the resource, in the stack above,
        that created this stack; ``None`` for a root stack.
    """

    id: str
    name: str
    owner_id: str | None
    parent_resource: str | None


#: The stacks from the root stack down to a stack.
Lineage = tuple[StackRow, ...]


def find(stack: StackRow, load: Callable[[str], StackRow]) -> Lineage:
    """Return the stacks from the root stack down to a stack.

    :param load: a function that reads a stack by its id, and raises a
        LookupError if the stack is gone.
    :raises LookupError: if a stack above is gone, or if a stack is nested in
        itself.
    """
    rows = [stack]
    owner_id = stack.owner_id
    while owner_id is not None:
        if any(row.id == owner_id for row in rows):
            raise LookupError(f'stack "{owner_id}" is nested in itself')
        rows.insert(0, load(owner_id))
        owner_id = rows[0].owner_id
    return tuple(rows)

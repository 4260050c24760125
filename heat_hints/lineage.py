# SPDX-License-Identifier: Apache-2.0

"""Find a stack's root and path, with one row per level and then none.

A stack never changes its parent, its name or the resource that made it once
it is stored, so what was found once holds for ever. Only the caller knows
how to read a row; nothing here knows Heat.
"""

import collections
import dataclasses
import threading
from collections.abc import Callable, Iterable

from heat_hints import hints
from os_placement_plugins.stack_hints import PathStep

#: How many stacks each worker remembers; one takes about 1 KiB.
REMEMBERED = 4096


class LineageError(LookupError):
    """A stack's way to its root stack cannot be found."""


@dataclasses.dataclass(frozen=True)
class StackRow:
    """What one stack says about itself.

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


class LineageCache:
    """Remember the lineage of the stacks that were used last.

    :param size: how many stacks to remember; 0 remembers none.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._known: collections.OrderedDict[str, hints.Lineage] = (
            collections.OrderedDict()
        )
        self._lock = threading.Lock()

    def find(
        self, stack: StackRow, load: Callable[[str], StackRow | None]
    ) -> hints.Lineage:
        """Return a stack's lineage.

        :param stack: the stack itself, known without a query.
        :param load: reads one stack by its id, ``None`` when it is gone.
            It is called once per level above that is not remembered, and
            outside the lock.
        :raises LineageError: when a stack above is gone, or the stacks form
            a ring.
        """
        below: list[StackRow] = []
        row = stack
        lineage = self._get(row.id)
        while lineage is None:
            below.append(row)
            if row.owner_id is None:
                break
            lineage = self._get(row.owner_id)
            if lineage is None:
                row = self._load_above(row, below, load)
        return self._put(lineage, reversed(below))

    @staticmethod
    def _load_above(
        row: StackRow,
        below: list[StackRow],
        load: Callable[[str], StackRow | None],
    ) -> StackRow:
        owner_id = row.owner_id or ''
        if any(owner_id == other.id for other in below):
            raise LineageError(
                f'stack "{row.id}" is nested in itself through "{owner_id}"'
            )
        above = load(owner_id)
        if above is None:
            raise LineageError(
                f'stack "{owner_id}", which holds stack "{row.id}", is gone'
            )
        return above

    def _get(self, stack_id: str) -> hints.Lineage | None:
        with self._lock:
            lineage = self._known.get(stack_id)
            if lineage is not None:
                self._known.move_to_end(stack_id)
            return lineage

    def _put(
        self,
        lineage: hints.Lineage | None,
        downwards: Iterable[StackRow],
    ) -> hints.Lineage:
        for row in downwards:
            if lineage is None:
                step = PathStep(None, row.name)
                lineage = hints.Lineage(row.id, (step,))
            else:
                step = PathStep(row.parent_resource, row.name)
                lineage = hints.Lineage(
                    lineage.root_stack_id, (*lineage.path, step)
                )
            with self._lock:
                self._known[row.id] = lineage
                self._known.move_to_end(row.id)
                while len(self._known) > self._size:
                    self._known.popitem(last=False)
        if lineage is None:
            raise LineageError('no stack was asked for')
        return lineage

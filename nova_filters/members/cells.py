# SPDX-License-Identifier: Apache-2.0

"""Read the databases of several cells at once."""

from collections.abc import Callable, Collection
from typing import Any

from nova import context as nova_context

from os_placement_plugins.errors import named_line


def read_cells(
    context: Any,
    mappings: Collection[Any],
    read: Callable[[Any], Any],
    unread: list[str],
) -> dict[str, Any]:
    """Return what is read from each cell that answers, by the id of the cell.

    :param mappings: Nova's CellMappings.
    :param read: takes a context of the cell.
    :param unread: cells are added that do not answer, and why.
    """
    answers: dict[str, Any] = nova_context.scatter_gather_cells(
        context, mappings, nova_context.CELL_TIMEOUT, read
    )
    for cell in [*answers]:
        problem = ''
        if isinstance(answers[cell], Exception):
            problem = named_line(answers[cell])
        elif nova_context.is_cell_failure_sentinel(answers[cell]):
            problem = 'no answer'
        if problem:
            del answers[cell]
            unread.append(f'cell {cell} ({problem})')
    return answers

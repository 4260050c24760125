# SPDX-License-Identifier: Apache-2.0

"""Read how full the hosts were when a request came."""

import datetime
import functools
from collections.abc import Collection, Mapping
from typing import Final

from nova import context as nova_context
from nova import objects

from nova_filters.members import rows
from nova_filters.members.cells import read_cells
from nova_filters.spread import ranking, teams
from os_placement_plugins import logger
from os_placement_plugins.errors import named_line
from os_placement_plugins.text import listed

LOG = logger.get_logger(__name__)

#: nova-compute writes into the database this much later at most, and the clock
#: of a nova-api is ahead of the others by this much at most.
_LATE: Final = datetime.timedelta(seconds=10)


class Loads:
    """The loads of hosts at the beginning of each minute.

    A scheduler process finds the same whenever it reads them, but for what
    :func:`rows.loads` cannot know. So all processes agree, even if servers
    start and end meanwhile.
    """

    def __init__(self) -> None:
        #: By the minute, and by the id of the cell.
        self._kept: dict[
            datetime.datetime, dict[str, Mapping[str, float]]
        ] = {}

    def of_cells(self, cells: Collection[str]) -> ranking.Loads:
        """Return a function that finds the loads of all hosts in some cells.

        :param cells: the ids of the cells.
        """
        read = functools.cache(functools.partial(self._read, cells))
        is_silent = False

        def loads(time: datetime.datetime) -> Mapping[str, float]:
            nonlocal is_silent
            # Nova waits for a cell for up to a minute. Once is enough.
            if is_silent:
                return {}
            found = read(time.replace(second=0, microsecond=0))
            is_silent = not found
            return found

        return loads

    def _read(
        self, cells: Collection[str], minute: datetime.datetime
    ) -> Mapping[str, float]:
        """Return the loads; none if a cell does not answer."""
        kept = self._kept.setdefault(minute, {})
        missing = {*cells} - kept.keys()
        if missing:
            kept |= _read_cells(missing, minute)
            # Members that are pending for longer have failed.
            oldest = minute - 2 * teams.PENDING
            for old in [*self._kept]:
                if old < oldest:
                    self._kept.pop(old, None)
        loads: dict[str, float] = {}
        for cell in cells:
            if cell not in kept:
                return {}
            loads |= kept[cell]
        return loads


def _read_cells(
    cells: Collection[str], minute: datetime.datetime
) -> dict[str, Mapping[str, float]]:
    """Return the loads in each cell that answers, by the id of the cell."""
    read = functools.partial(rows.loads, time=minute - _LATE)
    context = nova_context.get_admin_context()
    unread: list[str] = []
    loads = {}
    try:
        mappings = [
            mapping
            for mapping in objects.CellMappingList.get_all(context)
            if mapping.uuid in cells
        ]
        loads = read_cells(context, mappings, read, unread)
        for cell in {*cells} - {mapping.uuid for mapping in mappings}:
            unread.append(f'cell {cell} (no mapping)')
    except Exception as exc:
        unread.append(named_line(exc))
    if unread:
        LOG.warning(
            'Hosts with equally many members are not ordered by their loads, '
            'because these could not be read. Check the databases of Nova: '
            '%(unread)s',
            {'unread': listed(unread)},
        )
    return loads

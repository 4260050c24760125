# SPDX-License-Identifier: Apache-2.0

"""Read the stacks of instances from Nova's API database.

nova-api stores a row of ``request_specs`` before it asks for a host. So the
newest rows name servers that are about to be scheduled, by whichever
scheduler.
"""

from collections.abc import Collection
from typing import Any, Final

import sqlalchemy as sa
from nova.db.api import api as api_db
from nova.db.api import models

from nova_filters.weighers.stack_members import Stack
from os_placement_plugins import signature, stack_hints

#: How many rows one query asks for. SQLite takes 32,766 parameters; MySQL
#: reads the whole table from about 36,000 values on.
READ_AT_ONCE: Final = 10_000
#: Rows do not appear in the order of their ids, because transactions overlap
#: and a Galera cluster interleaves ids. So many ids below the highest one
#: are looked at each time.
WINDOW: Final = 1_000

_TABLE: Final = models.RequestSpec


class NewRows:
    """Read rows that are new; each one is new once in this process."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def read(self, context: Any, keys: signature.Keys) -> dict[str, Stack]:
        """Return the stacks of the instances in new rows.

        :param context: Nova's context.
        :param keys: as for :func:`of_instances`.
        :returns: those in a window of the newest rows at first. If a query
            fails, the rows are still new.
        """
        low = max(self._seen, default=WINDOW) - WINDOW
        count = READ_AT_ONCE if self._seen else WINDOW
        found = _newest(context, low, count)
        new = [row for row in found if row not in self._seen]
        stacks = _read(context, _TABLE.id, new, keys) if new else {}
        # What is below the window is not asked for again.
        low = max(found, default=0) - WINDOW
        self._seen = {row for row in found if row > low}
        return stacks


@api_db.context_manager.reader  # type: ignore[untyped-decorator]
def _newest(context: Any, low: int, count: int) -> list[int]:
    """Return the highest ids above another one."""
    query = (
        sa.select(_TABLE.id)
        .where(_TABLE.id > low)
        .order_by(_TABLE.id.desc())
        .limit(count)
    )
    return list(context.session.scalars(query))


@api_db.context_manager.reader  # type: ignore[untyped-decorator]
def _read(
    context: Any, column: Any, values: Collection[Any], keys: signature.Keys
) -> dict[str, Stack]:
    """Return the stacks of instances whose rows have these values."""
    query = sa.select(_TABLE.instance_uuid, _TABLE.spec).where(
        column.in_(values),
        # Leave the rows of servers that Heat did not create in the database.
        _TABLE.spec.contains(stack_hints.ROOT_STACK_ID, autoescape=True),
    )
    # A row holds some KiB, and a new scheduler asks for many rows.
    rows = context.session.execute(query.execution_options(yield_per=500))
    read = {uuid: stack_hints.read_stored(spec, keys) for uuid, spec in rows}
    return {
        uuid: (hints.root_stack_id, hints.project_id)
        for uuid, hints in read.items()
        if hints.root_stack_id is not None
    }


def of_instances(
    context: Any, uuids: Collection[str], keys: signature.Keys
) -> dict[str, Stack]:
    """Return the stacks of instances; those without a stack are missing.

    :param context: Nova's context.
    :param uuids: the instances.
    :param keys: the keys of Heat; without keys every hint is believed.
    """
    found: dict[str, Stack] = _read(context, _TABLE.instance_uuid, uuids, keys)
    return found


@api_db.context_manager.reader  # type: ignore[untyped-decorator]
def in_a_cell(context: Any, uuids: Collection[str]) -> set[str]:
    """Return those instances that the conductor has put into a cell.

    That happens when their allocation is there, or when there is none.
    """
    table = models.InstanceMapping
    query = sa.select(table.instance_uuid).where(
        table.instance_uuid.in_(uuids), table.cell_id.is_not(None)
    )
    return set(context.session.scalars(query))

# SPDX-License-Identifier: Apache-2.0

"""Look up the stacks above a resource in Heat's database, and cache them."""

import functools
from typing import Any

from heat.db import api as db_api
from heat.db import models
from oslo_db.sqlalchemy import enginefacade

from heat_hints.deciding import lineage

#: How many stacks, up to 1 KiB each, the cache of a worker holds.
STACKS = 4096

# These lines run when heat-engine starts. So if this version of Heat has other
# names, heat-engine reports the error at its start.
_READER = db_api.context_manager.reader
_ROW = ('id', 'name', 'owner_id', 'parent_resource_name')
_COLUMNS = [getattr(models.Stack, name) for name in _ROW]


@enginefacade.transaction_context_provider
class _Reading:
    """The object that a database connection belongs to."""


class LineageLookup:
    """Find the stacks above resources, and cache the stacks."""

    def __init__(self) -> None:
        # For a stored stack, the columns in _ROW never change.
        self._load_row = functools.lru_cache(STACKS)(_load_row)

    def find_lineage(self, resource: Any) -> lineage.Lineage:
        """Return the stacks from the root stack to the resource's own."""
        row = (getattr(resource.stack, name) for name in _ROW)
        return lineage.find(lineage.StackRow(*row), self._load_row)


def _load_row(stack_id: str) -> lineage.StackRow:
    """Read the columns in ``_ROW`` of one stack.

    :raises LookupError: if the stack is gone.
    """
    with _READER.using(_Reading()) as session:
        row = session.query(*_COLUMNS).filter_by(id=stack_id).one_or_none()
    if row is None:
        raise LookupError(f'stack "{stack_id}" is gone')
    return lineage.StackRow(*row)

# SPDX-License-Identifier: Apache-2.0

"""Offer to providers what Heat knows about a resource and its stack.

A provider works in a thread of its own, in which Heat's context must not be
used. What is offered as a value is read before the provider is asked. What a
provider calls uses objects in memory, which nobody changes meanwhile, and
connections to the database that belong to the provider's thread.
"""

import copy
import dataclasses
import functools
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from heat.db import api as db_api
from heat.db import models
from oslo_db.sqlalchemy import enginefacade

from heat_hints import describing
from heat_hints.deciding import lineage
from heat_hints.deciding.resource import (
    CREATE,
    REPLACEMENT,
    Request,
    Sibling,
)
from heat_hints.providers import ProviderError

Found = TypeVar('Found')

#: How many templates of servers' own stacks each worker remembers, and how
#: many of stacks above; a resource takes about 0.5 KiB.
TEMPLATES = 64

_READER = db_api.context_manager.reader

#: The names of properties: those of Heat's own types, and those of Amazon's.
_FLAVOR = ('flavor', 'InstanceType')
_IMAGE = ('image', 'ImageId')
_ZONE = ('availability_zone', 'AvailabilityZone')


@enginefacade.transaction_context_provider
class _Reading:
    """What a connection to the database belongs to."""


class Memory(dict[Hashable, Any]):
    """Remember what was looked up; one more than ``size`` clears it.

    :param size: how many answers to remember.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size

    def get_or(self, key: Hashable, find: Callable[[], Found]) -> Found:
        """Return what is remembered, or find it; several threads may ask."""
        # Two threads at once may both look, and find the same.
        found: Found | None = self.get(key)
        if found is None:
            found = find()
            if len(self) >= self._size:
                self.clear()
            self[key] = found
        return found


class Offers:
    """Offer what providers may ask about a resource and its stack."""

    def __init__(self) -> None:
        self._tags = Memory(lineage.REMEMBERED)
        self._numbers = Memory(lineage.REMEMBERED)
        # A group of many nested stacks does not drive out the stack above.
        self._own = Memory(TEMPLATES)
        self._above = Memory(TEMPLATES)

    def add(
        self, request: Request, resource: Any, rows: lineage.Lineage
    ) -> Request:
        """Return a request with what Heat knows besides.

        :param request: what is known so far.
        :param resource: Heat's resource, about to send its request.
        :param rows: the stacks from the root stack down to the resource's
            own; none if they could not be looked up.
        """
        # As they are stored, with all functions of the template resolved.
        given = resource._stored_properties_data or {}
        return dataclasses.replace(
            request,
            action=_action(resource),
            flavor=_first(given, _FLAVOR),
            image=_first(given, _IMAGE),
            availability_zone=_first(given, _ZONE),
            parameters=functools.partial(
                _parameters, resource.stack.parameters
            ),
            tags=functools.partial(self._find_tags, resource.stack, rows),
            siblings=functools.partial(self._find, resource.stack, rows),
        )

    def _find_tags(self, stack: Any, rows: lineage.Lineage) -> tuple[str, ...]:
        """Return the tags of the root stack."""
        check(stack, rows)
        return self._tags.get_or(
            (stack.id, stack.current_traversal),
            functools.partial(_load_tags, rows[0].id),
        )

    def _find(
        self, stack: Any, rows: lineage.Lineage, above: int = 0
    ) -> tuple[Sibling, ...]:
        """Return the resources of a stack, or of one above.

        :param above: how many steps above.
        """
        check(stack, rows)
        if not 0 <= above < len(rows):
            raise ProviderError(f'there is no stack {above} steps above')
        # A template that is stored never changes: the stack gets another.
        if not above:
            return self._own.get_or(
                (stack.id, stack.t.id),
                functools.partial(describing.describe, stack.defn, rows),
            )
        numbers = self._numbers.get_or(
            (stack.id, stack.current_traversal),
            functools.partial(_load_numbers, rows[:-1]),
        )
        rows = rows[:-above]
        number = numbers[rows[-1].id]
        return self._above.get_or(
            (rows[-1].id, number),
            functools.partial(
                describing.load, _Reading(), number, stack.tenant_id, rows
            ),
        )


def check(stack: Any, rows: lineage.Lineage) -> None:
    """Raise an error if a stack is one of which more cannot be told.

    :param stack: Heat's stack.
    :param rows: the stacks from the root stack down to this one.
    :raises ProviderError: with the reason.
    """
    if not stack.convergence:
        # Its template changes while it is updated, and nothing tells one
        # update from another.
        raise ProviderError(
            f'stack "{stack.id}" was created with convergence_engine = false, '
            'so its tags and siblings are not available'
        )
    if not rows:
        raise ProviderError(
            f'the stacks above stack "{stack.id}" could not be looked up'
        )


def _action(resource: Any) -> str | None:
    """Return why the resource is created."""
    stack = resource.stack
    if resource.replaces is not None:
        return REPLACEMENT
    if not stack.convergence and stack.action != stack.CREATE:
        return None
    return CREATE


def _first(given: Any, names: tuple[str, ...]) -> str | None:
    """Return the property that has one of the names."""
    for name in names:
        if given.get(name) is not None:
            return str(given[name])
    return None


def _parameters(parameters: Any) -> dict[str, object]:
    """Return the values of a template's own parameters."""
    values = {}
    for name in parameters.non_pseudo_param_keys:
        parameter = parameters.params[name]
        if parameter.hidden():
            continue
        try:
            # A provider that changes a value changes nothing of Heat's.
            values[name] = copy.deepcopy(parameter.value())
        except Exception:  # noqa: S112
            # It has no value, or none of its type.
            continue
    return values


def _load_tags(stack_id: str) -> tuple[str, ...]:
    """Read the tags of a stack: one column, by the stack's id."""
    with _READER.using(_Reading()) as session:
        rows = session.query(models.StackTag.tag).filter_by(stack_id=stack_id)
        return tuple(tag for (tag,) in rows.order_by(models.StackTag.id))


def _load_numbers(rows: lineage.Lineage) -> dict[str, int]:
    """Read which templates the stacks above have now: two columns.

    :returns: numbers of templates, by the stack's id.
    """
    ids = [row.id for row in rows]
    with _READER.using(_Reading()) as session:
        found = session.query(models.Stack.id, models.Stack.raw_template_id)
        return dict(
            tuple(row) for row in found.filter(models.Stack.id.in_(ids))
        )

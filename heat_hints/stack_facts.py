# SPDX-License-Identifier: Apache-2.0

"""Facts from Heat about a resource and its stacks.

Each call of a provider runs in its own thread. This thread must not use Heat's
request context for the database. So the functions that a provider calls use
only objects that do not change, and open their own database connections.

These functions read the text of a template and its parameters, but no
attributes of other resources. So each heat-engine gets the same result at any
time.
"""

import copy
import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

from heat.common import identifier
from heat.db import api as db_api
from heat.db import models
from heat.engine import function, stk_defn, template
from oslo_db.sqlalchemy import enginefacade

from heat_hints.deciding import lineage
from heat_hints.deciding.resource import (
    CREATE,
    REPLACEMENT,
    Request,
    Sibling,
)
from heat_hints.providers import ProviderError
from os_placement_plugins.stack_hints import PathStep

#: How many stacks (up to 1 KiB each) and how many templates (about 0.5 KiB for
#: each resource) the caches of a worker hold.
STACKS, TEMPLATES = 4096, 64

#: The metadata key with which a resource names its group.
GROUP = 'placement_group'
#: Names in Heat's own templates, and in templates for AWS CloudFormation.
_PROPERTIES = ('properties', 'Properties')
_METADATA = ('metadata', 'Metadata')
_FLAVOR = ('flavor', 'InstanceType')
_IMAGE = ('image', 'ImageId')
_ZONE = ('availability_zone', 'AvailabilityZone')
_PARAMETER = ('get_param', 'Ref')
#: The class that gives its members numbers as names. Classes are compared by
#: this name, because an import would create a second class object beside the
#: class that Heat's plug-in manager has loaded.
_RESOURCE_GROUP = (
    'heat.engine.resources.openstack.heat.resource_group.ResourceGroup'
)

# These lines run when heat-engine starts. So if this version of Heat has other
# names, heat-engine reports the error at its start.
_READER = db_api.context_manager.reader
_ROW = ('id', 'name', 'owner_id', 'parent_resource_name')
_COLUMNS = [getattr(models.Stack, name) for name in _ROW]


@enginefacade.transaction_context_provider
class _Reading:
    """The object that a database connection belongs to."""


@dataclasses.dataclass
class _Resources:
    """The cached resources of a stack with one of its templates.

    :param siblings: the resources; None if they have not been read yet.
    """

    stack_id: str
    template_id: int
    siblings: tuple[Sibling, ...] | None = None


class StackFacts:
    """Find facts about resources, and cache them."""

    def __init__(self) -> None:
        # For a stored stack, the columns in _ROW never change. The template
        # ids of one update do not change, either.
        remember = functools.lru_cache(STACKS)
        self._load = remember(_load)
        self._load_template_ids = remember(_load_template_ids)
        self._resources = functools.lru_cache(TEMPLATES)(_Resources)

    def find_lineage(self, resource: Any) -> lineage.Lineage:
        """Return the stacks from the root stack to the resource's own."""
        row = (getattr(resource.stack, name) for name in _ROW)
        return lineage.find(lineage.StackRow(*row), self._load)

    def add(
        self, request: Request, resource: Any, rows: lineage.Lineage
    ) -> Request:
        """Return a request with the facts that only providers need.

        :param request: the request without these facts.
        :param rows: the stacks from the root stack down to the resource's own;
            empty if they could not be looked up.
        """
        stack = resource.stack
        return dataclasses.replace(
            request,
            action=_action(resource),
            flavor=_property(resource, _FLAVOR),
            image=_property(resource, _IMAGE),
            availability_zone=_property(resource, _ZONE),
            parameters=functools.partial(_parameters, stack.parameters),
            siblings=functools.partial(self._find_siblings, stack, rows),
        )

    def _find_siblings(
        self, stack: Any, rows: lineage.Lineage, above: int = 0
    ) -> tuple[Sibling, ...]:
        """Return the resources of a stack, or of a stack above.

        :param rows: the stacks from the root stack down to ``stack``.
        :param above: how many steps above ``stack``; 0 for ``stack`` itself.
        """
        _check(stack, rows)
        if not 0 <= above < len(rows):
            raise ProviderError(f'there is no stack {above} steps above')
        holders = rows[: len(rows) - above]
        holder = holders[-1]
        # The id of a template can be a key of the cache: a stored template
        # never changes, because an update stores a new template.
        template_id = stack.t.id
        if above:
            ids = self._load_template_ids(rows, stack.current_traversal)
            template_id = ids[holder.id]
        resources = self._resources(holder.id, template_id)
        if resources.siblings is None:
            definition = stack.defn
            if above:
                definition = _definition(template_id, stack.tenant_id, holder)
            siblings = _describe(definition, holders)
            names = [sibling.name for sibling in siblings]
            # A name is an index only if a ResourceGroup made the stack. Other
            # templates may have numbers as names, too.
            if (
                len(holders) > 1
                and all(name.isascii() and name.isdigit() for name in names)
                and any(
                    maker.numbers_members
                    for maker in self._find_siblings(stack, rows, above + 1)
                    if maker.name == holder.parent_resource
                )
            ):
                siblings = tuple(
                    dataclasses.replace(sibling, index=int(sibling.name))
                    for sibling in siblings
                )
            resources.siblings = siblings
        return resources.siblings


def _check(stack: Any, rows: lineage.Lineage) -> None:
    """Raise a ProviderError if the resources of a stack cannot be read."""
    if not stack.convergence:
        # The legacy engine changes a stack's template during an update, and
        # gives updates no ids, so the result could not be cached.
        raise ProviderError(
            f'stack "{stack.id}" was created with convergence_engine = false, '
            'so its siblings are not available'
        )
    if not rows:
        raise ProviderError(
            f'the stacks above stack "{stack.id}" could not be looked up'
        )


def _property(resource: Any, names: tuple[str, ...]) -> str | None:
    """Return a resource's property, with the template's functions resolved.

    ``resource.properties[name]`` is not used, because Heat would then ask Nova
    or Glance for an id.
    """
    value = function.resolve(_first(resource.properties.data, names))
    return None if value is None else str(value)


def _describe(definition: Any, rows: lineage.Lineage) -> tuple[Sibling, ...]:
    """Return the resources of a stack, in the order of its template."""
    written = definition.t.t.get(definition.t.RESOURCES) or {}
    enabled = definition.enabled_rsrc_names()
    path = tuple(PathStep(row.parent_resource, row.name) for row in rows)
    siblings = []
    for name in written:
        if name not in enabled:
            continue
        resource = definition.resource_definition(name)
        cls = definition.env.get_class_to_instantiate(
            resource.resource_type, name
        )
        base_names = [_name(base) for base in cls.__mro__]
        properties = _first(written[name], _PROPERTIES)
        metadata = _first(written[name], _METADATA)
        siblings.append(
            Sibling(
                name=name,
                resource_type=resource.resource_type,
                path=path,
                index=None,
                flavor=_text(definition, _first(properties, _FLAVOR)),
                group=_text(definition, _first(metadata, (GROUP,))),
                requires=frozenset(resource.required_resource_names()),
                numbers_members=_RESOURCE_GROUP in base_names,
            )
        )
    return tuple(siblings)


def _name(cls: type[Any]) -> str:
    """Return the name by which a class can be imported."""
    return f'{cls.__module__}.{cls.__qualname__}'


def _first(written: Any, names: tuple[str, ...]) -> Any:
    """Return the value of the first of some names that a mapping has.

    :returns: None if the mapping has none of the names.
    """
    if not isinstance(written, Mapping):
        return None
    for name in names:
        if name in written:
            return written[name]
    return None


def _text(definition: Any, written: Any) -> str | None:
    """Return a plain text, or a parameter's value; None for all else."""
    if isinstance(written, Mapping) and len(written) == 1:
        name = _first(written, _PARAMETER)
        written = _value(definition.parameters, name)
    if isinstance(written, bool) or not isinstance(written, str | int):
        return None
    return str(written) or None


def _value(parameters: Any, name: Any) -> Any:
    """Return a parameter's value; None if the value is hidden or missing."""
    try:
        parameter = parameters.params[name]
        return None if parameter.hidden() else parameter.value()
    except Exception:
        # The parameter does not exist, or its value is missing or invalid.
        return None


def _parameters(parameters: Any) -> dict[str, object]:
    """Return the values of a template's parameters, except hidden values."""
    values = {}
    for name in parameters.non_pseudo_param_keys:
        value = _value(parameters, name)
        if value is not None:
            values[name] = value
    # A copy, so that a provider cannot change Heat's own values.
    return copy.deepcopy(values)


def _action(resource: Any) -> str | None:
    """Return why a resource is created; None if the reason is not known."""
    stack = resource.stack
    if resource.replaces is not None:
        return REPLACEMENT
    if not stack.convergence and stack.action != stack.CREATE:
        return None
    return CREATE


def _definition(
    template_id: int, project_id: str, row: lineage.StackRow
) -> Any:
    """Return Heat's definition of a stack with one of its templates."""
    context = _Reading()
    stack_template = template.Template.load(context, template_id)
    name = identifier.HeatIdentifier(project_id, row.name, row.id)
    return stk_defn.StackDefinition(context, stack_template, name, None)


def _load(stack_id: str) -> lineage.StackRow:
    """Read the columns in ``_ROW`` of one stack.

    :raises LookupError: if the stack is gone.
    """
    with _READER.using(_Reading()) as session:
        row = session.query(*_COLUMNS).filter_by(id=stack_id).one_or_none()
    if row is None:
        raise LookupError(f'stack "{stack_id}" is gone')
    return lineage.StackRow(*row)


def _load_template_ids(
    rows: lineage.Lineage, _traversal: str
) -> dict[str, int]:
    """Read the template ids of the stacks above the last stack.

    :param rows: the stacks from the root stack down to the last stack.
    :param _traversal: the id of the update of the last stack. The id is a part
        of the cache's key, so the template ids are read again in each update.
    """
    stack = models.Stack
    with _READER.using(_Reading()) as session:
        query = session.query(stack.id, stack.raw_template_id)
        query = query.filter(stack.id.in_([row.id for row in rows[:-1]]))
        return {stack_id: template_id for stack_id, template_id in query}

# SPDX-License-Identifier: Apache-2.0

"""Describe the resources of a stack from its template.

Only the template and the parameters are looked at, and not what other
resources tell. So each engine finds the same at any time.
"""

from collections.abc import Mapping
from typing import Any

from heat.common import identifier
from heat.engine import stk_defn, template

from heat_hints.deciding.lineage import Lineage
from heat_hints.deciding.resource import Sibling
from os_placement_plugins.stack_hints import PathStep

#: What resources name their group by, in their metadata.
GROUP = 'placement_group'
#: Heat's own format writes small letters, and Amazon's capitals.
_PROPERTIES = ('properties', 'Properties')
_METADATA = ('metadata', 'Metadata')
_FLAVOR = ('flavor', 'InstanceType')
_PARAMETER = ('get_param', 'Ref')


def load(
    context: Any, number: int, project_id: str, rows: Lineage
) -> tuple[Sibling, ...]:
    """Return the resources of a stack, whose template is read.

    :param context: what the connection to the database belongs to.
    :param number: the template's number in the database.
    :param project_id: the project of the stack.
    :param rows: the stacks from the root stack down to this one.
    """
    found = template.Template.load(context, number)
    name = identifier.HeatIdentifier(project_id, rows[-1].name, rows[-1].id)
    return describe(stk_defn.StackDefinition(context, found, name, None), rows)


def describe(definition: Any, rows: Lineage) -> tuple[Sibling, ...]:
    """Return the resources of a stack, in the order of its template.

    :param definition: Heat's definition of the stack.
    :param rows: the stacks from the root stack down to this one.
    """
    written = definition.t.t.get(definition.t.RESOURCES) or {}
    enabled = definition.enabled_rsrc_names()
    names = [name for name in written if name in enabled]
    numbered = all(name.isascii() and name.isdigit() for name in names)
    path = tuple(PathStep(row.parent_resource, row.name) for row in rows)
    found = []
    for name in names:
        resource = definition.resource_definition(name)
        properties = _first(written[name], _PROPERTIES)
        metadata = _first(written[name], _METADATA)
        found.append(
            Sibling(
                name=name,
                resource_type=resource.resource_type,
                path=path,
                index=int(name) if numbered else None,
                flavor=_text(definition, _first(properties, _FLAVOR)),
                group=_text(definition, _first(metadata, (GROUP,))),
                requires=frozenset(resource.required_resource_names()),
            )
        )
    return tuple(found)


def _first(written: Any, names: tuple[str, ...]) -> Any:
    """Return what a part of a template says under one of the names."""
    if not isinstance(written, Mapping):
        return None
    return next((written[n] for n in names if n in written), None)


def _text(definition: Any, written: Any) -> str | None:
    """Return a text, or that of a parameter; None for all else."""
    if isinstance(written, Mapping) and len(written) == 1:
        name = _first(written, _PARAMETER)
        parameters = definition.parameters
        if not isinstance(name, str) or name not in parameters:
            return None
        try:
            hidden = parameters.params[name].hidden()
            written = None if hidden else parameters[name]
        except Exception:
            # It has no value, or none of its type.
            return None
    if isinstance(written, bool) or not isinstance(written, str | int):
        return None
    return str(written) or None

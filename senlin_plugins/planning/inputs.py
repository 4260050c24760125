# SPDX-License-Identifier: Apache-2.0

"""Read and check the inputs of an action.

Senlin's API checks the inputs of a request, but not those of a webhook. With a
wrong input, Senlin's engine fails with a Python error, or does something that
the user did not ask for.
"""

import math
from collections.abc import Mapping
from typing import Any, Final

from senlin_plugins.planning import values
from senlin_plugins.planning.values import WrongValue

ADJUSTMENT_TYPES: Final = (
    'EXACT_CAPACITY',
    'CHANGE_IN_CAPACITY',
    'CHANGE_IN_PERCENTAGE',
)
#: The ways to recover a node.
OPERATIONS: Final = ('REBOOT', 'REBUILD', 'RECREATE')


def read(action: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs of an action, with numbers instead of texts.

    The ``count`` of a scale-in or scale-out is not checked here, because it
    has no effect if another policy has decided the number of nodes.

    :param action: the name of the action, such as ``CLUSTER_RESIZE``.
    :param inputs: the inputs in the request.
    :raises WrongValue: if an input is invalid; the text has the field, the
        value and the accepted values.
    """
    stated = {key: inputs[key] for key in inputs if inputs[key] is not None}
    checked: dict[str, Any] = {}
    match action:
        case 'CLUSTER_RESIZE':
            checked = _read_resize(stated)
        case 'CLUSTER_DEL_NODES' if 'candidates' in stated:
            candidates = stated['candidates']
            checked = {
                'candidates': values.read_ids(candidates, "'candidates'")
            }
        case 'CLUSTER_RECOVER' | 'NODE_RECOVER' if 'operation' in stated:
            _check_operation(stated['operation'])
    return {**inputs, **checked}


def _read_resize(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Check the inputs of a resize, and return those that are numbers."""
    checked: dict[str, Any] = {}
    for field, least in (('min_size', 0), ('max_size', -1), ('min_step', 0)):
        if field in inputs:
            checked[field] = values.read_number(
                inputs[field], f"'{field}'", least
            )
    if 'strict' in inputs:
        values.read_flag(inputs['strict'], "'strict'")
    if 'adjustment_type' not in inputs:
        if 'number' in inputs:
            raise WrongValue("'number' needs an 'adjustment_type'.")
        return checked
    kind = values.read_choice(
        inputs['adjustment_type'], "'adjustment_type'", ADJUSTMENT_TYPES
    )
    if 'number' not in inputs:
        raise WrongValue("'adjustment_type' needs a 'number'.")
    checked['number'] = _read_adjustment(inputs['number'], kind)
    return checked


def _read_adjustment(value: object, kind: str) -> float:
    """Check the ``number`` of a resize, and return it."""
    # Senlin's API converts the number to a float, even a whole number.
    if isinstance(value, float) and math.isfinite(value):
        if kind == 'CHANGE_IN_PERCENTAGE':
            return value
        if value.is_integer():
            value = int(value)
    least = 0 if kind == 'EXACT_CAPACITY' else None
    return values.read_number(value, "'number'", least)


def _check_operation(operation: object) -> None:
    """Check the name of a way to recover nodes, in upper or lower case."""
    shown = operation.upper() if isinstance(operation, str) else operation
    values.read_choice(shown, "'operation'", OPERATIONS)

# SPDX-License-Identifier: Apache-2.0

"""Find out how many nodes an action adds or removes.

Senlin's API checks the inputs of a request, but not those of a webhook. With a
wrong input, Senlin's engine fails with a Python error, or does something that
the user did not ask for. So the inputs are checked here.

A decision of another policy in the action's data takes precedence over the
action's own inputs. If neither the decision nor the inputs have a number, the
number is one. The specifications of both policies say so: scenarios S1 to S4
of the region placement policy, and S2 to S5 of the deletion policy.

Only Senlin's own parser computes the change of a resize. It writes a decision
in the same format.
"""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, Final

from senlin_plugins.planning import values
from senlin_plugins.planning.values import WrongValue

SCALE_OUT: Final = 'CLUSTER_SCALE_OUT'
ADJUSTMENT_TYPES: Final = (
    'EXACT_CAPACITY',
    'CHANGE_IN_CAPACITY',
    'CHANGE_IN_PERCENTAGE',
)
#: The ways to recover a node.
OPERATIONS: Final = ('REBOOT', 'REBUILD', 'RECREATE')
#: The number of nodes if neither a policy nor the inputs name a number.
DEFAULT_COUNT = 1


@dataclasses.dataclass(frozen=True)
class Change:
    """How many nodes come or go.

    :param growing: whether nodes are added.
    :param count: how many; 0 if the action changes nothing.
    """

    growing: bool
    count: int


def parse_inputs(action: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
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
            checked = _parse_resize(stated)
        case 'CLUSTER_DEL_NODES' if 'candidates' in stated:
            candidates = stated['candidates']
            checked = {
                'candidates': values.parse_ids(candidates, "'candidates'")
            }
        case 'CLUSTER_RECOVER' | 'NODE_RECOVER' if 'operation' in stated:
            _check_operation(stated['operation'])
    return {**inputs, **checked}


def _parse_resize(inputs: Mapping[str, Any]) -> dict[str, Any]:
    checked: dict[str, Any] = {}
    for field, least in (('min_size', 0), ('max_size', -1), ('min_step', 0)):
        if field in inputs:
            checked[field] = values.parse_number(
                inputs[field], f"'{field}'", least
            )
    if not isinstance(inputs.get('strict', True), bool):
        raise WrongValue("'strict' must be a boolean.")
    if 'adjustment_type' not in inputs:
        if 'number' in inputs:
            raise WrongValue("'number' needs an 'adjustment_type'.")
        return checked
    kind = values.parse_choice(
        inputs['adjustment_type'], "'adjustment_type'", ADJUSTMENT_TYPES
    )
    if 'number' not in inputs:
        raise WrongValue("'adjustment_type' needs a 'number'.")
    checked['number'] = _parse_adjustment(inputs['number'], kind)
    return checked


def _parse_adjustment(value: object, kind: str) -> float:
    # Senlin's API converts the number to a float, even a whole number.
    if isinstance(value, float) and math.isfinite(value):
        if kind == 'CHANGE_IN_PERCENTAGE':
            return value
        if value.is_integer():
            value = int(value)
    least = 0 if kind == 'EXACT_CAPACITY' else None
    return values.parse_number(value, "'number'", least)


def _check_operation(operation: object) -> None:
    """Check the name of a way to recover nodes, in upper or lower case."""
    shown = operation.upper() if isinstance(operation, str) else operation
    values.parse_choice(shown, "'operation'", OPERATIONS)


def parse_scaling(
    action: str, inputs: Mapping[str, Any], data: Mapping[str, Any]
) -> Change:
    """Return the change of a scale-in or a scale-out.

    :param action: ``CLUSTER_SCALE_IN`` or ``CLUSTER_SCALE_OUT``.
    :param inputs: the action's inputs.
    :param data: the action's data with the decisions of other policies.
    :raises WrongValue: if the number cannot be used.
    """
    growing = action == SCALE_OUT
    field = 'creation' if growing else 'deletion'
    decision = data.get(field)
    if decision is not None:
        return _decided(growing, field, decision)
    count = inputs.get('count', DEFAULT_COUNT)
    return Change(growing, values.parse_number(count, "'count'", 1))


def parse_decision(data: Mapping[str, Any]) -> Change | None:
    """Return the change of a resize (scenario S3 of the specification).

    If the data have a ``creation`` and a ``deletion``, the ``creation``
    counts, as in the specification.

    :param data: the action's data, with the decisions of other policies or
        of Senlin's own parser.
    :returns: the change, or ``None`` if nothing is decided yet.
    :raises WrongValue: if the number cannot be used.
    """
    for field, growing in (('creation', True), ('deletion', False)):
        decision = data.get(field)
        if decision is not None:
            return _decided(growing, field, decision)
    return None


def missing_nodes(
    inputs: Mapping[str, Any], current: int, desired: int
) -> Change:
    """Return the change of a recovery, which creates the missing nodes.

    :param inputs: the action's inputs. Senlin restores the capacity only
        if ``check_capacity`` is exactly true.
    :param current: how many nodes the cluster has.
    :param desired: its desired capacity.
    """
    restores = inputs.get('check_capacity') is True
    return Change(True, max(0, desired - current) if restores else 0)


def _decided(growing: bool, field: str, decision: Mapping[str, Any]) -> Change:
    count = decision.get('count', DEFAULT_COUNT)
    # Senlin's parser writes 0 if a resize does not change the size. A scaling
    # policy with best_effort writes 0 if the cluster is at its size limit.
    if count == 0:
        return Change(growing, 0)
    return Change(growing, values.parse_number(count, f"'{field}.count'", 1))

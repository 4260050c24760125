# SPDX-License-Identifier: Apache-2.0

"""Find out how many nodes an action adds or removes.

A decision of another policy in the action's data takes precedence over the
action's own inputs. If neither the decision nor the inputs have a number, the
number is one. The specifications of both policies say so: scenarios S1 to S4
of the region placement policy, and S2 to S5 of the deletion policy.

This module does not read the inputs of a resize: Senlin's own parser reads
these inputs first, and writes a decision in the same format.
"""

import contextlib
import dataclasses
from collections.abc import Mapping
from typing import Any

from senlin_plugins.planning import values
from senlin_plugins.planning.values import WrongValue

SCALE_OUT = 'CLUSTER_SCALE_OUT'

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


def read_count(value: object, field: str = 'count') -> int:
    """Return a number of nodes.

    :param value: the number as the user or a policy wrote it.
    :param field: the name of the field that contains the number.
    :returns: the number, at least 1.
    :raises WrongValue: if the value is not a positive integer.
    """
    with contextlib.suppress(ValueError):
        count = values.read_number(value, field)
        if count > 0:
            return count
    raise WrongValue(
        f"The value of '{field}' is '{value}': it must be a positive integer."
    )


def scaling(
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
    return Change(growing, read_count(inputs.get('count', DEFAULT_COUNT)))


def resizing(data: Mapping[str, Any]) -> Change | None:
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


def recovering(
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
    """Return the change that another policy decided."""
    count = decision.get('count', DEFAULT_COUNT)
    # Senlin's parser writes 0 if a resize does not change the size. A scaling
    # policy with best_effort writes 0 if the cluster is at its size limit.
    if count == 0:
        return Change(growing, 0)
    return Change(growing, read_count(count, f'{field}.count'))

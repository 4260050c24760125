# SPDX-License-Identifier: Apache-2.0

"""Find out how many nodes an action adds or removes.

A decision that another policy left in the action's data goes before the
action's own inputs, and one node is assumed when neither says a number
(scenarios S1 to S4 of the region placement policy, S2 to S5 of the deletion
policy). The raw inputs of a resize are not read here: Senlin has a parser
for them, and it leaves its result in the data like any other policy.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

SCALE_IN = 'CLUSTER_SCALE_IN'
SCALE_OUT = 'CLUSTER_SCALE_OUT'

#: Assumed when nobody says how many.
DEFAULT_COUNT = 1


@dataclasses.dataclass(frozen=True)
class Change:
    """How many nodes come or go.

    :param growing: true when nodes are added.
    :param count: how many; 0 only when ``reason`` is set, or when a resize
        changes nothing.
    :param reason: what is wrong with the number that was given; empty when
        nothing is.
    """

    growing: bool
    count: int
    reason: str = ''


def scaling(
    action: str, inputs: Mapping[str, Any], data: Mapping[str, Any]
) -> Change:
    """Read the size of a scale-in or a scale-out.

    :param action: ``CLUSTER_SCALE_IN`` or ``CLUSTER_SCALE_OUT``.
    :param inputs: the action's inputs.
    :param data: the action's data with the decisions of other policies.
    :returns: the change, with a reason when the number is unusable.
    """
    growing = action == SCALE_OUT
    field = 'creation' if growing else 'deletion'
    decision = data.get(field)
    if decision is not None:
        return _change(growing, decision, f'{field}.count')
    return _change(growing, inputs, 'count')


def resizing(data: Mapping[str, Any]) -> Change | None:
    """Read the size of a resize that was decided already (scenario S3).

    A creation goes before a deletion, as the document says.

    :param data: the action's data, with the decisions of other policies or
        of Senlin's own parser.
    :returns: the change; ``None`` when nothing is decided and the inputs
        are still to be parsed.
    """
    for field, growing in (('creation', True), ('deletion', False)):
        decision = data.get(field)
        if decision:
            # The parser writes a creation of 0 when the size stays.
            if decision.get('count') == 0:
                return Change(growing, 0)
            return _change(growing, decision, f'{field}.count')
    return None


def recovering(inputs: Mapping[str, Any], current: int, desired: int) -> int:
    """Tell how many nodes a recovery is going to create.

    :param inputs: the action's inputs; Senlin restores the capacity only
        when ``check_capacity`` is exactly true.
    :param current: the nodes that the cluster has.
    :param desired: its desired capacity.
    :returns: how many nodes are missing and will be created.
    """
    if inputs.get('check_capacity') is not True:
        return 0
    return max(0, desired - current)


def _change(growing: bool, source: Mapping[str, Any], field: str) -> Change:
    """Take the number from where it was found."""
    value = source.get('count', DEFAULT_COUNT)
    count = _positive_int(value)
    if count is None:
        return Change(
            growing,
            0,
            f"The value of '{field}' is '{value}': it must be a positive "
            'integer.',
        )
    return Change(growing, count)


def _positive_int(value: object) -> int | None:
    """Return a positive integer, also from text such as ``'3'``.

    A webhook passes its parameters as text, and Senlin itself accepts that.
    """
    if isinstance(value, str):
        try:
            value = int(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        return None
    return value

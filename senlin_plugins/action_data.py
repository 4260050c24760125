# SPDX-License-Identifier: Apache-2.0

"""Write a decision, or the reason of a refusal, into the data of an action."""

from collections.abc import Mapping
from typing import Any, Final

from senlin.common import consts
from senlin.policies import base

from os_placement_plugins import logger
from os_placement_plugins.errors import one_line
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.values import WrongValue

LOG = logger.get_logger(__name__)

#: The fields of an action's data that say how many nodes come or go.
FIELDS: Final = {True: 'creation', False: 'deletion'}


def write_decision(action: Any, decision: Decision) -> None:
    """Write a plan in the format of the region policy's specification.

    :param action: the action, whose data this function changes.
    :param decision: the decision of the region placement policy.
    """
    if not decision.plan:
        return
    field = FIELDS[not decision.candidates]
    written = dict(action.data.get(field) or {})
    written['count'] = sum(decision.plan.values())
    written['regions'] = dict(decision.plan)
    action.data[field] = written
    if decision.candidates:
        # If the cluster has a deletion policy, of this package or of Senlin,
        # the policy later replaces these candidates. It keeps the number of
        # nodes for each region, and chooses the nodes by its own criterion.
        written['candidates'] = list(decision.candidates)
    elif action.action not in (consts.NODE_CREATE, consts.NODE_RECOVER):
        _merge_placements(action, decision.plan)


def _merge_placements(action: Any, plan: Mapping[str, int]) -> None:
    """Add a region to each placement; keep what other policies decided."""
    placement = action.data.get('placement') or {}
    placements = list(placement.get('placements') or ())
    names: list[str] = []
    for name, count in plan.items():
        names.extend([name] * count)
    missing = len(names) - len(placements)
    placements.extend({} for _ in range(missing))
    action.data['placement'] = {
        **placement,
        'count': len(names),
        'placements': [
            {**place, 'region_name': name}
            for place, name in zip(placements, names, strict=False)
        ],
    }


def write_count(action: Any, change: Change) -> None:
    """Write the change of a resize that the policy leaves to the engine.

    The engine would parse the inputs again, and take the desired capacity for
    the size of an empty cluster.
    """
    if action.action == consts.CLUSTER_RESIZE:
        action.data.setdefault(FIELDS[change.growing], {'count': change.count})


def describe_error(policy_name: str, action: Any, error: Exception) -> str:
    """Return the reason of a refusal, and log an unexpected error."""
    if isinstance(error, WrongValue):
        return str(error)
    LOG.error(
        "Policy '%s' failed on %s %s.",
        policy_name,
        action.action,
        action.id,
        exc_info=error,
    )
    return f'The policy check failed: {one_line(error)}'


def allow_action(action: Any) -> None:
    """Let an action go on, and show the decision through the API."""
    action.data['status'] = base.CHECK_OK
    action.store(action.context)


def refuse_action(policy_name: str, action: Any, reason: str) -> None:
    """Refuse a whole action; never raise an exception.

    :param reason: the reason, which the user sees.
    """
    LOG.debug(
        "Policy '%s' refuses %s %s: %s",
        policy_name,
        action.action,
        action.id,
        reason,
    )
    action.data.update({'status': base.CHECK_ERROR, 'reason': reason})
    try:
        action.store(action.context)
    except Exception:
        LOG.exception(
            'The reason could not be stored in action %s.', action.id
        )

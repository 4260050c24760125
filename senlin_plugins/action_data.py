# SPDX-License-Identifier: Apache-2.0

"""Write a decision, or the reason of a refusal, into the data of an action."""

from typing import Any, Final

from senlin.common import consts
from senlin.policies import base

from os_placement_plugins import logger
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
        placements: list[dict[str, str]] = []
        for region, count in decision.plan.items():
            placements.extend({'region_name': region} for _ in range(count))
        action.data['placement'] = {
            'count': len(placements),
            'placements': placements,
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
    # The text of an error can have a URL that tenants must not see.
    name = type(error).__name__
    return f'The policy check failed ({name}): see the log of senlin-engine.'


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


def withhold_capacity(action: Any, reason: str) -> None:
    """Let a recovery of a cluster go on, but without new nodes.

    Without this, the engine would ignore the refusal and add missing nodes.
    :func:`restore_capacity` must follow when the recovery has ended.

    :param reason: why there are no new nodes.
    """
    action.data['status'] = base.CHECK_OK
    action.data['creation'] = {
        'count': 0,
        'reason': reason,
        'check_capacity': action.inputs.pop('check_capacity', None),
    }


def restore_capacity(action: Any) -> str:
    """Undo what :func:`withhold_capacity` has done to an action's inputs.

    :returns: the reason; empty if nothing was withheld.
    """
    creation = action.data.get('creation') or {}
    check_capacity = creation.pop('check_capacity', None)
    if check_capacity:
        action.inputs['check_capacity'] = check_capacity
    return str(creation.get('reason', ''))

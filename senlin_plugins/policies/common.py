# SPDX-License-Identifier: Apache-2.0

"""What both policies need to read Senlin's objects and to answer errors."""

import contextlib
import copy
import functools
from collections.abc import Callable, Iterable
from typing import Any

from oslo_config import cfg
from oslo_log import log as logging
from senlin.common import consts, scaleutils, schema
from senlin.common import exception as exc
from senlin.engine import cluster as cluster_mod
from senlin.objects import node as node_objects
from senlin.policies import base
from senlin.profiles import base as profile_base

from senlin_plugins import conf
from senlin_plugins.planning import sizing
from senlin_plugins.profiles import regions

LOG = logging.getLogger(__name__)
# Senlin has read senlin.conf before it loads a policy.
conf.load(cfg.CONF)

#: Stands for a region that nothing names: no record, no region in the
#: profile, no default_region_name in senlin.conf.
UNKNOWN_REGION = ''


class Refused(Exception):
    """The policy says no; the text is the reason that the user sees."""


def answering_errors(
    check: Callable[[Any, str, Any], None],
) -> Callable[[Any, str, Any], None]:
    """Turn every failure of a policy check into an answer.

    An exception that leaves ``pre_op`` takes down the action without a
    reason (NODE_*) or with a bare traceback (CLUSTER_*). So whatever
    happens becomes status ERROR with a reason, stored where the API shows
    it.

    :param check: a ``pre_op`` method.
    :returns: the same method, which does not raise.
    """

    @functools.wraps(check)
    def wrapped(self: Any, cluster_id: str, action: Any) -> None:
        try:
            check(self, cluster_id, action)
            return
        except Refused as ex:
            reason = str(ex)
        except Exception as ex:
            LOG.exception(
                "Policy '%(policy)s' failed on %(action)s %(id)s.",
                {
                    'policy': self.name,
                    'action': action.action,
                    'id': action.id,
                },
            )
            reason = f'The policy check failed: {ex or type(ex).__name__}'
        LOG.debug(
            "Policy '%(policy)s' refuses %(action)s %(id)s: %(reason)s",
            {
                'policy': self.name,
                'action': action.action,
                'id': action.id,
                'reason': reason,
            },
        )
        action.data.update({'status': base.CHECK_ERROR, 'reason': reason})
        try:
            action.store(action.context)
        except Exception:
            LOG.exception(
                'The reason could not be stored in action %(id)s.',
                {'id': action.id},
            )

    return wrapped


def answer(action: Any, reason: str | None = None) -> None:
    """Store a decision, so that the API shows it.

    :param action: the action with the decision in its data.
    :param reason: the reason that the specification demands, if any.
    """
    action.data['status'] = base.CHECK_OK
    if reason is not None:
        action.data['reason'] = reason
    action.store(action.context)


def check_enabled(name: str) -> None:
    """Refuse a policy type that the operator did not enable.

    :param name: the name in the option ``enabled_policies``.
    :raises: ``InvalidSpec`` when it is not in the list.
    """
    enabled = cfg.CONF[conf.GROUP].enabled_policies
    if name not in enabled:
        raise exc.InvalidSpec(
            message=f"Policies of type 'senlin_plugins.policy.{name}' are "
            f"disabled: add '{name}' to enabled_policies in section "
            f'[{conf.GROUP}] of senlin.conf, which is '
            f"'{','.join(enabled)}' now."
        )


class WholeNumber(schema.Integer):  # type: ignore[misc]  # untyped base
    """An integer property that takes nothing else for an integer.

    Senlin's own cuts 2.7 down to 2, takes true for 1, lets null through and
    raises on a list.
    """

    def to_schema_type(self, value: object) -> int:
        """Return an integer, also from text such as ``'3'``.

        :param value: what the spec says.
        :returns: the integer.
        :raises: ``ESchema`` with the value.
        """
        if isinstance(value, int | str) and not isinstance(value, bool):
            with contextlib.suppress(ValueError):
                return int(value)
        raise exc.ESchema(
            message=f"The value '{value}' is not a valid Integer"
        )

    def validate(self, value: object, context: Any = None) -> None:
        """Check a value.

        :param value: what the spec says.
        :param context: the request's context.
        :raises: ``ESchema`` with the value.
        """
        super().validate(self.to_schema_type(value), context)


class PlacementPolicy(base.Policy):  # type: ignore[misc]  # untyped base
    """What the policies of this package have in common.

    A subclass names itself and its rival, and says what is wrong with a
    spec; this class turns that into the answers that Senlin expects.
    """

    # Set by the untyped base.
    properties: Any
    type: Any

    #: The name in the option ``enabled_policies``.
    ENABLED_AS = ''
    #: The in-tree type that must not be attached to the same cluster, and
    #: what both would do then.
    IN_TREE_TYPE = ''
    BOTH_WOULD = ''

    def find_problem(self) -> str:
        """Say what is wrong with the values, beyond their types.

        :returns: the field, the value and what is accepted, or an empty
            string.
        """
        raise NotImplementedError

    def find_obstacle(self, cluster: Any) -> str:
        """Say why the policy cannot be attached to a cluster.

        :param cluster: the engine's cluster object.
        :returns: what to do about it, or an empty string.
        :raises: ``InvalidSpec`` when policies of this type are disabled.
        """
        check_enabled(self.ENABLED_AS)
        rivals = policies_of_type(cluster, self.IN_TREE_TYPE)
        if rivals:
            return (
                f"Policy '{rivals[0].name}' of type '{rivals[0].type}' is "
                f'attached to the cluster already and {self.BOTH_WOULD}, '
                'too: detach it first.'
            )
        return ''

    def validate(self, context: Any, validate_props: bool = False) -> bool:
        """Check the spec.

        :param context: the request's context.
        :param validate_props: whether to check values against the cloud,
            too; a subclass does that.
        :raises: ``InvalidSpec`` with what is wrong and what is accepted.
        """
        check_enabled(self.ENABLED_AS)
        try:
            super().validate(context, validate_props)
            problem = self.find_problem()
        except (exc.ESchema, TypeError, ValueError) as ex:
            problem = str(ex)
        if problem:
            raise exc.InvalidSpec(message=problem)
        return True

    def attach(self, cluster: Any, enabled: bool = True) -> tuple[bool, Any]:
        """Refuse a cluster on which the policy could not do its work.

        :param cluster: the cluster to attach to.
        :param enabled: whether the binding is enabled.
        :returns: (true, data), or (false, reason).
        """
        try:
            obstacle = self.find_obstacle(cluster)
        except exc.InvalidSpec as ex:
            obstacle = str(ex)
        return (False, obstacle) if obstacle else (True, None)


def policies_of_type(cluster: Any, type_name: str) -> list[Any]:
    """Return the attached policies of a type, of any version.

    :param cluster: the engine's cluster object.
    :param type_name: the type without its version.
    :returns: a list of policies.
    """
    return [
        policy
        for policy in cluster.policies
        if policy.type.startswith(f'{type_name}-')
    ]


def resize_of(action: Any, cluster: Any) -> sizing.Change:
    """Find out what a CLUSTER_RESIZE changes.

    :param action: the action; Senlin's parser writes into its data.
    :param cluster: the engine's cluster object.
    :returns: a :class:`sizing.Change`.
    :raises: :class:`Refused` with the parser's message.
    """
    change = sizing.resizing(action.data)
    if change is not None:
        return change
    current = node_objects.Node.count_by_cluster(action.context, cluster.id)
    # The parser takes a current size of 0 for "not given" and falls back to
    # the desired capacity, so the two must agree.
    sized = copy.copy(cluster)
    sized.desired_capacity = current
    result, reason = scaleutils.parse_resize_params(action, sized, current)
    if result != action.RES_OK:
        raise Refused(reason)
    return sizing.resizing(action.data) or sizing.Change(True, 0)


def change_of(action: Any, cluster: Any) -> sizing.Change:
    """Find out how many nodes a scaling or a resize adds or removes.

    :param action: a CLUSTER_SCALE_IN, CLUSTER_SCALE_OUT or CLUSTER_RESIZE.
    :param cluster: the engine's cluster object.
    :returns: a :class:`sizing.Change`.
    :raises: :class:`Refused` when the number makes no sense.
    """
    if action.action == consts.CLUSTER_RESIZE:
        change = resize_of(action, cluster)
    else:
        change = sizing.scaling(action.action, action.inputs, action.data)
    if change.reason:
        raise Refused(change.reason)
    if change.growing:
        _check_size(action, cluster, change.count)
    return change


def _check_size(action: Any, cluster: Any, count: int) -> None:
    """Refuse more nodes than a cluster may have, before planning them.

    The engine checks this after the policies, and not at all when the
    number of a resize comes from one: by then there would be a plan with
    an entry per node. A webhook may ask for a billion.

    :param action: the action.
    :param cluster: the engine's cluster object.
    :param count: how many nodes are to be added.
    :raises: :class:`Refused` with the engine's own message.
    """
    current = node_objects.Node.count_by_cluster(action.context, cluster.id)
    # A resize may bring its own limits; the parser compares with those.
    resized = action.action == consts.CLUSTER_RESIZE
    problem = scaleutils.check_size_params(
        None if resized else cluster, current + count, strict=True
    )
    if problem:
        raise Refused(problem)


def cluster_of(action: Any, cluster_id: str) -> Any:
    """Return the cluster that an action is about.

    :param action: the action. One on a cluster has loaded the cluster after
        it got the lock, so nothing in it can be stale.
    :param cluster_id: the cluster's id.
    :returns: the engine's cluster object.
    """
    if action.target == cluster_id:
        return action.entity
    return cluster_mod.Cluster.load(
        action.context, cluster_id, project_safe=False
    )


def nodes_of(action: Any, cluster: Any) -> list[Any]:
    """Return the nodes of the cluster as they are now.

    :param action: the action.
    :param cluster: the engine's cluster object.
    :returns: a list of nodes.
    """
    if action.target == cluster.id:
        nodes: list[Any] = cluster.nodes
        return nodes
    # Actions on nodes share the cluster's lock: others may have been placed
    # since the cluster was loaded.
    return [
        *node_objects.Node.get_all_by_cluster(
            action.context, cluster.id, project_safe=False
        )
    ]


def regions_of(action: Any, cluster: Any, nodes: Iterable[Any]) -> list[str]:
    """Find out where each node of the cluster lives.

    :param action: the action.
    :param cluster: the engine's cluster object.
    :param nodes: nodes of the cluster.
    :returns: the name of each node's region, in the order of the nodes.
    """
    #: Profile id -> region of the nodes that have no record. Looked up
    #: once per profile: a cluster may have thousands of nodes.
    unrecorded: dict[str, str] = {}
    found = []
    for node in nodes:
        region = regions.recorded_region(node)
        if not region:
            profile_id = node.profile_id
            if profile_id not in unrecorded:
                profile = cluster.rt['profile']
                if profile_id != cluster.profile_id:
                    profile = profile_base.Profile.load(
                        action.context,
                        profile_id=profile_id,
                        project_safe=False,
                    )
                unrecorded[profile_id] = (
                    regions.region_of(None, profile) or UNKNOWN_REGION
                )
            region = unrecorded[profile_id]
        found.append(region)
    return found

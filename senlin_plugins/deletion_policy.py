# SPDX-License-Identifier: Apache-2.0

"""The deletion policy, versions 1.0 and 1.1 of its specification."""

import time
from typing import Any, Final

from oslo_config import cfg
from senlin.common import consts
from senlin.common import exception as exc
from senlin.engine.notifications import message
from senlin.policies import base, deletion_policy

from os_placement_plugins import logger
from senlin_plugins import action_data, cluster, conf
from senlin_plugins.planning import selection, sizing, spec, values
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.selection import Criterion

LOG = logger.get_logger(__name__)
# Senlin reads senlin.conf before it imports its policies, so the options of
# this package can be checked here.
conf.load_options(cfg.CONF)

#: Reason that users see, word for word from the specification.
CANDIDATES_GENERATED: Final = 'Candidates generated'
#: The properties with which this policy decides. All other properties of
#: Senlin's schema go unchanged into an action's data, for Senlin's engine.
DECIDING: Final = ('criteria', 'hooks')


class DeletionPolicy(base.Policy):  # type: ignore[misc]  # untyped base
    """Choose which nodes leave a cluster, and how."""

    # Senlin's base class sets these attributes, but has no type hints.
    name: str
    type: str

    VERSION = '1.1'
    VERSIONS = {
        '1.0': [{'status': consts.SUPPORTED, 'since': '2026.11'}],
        '1.1': [{'status': consts.SUPPORTED, 'since': '2026.11'}],
    }

    #: Senlin calls this policy after each policy that decides how many nodes
    #: leave each region.
    PRIORITY = 400

    TARGET = [
        ('BEFORE', consts.CLUSTER_SCALE_IN),
        ('BEFORE', consts.CLUSTER_DEL_NODES),
        ('BEFORE', consts.CLUSTER_RESIZE),
        ('BEFORE', consts.NODE_DELETE),
    ]

    properties_schema = deletion_policy.DeletionPolicy.properties_schema

    def validate(self, context: Any, validate_props: bool = False) -> bool:
        """Check the spec.

        :raises: ``InvalidSpec``; the text says what is wrong and which values
            are accepted.
        """
        try:
            super().validate(context, validate_props)
            version = self.type.rpartition('-')[2]
            spec.check_deletion(self.properties, self._hook, version)
        except (exc.ESchema, TypeError, ValueError) as ex:
            raise exc.InvalidSpec(message=str(ex)) from ex
        return True

    def attach(self, target: Any, enabled: bool = True) -> tuple[bool, Any]:
        """Tell whether the policy can be attached to a cluster.

        :param target: the engine's cluster object.
        :param enabled: whether the policy is enabled on the cluster.
        :returns: (true, data for Senlin to store), or (false, reason).
        """
        rival = cluster.describe_rival(target, self.type)
        if rival:
            return False, rival
        try:
            self._count_waiting_seconds(0, target.timeout, target)
        except values.WrongValue as ex:
            return False, str(ex)
        return True, None

    def need_check(self, target: str, action: Any) -> bool:
        """Tell whether the policy acts on an action.

        The policy ignores a NODE_DELETE that comes from an action on the
        cluster, because the policy has decided about that action.
        """
        if not super().need_check(target, action):
            return False
        derived = action.cause != consts.CAUSE_RPC
        return not (derived and action.action == consts.NODE_DELETE)

    def pre_op(self, cluster_id: str, action: Any) -> None:
        """Choose the nodes that leave; never raise an exception.

        An exception would make the action fail without a reason (NODE_*) or
        with only a traceback (CLUSTER_*).

        :param action: the action. Its data get the decision, or the status
            ERROR with the reason for a refusal. The API shows these data.
        """
        try:
            inputs = sizing.parse_inputs(action.action, action.inputs)
            action.inputs.update(inputs)
            decision = self._decide(cluster_id, action)
            refusal = decision.refusal
            if decision.left:
                action_data.write_count(action, decision.left)
                return
            if not refusal:
                hook = {}
                if action.action != consts.NODE_DELETE:
                    # For NODE_DELETE, Senlin's engine sends no hook, and has
                    # no limit of time.
                    hook = self._prepare_hook(action)
                self._write(action, decision, hook)
                action_data.allow_action(action)
                return
        except Exception as ex:
            refusal = action_data.describe_error(self.name, action, ex)
        action_data.refuse_action(self.name, action, refusal)

    def _decide(self, cluster_id: str, action: Any) -> Decision:
        """Choose the nodes that leave (S1 to S7 of the specification)."""
        if action.action == consts.NODE_DELETE:
            owner = cluster.read_cluster(cluster_id)
            size = cluster.count_members(cluster_id)
            decision = Decision(candidates=(action.entity.id,))
        else:
            owner = action.entity
            size = len(owner.nodes)
            decision = self._choose(action)
        if decision.left or decision.refusal:
            return decision
        limits = cluster.read_limits(owner, action.action)
        violation = limits.describe_violation(size - len(decision.candidates))
        if violation:
            return Decision(refusal=violation)
        return decision

    def _choose(self, action: Any) -> Decision:
        """Choose the nodes that leave in an action on the cluster."""
        nodes = action.entity.nodes
        if action.action == consts.CLUSTER_DEL_NODES:
            named = action.inputs.get('candidates') or []
            return selection.accept_nodes(named, [node.id for node in nodes])
        change = cluster.read_change(action, action.entity)
        if change.growing or not change.count:
            return Decision(left=change)
        return selection.select_nodes(
            cluster.read_nodes(nodes),
            change.count,
            Criterion(self.properties['criteria']),
            action.data.get('deletion') or {},
        )

    @property
    def _hook(self) -> dict[str, Any]:
        # Read self.spec: self.properties has a hook with default values even
        # if the spec has no hook.
        if not self.spec['properties'].get('hooks'):
            return {}
        return dict(self.properties['hooks'])

    def _count_waiting_seconds(
        self, passed: float, limit: int, owner: Any
    ) -> int:
        """Return the seconds from the start of an action to the deletion.

        :param passed: the seconds since the start.
        :param limit: the timeout of the action, which is that of its cluster.
        :param owner: the cluster.
        :raises WrongValue: if Senlin could end the action before Nova has
            deleted the servers.
        """
        longest = cfg.CONF.default_nova_timeout
        if owner.config.get('cluster.stop_node_before_delete'):
            longest *= 2
        return spec.count_waiting_seconds(
            grace=self.properties['grace_period'],
            hook=self._hook,
            passed=passed,
            longest_deletion=longest,
            limit=limit,
        )

    def _prepare_hook(self, action: Any) -> dict[str, Any]:
        """Return the hook as Senlin's engine reads it; empty if there is none.

        :raises WrongValue: if Senlin cannot send the hook, or if the action
            could end too early.
        :raises: the error of the client if Zaqar does not answer.
        """
        # Check this before the action runs. If Zaqar is down, Senlin's engine
        # fails only after it has lowered the desired capacity. A later
        # recovery would then delete other nodes.
        hook = self._hook
        if hook:
            spec.check_hook_type(hook['type'])
            queue = hook['params']['queue']
            context = action.context
            message.Message(
                queue,
                user=context.user_id,
                project=context.project_id,
                domain=context.domain_id,
            ).zaqar().queue_exists(queue)
        # Senlin's engine counts the timeout of a hook from the start of the
        # action. But the message is sent only after the grace period.
        passed = time.time() - float(action.start_time)
        seconds = self._count_waiting_seconds(
            passed, action.timeout, action.entity
        )
        if not hook:
            return {}
        return {**hook, 'timeout': seconds}

    def _write(
        self, action: Any, decision: Decision, hook: dict[str, Any]
    ) -> None:
        for group, missing in decision.shortage.items():
            LOG.warning(
                "Action %s: '%s' has %s nodes less than the action must "
                'remove there. The rest of the cluster loses these nodes '
                'instead.',
                action.id,
                group,
                missing,
            )
        candidates = list(decision.candidates)
        action.data['reason'] = CANDIDATES_GENERATED
        deletion = dict(action.data.get('deletion') or {})
        deletion['count'] = len(candidates)
        deletion['candidates'] = candidates
        for key in self.properties_schema:
            if key not in DECIDING:
                deletion[key] = self.properties[key]
        action.data['deletion'] = deletion
        if action.action == consts.CLUSTER_DEL_NODES:
            # The engine would delete a node twice that is named twice. For a
            # node that is gone, the engine would fail, after the other nodes
            # have left the load balancer.
            action.inputs['candidates'] = candidates
        if hook:
            action.data['hooks'] = hook

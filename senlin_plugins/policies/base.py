# SPDX-License-Identifier: Apache-2.0

"""The base class of both policies, with the methods that Senlin calls."""

from typing import Any

from oslo_config import cfg
from oslo_log import log as logging
from senlin.common import exception as exc
from senlin.policies import base

from senlin_plugins import conf
from senlin_plugins.cluster import cluster_row
from senlin_plugins.planning import inputs, plugin_types, values
from senlin_plugins.planning.decision import Decision

LOG = logging.getLogger(__name__)
# Senlin has read senlin.conf before it loads a policy.
conf.load(cfg.CONF)


class PlacementPolicy(base.Policy):  # type: ignore[misc]  # untyped base
    """A policy that reads a cluster, decides, and writes the decision.

    A subclass implements :meth:`check_spec`, :meth:`decide` and :meth:`write`.
    """

    # Set by the untyped base.
    name: str
    type: Any
    properties: Any

    PROFILE_TYPE = ['ANY']

    def check_spec(self) -> None:
        """Check the spec, before Senlin's schema does.

        Senlin's own messages do not name the field.

        :raises ValueError: if the spec is wrong; the text has the field, the
            value and the accepted values.
        """
        raise NotImplementedError

    def find_cluster(self, cluster_id: str, action: Any) -> Any:
        """Return the cluster, with the parts that the decision needs."""
        # An action on a cluster has loaded the cluster after taking the lock.
        if action.target == cluster_id:
            return action.entity
        return cluster_row.load(cluster_id)

    def prepare(self, cluster: Any, action: Any) -> Any:
        """Read once what the decision needs besides the cluster.

        :returns: the view for :meth:`decide`.
        """

    def decide(self, cluster: Any, action: Any, view: Any) -> Decision | None:
        """Read the nodes of the cluster and decide.

        :param view: what :meth:`prepare` has returned.
        :returns: the decision, or ``None`` if there is nothing to decide.
        :raises WrongValue: if the number of nodes cannot be used.
        """
        raise NotImplementedError

    def write(self, action: Any, decision: Decision) -> None:
        """Write a decision into an action's data, in the documented format.

        :param action: the action; the caller stores it afterwards.
        :param decision: the decision. The decision about a recovery may
            contain moves even if it is a refusal.
        """
        raise NotImplementedError

    def find_obstacle(self, cluster: Any) -> str:
        """Say why the policy cannot be attached to a cluster.

        :returns: the obstacle and what to do; empty if there is none.
        """
        # Senlin's own check regards two versions of a type as different types.
        type_name = self.type.rpartition('-')[0]
        rivals = type_name, plugin_types.RIVALS[type_name]
        for policy in cluster.policies:
            if policy.type.rpartition('-')[0] in rivals:
                return (
                    f"Policy '{policy.name}' of type '{policy.type}' is "
                    'attached to the cluster already and does the same work: '
                    'detach it first.'
                )
        return ''

    def validate(self, context: Any, validate_props: bool = False) -> bool:
        """Check the spec.

        :param validate_props: whether to check values against the cloud,
            too, which only a subclass does.
        :raises: ``InvalidSpec``; the text says what is wrong and which values
            are accepted.
        """
        problem = self._disabled()
        if not problem:
            try:
                self.check_spec()
                super().validate(context, validate_props)
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
        obstacle = self._disabled() or self.find_obstacle(cluster)
        if obstacle:
            return False, obstacle
        return True, None

    def pre_op(self, cluster_id: str, action: Any) -> None:
        """Decide about an action before it runs; never raise.

        An exception would make the action fail without a reason (NODE_*) or
        with only a traceback (CLUSTER_*).

        :param action: the action. Its data get the decision, or the status
            ERROR with the reason for a refusal. The API shows both.
        """
        names = self.name, action.action, action.id
        before = {*action.data}
        # If the inputs or the cluster cannot be read, refuse the whole action.
        refuse = self.refuse_all
        try:
            action.inputs.update(inputs.read(action.action, action.inputs))
            cluster = self.find_cluster(cluster_id, action)
            view = self.prepare(cluster, action)
            refuse = self.refuse
            decision = self.decide(cluster, action, view)
            if decision is None:
                return
            self.write(action, decision)
            reason = decision.refusal
            if not reason:
                action.data['status'] = base.CHECK_OK
                action.store(action.context)
                return
        except values.WrongValue as ex:
            reason = str(ex)
        except Exception as ex:
            LOG.exception("Policy '%s' failed on %s %s.", *names)
            reason = f'The policy check failed: {ex or type(ex).__name__}'
        LOG.debug("Policy '%s' refuses %s %s: %s", *names, reason)
        # Remove what Senlin's parser of a resize has written.
        for field in {'creation', 'deletion'} - before:
            action.data.pop(field, None)
        refuse(action, reason)

    def refuse(self, action: Any, reason: str) -> None:
        """Refuse the part of an action that the policy decides.

        :param action: the action; the reason goes into its data.
        :param reason: what the user reads.
        """
        self.refuse_all(action, reason)

    def refuse_all(self, action: Any, reason: str) -> None:
        """Refuse a whole action.

        :param action: the action; the reason goes into its data.
        :param reason: what the user reads.
        """
        action.data.update({'status': base.CHECK_ERROR, 'reason': reason})
        try:
            action.store(action.context)
        except Exception:
            LOG.exception(
                'The reason could not be stored in action %s.', action.id
            )

    def _disabled(self) -> str:
        """Say that this policy type is not enabled; empty if it is."""
        enabled = cfg.CONF[conf.GROUP].enabled_policies
        type_name = self.type.rpartition('-')[0]
        name = type_name.rpartition('.')[2]
        if name in enabled:
            return ''
        return (
            f"Policies of type '{type_name}' are "
            f"disabled: add '{name}' to enabled_policies in "
            f'section [{conf.GROUP}] of senlin.conf, which is '
            f"'{','.join(enabled)}' now."
        )

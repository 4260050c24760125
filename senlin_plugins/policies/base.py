# SPDX-License-Identifier: Apache-2.0

"""The base class of the region placement and the deletion policy."""

from typing import Any

from oslo_config import cfg
from oslo_log import log as logging
from senlin.common import context as senlin_context
from senlin.common import exception as exc
from senlin.objects import cluster as cluster_objects
from senlin.policies import base

from senlin_plugins import conf
from senlin_plugins.planning import inputs, plugin_types, values
from senlin_plugins.planning.decision import Decision

LOG = logging.getLogger(__name__)
# Senlin reads senlin.conf before it imports its policies, so the options of
# this package can be checked here.
conf.load(cfg.CONF)


class PlacementPolicy(base.Policy):  # type: ignore[misc]  # untyped base
    """A policy that reads a cluster, decides, and writes the decision.

    A subclass implements :meth:`check_spec`, :meth:`decide` and :meth:`write`.
    """

    # Senlin's base class sets these attributes, but has no type hints.
    name: str
    type: Any
    properties: Any

    PROFILE_TYPE = ['ANY']

    def check_spec(self) -> None:
        """Check the spec, before Senlin's schema does.

        The messages of Senlin's schema do not name the wrong field.

        :raises ValueError: if the spec is wrong; the text has the field, the
            value and the accepted values.
        """
        raise NotImplementedError

    def find_cluster(self, cluster_id: str, action: Any) -> Any:
        """Return the cluster of an action.

        :returns: the engine's object for an action on the cluster; the row for
            an action on a node.
        """
        # An action on a cluster loads the cluster after it has taken the lock,
        # so this cluster is up to date.
        if action.target == cluster_id:
            return action.entity
        admin = senlin_context.get_admin_context()
        row = cluster_objects.Cluster.get(
            admin, cluster_id, project_safe=False
        )
        if not row:
            raise exc.ResourceNotFound(type='cluster', id=cluster_id)
        return row

    def decide(self, cluster: Any, action: Any) -> Decision | None:
        """Read the nodes of the cluster and decide.

        :returns: the decision, or ``None`` if there is nothing to decide.
        :raises WrongValue: if the action asks for an invalid number of nodes.
        """
        raise NotImplementedError

    def write(self, action: Any, decision: Decision) -> None:
        """Write a decision into an action's data, as Senlin reads it.

        :param action: the action; the caller stores it afterwards.
        :param decision: the decision. If the action is a recovery, even a
            refusal may contain regions of nodes.
        """
        raise NotImplementedError

    def find_obstacle(self, cluster: Any) -> str:
        """Say why the policy cannot be attached to a cluster.

        :returns: the obstacle and what to do; empty if there is none.
        """
        # Senlin's own check compares types with their versions. So it would
        # allow two versions of the deletion policy on one cluster.
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

        :param validate_props: whether to also check values against the cloud.
            A subclass may do this; this class does not.
        :raises: ``InvalidSpec``; the text says what is wrong and which values
            are accepted.
        """
        try:
            self.check_spec()
            super().validate(context, validate_props)
        except (exc.ESchema, TypeError, ValueError) as ex:
            raise exc.InvalidSpec(message=str(ex)) from ex
        return True

    def attach(self, cluster: Any, enabled: bool = True) -> tuple[bool, Any]:
        """Tell whether the policy can be attached to a cluster.

        :param enabled: whether the policy is enabled on the cluster.
        :returns: (true, data for Senlin to store), or (false, reason).
        """
        obstacle = self.find_obstacle(cluster)
        if obstacle:
            return False, obstacle
        return True, None

    def pre_op(self, cluster_id: str, action: Any) -> None:
        """Decide about an action before it runs; never raise an exception.

        An exception would make the action fail without a reason (NODE_*) or
        with only a traceback (CLUSTER_*).

        :param action: the action. Its data get the decision, or the status
            ERROR with the reason for a refusal. The API shows these data.
        """
        names = self.name, action.action, action.id
        before = {*action.data}
        # Until the cluster is read, an error refuses the whole action. A later
        # error refuses only the part of the action that the policy decides.
        refuse = self.refuse_all
        try:
            action.inputs.update(inputs.read(action.action, action.inputs))
            cluster = self.find_cluster(cluster_id, action)
            refuse = self.refuse
            decision = self.decide(cluster, action)
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
        # Remove the fields that Senlin's parser of a resize has written.
        for field in {'creation', 'deletion'} - before:
            action.data.pop(field, None)
        refuse(action, reason)

    def refuse(self, action: Any, reason: str) -> None:
        """Refuse the part of an action that the policy decides.

        Unless a subclass overrides this method, refuse the whole action.

        :param action: the action; the reason goes into its data.
        :param reason: the reason, which the user sees.
        """
        self.refuse_all(action, reason)

    def refuse_all(self, action: Any, reason: str) -> None:
        """Refuse a whole action.

        :param action: the action; the reason goes into its data.
        :param reason: the reason, which the user sees.
        """
        action.data.update({'status': base.CHECK_ERROR, 'reason': reason})
        try:
            action.store(action.context)
        except Exception:
            LOG.exception(
                'The reason could not be stored in action %s.', action.id
            )

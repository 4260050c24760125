# SPDX-License-Identifier: Apache-2.0

"""The deletion policy, versions 1.0 and 1.1 of its specification."""

from collections.abc import Mapping
from typing import Any, Final

from oslo_log import log as logging
from senlin.common import constraints, consts, schema
from senlin.engine.notifications import message

from senlin_plugins.planning import values
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.selection import Criterion, accept, select
from senlin_plugins.policies import base, cluster_reader

LOG = logging.getLogger(__name__)

NO_WEBHOOKS = (
    "'type' of 'hooks' is 'webhook': Senlin cannot send such hooks, and no "
    "node would leave. Use type 'zaqar'."
)

#: Reason that users see, word for word from the specification.
CANDIDATES_GENERATED = 'Candidates generated'
#: Properties that go unchanged from the spec into an action's data.
WRITTEN: Final = (
    'destroy_after_deletion',
    'grace_period',
    'reduce_desired_capacity',
)


class DeletionPolicy(base.PlacementPolicy):
    """Choose which nodes leave a cluster, and how."""

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

    properties_schema = {
        'criteria': schema.String(
            'Criteria used in selecting candidates for deletion.',
            default=Criterion.RANDOM.value,
            constraints=[constraints.AllowedValues([*map(str, Criterion)])],
        ),
        'destroy_after_deletion': schema.Boolean(
            'Whether a node should be completely destroyed after deletion. '
            'Default to True.',
            default=True,
        ),
        'grace_period': schema.Integer(
            'Number of seconds before real deletion happens.', default=0
        ),
        'reduce_desired_capacity': schema.Boolean(
            'Whether the desired capacity of the cluster should be reduced '
            'along the deletion. Default to True.',
            default=True,
        ),
        'hooks': schema.Map(
            'Lifecycle hook; needs version 1.1.',
            schema={
                'type': schema.String(
                    'Type of lifecycle hook.',
                    default='zaqar',
                    constraints=[
                        constraints.AllowedValues(['zaqar', 'webhook'])
                    ],
                ),
                'params': schema.Map(
                    'Where the message goes.',
                    schema={
                        'queue': schema.String(
                            'Zaqar queue to receive lifecycle hook message.',
                            default='',
                        ),
                        'url': schema.String(
                            'Url sink to which to send lifecycle hook '
                            'message.',
                            default='',
                        ),
                    },
                    default={},
                ),
                'timeout': schema.Integer(
                    'Number of seconds before actual deletion happens.',
                    default=0,
                ),
            },
            default={},
        ),
    }

    def check_spec(self) -> None:
        """Check the criteria, the grace period and the hooks."""
        properties = self.spec.get('properties')
        if not isinstance(properties, Mapping):
            return
        criteria = properties.get('criteria', Criterion.RANDOM)
        values.read_choice(criteria, "'criteria'", Criterion)
        seconds = properties.get('grace_period', 0)
        values.read_number(seconds, "'grace_period'", 0)
        hooks = properties.get('hooks')
        if not hooks or not isinstance(hooks, Mapping):
            return
        if self.type.endswith('-1.0'):
            raise ValueError(
                "'hooks' needs version 1.1 of the policy, and the spec's "
                "'version' is '1.0'."
            )
        values.read_number(hooks.get('timeout', 0), "'timeout' of 'hooks'", 0)
        kind = hooks.get('type', 'zaqar')
        values.read_choice(kind, "'type' of 'hooks'", ('zaqar', 'webhook'))
        if kind == 'webhook':
            raise ValueError(NO_WEBHOOKS)
        params = hooks.get('params') or {}
        if isinstance(params, Mapping) and not params.get('queue'):
            raise ValueError(
                "'params' of a hook of type 'zaqar' must have 'queue'."
            )

    @property
    def hook(self) -> Mapping[str, Any]:
        """The hook of the spec; an empty mapping if there is none."""
        # Read self.spec: self.properties has a hook with default values even
        # if the spec has no hook.
        if not self.spec['properties'].get('hooks'):
            return {}
        return dict(self.properties['hooks'])

    def find_cluster(self, cluster_id: str, action: Any) -> Any:
        """Return the cluster; None for NODE_DELETE, which needs no cluster."""
        if action.action == consts.NODE_DELETE:
            return None
        return super().find_cluster(cluster_id, action)

    def decide(self, cluster: Any, action: Any) -> Decision | None:
        """Choose the nodes that leave (S1 to S7 of the specification)."""
        if action.action == consts.NODE_DELETE:
            return Decision(candidates=(action.entity.id,))
        named = action.action == consts.CLUSTER_DEL_NODES
        if not named:
            change = cluster_reader.read_change(action, cluster)
            if change.growing or not change.count:
                return None
        refusal = self._find_hook_obstacle(action)
        if refusal:
            return Decision(refusal=refusal)
        if named:
            members = [node.id for node in cluster.nodes]
            return accept(action.inputs.get('candidates') or [], members)
        return select(
            cluster_reader.read_nodes(cluster.nodes),
            change.count,
            Criterion(self.properties['criteria']),
            action.data.get('deletion') or {},
        )

    def _find_hook_obstacle(self, action: Any) -> str:
        """Say why Senlin could not send the hook; empty if it can.

        :raises: the error of the client if Zaqar does not answer.
        """
        # Check this before the action runs. If Zaqar is down, Senlin's engine
        # fails only after it has lowered the desired capacity. A later
        # recovery would then delete other nodes.
        if not self.hook:
            return ''
        if self.hook['type'] == 'webhook':
            return NO_WEBHOOKS
        queue = self.hook['params']['queue']
        context = action.context
        message.Message(
            queue,
            user=context.user_id,
            project=context.project_id,
            domain=context.domain_id,
        ).zaqar().queue_exists(queue)
        return ''

    def write(self, action: Any, decision: Decision) -> None:
        """Write the candidates in the format of the specification."""
        if decision.refusal:
            return
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
        action.data['deletion'] = {
            **(action.data.get('deletion') or {}),
            'count': len(candidates),
            'candidates': candidates,
            **{key: self.properties[key] for key in WRITTEN},
        }
        if action.action == consts.NODE_DELETE:
            # Senlin's engine sends no hook for NODE_DELETE.
            return
        if action.action == consts.CLUSTER_DEL_NODES:
            # If the request names a node twice, the engine would delete the
            # node twice. So remove duplicates. Nodes of other clusters may
            # stay in the list, because the engine ignores them.
            named = action.inputs.get('candidates') or ()
            action.inputs['candidates'] = list(dict.fromkeys(named))
        if self.hook:
            # Senlin's engine reads the hook from the action's data.
            action.data['hooks'] = self.hook

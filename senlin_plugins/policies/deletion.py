# SPDX-License-Identifier: Apache-2.0

"""The deletion policy, versions 1.0 and 1.1 of its specification."""

import random
from typing import Any

from oslo_log import log as logging
from senlin.common import constraints, consts, schema
from senlin.objects import node as node_objects

from senlin_plugins import conf
from senlin_plugins.planning import selection
from senlin_plugins.policies import common

LOG = logging.getLogger(__name__)


class DeletionPolicy(common.PlacementPolicy):
    """Choose which nodes leave a cluster, and how."""

    ENABLED_AS = conf.DELETION
    IN_TREE_TYPE = 'senlin.policy.deletion'
    BOTH_WOULD = 'chooses candidates'

    VERSION = '1.1'
    VERSIONS = {
        '1.0': [{'status': consts.SUPPORTED, 'since': '2026.11'}],
        '1.1': [{'status': consts.SUPPORTED, 'since': '2026.11'}],
    }

    #: After every policy that decides how many nodes leave which region.
    PRIORITY = 400

    TARGET = [
        ('BEFORE', consts.CLUSTER_SCALE_IN),
        ('BEFORE', consts.CLUSTER_DEL_NODES),
        ('BEFORE', consts.CLUSTER_RESIZE),
        ('BEFORE', consts.NODE_DELETE),
    ]

    PROFILE_TYPE = ['ANY']

    KEYS = (
        CRITERIA,
        DESTROY_AFTER_DELETION,
        GRACE_PERIOD,
        REDUCE_DESIRED_CAPACITY,
        HOOKS,
    ) = (
        'criteria',
        'destroy_after_deletion',
        'grace_period',
        'reduce_desired_capacity',
        'hooks',
    )

    HOOK_KEYS = (TYPE, PARAMS, TIMEOUT) = ('type', 'params', 'timeout')
    PARAM_KEYS = (QUEUE, URL) = ('queue', 'url')
    #: Hook type -> the parameter that it cannot do without.
    HOOK_TYPES = {'zaqar': QUEUE, 'webhook': URL}

    properties_schema = {
        CRITERIA: schema.String(
            'Criteria used in selecting candidates for deletion.',
            default=selection.Criterion.RANDOM.value,
            constraints=[
                constraints.AllowedValues(
                    [criterion.value for criterion in selection.Criterion]
                ),
            ],
        ),
        DESTROY_AFTER_DELETION: schema.Boolean(
            'Whether a node should be completely destroyed after deletion. '
            'Default to True.',
            default=True,
        ),
        GRACE_PERIOD: common.WholeNumber(
            'Number of seconds before real deletion happens.', default=0
        ),
        REDUCE_DESIRED_CAPACITY: schema.Boolean(
            'Whether the desired capacity of the cluster should be reduced '
            'along the deletion. Default to True.',
            default=True,
        ),
        HOOKS: schema.Map(
            'Lifecycle hook; needs version 1.1.',
            schema={
                TYPE: schema.String(
                    'Type of lifecycle hook.',
                    default='zaqar',
                    constraints=[constraints.AllowedValues([*HOOK_TYPES])],
                ),
                PARAMS: schema.Map(
                    'Where the message goes.',
                    schema={
                        QUEUE: schema.String(
                            'Zaqar queue to receive lifecycle hook message.',
                            default='',
                        ),
                        URL: schema.String(
                            'Url sink to which to send lifecycle hook '
                            'message.',
                            default='',
                        ),
                    },
                    default={},
                ),
                TIMEOUT: common.WholeNumber(
                    'Number of seconds before actual deletion happens.',
                    default=0,
                ),
            },
            default={},
        ),
    }

    def find_problem(self) -> str:
        """Say what is wrong with the values, or return an empty string."""
        problem = _not_one_of(
            self.CRITERIA,
            self.properties[self.CRITERIA],
            [criterion.value for criterion in selection.Criterion],
        )
        if problem:
            return problem
        grace = self.properties[self.GRACE_PERIOD]
        if grace < 0:
            return f"'grace_period' is '{grace}': it must be 0 or greater."
        hooks = self.properties[self.HOOKS]
        if not hooks:
            return ''
        if self.type.endswith('-1.0'):
            return (
                "'hooks' needs version 1.1 of the policy, and the spec's "
                "'version' is '1.0'."
            )
        if hooks[self.TIMEOUT] < 0:
            return (
                f"'timeout' of 'hooks' is '{hooks[self.TIMEOUT]}': it must "
                'be 0 or greater.'
            )
        problem = _not_one_of(
            f"{self.TYPE}' of '{self.HOOKS}",
            hooks[self.TYPE],
            [*self.HOOK_TYPES],
        )
        if problem:
            return problem
        needed = self.HOOK_TYPES[hooks[self.TYPE]]
        if not hooks[self.PARAMS].get(needed):
            return (
                f"'params' of a hook of type '{hooks[self.TYPE]}' must have "
                f"'{needed}'."
            )
        return ''

    @common.answering_errors
    def pre_op(self, cluster_id: str, action: Any) -> None:
        """Choose the candidates (S1 to S7).

        :param cluster_id: the cluster's id.
        :param action: the action; the decision goes into its data.
        """
        if action.action == consts.NODE_DELETE:
            self._decide(action, [action.entity.id])
            return
        if action.action == consts.CLUSTER_DEL_NODES:
            # The engine would delete one that is named twice two times.
            asked = _asked_for(cluster_id, action)
            action.inputs['candidates'] = asked
            self._keep_hooks(action)
            self._decide(action, asked)
            return
        cluster = common.cluster_of(action, cluster_id)
        change = common.change_of(action, cluster)
        if change.growing or not change.count:
            return
        self._keep_hooks(action)
        self._decide(action, self._choose(action, cluster, change.count))

    def _choose(self, action: Any, cluster: Any, count: int) -> list[str]:
        """Select candidates, within the regions or zones decided before."""
        deletion = action.data.get('deletion') or {}
        nodes = common.nodes_of(action, cluster)
        groups: list[str | None] = []
        # The specification spells it "regions" and "region".
        per_group = deletion.get('regions') or deletion.get('region')
        if per_group:
            groups += common.regions_of(action, cluster, nodes)
        elif deletion.get('zones'):
            per_group = deletion['zones']
            groups += map(_zone, nodes)
        chosen = selection.select(
            nodes,
            count,
            selection.Criterion(self.properties[self.CRITERIA]),
            # Nobody gains from guessing which nodes leave.
            random.Random(),  # noqa: S311
            groups,
            per_group,
        )
        for group, missing in chosen.shortage.items():
            LOG.warning(
                "Action %(action)s: '%(group)s' has %(missing)s nodes less "
                'than are to be removed from it; they are taken from the '
                'rest of the cluster.',
                {
                    'action': action.id,
                    'group': group,
                    'missing': missing,
                },
            )
        return list(chosen.candidates)

    def _keep_hooks(self, action: Any) -> None:
        """Put the hook where the engine looks for it."""
        hooks = self.properties[self.HOOKS]
        if hooks:
            action.data['hooks'] = dict(hooks)

    def _decide(self, action: Any, candidates: list[str]) -> None:
        """Write the decision as the specification lays it out."""
        deletion = dict(action.data.get('deletion') or {})
        deletion['count'] = len(candidates)
        deletion['candidates'] = candidates
        for key in (
            self.DESTROY_AFTER_DELETION,
            self.GRACE_PERIOD,
            self.REDUCE_DESIRED_CAPACITY,
        ):
            deletion[key] = self.properties[key]
        action.data['deletion'] = deletion
        common.answer(action, selection.CANDIDATES_GENERATED)


def _not_one_of(name: str, value: str, allowed: list[str]) -> str:
    """Say that a value is not allowed.

    Senlin's constraint takes a list of allowed values for an allowed value.

    :param name: the property's name.
    :param value: what the spec says.
    :param allowed: what is accepted.
    :returns: what is wrong, or an empty string.
    """
    if value in allowed:
        return ''
    return f"'{name}' is '{value}': it must be one of {', '.join(allowed)}."


def _asked_for(cluster_id: str, action: Any) -> list[str]:
    """Return the nodes that a CLUSTER_DEL_NODES names, none twice.

    :param cluster_id: the cluster's id.
    :param action: the action.
    :returns: node ids, all of them members of the cluster.
    :raises: :class:`common.Refused` when they are not: by a webhook, or
        because they are gone since the API looked.
    """
    named = action.inputs.get('candidates') or []
    if not isinstance(named, list) or not all(
        isinstance(node_id, str) for node_id in named
    ):
        raise common.Refused(
            f"The value of 'candidates' is '{named}': it must be a list of "
            'node ids.'
        )
    members = set(node_objects.Node.ids_by_cluster(action.context, cluster_id))
    strangers = [node_id for node_id in named if node_id not in members]
    if strangers:
        raise common.Refused(
            f"The 'candidates' '{', '.join(strangers)}' are not in the "
            'cluster.'
        )
    return list(dict.fromkeys(named))


def _zone(node: Any) -> str | None:
    """Return the availability zone that a node's data names."""
    return ((node.data or {}).get('placement') or {}).get('zone')

# SPDX-License-Identifier: Apache-2.0

"""The region placement policy, version 1.0 of its specification.

S1 to S4 are scenarios of the specification.
"""

import collections
import dataclasses
from collections.abc import Collection
from typing import Any, Final

from oslo_config import cfg
from senlin.common import consts
from senlin.common import exception as exc
from senlin.db.sqlalchemy import api as db_api
from senlin.objects import node as node_objects
from senlin.policies import base, region_placement

from os_placement_plugins import logger
from senlin_plugins import (
    action_data,
    capacity,
    cluster,
    conf,
    endpoints,
    node_records,
)
from senlin_plugins.planning import node_region, plan, sizing, spec
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.node_region import INIT, NO_REGION
from senlin_plugins.planning.plan import Snapshot
from senlin_plugins.planning.sizing import Change
from senlin_plugins.profiles import RegionAware

LOG = logger.get_logger(__name__)
# Senlin reads senlin.conf before it imports its policies, so the options of
# this package can be checked here.
conf.load_options(cfg.CONF)

#: Actions that create one node.
SINGLE_CREATIONS: Final = (consts.NODE_CREATE, consts.NODE_RECOVER)
NOT_WAITING: Final = (
    'The node no longer waits for its creation: a recovery has created it, or '
    'it has been deleted.'
)


class RegionPlacementPolicy(base.Policy):  # type: ignore[misc]  # untyped base
    """Spread the nodes of a cluster over regions, by weight and cap."""

    # Senlin's base class sets this attribute, but has no type hints.
    name: str

    VERSION = '1.0'
    VERSIONS = {'1.0': [{'status': consts.SUPPORTED, 'since': '2026.11'}]}

    #: Senlin calls policies in the order of this number. This policy adds
    #: regions to the placements of the affinity and zone policies (300). The
    #: deletion policy (400) follows the plan of this policy.
    PRIORITY = 350

    TARGET = [
        ('BEFORE', consts.CLUSTER_SCALE_OUT),
        ('BEFORE', consts.CLUSTER_SCALE_IN),
        ('BEFORE', consts.CLUSTER_RESIZE),
        ('BEFORE', consts.NODE_CREATE),
        ('AFTER', consts.NODE_CREATE),
        # The specification does not have recoveries. But a recovery may create
        # nodes, and each new node needs a region.
        ('BEFORE', consts.CLUSTER_RECOVER),
        ('AFTER', consts.CLUSTER_RECOVER),
        ('BEFORE', consts.NODE_RECOVER),
        # Nor does the specification have the attachment of other policies.
        ('BEFORE', consts.CLUSTER_ATTACH_POLICY),
    ]

    properties_schema = (
        region_placement.RegionPlacementPolicy.properties_schema
    )

    def validate(self, context: Any, validate_props: bool = False) -> bool:
        """Check the spec.

        :param validate_props: whether to also ask Keystone for the regions.
        :raises: ``InvalidSpec``; the text says what is wrong and which values
            are accepted.
        """
        try:
            parsed = spec.parse_regions(self.spec)
            super().validate(context, validate_props)
        except (exc.ESchema, TypeError, ValueError) as ex:
            raise exc.InvalidSpec(message=str(ex)) from ex
        if not validate_props:
            return True
        names = sorted(region.name for region in parsed.regions)
        keystone = self.keystone(context.user_id, context.project_id)
        unknown = sorted(set(names) - set(keystone.validate_regions(names)))
        if unknown:
            raise exc.InvalidSpec(
                message=f"The specified regions '{unknown}' could not be "
                'found.'
            )
        return True

    def attach(self, target: Any, enabled: bool = True) -> tuple[bool, Any]:
        """Attach the policy, and record the regions of the cluster's nodes.

        :param target: the engine's cluster object.
        :param enabled: whether the policy is enabled on the cluster.
        :returns: (true, data for Senlin to store), or (false, reason).
        """
        rival = cluster.describe_rival(target, self.type)
        if rival:
            return False, rival
        for policy in target.policies:
            unheard = cluster.describe_unheard_events(policy)
            if unheard:
                return False, unheard
        nodes = cluster.read_nodes(target.nodes)
        for node in nodes:
            if not node.region:
                return False, (
                    f"Node '{node.id}' has no region, so no plan can count "
                    'it: set default_region_name in senlin.conf to the region '
                    'where the node is, and restart Senlin.'
                )
        profile = target.rt['profile']
        if not isinstance(profile, RegionAware):
            types = ' or '.join(map(repr, node_region.EXTENDED))
            return False, (
                f"Profile '{profile.name}' of type '{profile.type}' creates "
                'all nodes in one region, whatever the policy decides: '
                f'use a profile of type {types}.'
            )
        node_records.record_regions(
            target.nodes,
            {node.id: node.region for node in nodes if not node.recorded},
        )
        return True, None

    def need_check(self, target: str, action: Any) -> bool:
        """Tell whether the policy acts on an action.

        The policy ignores the recovery of a node that has a region already,
        because the node stays in this region.
        """
        if not super().need_check(target, action):
            return False
        recovers_node = action.action == consts.NODE_RECOVER
        return not (
            recovers_node and node_region.recorded_region(action.entity)
        )

    def pre_op(self, cluster_id: str, action: Any) -> None:
        """Decide about an action before it runs; never raise an exception.

        An exception would make the action fail without a reason (NODE_*) or
        with only a traceback (CLUSTER_*).

        :param action: the action. Its data get the decision, or the status
            ERROR with the reason for a refusal. The API shows these data.
        """
        try:
            inputs = sizing.parse_inputs(action.action, action.inputs)
            action.inputs.update(inputs)
        except Exception as ex:
            # A recovery with wrong inputs does not go on.
            refusal = action_data.describe_error(self.name, action, ex)
            action_data.refuse_action(self.name, action, refusal)
            return
        decision: Decision | None
        try:
            if action.action == consts.CLUSTER_ATTACH_POLICY:
                policy_id = action.inputs['policy_id']
                policy = base.Policy.load(action.context, policy_id)
                unheard = cluster.describe_unheard_events(policy)
                decision = Decision(refusal=unheard)
            elif action.action in SINGLE_CREATIONS:
                decision = self._decide_single(cluster_id, action)
            else:
                decision = self._decide(action)
            if decision is None:
                return
            if decision.left:
                action_data.write_count(action, decision.left)
                return
            if decision.node_regions:
                node_records.record_regions(
                    action.entity.nodes, decision.node_regions
                )
            action_data.write_decision(action, decision)
            refusal = decision.refusal
            if not refusal:
                action_data.allow_action(action)
                return
        except Exception as ex:
            refusal = action_data.describe_error(self.name, action, ex)
        self._refuse(action, refusal)

    def _decide(self, action: Any) -> Decision:
        """Decide which regions gain or lose nodes (scenarios S1 to S3)."""
        target = action.entity
        parsed = spec.parse_regions(self.spec)
        nodes = cluster.read_nodes(target.nodes)
        change = cluster.read_change(action, target)
        recovers = action.action == consts.CLUSTER_RECOVER
        waits = recovers and any(node.region == NO_REGION for node in nodes)
        if not change.count and not waits:
            return Decision(left=change)
        current = plan.count_by_region(nodes)
        names = {region.name for region in parsed.regions}
        if not change.growing:
            # Senlin cannot delete nodes in a region that does not answer. So
            # also check regions that have nodes but are not in the spec.
            names.update(current.keys() - {NO_REGION, ''})
        snapshot = Snapshot(
            change=change,
            regions=parsed.regions,
            current=current,
            out_of_reach=self._find_out_of_reach(
                target, target.rt['profile'], names, change.growing
            ),
            nodes=nodes,
            limits=cluster.read_limits(target, action.action),
        )
        if recovers:
            return plan.plan_recovery(snapshot)
        return plan.plan_change(snapshot)

    def _decide_single(self, cluster_id: str, action: Any) -> Decision | None:
        """Choose the region of one node that is about to be created (S4)."""
        node = action.entity
        # While the action waited for a lock, a recovery may have created the
        # node. So read the row again.
        row = node_objects.Node.get(action.context, action.target)
        if not row or row.status != INIT:
            if action.action != consts.NODE_CREATE:
                return None
            # Without this refusal, Senlin would try to create the node again,
            # and set the existing node to ERROR.
            return Decision(refusal=NOT_WAITING)
        profile = node.rt['profile']
        if node_region.fixed_region(profile.context):
            # A region that the profile fixes takes precedence.
            return None
        parsed = spec.parse_regions(self.spec)
        names = [region.name for region in parsed.regions]
        snapshot = Snapshot(
            change=Change(growing=True, count=1),
            regions=parsed.regions,
            current={},
            out_of_reach=self._find_out_of_reach(
                cluster.read_cluster(cluster_id), profile, names, growing=True
            ),
        )
        decision: Decision = _place_node(node, cluster_id, snapshot)
        return decision

    def _find_out_of_reach(
        self, owner: Any, profile: Any, names: Collection[str], growing: bool
    ) -> set[str]:
        """Return the regions in which a profile cannot create or delete nodes.

        :param owner: the cluster, whose user's trust is used.
        :param profile: the profile of the nodes that come or go.
        :param names: the regions to check.
        :param growing: whether nodes are created.
        """
        properties = profile.spec['properties']
        services = [profile.CLIENT]
        if growing:
            services = node_region.list_services(profile.CLIENT, properties)
        keystone = self.keystone(owner.user, owner.project)
        options = cfg.CONF.senlin_plugins
        faults = endpoints.find_faults(
            keystone.session,
            keystone.validate_regions(sorted(names)),
            names,
            services,
            cfg.CONF.authentication.interface,
            options.region_timeout,
            options.check_catalog,
        )
        for name, fault in sorted(faults.items()):
            LOG.warning("Region '%s' is not used: %s.", name, fault)
        out_of_reach = set(faults)
        ties = node_region.list_ties(properties) if growing else []
        if ties:
            home = node_region.fixed_region(profile.context)
            LOG.warning(
                "New nodes of profile '%s' can only be in region '%s', "
                'because the profile contains an id from this region: %s.',
                profile.name,
                home,
                ties[0],
            )
            out_of_reach |= {*names} - {home}
        return out_of_reach

    def _refuse(self, action: Any, reason: str) -> None:
        """Refuse an action, but let a recovery of the cluster go on.

        The recovery then creates no nodes. It only recovers existing nodes. If
        the policy cannot read which nodes exist, it refuses the recovery, too.
        """
        if action.action != consts.CLUSTER_RECOVER:
            action_data.refuse_action(self.name, action, reason)
            if action.action == consts.NODE_CREATE:
                node_records.expel_node(action.entity, reason)
            return
        try:
            nodes = cluster.read_nodes(action.entity.nodes)
        except Exception as ex:
            refusal = action_data.describe_error(self.name, action, ex)
            action_data.refuse_action(self.name, action, refusal)
            return
        action_data.withhold_capacity(action, reason)
        # The engine would also create the nodes that have no region yet.
        for node in nodes:
            if node.region == NO_REGION:
                action.entity.remove_node(node.id)

    def post_op(self, cluster_id: str, action: Any) -> None:
        """Act after a recovery of the cluster, or after a NODE_CREATE.

        If the policy has refused to create the missing nodes of a recovery,
        the recovery now fails with this reason. After a NODE_CREATE, the
        desired capacity may count refused nodes: correct the capacity.
        """
        if action.action == consts.NODE_CREATE:
            try:
                capacity.correct_capacity(action.context, cluster_id)
            except Exception:
                LOG.exception(
                    'The desired capacity of cluster %s may be too high.',
                    cluster_id,
                )
            return
        reason = action_data.restore_capacity(action)
        if reason:
            action_data.refuse_action(self.name, action, reason)


@db_api.retry_on_deadlock  # type: ignore[untyped-decorator]
def _place_node(node: Any, cluster_id: str, snapshot: Snapshot) -> Decision:
    """Choose and record the region of a node, under the cluster's row lock.

    :param snapshot: the cluster, without its nodes.
    """
    with node_records.locked_members(cluster_id, node.id) as rows:
        current = collections.Counter(cluster.read_node_regions(rows))
        decision = plan.plan_change(
            dataclasses.replace(snapshot, current=current)
        )
        if not decision.refusal:
            (region,) = decision.plan
            node_records.record_region(node, region)
    return decision

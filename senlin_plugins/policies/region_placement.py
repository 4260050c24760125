# SPDX-License-Identifier: Apache-2.0

"""The region placement policy, version 1.0 of its specification.

S1 to S4 are scenarios of the specification.
"""

import dataclasses
from collections.abc import Collection, Sequence
from typing import Any, Final

from oslo_config import cfg
from oslo_log import log as logging
from senlin.common import consts, schema
from senlin.common import exception as exc
from senlin.objects import node as node_objects
from senlin.policies import base as senlin_base

from senlin_plugins import conf, node_records
from senlin_plugins.planning import apportionment, plugin_types, region_spec
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.placement import place, recover
from senlin_plugins.planning.region_spec import Spec
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.snapshot import (
    INIT,
    NO_REGION,
    Node,
    Snapshot,
    distribution,
    fixed_region,
    recorded_region,
)
from senlin_plugins.policies import (
    base,
    capacity,
    cluster_reader,
    plan_writer,
)
from senlin_plugins.profiles import region_aware
from senlin_plugins.regions import health

LOG = logging.getLogger(__name__)

#: Actions that create one node.
SINGLE_CREATIONS: Final = (consts.NODE_CREATE, consts.NODE_RECOVER)
CREATED_ALREADY: Final = 'A recovery has created the node already.'


class RegionPlacementPolicy(base.PlacementPolicy):
    """Spread the nodes of a cluster over regions, by weight and cap."""

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
    ]

    properties_schema = {
        'regions': schema.List(
            'Regions to spread the nodes over.',
            required=True,
            schema=schema.Map(
                'A region.',
                schema={
                    'name': schema.String('Name of a region.', required=True),
                    'weight': schema.Integer(
                        'Weight of the region. The default is 100.',
                        default=apportionment.DEFAULT_WEIGHT,
                    ),
                    'cap': schema.Integer(
                        'Maximum number of nodes in this region. The '
                        'default is -1 which means no cap set.',
                        default=apportionment.NO_CAP,
                    ),
                },
            ),
        ),
    }

    @property
    def content(self) -> Spec:
        """The spec of the policy, in a class that does not need Senlin."""
        return region_spec.read(self.spec)

    def check_spec(self) -> None:
        """Check the spec as :attr:`content` reads it."""
        region_spec.read(self.spec)

    def validate(self, context: Any, validate_props: bool = False) -> bool:
        """Check the spec, and whether Keystone knows the regions."""
        super().validate(context, validate_props)
        if not validate_props:
            return True
        names = sorted(region.name for region in self.content.regions)
        keystone = self.keystone(context.user_id, context.project_id)
        unknown = sorted(set(names) - set(keystone.validate_regions(names)))
        if unknown:
            raise exc.InvalidSpec(
                message=f"The specified regions '{unknown}' could not be "
                'found.'
            )
        return True

    def find_obstacle(self, cluster: Any) -> str:
        """Say why the policy cannot be attached to a cluster."""
        obstacle = super().find_obstacle(cluster)
        if obstacle:
            return obstacle
        for node, region in cluster_reader.read_unrecorded(cluster):
            if not region:
                return (
                    f"Node '{node.id}' has no region, so no plan can count "
                    'it: set default_region_name in senlin.conf to the region '
                    'where the node is, and restart Senlin.'
                )
        profile = cluster.rt['profile']
        if region_aware.is_aware(profile):
            return ''
        return (
            f"Profile '{profile.name}' of type '{profile.type}' creates "
            'all nodes in one region, whatever the policy decides: '
            'use a profile of type '
            f'{" or ".join(map(repr, plugin_types.EXTENDED))}.'
        )

    def attach(self, cluster: Any, enabled: bool = True) -> tuple[bool, Any]:
        """Attach the policy, and record the regions of the cluster's nodes."""
        attached, data = super().attach(cluster, enabled)
        if attached:
            unrecorded = cluster_reader.read_unrecorded(cluster)
            plan_writer.record_missing_regions(unrecorded)
        return attached, data

    def need_check(self, target: str, action: Any) -> bool:
        """Tell whether the policy acts on an action.

        The policy ignores the recovery of a node that has a region already,
        because the node stays in this region.
        """
        if not super().need_check(target, action):
            return False
        recovers_node = action.action == consts.NODE_RECOVER
        return not (recovers_node and recorded_region(action.entity))

    def decide(self, cluster: Any, action: Any) -> Decision | None:
        """Decide which regions gain or lose nodes (scenarios S1 to S4)."""
        if action.action in SINGLE_CREATIONS:
            return self._place_single(action, cluster)
        nodes = cluster_reader.read_nodes(cluster.nodes)
        change = cluster_reader.read_change(action, cluster)
        recovers = action.action == consts.CLUSTER_RECOVER
        waits = recovers and any(node.region == NO_REGION for node in nodes)
        if not change.count and not waits:
            return None
        profile = cluster.rt['profile']
        snapshot = self._snapshot(cluster, profile, change, nodes)
        if recovers:
            return recover(snapshot)
        return place(snapshot)

    def _place_single(self, action: Any, cluster: Any) -> Decision | None:
        """Choose the region of one node that is about to be created."""
        node = action.entity
        # While the action waited for a lock, a recovery may have created the
        # node. So read the row again.
        row = node_objects.Node.get(action.context, action.target)
        if not row or row.status != INIT:
            if action.action != consts.NODE_CREATE:
                return None
            # Without this refusal, Senlin would try to create the node again,
            # and set the existing node to ERROR.
            return Decision(refusal=CREATED_ALREADY)
        profile = node.rt['profile']
        if fixed_region(profile.context):
            # A region that the profile fixes takes precedence (scenario S4).
            return None
        change = Change(growing=True, count=1)
        snapshot = self._snapshot(cluster, profile, change, nodes=())

        def decide(other_nodes: Sequence[Any]) -> Decision:
            """Decide by the nodes as they are in the transaction."""
            current = cluster_reader.count_nodes(other_nodes)
            return place(dataclasses.replace(snapshot, current=current))

        decision: Decision = node_records.place_node(node, cluster.id, decide)
        return decision

    def _snapshot(
        self,
        cluster: Any,
        profile: Any,
        change: Change,
        nodes: Sequence[Node],
    ) -> Snapshot:
        """Return the snapshot of a cluster, on which the decision depends.

        :param profile: the profile of the nodes that come or go.
        :param change: the number of nodes that come or go.
        :param nodes: the nodes of the cluster; empty if the caller sets the
            field ``current`` later.
        """
        regions = self.content.regions
        current = distribution(nodes)
        names = {region.name for region in regions}
        if not change.growing:
            # Senlin cannot delete nodes in a region that does not answer. So
            # also check regions that have nodes but are not in the spec.
            names.update(current.keys() - {NO_REGION, ''})
        return Snapshot(
            change=change,
            regions=regions,
            current=current,
            out_of_reach=self._find_out_of_reach(
                cluster, profile, names, change.growing
            ),
            nodes=nodes,
        )

    def _find_out_of_reach(
        self, cluster: Any, profile: Any, names: Collection[str], growing: bool
    ) -> set[str]:
        """Return the regions in which a profile cannot create or delete nodes.

        :param profile: the profile of the nodes that come or go.
        :param names: the regions to check.
        :param growing: whether nodes are created.
        """
        services = profile.required_services()
        if not growing:
            # To delete nodes, the service that has created them is enough.
            services = services[:1]
        keystone = self.keystone(cluster.user, cluster.project)
        options = cfg.CONF[conf.GROUP]
        faults = health.find_faults(
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
        if growing:
            out_of_reach |= cluster_reader.excluded_by_ties(names, profile)
        return out_of_reach

    def write(self, action: Any, decision: Decision) -> None:
        """Write ``creation`` or ``deletion`` as Senlin reads them."""
        plan_writer.write(action, decision)

    def refuse(self, action: Any, reason: str) -> None:
        """Refuse an action, but let a recovery of the cluster go on.

        The recovery then creates no nodes. It only recovers existing nodes.
        """
        if action.action != consts.CLUSTER_RECOVER:
            super().refuse(action, reason)
            if action.action == consts.NODE_CREATE:
                plan_writer.expel(action.entity, reason)
            return
        action.data['status'] = senlin_base.CHECK_OK
        # Without these lines, the engine would ignore the refusal: it would
        # add missing nodes, and create the nodes that have no region yet.
        restores = action.inputs.pop('check_capacity', None)
        left = {'count': 0, 'reason': reason, 'check_capacity': restores}
        action.data['creation'] = left
        for node in plan_writer.unplaced(action.entity):
            action.entity.remove_node(node.id)

    def post_op(self, cluster_id: str, action: Any) -> None:
        """Act after a recovery of the cluster, or after a NODE_CREATE.

        If the policy has refused to create the missing nodes of a recovery,
        the recovery now fails with this reason. After a NODE_CREATE, the
        desired capacity may count refused nodes: correct the capacity.
        """
        if action.action == consts.NODE_CREATE:
            try:
                capacity.correct(action.context, cluster_id)
            except Exception:
                LOG.exception(
                    'The desired capacity of cluster %s may be too high.',
                    cluster_id,
                )
            return
        creation = action.data.get('creation') or {}
        if creation.get('reason'):
            restores = creation.pop('check_capacity', None)
            if restores:
                action.inputs['check_capacity'] = restores
            super().refuse(action, creation['reason'])

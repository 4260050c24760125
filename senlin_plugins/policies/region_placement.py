# SPDX-License-Identifier: Apache-2.0

"""The region placement policy, version 1.0 of its specification.

S1 to S4 are scenarios of the specification.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Final

from oslo_config import cfg
from oslo_log import log as logging
from senlin.common import consts, schema
from senlin.common import exception as exc
from senlin.objects import node as node_objects
from senlin.policies import base as senlin_base

from senlin_plugins import conf
from senlin_plugins.cluster import capacity, cluster_row
from senlin_plugins.cluster.cluster_row import Row
from senlin_plugins.cluster.node_records import record_region
from senlin_plugins.planning import apportionment, plugin_types, region_spec
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.placement import place, recover
from senlin_plugins.planning.region_spec import Override, Spec
from senlin_plugins.planning.region_state import Fault, Notes
from senlin_plugins.planning.region_view import View
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
    cluster_reader,
    plan_writer,
    unplanned_nodes,
)
from senlin_plugins.profiles import region_aware
from senlin_plugins.regions import health

LOG = logging.getLogger(__name__)

#: Actions by which existing nodes join a cluster. They need no plan.
JOINS: Final = (consts.CLUSTER_ADD_NODES, consts.CLUSTER_REPLACE_NODES)
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
        *(('BEFORE', join) for join in JOINS),
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
        """Say why the policy cannot be attached to a cluster.

        The option ``unaware_profile`` decides whether a profile that is not
        region-aware is such an obstacle, or only causes a warning.
        """
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
        reason = (
            f"Profile '{profile.name}' of type '{profile.type}' creates "
            'all nodes in one region, whatever the policy decides: '
            'use a profile of type '
            f'{" or ".join(map(repr, plugin_types.EXTENDED))}.'
        )
        if cfg.CONF[conf.GROUP].unaware_profile == conf.REFUSE:
            return reason
        LOG.warning(
            "Policy '%s' only plans for cluster %s. %s",
            self.name,
            cluster.id,
            reason,
        )
        return ''

    def attach(self, cluster: Any, enabled: bool = True) -> tuple[bool, Any]:
        """Attach the policy, and record the regions of the cluster's nodes."""
        attached, data = super().attach(cluster, enabled)
        if attached:
            plan_writer.record_missing_regions(cluster)
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

    def view(self, cluster: Row) -> View:
        """Return the view of the regions; version 1.0 reads only the spec."""
        spec = self.content
        return View(spec, Override(spec.regions))

    def prepare(self, cluster: Row, action: Any) -> View:
        """Return the view of the regions, for :meth:`decide`."""
        return self.view(cluster)

    def decide(self, cluster: Any, action: Any, view: View) -> Decision | None:
        """Decide which regions gain or lose nodes (scenarios S1 to S4)."""
        kind = action.action
        if kind in SINGLE_CREATIONS:
            return self._settle_single(action, cluster, view)
        nodes = cluster_reader.read_nodes(cluster, cluster.nodes)
        if kind in JOINS:
            joining = unplanned_nodes.read_joining(action, cluster)
            staying = unplanned_nodes.read_staying(action, nodes)
            unplanned_nodes.warn(
                self.name, action, view, joining, [*staying, *joining]
            )
            return None
        profile = cluster.rt['profile']
        change = cluster_reader.read_change(action, cluster)
        if kind == consts.CLUSTER_RECOVER:
            lost = self.find_lost(cluster, view)
            new = any(node.region == NO_REGION for node in nodes)
            if not (change.count or lost or new):
                return None
            snapshot = self.snapshot(cluster, view, profile, change, nodes)
            return recover(snapshot, lost)
        if not change.count:
            return None
        return place(self.snapshot(cluster, view, profile, change, nodes))

    def find_lost(self, cluster: Row, view: View) -> list[str]:
        """Return no ids: in version 1.0, a recovery moves no nodes."""
        return []

    def _settle_single(
        self, action: Any, cluster: Row, view: View
    ) -> Decision | None:
        """Choose the region of one node that is about to be created."""
        creates = action.action == consts.NODE_CREATE
        # While the action waited for a lock, a recovery may have created the
        # node. So read the row again.
        row = node_objects.Node.get(action.context, action.target)
        if not row or row.status != INIT:
            if not creates:
                return None
            # Without this refusal, Senlin would try to create the node again,
            # and set the existing node to ERROR.
            return Decision(refusal=CREATED_ALREADY)
        profile = action.entity.rt['profile']
        if fixed_region(profile.context):
            # A region that the profile fixes takes precedence (scenario S4).
            nodes = cluster_reader.read_nodes(cluster, cluster.nodes)
            coming = [node for node in nodes if node.id == action.target]
            unplanned_nodes.warn(self.name, action, view, coming, nodes)
            return None

        def take(notes: Notes, now: str, region: str) -> Notes:
            if region_aware.is_aware(profile):
                record_region(action.entity, region)
            return notes

        return self.settle(cluster, view, action.entity, take)

    def settle(
        self,
        cluster: Row,
        view: View,
        node: Any,
        take: Callable[[Notes, str, str], Notes],
    ) -> Decision:
        """Choose and record the region of a node, in one transaction.

        The transaction is needed because actions on several nodes of a cluster
        can run at the same time: they share the cluster's lock.

        :param cluster: the engine's cluster object, or its row.
        :param node: the engine's node object; the decision does not count this
            node.
        :param take: a function that writes the region into the node's row.
            Its arguments are the notes about the cluster's regions, the time
            and the region. It returns the new notes.
        :returns: the decision about the node.
        """
        decision = Decision()
        change = Change(growing=True, count=1)
        profile = node.rt['profile']
        snapshot = self.snapshot(cluster, view, profile, change, ())

        def edit(notes: Notes, now: str) -> Notes:
            nonlocal decision
            members = cluster_row.read_members(cluster.id)
            placed = [member for member in members if member.id != node.id]
            current = distribution(cluster_reader.read_nodes(cluster, placed))
            decision = place(dataclasses.replace(snapshot, current=current))
            if decision.refusal:
                return notes
            return take(notes, now, decision.placements[0])

        cluster_row.update_notes(cluster, edit)
        return decision

    def usable_regions(
        self, cluster: Row, profile: Any, names: set[str], growing: bool
    ) -> set[str]:
        """Return the regions, out of ``names``, that a profile can use.

        :param profile: the profile of the nodes that come or go.
        """
        if not region_aware.is_aware(profile):
            keystone = self.keystone(cluster.user, cluster.project)
            return set(keystone.validate_regions(sorted(names)))
        usable = set(names)
        for name, fault in self.find_faults(cluster, profile, names).items():
            # To delete nodes, fewer services are needed than to create nodes.
            if growing or fault.dead:
                usable.discard(name)
                LOG.warning("Region '%s' is not used: %s.", name, fault.why)
        if not growing:
            return usable
        return cluster_reader.untied(usable, profile)

    def find_faults(
        self, cluster: Row, profile: Any, names: set[str], timeout: float = 0
    ) -> dict[str, Fault]:
        """Check regions; return the faults that matter for a profile.

        :param timeout: as for :func:`senlin_plugins.regions.health.look`.
        """
        keystone = self.keystone(cluster.user, cluster.project)
        return health.look(
            keystone.session,
            keystone.validate_regions(sorted(names)),
            names,
            profile.required_services(),
            cfg.CONF.authentication.interface,
            timeout,
            cfg.CONF[conf.GROUP].check_catalog,
        )

    def snapshot(
        self,
        cluster: Row,
        view: View,
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
        current = distribution(nodes)
        names = set(view.names)
        if not change.growing:
            # Senlin cannot delete nodes in a region that does not answer. So
            # also check regions that have nodes but are not in the spec.
            names.update(current.keys() - {NO_REGION, ''})
        usable = self.usable_regions(cluster, profile, names, change.growing)
        return Snapshot(
            change=change,
            regions=view.override.regions,
            current=current,
            out_of_reach=names - usable,
            nodes=nodes,
            failing=view.states,
        )

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

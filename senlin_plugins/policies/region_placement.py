# SPDX-License-Identifier: Apache-2.0

"""The region placement policy, version 1.0 of its specification."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from oslo_config import cfg
from oslo_log import log as logging
from senlin.common import consts, schema
from senlin.common import context as senlin_context
from senlin.common import exception as exc
from senlin.objects import node as node_objects
from senlin.policies import base as senlin_base

from senlin_plugins import conf
from senlin_plugins.planning import apportionment
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.placement import place
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.snapshot import Node, Snapshot, distribution
from senlin_plugins.policies import base, cluster_reader
from senlin_plugins.policies.whole_number import WholeNumber
from senlin_plugins.profiles import region_aware
from senlin_plugins.regions.node_records import record_region

LOG = logging.getLogger(__name__)


class RegionPlacementPolicy(base.PlacementPolicy):
    """Spread the nodes of a cluster over regions, by weight and cap."""

    ENABLED_AS = conf.REGION_PLACEMENT
    IN_TREE_TYPE = 'senlin.policy.region_placement'
    BOTH_WOULD = 'plans regions'

    VERSION = '1.0'
    VERSIONS = {'1.0': [{'status': consts.SUPPORTED, 'since': '2026.11'}]}

    #: After the affinity and zone policies (300), whose placements it
    #: completes; before the deletion policy (400), which follows its plan.
    PRIORITY = 350

    TARGET = [
        ('BEFORE', consts.CLUSTER_SCALE_OUT),
        ('BEFORE', consts.CLUSTER_SCALE_IN),
        ('BEFORE', consts.CLUSTER_RESIZE),
        ('BEFORE', consts.NODE_CREATE),
        # Not in the specification: with check_capacity, a recovery creates
        # nodes, and they need a region like any other.
        ('BEFORE', consts.CLUSTER_RECOVER),
        ('AFTER', consts.CLUSTER_RECOVER),
    ]

    KEYS = (REGIONS,) = ('regions',)

    REGION_KEYS = (NAME, WEIGHT, CAP) = ('name', 'weight', 'cap')

    properties_schema = {
        REGIONS: schema.List(
            'Regions to spread the nodes over.',
            required=True,
            schema=schema.Map(
                'A region.',
                schema={
                    NAME: schema.String('Name of a region.', required=True),
                    WEIGHT: WholeNumber(
                        'Weight of the region. The default is 100.',
                        default=apportionment.DEFAULT_WEIGHT,
                    ),
                    CAP: WholeNumber(
                        'Maximum number of nodes in this region. The '
                        'default is -1 which means no cap set.',
                        default=apportionment.NO_CAP,
                    ),
                },
            ),
        ),
    }

    @property
    def spec_regions(self) -> list[apportionment.Region]:
        """The regions of the spec, in the order of the spec."""
        return [
            apportionment.Region(r[self.NAME], r[self.WEIGHT], r[self.CAP])
            for r in self.properties[self.REGIONS]
        ]

    def find_problems(self) -> Iterator[str]:
        """Yield what is wrong with the regions."""
        yield apportionment.find_problem(self.spec_regions)

    def validate(self, context: Any, validate_props: bool = False) -> bool:
        """Check the spec, and that Keystone knows the regions."""
        super().validate(context, validate_props)
        if not validate_props:
            return True
        names = sorted(region.name for region in self.spec_regions)
        keystone = self.keystone(context.user_id, context.project_id)
        unknown = sorted(set(names) - set(keystone.validate_regions(names)))
        if unknown:
            raise exc.InvalidSpec(
                message=f"The specified regions '{unknown}' could not be "
                'found.'
            )
        return True

    def find_obstacle(self, cluster: Any) -> str:
        """Say why a plan could not take effect on a cluster."""
        obstacle = super().find_obstacle(cluster) or _find_lost(cluster)
        profile = cluster.rt['profile']
        if obstacle or region_aware.is_aware(profile):
            return obstacle
        reason = (
            f"Profile '{profile.name}' of type '{profile.type}' creates "
            'all nodes in one region, whatever the policy decides: '
            "use a profile of type 'senlin_plugins.nova.server' or "
            "'senlin_plugins.heat.stack'."
        )
        if cfg.CONF[conf.GROUP].unaware_profile == conf.REFUSE:
            return reason
        LOG.warning(
            "Policy '%(policy)s' only plans for cluster %(cluster)s. "
            '%(reason)s',
            {'policy': self.name, 'cluster': cluster.id, 'reason': reason},
        )
        return ''

    def attach(self, cluster: Any, enabled: bool = True) -> tuple[bool, Any]:
        """Attach, and record where the nodes of the cluster are."""
        attached, data = super().attach(cluster, enabled)
        if attached:
            _record_regions(cluster)
        return attached, data

    def decide(self, cluster_id: str, action: Any) -> Decision | None:
        """Decide which regions nodes come to or leave (S1 to S4)."""
        cluster = cluster_reader.read_cluster(action, cluster_id)
        # That of the node or of the cluster that the action is about.
        profile = action.entity.rt['profile']
        change = cluster_reader.read_change(action, cluster)
        if not change.count:
            return None
        own_region = region_aware.own_region(profile)
        if own_region and action.action == consts.NODE_CREATE:
            # The profile's region takes precedence (S4).
            nodes = cluster_reader.read_nodes(action, cluster)
            self._warn(action.entity, profile.name, own_region, cluster, nodes)
            return None
        nodes = cluster_reader.read_nodes(action, cluster)
        return place(self.snapshot(cluster, profile, change, nodes))

    def regions_for(self, cluster: Any) -> Sequence[apportionment.Region]:
        """Return the regions that count for a cluster.

        :param cluster: the engine's cluster object.
        """
        return self.spec_regions

    def usable_regions(
        self, cluster: Any, profile: Any, growing: bool
    ) -> set[str]:
        """Return the regions of the policy that a profile can use.

        :param cluster: the engine's cluster object.
        :param profile: the profile of the nodes that come or go.
        :param growing: whether nodes come.
        """
        names = [region.name for region in self.spec_regions]
        keystone = self.keystone(cluster.user, cluster.project)
        known = set(keystone.validate_regions(names))
        return cluster_reader.find_usable(keystone, known, profile, growing)

    def snapshot(
        self, cluster: Any, profile: Any, change: Change, nodes: list[Node]
    ) -> Snapshot:
        """Return what is decided on.

        :param cluster: the engine's cluster object.
        :param profile: the profile of the nodes that come or go.
        :param change: how many these are.
        :param nodes: the nodes of the cluster that count.
        """
        counted = self.regions_for(cluster)
        usable = self.usable_regions(cluster, profile, change.growing)
        current = distribution(nodes, change.growing)
        gone = {region.name for region in counted} - usable
        return Snapshot(change, counted, current, gone, nodes)

    def write(self, action: Any, decision: Decision) -> None:
        """Write ``creation`` or ``deletion``, and make it happen."""
        field = 'deletion' if decision.candidates else 'creation'
        written = dict(action.data.get(field) or {})
        written['count'] = sum(decision.plan.values())
        written['regions'] = dict(decision.plan)
        action.data[field] = written
        profile = action.entity.rt['profile']
        if decision.candidates:
            # Senlin's own deletion policy fails on a node without a region.
            _record_regions(action.entity)
            # A deletion policy, this package's or Senlin's own, replaces
            # them by those that its criterion chooses in each region.
            written['candidates'] = list(decision.candidates)
        elif not region_aware.is_aware(profile):
            LOG.warning(
                'The plan for action %(action)s has no effect: profile '
                "'%(profile)s' of type '%(type)s' is not region-aware.",
                {
                    'action': action.id,
                    'profile': profile.name,
                    'type': profile.type,
                },
            )
        elif action.action == consts.NODE_CREATE:
            record_region(action.entity, decision.placements[0])
            self.check_room(action, decision.placements[0])
        else:
            placement = action.data.get('placement') or {}
            action.data['placement'] = _merge(placement, decision.placements)

    def check_room(self, action: Any, region: str) -> None:
        """Log that actions at the same moment have exceeded a cap.

        :param action: an action on a node.
        :param region: where the node comes to; its data say so already.
        """
        cluster = cluster_reader.read_cluster(action, action.entity.cluster_id)
        nodes = cluster_reader.read_nodes(action, cluster)
        others = [node for node in nodes if node.id != action.target]
        overrun = apportionment.find_overrun(
            self.regions_for(cluster), distribution(others, True), region
        )
        if overrun:
            LOG.warning(
                "Node %(node)s comes to region '%(region)s' at the same "
                'moment as others: %(overrun)s',
                {
                    'node': action.target,
                    'region': region,
                    'overrun': overrun,
                },
            )

    def refuse(self, action: Any, reason: str) -> None:
        """Refuse an action; a recovery first mends the nodes there are."""
        if action.action != consts.CLUSTER_RECOVER:
            super().refuse(action, reason)
            if action.action == consts.NODE_CREATE:
                _expel(action.entity, reason)
            return
        action.data['status'] = senlin_base.CHECK_OK
        action.data['creation'] = {'count': 0, 'reason': reason}
        # The engine would create the missing nodes without a plan.
        action.inputs['check_capacity'] = False

    def post_op(self, cluster_id: str, action: Any) -> None:
        """Let a recovery fail in the end that lacks nodes."""
        reason = (action.data.get('creation') or {}).get('reason')
        if reason:
            action.inputs['check_capacity'] = True
            self.refuse_at_last(action, reason)

    def refuse_at_last(self, action: Any, reason: str) -> None:
        """Let an action fail that has done what it could.

        :param action: the action.
        :param reason: what the user reads.
        """
        super().refuse(action, reason)

    def _warn(
        self,
        node: Any,
        profile: str,
        region: str,
        cluster: Any,
        nodes: list[Node],
    ) -> None:
        """Log that a profile sends a node where the policy would not."""
        overrun = apportionment.find_overrun(
            self.regions_for(cluster),
            distribution(nodes, growing=True),
            region,
        )
        if overrun:
            LOG.warning(
                "Profile '%(profile)s' creates node %(node)s in region "
                "'%(region)s' against policy '%(policy)s': %(overrun)s "
                "Remove 'region_name' from the profile's context.",
                {
                    'profile': profile,
                    'node': node.id,
                    'region': region,
                    'policy': self.name,
                    'overrun': overrun,
                },
            )


def _expel(node: Any, reason: str) -> None:
    """Take a node that cannot be created out of its cluster."""
    # As Senlin does with a node above max_size. In the cluster, a recovery
    # would create it in the default region.
    status = {'status': consts.NS_ERROR, 'status_reason': reason}
    try:
        node_objects.Node.update(
            senlin_context.get_admin_context(),
            node.id,
            {'cluster_id': '', **status},
        )
    except Exception:
        # A policy never raises: the node may be gone, or the database away.
        LOG.exception('Node %s could not leave its cluster.', node.id)


def _find_lost(cluster: Any) -> str:
    """Say which node of a cluster is in no known region, if any."""
    for node, region in cluster_reader.read_unrecorded(cluster):
        if not region:
            return (
                f"Node '{node.id}' has no region, so no plan can count it: "
                'set default_region_name in senlin.conf to the region where '
                'the node is, and restart Senlin.'
            )
    return ''


def _record_regions(cluster: Any) -> None:
    """Record the regions of nodes that were adopted, or created elsewhere."""
    for node, region in cluster_reader.read_unrecorded(cluster):
        if region:
            record_region(node, region)


def _merge(placement: dict[str, Any], targets: list[str]) -> dict[str, Any]:
    """Give each new node its region, and keep what others decided for it."""
    others = itertools.chain(
        placement.get('placements') or (), itertools.repeat({})
    )
    placements = [
        {**next(others), 'region_name': region} for region in targets
    ]
    return {**placement, 'count': len(targets), 'placements': placements}

# SPDX-License-Identifier: Apache-2.0

"""The region placement policy, version 1.1: regions fail.

Version 1.0 is the published document. This version goes on from there: it
knows regions that are out or full, moves nodes that are recreated, and reads
weights and caps from the cluster's metadata.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from oslo_log import log as logging
from senlin.common import constraints, consts, schema

from senlin_plugins.planning import failing, region_spec
from senlin_plugins.planning.apportionment import Region
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.placement import place
from senlin_plugins.planning.region_spec import Strategy
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.snapshot import Snapshot
from senlin_plugins.policies import reading, survey
from senlin_plugins.policies.region_placement import RegionPlacementPolicy
from senlin_plugins.profiles import records, regions

LOG = logging.getLogger(__name__)

#: How much of an error in the metadata is logged.
LONGEST = 200
#: Actions in which nodes are created anew.
RECOVERIES = (consts.CLUSTER_RECOVER, consts.NODE_RECOVER)


class RegionFailoverPolicy(RegionPlacementPolicy):
    """Spread the nodes of a cluster over those regions that work."""

    VERSION = '1.1'
    VERSIONS = {'1.1': [{'status': consts.SUPPORTED, 'since': '2026.11'}]}

    TARGET = [
        *RegionPlacementPolicy.TARGET,
        ('BEFORE', consts.CLUSTER_CHECK),
        ('BEFORE', consts.CLUSTER_DELETE),
        ('BEFORE', consts.CLUSTER_DEL_NODES),
        ('BEFORE', consts.NODE_DELETE),
        ('BEFORE', consts.NODE_RECOVER),
    ]

    KEYS = (STRATEGY,) = ('strategy',)

    properties_schema = {
        **RegionPlacementPolicy.properties_schema,
        STRATEGY: schema.String(
            'What to do while a region is out or full: balanced, even or '
            'failover.',
            default=Strategy.BALANCED.value,
            constraints=[constraints.AllowedValues([*Strategy])],
        ),
    }

    def find_problems(self) -> Iterator[str]:
        """Yield what is wrong with the regions or the strategy."""
        yield from super().find_problems()
        strategy = self.properties[self.STRATEGY]
        if strategy not in list(Strategy):
            yield (
                f"'strategy' is '{strategy}': it must be one of "
                f'{", ".join(Strategy)}.'
            )

    def regions_for(self, cluster: Any) -> Sequence[Region]:
        """Return the regions with what the cluster's owner has set."""
        value = (cluster.metadata or {}).get(region_spec.METADATA_KEY)
        if value is None:
            return self.spec_regions
        try:
            return region_spec.override(self.spec_regions, value)
        except region_spec.SpecError as ex:
            LOG.warning(
                "Policy '%(policy)s' takes its own weights and caps for "
                'cluster %(cluster)s: %(error)s',
                {
                    'policy': self.name,
                    'cluster': cluster.id,
                    # It quotes what the cluster's owner wrote.
                    'error': repr(str(ex)[:LONGEST]),
                },
            )
            return self.spec_regions

    def detach(self, cluster: Any) -> tuple[bool, str]:
        """Detach; what the nodes were told counts no more."""
        for node in cluster.nodes:
            records.mark(node, out=None, move_to=None)
        return True, ''

    def decide(self, cluster_id: str, action: Any) -> Decision | None:
        """Look at the regions, then decide around those that fail."""
        cluster = reading.read_cluster(action, cluster_id)
        profile = cluster.rt['profile']
        kind = action.action
        known = ('BEFORE', kind) in RegionPlacementPolicy.TARGET
        if not regions.is_aware(profile):
            return super().decide(cluster_id, action) if known else None
        names = [region.name for region in self.spec_regions]
        keystone = self.keystone(cluster.user, cluster.project)
        states = survey.look(keystone, profile, names, cluster)
        lost: set[str] = set()
        if kind in RECOVERIES:
            lost = {n.id for n in cluster.nodes if _is_lost(n, states)}
        locked = action.target == cluster_id
        survey.keep(cluster, states, locked, moving=lost)
        if states:
            action.data[failing.DATA_KEY] = states
        if kind == consts.CLUSTER_DELETE:
            return Decision(refusal=_find_left(cluster))
        moves: Mapping[str, str] = {}
        decision = None
        if kind in RECOVERIES:
            moves, decision = self._recover(action, cluster, profile, lost)
        elif known:
            decision = super().decide(cluster_id, action)
        _mark(action, cluster, moves)
        if not locked and moves:
            self.check_room(action, moves[action.target])
        return decision or Decision()

    def known_regions(self, cluster: Any, names: Sequence[str]) -> set[str]:
        """Return the regions that Keystone knew when they were looked at."""
        if not regions.is_aware(cluster.rt['profile']):
            return super().known_regions(cluster, names)
        states = failing.read_states(cluster.data or {})
        return {
            name
            for name in names
            if states.get(name, {}).get('why') != failing.UNKNOWN
        }

    def read_snapshot(
        self, action: Any, cluster: Any, profile: Any, change: Change
    ) -> Snapshot:
        """Read what is decided on, with the regions that fail."""
        snapshot = super().read_snapshot(action, cluster, profile, change)
        snapshot = dataclasses.replace(
            snapshot,
            # Nodes can leave a region that nobody reaches.
            out_of_reach=snapshot.out_of_reach if change.growing else (),
            failing=failing.describe(cluster.data or {}),
            strategy=Strategy(self.properties[self.STRATEGY]),
        )
        if action.target == cluster.id:
            return snapshot
        # Actions on other nodes may go on at the same time.
        return failing.anticipate(snapshot, action.target)

    def write(self, action: Any, decision: Decision) -> None:
        """Write the plan, and what regions that fail are owed."""
        if decision.plan:
            super().write(action, decision)
        if decision.owed:
            action.data['creation']['owed'] = dict(decision.owed)

    def _recover(
        self, action: Any, cluster: Any, profile: Any, lost: set[str]
    ) -> tuple[Mapping[str, str], Decision]:
        """Give new regions to nodes that cannot be made where they were.

        :returns: node id -> its new region, and the plan for those that are
            missing in the cluster.
        """
        change = Change(growing=True, count=0)
        if action.action == consts.CLUSTER_RECOVER:
            change = reading.read_change(action, cluster)
        snapshot = self.read_snapshot(action, cluster, profile, change)
        moves, decision, snapshot = failing.move(snapshot, lost)
        if action.target != cluster.id:
            # The others are planned, too, so that each has its own place.
            moves = {k: moves[k] for k in moves if k == action.target}
        if moves:
            action.data['moves'] = moves
        if decision.refusal and action.target in (cluster.id, *lost):
            return moves, decision
        return moves, place(snapshot) if change.count else Decision()


def _is_lost(node: Any, states: Mapping[str, Any]) -> bool:
    """Tell whether a node cannot be made again where it was."""
    region = records.recorded_region(node)
    state = states.get(region or '')
    if not state:
        return False
    if state['state'] == failing.OUT:
        return True
    refused = records.refusal(node) or {}
    return bool(
        refused.get('region') == region and node.status != consts.NS_ACTIVE
    )


def _find_left(cluster: Any) -> str:
    """Say which servers of a cluster cannot be deleted now."""
    left = failing.read_left(cluster.data or {})
    if not left:
        return ''
    return (
        f"{len(left)} server(s) of the cluster in region '{left[0].region}' "
        'cannot be deleted now: delete the cluster when they can be.'
    )


def _mark(action: Any, cluster: Any, moves: Mapping[str, str]) -> None:
    """Tell the profiles which nodes are out of reach, and which move."""
    states = failing.read_states(cluster.data or {})
    whole = action.target == cluster.id
    for node in cluster.nodes if whole else [action.entity]:
        state = states.get(records.recorded_region(node) or '', {})
        out = state['why'] if state.get('dead') else None
        records.mark(node, out=out, move_to=moves.get(node.id))

# SPDX-License-Identifier: Apache-2.0

"""The region placement policy, version 1.1: regions fail.

Version 1.0 is the published document. This version goes on from there: it
knows regions that are out or full, finds places for nodes that are recreated,
and reads weights and caps from the cluster's metadata.
"""

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any, Final

from oslo_config import cfg
from oslo_log import log as logging
from senlin.common import constraints, consts, schema

from senlin_plugins import conf
from senlin_plugins.planning import region_spec, region_state
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.region_spec import Override, Strategy
from senlin_plugins.planning.region_state import Fault, Known, State
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.snapshot import Snapshot, recorded_region
from senlin_plugins.policies import base
from senlin_plugins.policies.region_placement import RegionPlacementPolicy
from senlin_plugins.profiles import failover, region_aware
from senlin_plugins.regions import (
    cluster_row,
    health,
    left_behind,
    node_records,
)

LOG = logging.getLogger(__name__)

#: How much of an error in the metadata is logged.
LONGEST: Final = 200
#: Seconds for which a look counts: within one action, and between two looks
#: of health checks, which ask for each node.
FRESH: Final = 60
PAUSE: Final = 15


class RegionFailoverPolicy(RegionPlacementPolicy):
    """Spread the nodes of a cluster over those regions that work."""

    VERSION = '1.1'
    VERSIONS = {'1.1': [{'status': consts.SUPPORTED, 'since': '2026.11'}]}

    TARGET = [
        *RegionPlacementPolicy.TARGET,
        ('BEFORE', consts.CLUSTER_CHECK),
        ('BEFORE', consts.CLUSTER_DELETE),
        ('BEFORE', consts.CLUSTER_DEL_NODES),
        ('BEFORE', consts.NODE_CHECK),
        ('BEFORE', consts.NODE_DELETE),
    ]

    properties_schema = {
        **RegionPlacementPolicy.properties_schema,
        'strategy': schema.String(
            'How to grow while a region is out or full: balanced or even.',
            default=Strategy.BALANCED.value,
            constraints=[constraints.AllowedValues([*Strategy])],
        ),
    }

    def in_force(self, cluster: Any) -> Override:
        """Return the regions with what the cluster's owner has set."""
        return region_spec.override(self.content.regions, cluster.metadata)

    def states(self, cluster: Any) -> Mapping[str, State]:
        """Return the regions with which something is wrong."""
        known = region_state.read(cluster.data)
        declared = self.in_force(cluster).declared
        return known.in_force(declared, health.now())

    def look(self, cluster: Any) -> Mapping[str, State]:
        """Look at the regions, and begin to clear up in those that work.

        :param cluster: the engine's cluster object; its data change.
        :returns: the regions with which something is wrong.
        """
        named = [region.name for region in self.content.regions]
        left = region_state.read(cluster.data).left
        others = map(recorded_region, cluster.nodes)
        faults = super().find_faults(
            cluster,
            cluster.rt['profile'],
            {*named, *filter(None, others), *(e.region for e in left)},
            cfg.CONF[conf.GROUP].region_timeout,
        )
        seconds = cfg.CONF[conf.GROUP].region_out_after
        now = health.now()
        before, after = cluster_row.change(
            cluster, lambda known: known.observe(faults, named, now, seconds)
        )
        _log_changes(cluster, before, after)
        states = self.states(cluster)
        left_behind.start(cluster, states)
        return states

    def state_of(self, cluster: Any, region: str | None) -> State | None:
        """Return what is wrong with a region now, if anything is."""
        state = self.states(cluster).get(region or '')
        if state and state.last and _age(state.last) > FRESH:
            whole = cluster_row.load(cluster.id)
            state = self.look(whole).get(region or '')
        return state

    def watch(self, cluster: Any, region: str | None) -> State | None:
        """Return the same for a health check, with a look now and then."""
        due = False

        def begin(known: Known) -> Known:
            """Let one of many checks at the same time look."""
            nonlocal due
            due = not known.looked or _age(known.looked) >= PAUSE
            now = health.now()
            return dataclasses.replace(known, looked=now) if due else known

        cluster_row.change(cluster, begin)
        if not due:
            return self.states(cluster).get(region or '')
        return self.look(cluster_row.load(cluster.id)).get(region or '')

    def is_unfit(self, cluster: Any, node: Any) -> bool:
        """Tell whether a node that is recreated cannot be where it was."""
        region = recorded_region(node)
        regions = self.in_force(cluster).regions
        drained = {r.name for r in regions if not r.cap}
        state = self.states(cluster).get(region or '')
        return region in drained or bool(state and state.moves)

    def need_check(self, target: str, action: Any) -> bool:
        """Look at every node that is recovered."""
        return bool((target, action.action) in self.TARGET)

    def prepare(self, cluster: Any, action: Any) -> None:
        """Look at the regions."""
        if not region_aware.is_aware(cluster.rt['profile']):
            return
        if problem := self.in_force(cluster).problem:
            LOG.warning(
                "Policy '%s' takes its own weights and caps for cluster %s: "
                '%s',
                # The last quotes what the cluster's owner wrote.
                *(self.name, cluster.id, repr(problem[:LONGEST])),
            )
        before = region_state.read(cluster.data).states
        states = self.look(cluster)
        if states:
            action.data[region_state.KEY] = {
                name: state._asdict() for name, state in states.items()
            }
        if action.action == consts.NODE_RECOVER:
            # A node that is well is replaced if somebody wants it so, not
            # because its region did not answer a moment ago.
            was = before.get(recorded_region(action.entity) or '')
            active = action.entity.status == consts.NS_ACTIVE
            action.inputs[failover.REPLACE] = active and not (was and was.dead)

    def decide(self, cluster: Any, action: Any) -> Decision | None:
        """Decide around the regions that fail."""
        kind = action.action
        if kind == consts.CLUSTER_DELETE:
            return Decision(refusal=_find_left(cluster, self.states(cluster)))
        if ('BEFORE', kind) in RegionPlacementPolicy.TARGET:
            return super().decide(cluster, action) or Decision()
        return Decision()

    def find_lost(self, cluster: Any) -> list[str]:
        """Return the ids of nodes that cannot be where they were."""
        states, lost = self.states(cluster), []
        for node in cluster.nodes:
            state = states.get(recorded_region(node) or '')
            active = node.status == consts.NS_ACTIVE
            if (state and state.is_dead) or (
                not active and self.is_unfit(cluster, node)
            ):
                lost.append(node.id)
        return lost

    def find_faults(self, *_args: Any) -> dict[str, Fault]:
        """Return nothing: states say it, and nodes can leave such regions."""
        return {}

    def snapshot(
        self, cluster: Any, profile: Any, change: Change, nodes: Any
    ) -> Snapshot:
        """Return what is decided on, with the regions that fail."""
        return dataclasses.replace(
            super().snapshot(cluster, profile, change, nodes),
            failing=self.states(cluster),
            strategy=self.content.strategy,
        )

    def post_op(self, cluster_id: str, action: Any) -> None:
        """Say what a recovery that has failed could not do."""
        super().post_op(cluster_id, action)
        if action.inputs.get('action_result') == action.RES_OK:
            return
        states = action.data.get(region_state.KEY) or {}
        words = [
            f"Region '{name}' {State(**state).describe()}."
            for name, state in states.items()
        ]
        stuck = action.data.get('stuck')
        if stuck:
            names = ', '.join(stuck)
            words.append(f'{len(stuck)} node(s) have no place: {names}.')
        if words:
            base.PlacementPolicy.refuse(self, action, ' '.join(words))


def _find_left(cluster: Any, states: Mapping[str, State]) -> str:
    """Say which servers of a cluster cannot be deleted now."""
    gone = {name for name, state in states.items() if state.dead}
    held = [
        node_records.what_it_leaves(node)
        for node in cluster.nodes
        if recorded_region(node) in gone
    ]
    left = [e for e in left_behind.listed(cluster) if e.region in gone]
    entries = [*left, *held]
    return left_behind.describe(entries) if entries else ''


def _log_changes(cluster: Any, before: Known, after: Known) -> None:
    """Log each region that has changed, whichever engine sees it first."""
    for name in sorted({*before.states, *after.states}):
        old, new = before.states.get(name), after.states.get(name)
        if old and new and old.state == new.state:
            continue
        if new:
            LOG.warning(
                "Region '%s' of cluster %s %s.",
                *(name, cluster.id, new.describe()),
            )
        else:
            LOG.info(
                "Region '%s' is used again for cluster %s.", name, cluster.id
            )


def _age(time: str) -> float:
    """Return the seconds since a time."""
    now, then = map(datetime.datetime.fromisoformat, (health.now(), time))
    return (now - then).total_seconds()

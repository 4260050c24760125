# SPDX-License-Identifier: Apache-2.0

"""The region placement policy, version 1.1, which handles region failures.

Version 1.0 implements the specification. Version 1.1 also avoids regions that
are out or full, and moves nodes to other regions when the nodes are recreated.
Version 1.1 also reads weights and caps from the cluster's metadata. The states
of a region are in :class:`~senlin_plugins.planning.region_state.Code`.
"""

import dataclasses
import datetime
from typing import Any, Final

from oslo_config import cfg
from oslo_log import log as logging
from senlin.common import constraints, consts, schema

from senlin_plugins import conf
from senlin_plugins.cluster import cluster_row, left_behind, node_records
from senlin_plugins.cluster.cluster_row import Row
from senlin_plugins.cluster.region_watcher import RegionWatcher
from senlin_plugins.planning import (
    declaration,
    region_spec,
    region_state,
    region_view,
)
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.region_state import Fault, Notes, State
from senlin_plugins.planning.region_view import View
from senlin_plugins.planning.snapshot import recorded_region
from senlin_plugins.policies import base
from senlin_plugins.policies.region_placement import RegionPlacementPolicy
from senlin_plugins.profiles import failover, region_aware
from senlin_plugins.regions import shared_look

LOG = logging.getLogger(__name__)

#: The log shows at most this many characters of an error in the metadata.
LONGEST: Final = 200
#: Seconds for which actions on nodes use the results of the last check.
FRESH: Final = 60
#: Seconds between two checks of the regions that health checks start. Without
#: this pause, the health check of each node would check all regions.
PAUSE: Final = 15


class RegionFailoverPolicy(RegionPlacementPolicy, RegionWatcher):
    """Spread the nodes of a cluster over the regions that work."""

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
            'This property has no effect.',
            default=region_spec.BALANCED,
            constraints=[constraints.AllowedValues(region_spec.STRATEGIES)],
        ),
    }

    def check_spec(self) -> None:
        """Check the spec; warn of strategy 'even', which has no effect."""
        super().check_spec()
        self._warn_of_even()

    def view(self, cluster: Row, now: str = '') -> View:
        """Return the regions of a cluster, with the stored states.

        :param now: the time. It may be empty if a check of the regions
            follows, because the view after the check has the check's time.
        """
        return region_view.read(
            self.content, cluster.metadata, cluster.data, now
        )

    def look(self, cluster: Row, view: View) -> View:
        """Check the regions, and begin to delete servers left behind.

        Actions that call this method at the same time share one check.

        :param cluster: the engine's cluster object, or its row. This method
            updates the ``data`` of this object.
        :param view: the view before the check.
        :returns: the view after the check.
        """
        update = shared_look.share(
            cluster.id, lambda: self._look_and_note(cluster, view)
        )
        cluster.data = update.after.write(cluster.data or {})
        view = view.after(update.after, update.now)
        left_behind.start(cluster, view)
        return view

    def _look_and_note(self, cluster: Row, view: View) -> cluster_row.Update:
        """Check the regions, and store their states."""
        names = set(view.names)
        names.update(entry.region for entry in view.notes.left)
        for node in cluster.nodes:
            region = recorded_region(node)
            if region:
                names.add(region)
        faults = super().find_faults(
            cluster,
            cluster.rt['profile'],
            names,
            cfg.CONF[conf.GROUP].region_timeout,
        )
        seconds = cfg.CONF[conf.GROUP].region_out_after
        update = cluster_row.update_notes(
            cluster,
            lambda notes, now: notes.observe(
                faults, view.taking_nodes, now, seconds
            ),
        )
        _log_changes(cluster, update.before, update.after)
        return update

    def current(self, cluster: Row, region: str | None) -> View:
        """Return the view for an action on a node.

        If the stored state of the node's region is older than :data:`FRESH`
        seconds, check the regions first.

        :param region: the region of the node.
        """
        view = self.view(cluster, cluster.now)
        state = view.states.get(region or '')
        if state and state.last and _age(state.last, view.now) > FRESH:
            return self.look(cluster, view)
        return view

    def watch(self, cluster: Row) -> View:
        """Return the view for a health check.

        If the last health check of the regions is more than :data:`PAUSE`
        seconds ago, check the regions first.
        """
        due = False

        def begin(notes: Notes, now: str) -> Notes:
            """Store the time if this health check has to check the regions.

            The cluster's row is locked here. So if several health checks run,
            only one of them checks the regions.
            """
            nonlocal due
            # Ignore a stored time in the future: it is from another clock.
            looked = notes.looked
            due = not looked or not 0 <= _age(looked, now) < PAUSE
            if not due:
                return notes
            return dataclasses.replace(notes, looked=now)

        update = cluster_row.update_notes(cluster, begin)
        view = self.view(cluster, update.now)
        if not due:
            return view
        return self.look(cluster, view)

    def need_check(self, target: str, action: Any) -> bool:
        """Tell whether the policy acts on an action.

        Unlike version 1.0, this version also acts on the recovery of a node
        that has a region already.
        """
        return bool((target, action.action) in self.TARGET)

    def prepare(self, cluster: Row, action: Any) -> View:
        """Check the regions, and note their states in the action's data."""
        before = self.view(cluster)
        if not region_aware.is_aware(cluster.rt['profile']):
            return before
        problem = before.override.problem
        if problem:
            LOG.warning(
                "Policy '%s' takes its own weights and caps for cluster %s: "
                '%s',
                self.name,
                cluster.id,
                # The problem quotes the metadata: repr() escapes line breaks.
                repr(problem[:LONGEST]),
            )
        view = self.look(cluster, before)
        if view.states:
            action.data[region_state.KEY] = {
                name: state._asdict() for name, state in view.states.items()
            }
        if action.action == consts.NODE_RECOVER:
            # If a user recovers an active node, the profile replaces even a
            # healthy server. But if the node's region did not answer before,
            # the silence may be the only reason for the recovery. Then the
            # profile keeps a healthy server.
            region = recorded_region(action.entity) or ''
            old_state = before.notes.states.get(region)
            was_dead = bool(old_state and old_state.dead)
            is_active = action.entity.status == consts.NS_ACTIVE
            action.inputs[failover.REPLACE] = is_active and not was_dead
        return view

    def decide(self, cluster: Any, action: Any, view: View) -> Decision | None:
        """Decide as version 1.0, but avoid the regions that do not work.

        Refuse to delete a cluster if its servers cannot all be deleted now.
        """
        kind = action.action
        if kind == consts.CLUSTER_DELETE:
            return Decision(refusal=_find_left(cluster, view))
        if ('BEFORE', kind) in RegionPlacementPolicy.TARGET:
            self._warn_of_even()
            return super().decide(cluster, action, view) or Decision()
        return Decision()

    def _warn_of_even(self) -> None:
        """Warn if the spec has strategy 'even', which has no effect."""
        properties = self.spec['properties']
        if properties.get('strategy') == region_spec.EVEN:
            LOG.warning(
                "Policy '%s' has the strategy 'even', which has no effect: "
                'while a region is out or full, clusters grow in the other '
                "regions. Create the policy again without 'strategy'.",
                self.name,
            )

    def find_lost(self, cluster: Row, view: View) -> list[str]:
        """Return the ids of the nodes that need another region."""
        return view.find_lost(cluster.nodes, consts.NS_ACTIVE)

    def find_faults(self, *_args: Any) -> dict[str, Fault]:
        """Return no faults, because this version decides by states instead.

        :meth:`look` finds the faults, and stores them as states of the
        regions. Unlike a fault, a state does not prevent nodes from leaving a
        region.
        """
        return {}

    def post_op(self, cluster_id: str, action: Any) -> None:
        """Explain why a recovery of the cluster failed.

        The reason names the regions that do not work, and the nodes for which
        no region has room.
        """
        super().post_op(cluster_id, action)
        recovers = action.action == consts.CLUSTER_RECOVER
        worked = action.inputs.get('action_result') == action.RES_OK
        if worked or not recovers:
            return
        states = action.data.get(region_state.KEY) or {}
        words = []
        for name, fields in states.items():
            state = State(**fields)
            words.append(f"Region '{name}' {state.describe()}.")
            if state.state == region_state.Code.HELD:
                row = cluster_row.load(cluster_id)
                commands = declaration.declare_out(row, name)
                words.append(f'If it is out, run: {commands}.')
        stuck = action.data.get('stuck')
        if stuck:
            names = ', '.join(stuck)
            words.append(f'{len(stuck)} node(s) have no place: {names}.')
        if words:
            base.PlacementPolicy.refuse(self, action, ' '.join(words))


def _find_left(cluster: Any, view: View) -> str:
    """Say which servers prevent the deletion of a cluster.

    :returns: a message for the user; empty if all servers can be deleted now.
    """
    gone = {name for name, state in view.states.items() if state.dead}
    held = [
        node_records.what_it_leaves(node, view.now)
        for node in cluster.nodes
        if recorded_region(node) in gone
    ]
    left = [entry for entry in view.left if entry.region in gone]
    if not left and not held:
        return ''
    return left_behind.describe(cluster, left, held)


def _log_changes(cluster: Any, before: Notes, after: Notes) -> None:
    """Log each region whose state differs after a check."""
    for name in sorted({*before.states, *after.states}):
        old, new = before.states.get(name), after.states.get(name)
        if old and new and old.state == new.state:
            continue
        if new:
            LOG.warning(
                "Region '%s' of cluster %s %s.",
                name,
                cluster.id,
                new.describe(),
            )
        else:
            LOG.info(
                "Region '%s' is used again for cluster %s.", name, cluster.id
            )


def _age(time: str, now: str) -> float:
    """Return the seconds from a time until now."""
    then = datetime.datetime.fromisoformat(time)
    age = datetime.datetime.fromisoformat(now) - then
    return age.total_seconds()

# SPDX-License-Identifier: Apache-2.0

"""The command ``openstack cluster region list``."""

import argparse
import collections
from collections.abc import Iterable, Mapping
from typing import Any

from openstack_commands.clusters import clusters
from openstack_commands.clusters.advice import rebalancing
from openstack_commands.clusters.cluster_lister import (
    Cell,
    ClusterLister,
    Table,
)
from senlin_plugins.planning import region_spec, region_state
from senlin_plugins.planning.apportionment import NO_CAP, Region
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.snapshot import Snapshot

#: The columns of a table without --long.
SHORT = (
    'Region',
    'Weight',
    'Cap',
    'From',
    'Nodes',
    'Target',
    'State',
    'Left',
)
COLUMNS = (*SHORT, 'Since', 'Until', 'Why', 'Left Servers')
#: Where a weight and a cap come from.
POLICY = 'policy'
METADATA = 'metadata'
#: The state of a region that plans leave alone.
UNREACHABLE = 'out of reach'
LEFT = (
    'Servers are left behind. They are deleted when an action looks at their '
    'region and the region works again, for example: openstack cluster check '
    '{}'
)


class ListClusterRegion(ClusterLister):
    """List the regions of a cluster, with weights, caps, nodes and states.

    Version 1.1 of the policy records which regions are out or full.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        parser.add_argument(
            'cluster', metavar='<cluster>', help='cluster (name or ID)'
        )
        parser.add_argument(
            '--long',
            action='store_true',
            help='also show the time and the cause of the state, and the '
            'servers that are left behind',
        )
        self.add_default_region(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Return the regions as a table."""
        cluster = self.find_cluster(parsed_args.cluster)
        policy = self.attached_policy(cluster)
        regions, states = self.in_force(policy, cluster)
        clustering = self.connection.clustering
        nodes = list(clustering.nodes(cluster_id=cluster.id))
        current = clusters.distribution(
            clustering, nodes, parsed_args.default_region
        )
        names = [region.name for region in regions]
        gone = self.unreachable(
            policy,
            cluster,
            names,
            growing=True,
            default_region=parsed_args.default_region,
        )
        left = _left_behind(cluster, nodes)
        target = _target(regions, current)
        original = {region.name: region for region in policy.regions}
        by_name = {region.name: region for region in regions}
        rows = []
        for name in [*names, *sorted({*current, *left} - set(names))]:
            region, state = by_name.get(name), states.get(name)
            weight = cap = source = None
            if region:
                weight = region.weight
                if region.cap != NO_CAP:
                    cap = region.cap
                source = METADATA
                if region == original.get(name):
                    source = POLICY
            shown = None
            if state:
                shown = state.state
            elif name in gone:
                shown = UNREACHABLE
            servers = left.get(name, [])
            row = (
                name,
                Cell(weight),
                Cell(cap),
                Cell(source),
                current.get(name, 0),
                target.get(name, 0),
                # A line break in "out of reach" keeps this column narrow.
                Cell(shown, shown and shown.replace('of ', 'of\n')),
                Cell(len(servers) or None),
                Cell((state and state.since) or None),
                Cell((state and state.due) or None),
                Cell(state and state.why),
                Cell(servers, ' '.join(servers) or '-'),
            )
            rows.append(row)
        if not parsed_args.long:
            self.table_columns = SHORT
        self.remarks = [
            f'{name} {state.describe()}.' for name, state in states.items()
        ]
        self.remarks += self.advise(cluster, states)
        if left:
            self.remarks.append(LEFT.format(cluster.name))
        return COLUMNS, rows


def _target(
    regions: Iterable[Region], current: Mapping[str, int]
) -> Mapping[str, int]:
    """Return the distribution after a rebalance if all regions work."""
    snapshot = Snapshot(Change(growing=True, count=1), [*regions], current)
    size = sum(current.values())
    for step in rebalancing.steps(snapshot, size, size):
        current = step.after
    return current


def _left_behind(cluster: Any, nodes: Iterable[Any]) -> dict[str, list[str]]:
    """Return the servers that are left behind and that no node has.

    :returns: region name -> ids of servers.
    """
    held = {node.physical_id for node in nodes}
    forgotten = region_spec.forgotten(cluster.metadata)
    left = collections.defaultdict(list)
    for entry in region_state.read(cluster.data).remaining(forgotten):
        if not entry.server or entry.server not in held:
            server = entry.server or f'unknown, of node {entry.node}'
            left[entry.region].append(server)
    return left

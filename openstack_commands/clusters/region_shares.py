# SPDX-License-Identifier: Apache-2.0

"""The commands that change the region metadata of one cluster."""

import argparse
import json
from collections.abc import Iterator, Mapping
from typing import Any

from osc_lib import exceptions

from openstack_commands.clusters import clusters
from openstack_commands.clusters.cluster_lister import ClusterLister, Table
from openstack_commands.clusters.region_list import ListClusterRegion
from senlin_plugins.planning import region_spec, region_state
from senlin_plugins.planning.snapshot import recorded_region

KEY = region_spec.METADATA_KEY
FORGOTTEN_COLUMNS = ('Region', 'Node', 'Server')


class _ChangeClusterRegion(ListClusterRegion):
    """A command that changes a cluster's settings for one region."""

    #: The values that the command sets for the region. If there are none, the
    #: command removes all values of the region.
    CHANGES: Mapping[str, Any] = {}

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        super().add_arguments(parser)
        parser.add_argument(
            'region', metavar='<region>', help='region in the policy'
        )

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Change the metadata, and return the regions as a table."""
        changes = self.find_changes(parsed_args)
        cluster = self.find_cluster(parsed_args.cluster)
        policy = self.attached_policy(cluster)
        name = parsed_args.region
        shares = dict(region_spec.read_metadata(cluster.metadata))
        names = {region.name for region in policy.regions}
        if name not in shares and name not in names:
            raise exceptions.CommandError(
                f"'{name}' is not a region of the policy, and nothing is set "
                'for it.'
            )
        share = shares.pop(name, {})
        if changes:
            merged = {**share, **changes}
            share = {k: merged[k] for k in merged if merged[k] is not None}
        else:
            share = {}
        if share:
            if not policy.follows:
                raise exceptions.CommandError(
                    'The policy of the cluster does not read metadata: attach '
                    f'one of type {region_spec.TYPES[0]}, version 1.1.'
                )
            checked = region_spec.override(
                policy.regions, {KEY: {**shares, name: share}}
            )
            if checked.problem:
                raise exceptions.CommandError(checked.problem)
            (region,) = (r for r in checked.regions if r.name == name)
            # Store the checked numbers: the values of the options are texts.
            shares[name] = {k: getattr(region, k, share[k]) for k in share}
        value = None
        if shares:
            value = json.dumps(shares)
        clusters.update_metadata(
            self.connection.clustering, cluster, {KEY: value}
        )
        return super().take_action(parsed_args)

    def find_changes(
        self, parsed_args: argparse.Namespace
    ) -> Mapping[str, Any]:
        """Return the values to set; ``None`` removes a value."""
        return self.CHANGES


class SetClusterRegion(_ChangeClusterRegion):
    """Set the weight or cap of a region for one cluster, or declare it out.

    The command does not change the policy, and does not move any nodes.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        super().add_arguments(parser)
        parser.add_argument(
            '--weight',
            metavar='<n>',
            help='share of the region, relative to the weights of the others',
        )
        parser.add_argument(
            '--cap',
            metavar='<n>',
            help='maximum number of nodes in the region; -1 means no cap',
        )
        state = parser.add_mutually_exclusive_group()
        state.add_argument(
            '--out',
            action='store_true',
            default=None,
            help='declare that the region is out, even if its services answer',
        )
        state.add_argument(
            '--no-out',
            dest='out',
            action='store_false',
            help='take the declaration back',
        )

    def find_changes(
        self, parsed_args: argparse.Namespace
    ) -> Mapping[str, Any]:
        """Return the values of the options."""
        changes = {}
        if parsed_args.weight is not None:
            changes['weight'] = parsed_args.weight
        if parsed_args.cap is not None:
            changes['cap'] = parsed_args.cap
        if parsed_args.out is not None:
            changes['out'] = parsed_args.out or None
        if not changes:
            raise exceptions.CommandError(
                'Set what? Say --weight, --cap, --out or --no-out. (The '
                'openstack shell takes --in for its own --insecure.)'
            )
        return changes


class UnsetClusterRegion(_ChangeClusterRegion):
    """Remove what is set for a region of one cluster.

    The region then uses the weight and the cap from the policy again, and is
    not declared out. The command does not move any nodes.
    """


class DrainClusterRegion(_ChangeClusterRegion):
    """Set the weight and the cap of a region to 0 for one cluster.

    The region then gets no new nodes. If you scale the cluster in, the nodes
    in this region leave first. To remove all nodes from the region, use
    "openstack cluster region rebalance".
    """

    CHANGES = {'weight': 0, 'cap': 0}


class ForgetClusterRegion(ClusterLister):
    """Forget servers that nodes of one cluster have left behind.

    Senlin then does not delete these servers, and they do not prevent the
    deletion of the cluster. If Senlin failed to delete the cluster, also name
    the nodes in status ERROR whose servers Senlin cannot delete.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        parser.add_argument(
            'cluster', metavar='<cluster>', help='cluster (name or ID)'
        )
        parser.add_argument(
            'ids',
            metavar='<id>',
            nargs='+',
            help='server that is left behind, or node that left it (ID)',
        )

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Change the metadata, and return the forgotten servers and nodes."""
        cluster = self.find_cluster(parsed_args.cluster)
        entries = [
            (entry.region, entry.node, entry.server)
            for entry in region_state.read(cluster.data).left
        ]
        entries += self._find_broken_nodes(cluster)
        ids_left = set()
        for _, node, server in entries:
            ids_left.update([node, server])
        unknown = sorted({*parsed_args.ids} - ids_left)
        if unknown:
            raise exceptions.CommandError(
                f'{", ".join(unknown)} is not left behind: openstack cluster '
                f'region list --long {cluster.name} shows what is.'
            )
        before = region_spec.forgotten(cluster.metadata)
        forgotten = {*parsed_args.ids, *(before & ids_left)}
        clusters.update_metadata(
            self.connection.clustering,
            cluster,
            {region_spec.FORGET_KEY: ' '.join(sorted(forgotten))},
        )
        rows = [entry for entry in entries if forgotten & {*entry[1:]}]
        return FORGOTTEN_COLUMNS, rows

    def _find_broken_nodes(
        self, cluster: Any
    ) -> Iterator[tuple[str, str, str]]:
        """Yield the nodes that Senlin could not delete with the cluster.

        Senlin detaches all policies before it deletes a cluster. So if a
        policy is attached, there are no such nodes.
        """
        clustering = self.connection.clustering
        if list(clustering.cluster_policies(cluster)):
            return
        for node in clustering.nodes(cluster_id=cluster.id):
            if node.status == 'ERROR':
                region = recorded_region(node) or ''
                yield region, node.id, node.physical_id

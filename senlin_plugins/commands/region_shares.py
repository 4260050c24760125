# SPDX-License-Identifier: Apache-2.0

"""The commands that change weights and caps of one cluster."""

import argparse
import json
from collections.abc import Mapping
from typing import Any

from osc_lib import exceptions

from senlin_plugins.commands import clusters
from senlin_plugins.commands.cluster_lister import Table
from senlin_plugins.commands.region_list import ListClusterRegion
from senlin_plugins.planning import region_spec

KEY = region_spec.METADATA_KEY


class _ChangeClusterRegion(ListClusterRegion):
    """A command that changes what the metadata say about one region."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        super().add_arguments(parser)
        parser.add_argument(
            'region', metavar='<region>', help='region in the policy'
        )

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Change the metadata, and return the regions as a table.

        :param parsed_args: the command line.
        """
        changes = self.changes(parsed_args)
        cluster = self.find_cluster(parsed_args.cluster)
        policy = self.attached_policy(cluster)
        name = parsed_args.region
        given = _read((cluster.metadata or {}).get(KEY))
        if changes:
            given[name] = {**given.get(name, {}), **changes}
            checked = region_spec.override(policy.regions, given)
            (region,) = (r for r in checked if r.name == name)
            # As numbers, which the command line does not know.
            given[name] = {key: getattr(region, key) for key in given[name]}
        else:
            given.pop(name, None)
        value = json.dumps(given) if given else None
        clusters.update_metadata(
            self.connection.clustering, cluster, {KEY: value}
        )
        if not policy.follows:
            self.warn(
                'The policy of the cluster does not read metadata, so this '
                'has no effect: attach one of type %s, version 1.1.',
                region_spec.TYPES[0],
            )
        return super().take_action(parsed_args)

    def changes(self, parsed_args: argparse.Namespace) -> Mapping[str, Any]:
        """Return what to set for the region; nothing to forget what is set.

        :param parsed_args: the command line.
        """
        raise NotImplementedError


class SetClusterRegion(_ChangeClusterRegion):
    """Set the weight, the cap or both for a region of one cluster.

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

    def changes(self, parsed_args: argparse.Namespace) -> Mapping[str, Any]:
        """Return what the options say."""
        given = {'weight': parsed_args.weight, 'cap': parsed_args.cap}
        changes = {k: value for k, value in given.items() if value is not None}
        if not changes:
            raise exceptions.CommandError('Set what? Say --weight or --cap.')
        return changes


class UnsetClusterRegion(_ChangeClusterRegion):
    """Remove the weight and the cap of a region for one cluster.

    The region then uses the weight and the cap from the policy again. The
    command does not move any nodes.
    """

    def changes(self, parsed_args: argparse.Namespace) -> Mapping[str, Any]:
        """Return nothing."""
        return {}


class DrainClusterRegion(_ChangeClusterRegion):
    """Set the weight and the cap of a region to 0 for one cluster.

    The region then gets no new nodes. If you scale the cluster in, the nodes
    in this region leave first. To remove all nodes from the region, use
    "openstack cluster region rebalance".
    """

    def changes(self, parsed_args: argparse.Namespace) -> Mapping[str, Any]:
        """Return the values."""
        return {'weight': 0, 'cap': 0}


def _read(value: object) -> dict[str, Any]:
    """Return what the metadata say now."""
    try:
        given = json.loads(value) if isinstance(value, str) else value or {}
    except ValueError:
        given = None
    if not isinstance(given, Mapping) or not all(
        isinstance(change, Mapping) for change in given.values()
    ):
        raise region_spec.SpecError(
            f"'{KEY}' of the cluster's metadata is '{value}', which is not "
            'a JSON object of regions: correct or remove it first.'
        )
    return dict(given)

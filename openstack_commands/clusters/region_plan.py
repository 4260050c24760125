# SPDX-License-Identifier: Apache-2.0

"""The command ``openstack cluster region plan``."""

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

import yaml
from osc_lib import exceptions

from openstack_commands.base import files, lister
from openstack_commands.clusters import clusters
from openstack_commands.clusters.advice import projection
from openstack_commands.clusters.cluster_lister import (
    Cell,
    ClusterLister,
    Table,
)
from senlin_plugins.planning import region_spec, sizing
from senlin_plugins.planning.placement import place
from senlin_plugins.planning.region_spec import Spec
from senlin_plugins.planning.snapshot import NO_REGION, Snapshot

#: The columns of a table. The reasons are shown in remarks below the table.
SHORT = (
    'Region',
    'Weight',
    'Cap',
    'Current',
    'Change',
    'Result',
    'Target',
)
COLUMNS = (*SHORT, 'Why')


class PlanClusterRegion(ClusterLister):
    """Show how scaling a cluster would change its regions, and why.

    The command uses the same planner as the region placement policy. Only
    --policy and --cluster need a cloud. The command does not change anything.
    """

    WITHOUT_POLICY = 'name one with --policy, --spec or --region'
    #: Sentences on what to do about silent regions.
    advice: Sequence[str] = ()

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        regions = parser.add_mutually_exclusive_group()
        regions.add_argument(
            '--policy',
            metavar='<policy>',
            help='use the regions in this policy (name or ID); default with '
            '--cluster: the policy that is attached to the cluster',
        )
        regions.add_argument(
            '--spec',
            metavar='<file>',
            help='use the regions in this policy spec, a YAML file',
        )
        lister.add_repeatable(
            regions,
            '--region',
            '<name>[:<weight>[:<cap>]]',
            'use this region; default: weight 100 and no cap; repeat this '
            'option for each region',
        )
        current = parser.add_mutually_exclusive_group()
        current.add_argument(
            '--cluster',
            metavar='<cluster>',
            help='use the current distribution of this cluster (name or ID)',
        )
        lister.add_repeatable(
            current,
            '--current',
            '<name>=<count>',
            'current number of nodes in a region; repeat this option for each '
            'region that has nodes',
        )
        change = parser.add_mutually_exclusive_group(required=True)
        change.add_argument(
            '--count',
            metavar='<+n|-n>',
            help='number of nodes to add (+) or remove (-)',
        )
        change.add_argument(
            '--scale-out', metavar='<n>', help='number of nodes to add'
        )
        change.add_argument(
            '--scale-in', metavar='<n>', help='number of nodes to remove'
        )
        text = 'treat this region as out of reach; can be repeated'
        lister.add_repeatable(parser, '--without', '<name>', text)
        self.add_default_region(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Return the plan as a table.

        :raises CommandError: if there is no plan, or the input is wrong.
        """
        change = _change(parsed_args)
        snapshot = self._read(parsed_args, change)
        decision = place(snapshot)
        if decision.refusal:
            raise exceptions.CommandError(
                projection.explain_refusal(snapshot, decision)
            )
        shares = projection.explain(snapshot, decision)
        self.table_columns = SHORT
        self.remarks = [
            f'{share.name}: {share.why}.' for share in shares if share.why
        ]
        self.remarks += self.advice
        return COLUMNS, [_row(share) for share in shares]

    def _read(
        self, parsed_args: argparse.Namespace, change: sizing.Change
    ) -> Snapshot:
        """Return the cluster and the policy that the command line names."""
        cluster = None
        if parsed_args.cluster:
            cluster = self.find_cluster(parsed_args.cluster)
        elif parsed_args.policy:
            self.connection = self.log_in()
        policy = self._policy(parsed_args, cluster)
        regions, failing = self.in_force(policy, cluster)
        self.advice = self.advise(cluster, failing)
        names = [region.name for region in regions]
        out_of_reach = set(parsed_args.without)
        if not out_of_reach <= set(names):
            strangers = sorted(out_of_reach - set(names))
            raise exceptions.CommandError(
                f'--without names {", ".join(strangers)}; the regions of the '
                f'policy are {", ".join(names)}'
            )
        if cluster is None:
            current = _current(parsed_args.current)
        else:
            current = clusters.distribution(
                self.connection.clustering,
                self.connection.clustering.nodes(cluster_id=cluster.id),
                parsed_args.default_region,
            )
        if self.connection is not None:
            occupied = [name for name in current if current[name]]
            out_of_reach |= self.unreachable(
                policy,
                cluster,
                {*names, *occupied} - out_of_reach - {NO_REGION},
                growing=change.growing,
                default_region=parsed_args.default_region,
            )
        return Snapshot(
            change,
            regions,
            current,
            out_of_reach,
            failing=failing,
        )

    def _policy(self, parsed_args: argparse.Namespace, cluster: Any) -> Spec:
        """Return the spec of the policy."""
        if parsed_args.region:
            return Spec(region_spec.read_options(parsed_args.region))
        if parsed_args.spec:
            with files.reading(parsed_args.spec):
                text = files.read_text(parsed_args.spec)
                return region_spec.read(yaml.safe_load(text))
        if parsed_args.policy:
            return self.find_policy(parsed_args.policy)
        if cluster is None:
            raise exceptions.CommandError(
                'Which regions? Name them with --region, --spec or --policy'
            )
        return self.attached_policy(cluster)


def _change(parsed_args: argparse.Namespace) -> sizing.Change:
    """Return how many nodes to add or to remove."""
    if parsed_args.count is None:
        growing = parsed_args.scale_out is not None
        number = parsed_args.scale_out or parsed_args.scale_in
    else:
        growing = parsed_args.count[:1] == '+'
        number = parsed_args.count[1:]
        if not growing and parsed_args.count[:1] != '-':
            raise exceptions.CommandError(
                f"The value of --count is '{parsed_args.count}': write +3 to "
                'add three nodes, -3 to remove them'
            )
    return sizing.Change(growing, sizing.read_count(number))


def _current(texts: Iterable[str]) -> dict[str, int]:
    """Return the distribution that the ``--current`` options name."""
    current: dict[str, int] = {}
    for text in texts:
        name, _, count = text.rpartition('=')
        if not name or not count.isdecimal() or name in current:
            raise exceptions.CommandError(
                f"The value of --current is '{text}': write NAME=COUNT, each "
                'name once'
            )
        current[name] = int(count)
    return current


def _row(share: projection.Share) -> tuple[Any, ...]:
    """Return the row of a region."""
    target = Cell(None)
    if share.target is not None:
        # A target is rounded, because it is seldom a whole number of nodes.
        number = float(share.target)
        target = Cell(round(number, 4), f'{number:.2f}')
    return (
        share.name,
        Cell(share.weight),
        Cell(share.cap),
        share.current,
        share.result - share.current,
        share.result,
        target,
        share.why,
    )

# SPDX-License-Identifier: Apache-2.0

"""The command ``openstack cluster region plan``."""

import argparse
import re
from collections.abc import Iterable
from typing import Any

import yaml
from cliff import columns
from osc_lib import exceptions

from openstack_commands.base import files, lister
from openstack_commands.clusters import projection
from openstack_commands.clusters.cluster_reader import ClusterReader
from os_placement_plugins.quoting import printable
from senlin_plugins.planning import plan, sizing, spec, values
from senlin_plugins.planning.node_region import NO_REGION
from senlin_plugins.planning.plan import Snapshot
from senlin_plugins.planning.selection import Node
from senlin_plugins.planning.spec import Spec

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
#: A number of nodes.
_DIGITS = re.compile('[0-9]+')


class Cell(columns.FormattableColumn):  # type: ignore[misc]
    """A value for programs, and its text for people.

    :param value: the value; ``None`` is shown to people as a dash.
    :param text: the text; by default, the value as text.
    """

    def __init__(self, value: object, text: str | None = None) -> None:
        super().__init__(value)
        if value is None:
            self._text = '-'
        elif text is None:
            self._text = str(value)
        else:
            self._text = text

    def human_readable(self) -> str:
        """Return the text."""
        return self._text


class PlanClusterRegion(lister.Lister):
    """Show how scaling a cluster would change its regions, and why.

    The command uses the same planner as the region placement policy. Only
    --policy and --cluster need a cloud. The command does not change anything.
    Unlike the policy, the command does not ask whether the services of a
    region answer: name a region that does not answer with --without.
    """

    INPUT_ERRORS = (values.WrongValue,)

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
        parser.add_argument(
            '--default-region',
            metavar='<name>',
            help="value of default_region_name in Senlin's configuration, "
            "which Senlin's API does not show; the region of nodes without a "
            'recorded region, and of a profile that names a port or volume by '
            'its ID, but names no region',
        )

    def take_action(self, parsed_args: argparse.Namespace) -> lister.Table:
        """Return the plan as a table.

        :raises CommandError: if there is no plan, or the input is wrong.
        """
        change = _read_change(parsed_args)
        snapshot = self._read(parsed_args, change)
        decision = plan.plan_change(snapshot)
        if decision.refusal:
            raise exceptions.CommandError(
                projection.explain_refusal(snapshot, decision)
            )
        shares = projection.explain(snapshot, decision)
        self.table_columns = SHORT
        self.remarks = [
            f'{share.name}: {share.why}.' for share in shares if share.why
        ]
        return COLUMNS, [_row(share) for share in shares]

    def _read(
        self, parsed_args: argparse.Namespace, change: sizing.Change
    ) -> Snapshot:
        """Return the cluster and the policy that the command line names."""
        reader = None
        if parsed_args.cluster or parsed_args.policy:
            reader = ClusterReader(
                self.log_in(), self._warn, parsed_args.default_region
            )
        cluster = None
        if reader and parsed_args.cluster:
            cluster = reader.find_cluster(parsed_args.cluster)
        regions = _read_policy(parsed_args, reader, cluster).regions
        names = [region.name for region in regions]
        out_of_reach = set(parsed_args.without)
        if not out_of_reach <= set(names):
            strangers = sorted(out_of_reach - set(names))
            raise exceptions.CommandError(
                f'--without names {", ".join(strangers)}; the regions of the '
                f'policy are {", ".join(names)}'
            )
        nodes: list[Node] = []
        if reader and cluster:
            nodes = reader.read_nodes(cluster)
            current = plan.distribution(nodes)
        else:
            current = _read_current(parsed_args.current)
        if reader:
            occupied = [name for name in current if current[name]]
            out_of_reach |= reader.find_out_of_reach(
                cluster,
                {*names, *occupied} - out_of_reach - {NO_REGION},
                growing=change.growing,
            )
        return Snapshot(change, regions, current, out_of_reach, nodes)

    def _warn(self, text: str) -> None:
        self.log.warning('%s', printable(text))


def _read_policy(
    parsed_args: argparse.Namespace,
    reader: ClusterReader | None,
    cluster: Any,
) -> Spec:
    """Return the spec of the policy that the command line names."""
    if parsed_args.region:
        return Spec(spec.parse_region_options(parsed_args.region))
    if parsed_args.spec:
        with files.reading(parsed_args.spec):
            text = files.read_text(parsed_args.spec)
            return spec.parse_regions(yaml.safe_load(text))
    if reader and parsed_args.policy:
        return reader.find_policy(parsed_args.policy)
    if reader and cluster:
        return reader.read_attached_policy(cluster)
    raise exceptions.CommandError(
        'Which regions? Name them with --region, --spec or --policy'
    )


def _read_change(parsed_args: argparse.Namespace) -> sizing.Change:
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
    return sizing.Change(growing, sizing.parse_count(number))


def _read_current(texts: Iterable[str]) -> dict[str, int]:
    current: dict[str, int] = {}
    for text in texts:
        name, _, count = text.rpartition('=')
        if not name or not _DIGITS.fullmatch(count) or name in current:
            raise exceptions.CommandError(
                f"The value of --current is '{text}': write NAME=COUNT, each "
                'name once'
            )
        current[name] = int(count)
    return current


def _row(share: projection.Share) -> tuple[Any, ...]:
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

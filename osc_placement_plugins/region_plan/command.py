# SPDX-License-Identifier: Apache-2.0

"""``openstack cluster region plan``."""

import argparse
from typing import TYPE_CHECKING, Any, Final

from cliff import columns
from osc_lib import exceptions

from os_placement_plugins.text import printable
from osc_placement_plugins import output

if TYPE_CHECKING:
    from osc_placement_plugins.region_plan.shares import Share

_COLUMNS: Final = (
    'Region',
    'Weight',
    'Cap',
    'Current',
    'Change',
    'Result',
    'Target',
)


class _NumberColumn(columns.FormattableColumn):  # type: ignore[misc]
    def human_readable(self) -> str:
        if self._value is None:
            return '-'
        if isinstance(self._value, float):
            # A target is seldom a whole number of nodes.
            return f'{self._value:.2f}'
        return str(self._value)


class PlanClusterRegion(output.Lister):
    """Show how scaling a cluster would change its regions, and why.

    The command uses the same planner as the region placement policy. Only
    --policy and --cluster need a cloud. The command does not change anything.
    Unlike the policy, the command does not ask whether the services of a
    region answer: name a region that does not answer with --without.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
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
        regions.add_argument(
            '--region',
            metavar='<name>[:<weight>[:<cap>]]',
            help='use this region; default: weight 100 and no cap; repeat '
            'this option for each region',
            **output.REPEATABLE,
        )
        current = parser.add_mutually_exclusive_group()
        current.add_argument(
            '--cluster',
            metavar='<cluster>',
            help='use the current distribution of this cluster (name or ID)',
        )
        current.add_argument(
            '--current',
            metavar='<name>=<count>',
            help='current number of nodes in a region; repeat this option '
            'for each region that has nodes',
            **output.REPEATABLE,
        )
        change = parser.add_mutually_exclusive_group(required=True)
        change.add_argument(
            '--scale-out', metavar='<n>', help='number of nodes to add'
        )
        change.add_argument(
            '--scale-in', metavar='<n>', help='number of nodes to remove'
        )
        parser.add_argument(
            '--without',
            metavar='<name>',
            help='treat this region as out of reach; can be repeated',
            **output.REPEATABLE,
        )
        parser.add_argument(
            '--default-region',
            metavar='<name>',
            help="value of default_region_name in Senlin's configuration, "
            "which Senlin's API does not show; the region of nodes without a "
            'recorded region, and of a profile that names a port or volume by '
            'its ID, but names no region',
        )
        parser.add_argument(
            '--max-nodes',
            metavar='<n>',
            help="value of max_nodes_per_cluster in Senlin's configuration, "
            "which Senlin's API does not show; default: 1000, as in Senlin",
        )

    def find_answer(self, parsed_args: argparse.Namespace) -> output.Answer:
        """Return the plan.

        :raises CommandError: if there is no plan, or the input is wrong.
        """
        from osc_placement_plugins.region_plan import arguments, shares
        from osc_placement_plugins.region_plan.live_cluster import (
            ClusterReader,
        )
        from senlin_plugins.planning import plan

        reader = None
        warnings: list[str] = []
        if parsed_args.cluster or parsed_args.policy:
            reader = ClusterReader(self.log_in(), parsed_args.default_region)
            warnings = reader.warnings
        before = arguments.read_snapshot(parsed_args, reader)
        decision = plan.plan_change(before)
        if decision.refusal:
            for warning in warnings:
                self.log.warning('%s', printable(warning))
            raise exceptions.CommandError(
                shares.explain_refusal(before, decision.refusal)
            )
        all_shares = shares.list_shares(before, decision)
        notes = [
            f'{share.name}: {share.why}.' for share in all_shares if share.why
        ]
        return output.Answer(
            summary=[_count_nodes(before.change.growing, all_shares)],
            columns=_COLUMNS,
            rows=[_convert_share(share) for share in all_shares],
            notes=notes + warnings,
        )


def _count_nodes(growing: bool, shares: list['Share']) -> str:
    changes = []
    total = 0
    for share in shares:
        number = abs(share.result - share.current)
        total += number
        if number:
            changes.append(f'{number} in {share.name}')
    be = 'is' if total == 1 else 'are'
    change = 'added' if growing else 'removed'
    nodes = output.format_count(total, 'node')
    return f'{nodes} {be} {change}: {", ".join(changes)}.'


def _convert_share(share: 'Share') -> list[Any]:
    target = None
    if share.target is not None:
        target = round(float(share.target), 4)
    return [
        share.name,
        _NumberColumn(share.weight),
        _NumberColumn(share.cap),
        share.current,
        share.result - share.current,
        share.result,
        _NumberColumn(target),
    ]

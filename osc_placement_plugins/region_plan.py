# SPDX-License-Identifier: Apache-2.0

"""``openstack cluster region plan``."""

import argparse
from typing import TYPE_CHECKING, Any, Final

from osc_lib import exceptions

from os_placement_plugins.text import printable
from osc_placement_plugins import base

if TYPE_CHECKING:
    from osc_placement_plugins.projection import Share

_COLUMNS: Final = (
    'Region',
    'Weight',
    'Cap',
    'Current',
    'Change',
    'Result',
    'Target',
    'Why',
)


class PlanClusterRegion(base.Lister):
    """Show how scaling a cluster would change its regions, and why.

    The command uses the same planner as the region placement policy. Only
    --policy and --cluster need a cloud. The command does not change anything.
    Unlike the policy, the command does not ask whether the services of a
    region answer: name a region that does not answer with --without.
    """

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
        base.add_repeatable(
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
        base.add_repeatable(
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
        base.add_repeatable(parser, '--without', '<name>', text)
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

    def find_answer(self, parsed_args: argparse.Namespace) -> base.Answer:
        """Return the plan.

        :raises CommandError: if there is no plan, or the input is wrong.
        """
        from osc_placement_plugins import projection, snapshot
        from senlin_plugins.planning import plan

        warnings: list[str] = []
        before = snapshot.read(parsed_args, self.log_in, warnings.append)
        decision = plan.plan_change(before)
        if decision.refusal:
            for warning in warnings:
                self.log.warning('%s', printable(warning))
            raise exceptions.CommandError(
                projection.explain_refusal(before, decision)
            )
        shares = projection.explain(before, decision)
        verdict = _count(before.change.growing, shares)
        reasons = [
            f'{share.name}: {share.why}.' for share in shares if share.why
        ]
        return base.Answer(
            verdict=[verdict],
            columns=_COLUMNS,
            rows=[_row(share) for share in shares],
            notes=reasons + warnings,
            # The table would be too wide. The notes have the reasons.
            hidden=['Why'],
        )


def _count(growing: bool, shares: list['Share']) -> str:
    changes = []
    total = 0
    for share in shares:
        number = abs(share.result - share.current)
        total += number
        if number:
            changes.append(f'{number} in {share.name}')
    be = 'is' if total == 1 else 'are'
    change = 'added' if growing else 'removed'
    nodes = base.counted(total, 'node')
    return f'{nodes} {be} {change}: {", ".join(changes)}.'


def _row(share: 'Share') -> list[Any]:
    none = base.Cell(None, '-')
    target = none
    if share.target is not None:
        number = float(share.target)
        # A target is seldom a whole number of nodes.
        target = base.Cell(round(number, 4), f'{number:.2f}')
    return [
        share.name,
        none if share.weight is None else share.weight,
        none if share.cap is None else share.cap,
        share.current,
        share.result - share.current,
        share.result,
        target,
        share.why,
    ]

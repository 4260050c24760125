# SPDX-License-Identifier: Apache-2.0

"""``openstack cluster region plan``."""

import argparse
from typing import TYPE_CHECKING, Any, Final

from osc_lib import exceptions

from os_placement_plugins.text import printable
from osc_placement_plugins import output

if TYPE_CHECKING:
    from senlin_plugins.planning.decision import Decision
    from senlin_plugins.planning.plan import Snapshot

_COLUMNS: Final = ('Region', 'Current', 'Change', 'Result')
_REACH: Final = (
    'Every region counts as within reach, unless --without names it.'
)


class PlanClusterRegion(output.Lister):
    """Show how scaling a cluster would change its regions.

    The command uses the same planner as the region placement policy. Only
    --policy and --cluster need a cloud. The command does not change anything.
    Unlike the policy, the command does not look which regions are within
    reach: Keystone must know the region, its services must answer, and the
    ports and volumes of the profile must be there. Name each other region with
    --without.
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
            'recorded region',
        )

    def find_answer(self, parsed_args: argparse.Namespace) -> output.Answer:
        """Return the plan.

        :raises CommandError: if there is no plan, or the input is wrong.
        """
        from osc_placement_plugins.region_plan import arguments
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
                _explain_refusal(before, decision.refusal)
            )
        rows = _list_regions(before, decision)
        return output.Answer(
            summary=[_count_nodes(before.change.growing, rows)],
            columns=_COLUMNS,
            rows=rows,
            notes=[*warnings, _REACH],
        )


def _explain_refusal(before: 'Snapshot', refusal: str) -> str:
    """Return the reason of a refusal, with the numbers of nodes."""
    from senlin_plugins.planning.apportionment import NO_FEASIBLE_PLAN

    if refusal != NO_FEASIBLE_PLAN:
        return refusal
    movable = before.movable
    if not before.change.growing:
        return f'{refusal} {sum(movable.values())} can be removed.'
    room = 0
    for region in before.usable:
        room += max(0, region.cap - movable.get(region.name, 0))
    return f'{refusal} The caps leave room for {room}.'


def _list_regions(before: 'Snapshot', decision: 'Decision') -> list[list[Any]]:
    """Return a row for each region of the policy or with nodes."""
    after = before.after(decision.plan).current
    names = [region.name for region in before.regions]
    strays = sorted(before.current.keys() - names)
    names += [name for name in strays if before.current[name]]
    rows = []
    for name in names:
        current = before.current.get(name, 0)
        result = after.get(name, 0)
        rows.append([name, current, result - current, result])
    return rows


def _count_nodes(growing: bool, rows: list[list[Any]]) -> str:
    changes = []
    total = 0
    for name, _, change, _ in rows:
        number = abs(change)
        total += number
        if number:
            changes.append(f'{number} in {name}')
    be = 'is' if total == 1 else 'are'
    verb = 'added' if growing else 'removed'
    nodes = output.format_count(total, 'node')
    return f'{nodes} {be} {verb}: {", ".join(changes)}.'

# SPDX-License-Identifier: Apache-2.0

"""The command ``openstack cluster region plan``."""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml
from cliff import columns
from osc_lib import exceptions

from os_placement_plugins.commands import files, lister
from senlin_plugins.commands import clusters, in_tree
from senlin_plugins.planning import (
    apportionment,
    projection,
    region_spec,
    sizing,
)

COLUMNS = (
    'Region',
    'Weight',
    'Cap',
    'Current',
    'Change',
    'Result',
    'Target',
    'Why',
)
IN_TREE_COLUMNS = ('In-tree Change', 'In-tree Result')
STEP_COLUMNS = ('Step', 'Region', 'Distribution')
IN_TREE_STEP_COLUMNS = ('In-tree Region', 'In-tree Distribution')

_Table = tuple[tuple[str, ...], list[tuple[Any, ...]]]


class Absent(columns.FormattableColumn):  # type: ignore[misc]
    """A value that may be none: a dash for people, null for programs."""

    def human_readable(self) -> str:
        """Return the text."""
        return '-' if self._value is None else str(self._value)


class Target(columns.FormattableColumn):  # type: ignore[misc]
    """A share, a fraction: it is seldom a whole number of nodes."""

    def human_readable(self) -> str:
        """Return the share with two decimals."""
        return '-' if self._value is None else f'{float(self._value):.2f}'

    def machine_readable(self) -> float | None:
        """Return the share as a number."""
        return None if self._value is None else round(float(self._value), 4)


class Distribution(columns.FormattableColumn):  # type: ignore[misc]
    """How many nodes are in each region."""

    def human_readable(self) -> str:
        """Return the regions with their numbers."""
        return ', '.join(f'{name}={n}' for name, n in self._value.items())

    def machine_readable(self) -> dict[str, int]:
        """Return the numbers by region."""
        return dict(self._value)


class PlanClusterRegion(lister.Lister):
    """Show which regions nodes would come to or leave, and why.

    The plan is the one that the region placement policy would decide on.
    Nothing is changed. Without --policy and --cluster no cloud is asked.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the command's parser.

        :param prog_name: the words of the command.
        """
        parser = super().get_parser(prog_name)
        regions = parser.add_mutually_exclusive_group()
        regions.add_argument(
            '--policy',
            metavar='<policy>',
            help='take the regions from this policy (name or ID); by default '
            'from the one that is attached to the cluster',
        )
        regions.add_argument(
            '--spec',
            metavar='<file>',
            help='take the regions from the spec of a policy, a YAML file',
        )
        regions.add_argument(
            '--region',
            metavar='<name>[:<weight>[:<cap>]]',
            action='append',
            help='a region, of weight 100 and without a cap if nothing else '
            'is said; repeat it for each region',
        )
        current = parser.add_mutually_exclusive_group()
        current.add_argument(
            '--cluster',
            metavar='<cluster>',
            help='take the current distribution from this cluster (name or '
            'ID)',
        )
        current.add_argument(
            '--current',
            metavar='<name>=<count>',
            action='append',
            help='how many nodes are in a region now; repeat it for each '
            'region that has any',
        )
        change = parser.add_mutually_exclusive_group(required=True)
        change.add_argument(
            '--count',
            metavar='<+n|-n>',
            help='how many nodes to add or to remove, with its sign',
        )
        change.add_argument(
            '--scale-out', metavar='<n>', help='how many nodes to add'
        )
        change.add_argument(
            '--scale-in', metavar='<n>', help='how many nodes to remove'
        )
        parser.add_argument(
            '--without',
            metavar='<name>',
            action='append',
            default=[],
            help='plan as if this region were out of reach; can be repeated',
        )
        parser.add_argument(
            '--default-region',
            metavar='<name>',
            help='default_region_name of senlin.conf, for nodes of the '
            'cluster that have no recorded region',
        )
        parser.add_argument(
            '--steps',
            action='store_true',
            help='show the plan node after node',
        )
        parser.add_argument(
            '--compare',
            action='store_true',
            help='show what the in-tree policy would do beside it; Senlin '
            'must be installed',
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> _Table:
        """Return the plan as a table.

        :param parsed_args: the command line.
        :raises CommandError: when there is no plan, or the input is wrong.
        """
        change = _change(parsed_args)
        rival = in_tree.InTreePolicy() if parsed_args.compare else None
        try:
            situation = self._situation(parsed_args, change)
        except region_spec.SpecError as exc:
            raise exceptions.CommandError(str(exc)) from exc
        outcome = situation.plan(change)
        if not outcome.feasible:
            raise exceptions.CommandError(
                projection.explain_refusal(situation, change, outcome)
            )
        if parsed_args.steps:
            return self._steps(situation, change, rival)
        shares = projection.explain(situation, change, outcome)
        rows = [
            (
                share.name,
                Absent(share.weight),
                Absent(share.cap),
                share.current,
                share.change,
                share.result,
                Target(share.target),
                share.why,
            )
            for share in shares
        ]
        if rival is None:
            return COLUMNS, rows
        other = rival.plan(situation, change)
        self._tell_refusal(other)
        plan = projection.signed(other, change.growing)
        beside = [
            _in_tree_cells(share, plan if other.feasible else None)
            for share in shares
        ]
        return COLUMNS + IN_TREE_COLUMNS, [
            (*row, *cells) for row, cells in zip(rows, beside, strict=True)
        ]

    def _steps(
        self,
        situation: projection.Situation,
        change: sizing.Change,
        rival: in_tree.InTreePolicy | None,
    ) -> _Table:
        """Return the plan node after node."""
        names = _names(situation)
        rows: list[tuple[Any, ...]] = [
            (number, name, _distribution(after, names))
            for number, (name, after) in enumerate(
                projection.steps(situation, change), start=1
            )
        ]
        if rival is None:
            return STEP_COLUMNS, rows
        one = sizing.Change(change.growing, 1)
        for number, row in enumerate(rows):
            other = rival.plan(situation, one)
            self._tell_refusal(other, f' node {number + 1}')
            plan = projection.signed(other, change.growing)
            situation = situation.after(plan)
            rows[number] = (
                *row,
                Absent(next(iter(plan), None)),
                _distribution(situation, names),
            )
        return STEP_COLUMNS + IN_TREE_STEP_COLUMNS, rows

    def _tell_refusal(
        self, outcome: apportionment.Outcome, of: str = ''
    ) -> None:
        """Say on standard error that the in-tree policy has no plan."""
        if not outcome.feasible:
            self.log.warning(
                'The in-tree policy refuses%s: %s', of, outcome.reason
            )

    def _situation(
        self, parsed_args: argparse.Namespace, change: sizing.Change
    ) -> projection.Situation:
        """Return the policy and the cluster that are asked about."""
        out_of_reach = set(parsed_args.without)
        connection: Any = None
        if parsed_args.policy or parsed_args.cluster:
            connection = self.log_in()
        cluster = None
        if parsed_args.cluster:
            cluster = connection.clustering.find_cluster(
                parsed_args.cluster, ignore_missing=False
            )
        regions = self._regions(parsed_args, connection, cluster)
        names = [region.name for region in regions]
        _check_names(out_of_reach, names)
        if cluster is None:
            current = _current(parsed_args.current or ())
        else:
            current = clusters.distribution(
                connection.clustering,
                cluster,
                change.growing,
                parsed_args.default_region,
            )
        if connection is not None:
            out_of_reach |= self._unknown(connection, names)
        return projection.Situation(regions, current, out_of_reach)

    @staticmethod
    def _regions(
        parsed_args: argparse.Namespace, connection: Any, cluster: Any
    ) -> tuple[apportionment.Region, ...]:
        """Return the regions of the policy."""
        if parsed_args.region:
            return _options(parsed_args.region)
        if parsed_args.spec:
            return _spec(parsed_args.spec)
        policy = parsed_args.policy
        if not policy and cluster is None:
            raise exceptions.CommandError(
                'Which regions? Name them with --region, --spec or --policy'
            )
        if not policy:
            policy = clusters.attached_policy(connection.clustering, cluster)
        return clusters.policy_regions(connection.clustering, policy)

    def _unknown(self, connection: Any, names: Sequence[str]) -> set[str]:
        """Return the regions that Keystone does not know."""
        try:
            with lister.telling_in_one_line():
                unknown = clusters.unknown_regions(connection.identity, names)
        except exceptions.CommandError as exc:
            self.log.warning(
                'Which regions there are could not be read, so all of the '
                'policy count as usable: %s',
                exc,
            )
            return set()
        if unknown:
            self.log.warning(
                'Keystone does not know %s, so the policy leaves it out.',
                ', '.join(sorted(unknown)),
            )
        return unknown


def _change(parsed_args: argparse.Namespace) -> sizing.Change:
    """Return how many nodes come or go.

    :raises CommandError: when that is no positive number.
    """
    number = parsed_args.scale_out or parsed_args.scale_in
    growing = parsed_args.scale_out is not None
    if parsed_args.count is not None:
        sign, number = parsed_args.count[:1], parsed_args.count[1:]
        if sign not in ('+', '-'):
            raise exceptions.CommandError(
                f"The value of --count is '{parsed_args.count}': write +3 to "
                'add three nodes, -3 to remove them'
            )
        growing = sign == '+'
    action = sizing.SCALE_OUT if growing else sizing.SCALE_IN
    change = sizing.scaling(action, {'count': number}, {})
    if change.reason:
        raise exceptions.CommandError(change.reason)
    return change


def _options(texts: Iterable[str]) -> tuple[apportionment.Region, ...]:
    """Return the regions that options name."""
    regions = tuple(region_spec.read_region(text) for text in texts)
    problem = apportionment.find_problem(regions)
    if problem:
        raise exceptions.CommandError(problem)
    return regions


def _spec(path: str) -> tuple[apportionment.Region, ...]:
    """Return the regions of a spec file."""
    with files.reading(path):
        return region_spec.read(yaml.safe_load(files.read_text(path)))


def _current(texts: Iterable[str]) -> dict[str, int]:
    """Return the distribution that options say."""
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


def _check_names(given: Iterable[str], names: Sequence[str]) -> None:
    """Refuse a region that is not in the policy."""
    unknown = sorted(set(given) - set(names))
    if unknown:
        raise exceptions.CommandError(
            f'--without names {", ".join(unknown)}; the regions of the policy '
            f'are {", ".join(names)}'
        )


def _names(situation: projection.Situation) -> list[str]:
    """Return the regions in the order in which they are shown."""
    named = [region.name for region in situation.regions]
    return named + sorted(situation.current.keys() - set(named))


def _distribution(
    situation: projection.Situation, names: Iterable[str]
) -> Distribution:
    """Return the cell that shows a distribution."""
    return Distribution({n: situation.current.get(n, 0) for n in names})


def _in_tree_cells(
    share: projection.Share, plan: Mapping[str, int] | None
) -> tuple[Absent, Absent]:
    """Return what the in-tree policy does in a region; none if it refuses."""
    if plan is None:
        return Absent(None), Absent(None)
    change = plan.get(share.name, 0)
    return Absent(change), Absent(share.current + change)

# SPDX-License-Identifier: Apache-2.0

"""The command ``openstack cluster region plan``."""

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

import yaml
from cliff import columns
from osc_lib import exceptions

from os_placement_plugins.commands import files, lister
from senlin_plugins.commands import clusters
from senlin_plugins.planning import projection, region_spec, sizing
from senlin_plugins.planning.apportionment import Region, find_problem
from senlin_plugins.planning.decision import place
from senlin_plugins.planning.snapshot import Snapshot

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
STEP_COLUMNS = ('Step', 'Region', 'Distribution')

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
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> _Table:
        """Return the plan as a table.

        :param parsed_args: the command line.
        :raises CommandError: when there is no plan, or the input is wrong.
        """
        change = _change(parsed_args)
        try:
            snapshot = self._read(parsed_args, change)
        except region_spec.SpecError as exc:
            raise exceptions.CommandError(str(exc)) from exc
        decision = place(snapshot)
        if decision.refusal:
            raise exceptions.CommandError(
                projection.explain_refusal(snapshot, decision)
            )
        if parsed_args.steps:
            return STEP_COLUMNS, [
                (number, name, Distribution(after.current))
                for number, (name, after) in enumerate(
                    projection.steps(snapshot), start=1
                )
            ]
        return COLUMNS, [
            (
                share.name,
                Absent(share.weight),
                Absent(share.cap),
                share.current,
                share.result - share.current,
                share.result,
                Target(share.target),
                share.why,
            )
            for share in projection.explain(snapshot, decision)
        ]

    def _read(
        self, parsed_args: argparse.Namespace, change: sizing.Change
    ) -> Snapshot:
        """Return the cluster and the policy that are asked about."""
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
        _check_names(parsed_args.without, names)
        if cluster is None:
            current = _current(parsed_args.current or ())
        else:
            current = clusters.distribution(
                connection.clustering,
                cluster,
                change.growing,
                parsed_args.default_region,
            )
        out_of_reach = set(parsed_args.without)
        if connection is not None:
            out_of_reach |= self._unknown(connection, names)
        # The order in which --steps shows the regions.
        shown = dict.fromkeys([*names, *sorted(current)], 0) | current
        return Snapshot(change, regions, shown, out_of_reach)

    @staticmethod
    def _regions(
        parsed_args: argparse.Namespace, connection: Any, cluster: Any
    ) -> tuple[Region, ...]:
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
    try:
        return sizing.Change(growing, sizing.read_count(number))
    except sizing.SizeError as exc:
        raise exceptions.CommandError(str(exc)) from exc


def _options(texts: Iterable[str]) -> tuple[Region, ...]:
    """Return the regions that options name."""
    regions = tuple(region_spec.read_region(text) for text in texts)
    problem = find_problem(regions)
    if problem:
        raise exceptions.CommandError(problem)
    return regions


def _spec(path: str) -> tuple[Region, ...]:
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

# SPDX-License-Identifier: Apache-2.0

"""The command ``openstack cluster region plan``."""

import argparse
from collections.abc import Iterable, Mapping
from typing import Any

import yaml
from cliff import columns
from osc_lib import exceptions

from os_placement_plugins.commands import files, lister
from senlin_plugins.commands import clusters
from senlin_plugins.planning import projection, region_spec, sizing
from senlin_plugins.planning.apportionment import Region
from senlin_plugins.planning.placement import place
from senlin_plugins.planning.snapshot import Snapshot

COLUMNS = (
    *('Region', 'Weight', 'Cap'),
    *('Current', 'Change', 'Result', 'Target', 'Why'),
)
STEP_COLUMNS = ('Step', 'Region', 'Distribution')

_Table = tuple[tuple[str, ...], list[tuple[Any, ...]]]


class Cell(columns.FormattableColumn):  # type: ignore[misc]
    """A value for programs, and its text for people.

    :param value: the value; ``None`` is a dash for people.
    :param text: the text, if it is not simply that of the value.
    """

    def __init__(self, value: object, text: str | None = None) -> None:
        super().__init__(value)
        self._text = '-' if value is None else text or str(value)

    def human_readable(self) -> str:
        """Return the text."""
        return self._text


class PlanClusterRegion(lister.Lister):
    """Show which regions nodes would come to or leave, and why.

    The plan is the one that the region placement policy would decide on.
    Nothing is changed. Without --policy and --cluster no cloud is asked.
    """

    INPUT_ERRORS = (region_spec.SpecError, sizing.SizeError)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
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

    def take_action(self, parsed_args: argparse.Namespace) -> _Table:
        """Return the plan as a table.

        :param parsed_args: the command line.
        :raises CommandError: if there is no plan, or the input is wrong.
        """
        change = _change(parsed_args)
        snapshot = self._read(parsed_args, change)
        decision = place(snapshot)
        if decision.refusal:
            raise exceptions.CommandError(
                projection.explain_refusal(snapshot, decision)
            )
        if parsed_args.steps:
            return STEP_COLUMNS, [
                (number, name, _distribution(after.current))
                for number, (name, after) in enumerate(
                    projection.steps(snapshot), start=1
                )
            ]
        shares = projection.explain(snapshot, decision)
        return COLUMNS, [_row(share) for share in shares]

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
        out_of_reach = set(parsed_args.without)
        if not out_of_reach <= set(names):
            strangers = sorted(out_of_reach - set(names))
            raise exceptions.CommandError(
                f'--without names {", ".join(strangers)}; the regions of the '
                f'policy are {", ".join(names)}'
            )
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
        if cluster is not None:
            known = [name for name in names if name not in out_of_reach]
            growing = change.growing
            out_of_reach |= self._unfit(connection, cluster, known, growing)
        # The order in which --steps shows the regions.
        shown = dict.fromkeys([*names, *sorted(current)], 0) | current
        return Snapshot(change, regions, shown, out_of_reach)

    def _unknown(self, connection: Any, names: list[str]) -> set[str]:
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

    def _unfit(
        self, connection: Any, cluster: Any, names: list[str], growing: bool
    ) -> set[str]:
        """Return the regions that the profile of a cluster cannot use."""
        try:
            unfit = clusters.unfit_regions(connection, cluster, names, growing)
        except LookupError as exc:
            self.log.warning(
                'Profiles of type %s are not from this package: if they '
                'create all nodes in one region, the plan has no effect.',
                exc,
            )
            return set()
        for name, why in unfit.items():
            self.log.warning(
                'The policy leaves %s out, because %s.', name, why
            )
        return set(unfit)

    def _regions(
        self, parsed_args: argparse.Namespace, connection: Any, cluster: Any
    ) -> tuple[Region, ...]:
        """Return the regions of the policy."""
        if parsed_args.region:
            return region_spec.read_options(parsed_args.region)
        if parsed_args.spec:
            return _read_spec(parsed_args.spec)
        policy = parsed_args.policy
        if not policy:
            if cluster is None:
                raise exceptions.CommandError(
                    'Which regions? Name them with --region, --spec or '
                    '--policy'
                )
            policy = clusters.attached_policy(connection.clustering, cluster)
        regions, effective = clusters.policy_regions(
            connection.clustering, policy
        )
        if not effective:
            self.log.warning(
                "The policy is Senlin's own, whose plans have no effect. "
                'This is what %s would do.',
                region_spec.TYPES[0],
            )
        return regions


def _change(parsed_args: argparse.Namespace) -> sizing.Change:
    """Return how many nodes come or go."""
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


def _read_spec(path: str) -> tuple[Region, ...]:
    """Return the regions of a spec file."""
    with files.reading(path):
        return region_spec.read(yaml.safe_load(files.read_text(path)))


def _current(texts: Iterable[str]) -> dict[str, int]:
    """Return the distribution that options name."""
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
        # A share is seldom a whole number of nodes.
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


def _distribution(current: Mapping[str, int]) -> Cell:
    """Return the cell that shows how many nodes are in each region."""
    text = ', '.join(f'{name}={count}' for name, count in current.items())
    return Cell(dict(current), text)

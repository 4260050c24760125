# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter explain``."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from osc_lib import exceptions

from osc_placement_plugins import base

if TYPE_CHECKING:
    from osc_placement_plugins.cloud import Cloud
    from osc_placement_plugins.files import Saved
    from osc_placement_plugins.records import Flavor, Host, Inventory
    from osc_placement_plugins.verdicts import Verdict

_COLUMNS: Final = ('Flavor', 'Result', 'Hosts', 'Reason', 'Names')
_HOST_COLUMNS: Final = (
    'Flavor',
    'Host',
    'State',
    'Result',
    'Reason',
    'Preferences',
)
# The results.
_PASS: Final = 'pass'  # noqa: S105
_NOT_UP: Final = 'not up'
_REFUSE: Final = 'refuse'
_OTHER_FILTERS: Final = (
    "Placement and Nova's other filters are not judged; they may refuse more "
    'hosts.'
)


class ExplainFilter(base.FilterCommand):
    """Tell how many hosts take a flavor, and why the others refuse it.

    The command compares the flavor with the metadata of the host aggregates,
    as AggregateInstanceTypeFilter does in nova-scheduler. It judges this
    filter alone: Placement and Nova's other filters may refuse hosts that pass
    here. For a boot request that has failed, Nova has the answer, in the log
    of nova-scheduler: its own line "Filtering removed all hosts for the
    request with instance ID '…'. Filter results: ['ComputeFilter: (start: 9,
    end: 9)', 'AggregateInstanceTypeFilter: (start: 9, end: 0)']", and beside
    it the line of this filter, "Instance …, flavor 'gpu.large': 0 of 9 hosts:
    9 'gpu' not in any aggregate". The command does not change anything.
    """

    nouns = ('flavors', 'aggregates', 'hosts', 'servers')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        super().add_arguments(parser)
        parser.add_argument(
            'flavor', metavar='<flavor>', nargs='*', help='flavor (name or ID)'
        )
        base.add_repeatable(
            parser,
            '--server',
            '<server>',
            "server (name or ID): judge the server's own copy of the "
            'flavor, on all hosts but its own; can be repeated',
        )
        text = 'judge only this host; can be repeated'
        base.add_repeatable(parser, '--host', '<host>', text)
        parser.add_argument(
            '--all',
            action='store_true',
            help='show every host with its reasons, in place of the counts',
        )
        parser.add_argument(
            '--fail-if-none',
            action='store_true',
            help='exit with 2 if any flavor has no host that passes; hosts '
            'that are not up do not count',
        )

    def find_answer(self, parsed_args: argparse.Namespace) -> base.Answer:
        """Return the verdict on each flavor."""
        if not parsed_args.flavor and not parsed_args.server:
            raise exceptions.CommandError(
                'Name a flavor, or a server with --server'
            )
        source = self.source(parsed_args)
        subjects = _select_subjects(source, parsed_args)
        inventory = self.inventory(source, parsed_args)
        verdicts = _judge(subjects, inventory, parsed_args.host)
        rows: list[list[Any]] = []
        notes: list[str] = []
        for verdict in verdicts:
            if parsed_args.all:
                rows += _list_hosts(verdict)
            else:
                rows += _list_groups(verdict)
            notes += verdict.advice()
        if any(verdict.passed for verdict in verdicts):
            notes.append(_OTHER_FILTERS)
        is_left_out = not all(verdict.takers for verdict in verdicts)
        return base.Answer(
            verdict=[verdict.sentence() for verdict in verdicts],
            columns=_HOST_COLUMNS if parsed_args.all else _COLUMNS,
            rows=rows,
            notes=notes + inventory.notes(),
            status=base.exit_code(
                found=parsed_args.fail_if_none and is_left_out,
                unjudged=inventory.services is None,
            ),
            hidden=['Flavor'] if len(verdicts) == 1 else [],
        )


class _Subject(NamedTuple):
    """What the hosts are judged for.

    :param host: the host of the server that has the flavor; empty without a
        server.
    """

    flavor: 'Flavor'
    host: str = ''


def _select_subjects(
    source: 'Cloud | Saved', parsed_args: argparse.Namespace
) -> list[_Subject]:
    from osc_placement_plugins import records

    subjects = []
    if parsed_args.flavor:
        for flavor in records.select(
            source.flavors(), parsed_args.flavor, 'flavor'
        ):
            subjects.append(_Subject(flavor))
    for server in source.servers_named(parsed_args.server):
        if server.flavor is None:
            raise exceptions.CommandError(
                f'Nova does not show the flavor of {server.name}: the cell '
                'may be down'
            )
        name = f'{server.flavor.name} of {server.name}'
        flavor = records.Flavor(name, server.flavor.extra_specs)
        subjects.append(_Subject(flavor, server.host or ''))
    return subjects


def _judge(
    subjects: Sequence[_Subject], inventory: 'Inventory', names: Sequence[str]
) -> list['Verdict']:
    """Return the verdict for each subject.

    :param names: the names of the hosts to judge; empty for all. A server
        cannot move to its own host, so all are then the other hosts.
    """
    from osc_placement_plugins.verdicts import Verdict

    for name in names:
        if name not in inventory.hosts:
            raise exceptions.CommandError(
                f'No compute host has the name {name!r}'
            )
    verdicts = []
    for flavor, own_host in subjects:
        noun = 'host'
        hosts = [inventory.hosts[name] for name in dict.fromkeys(names)]
        if not names:
            hosts = [*inventory.hosts.values()]
            if own_host in inventory.hosts:
                hosts.remove(inventory.hosts[own_host])
                noun = 'other host'
        verdicts.append(Verdict(flavor, inventory, hosts, noun))
    return verdicts


def _list_groups(verdict: 'Verdict') -> list[list[Any]]:
    """Return a row for the hosts that share a result and its reason."""
    groups: list[tuple[str, str, list[Host]]] = []
    if verdict.takers:
        groups.append((_PASS, '', verdict.takers))
    idle_hosts: dict[str, list[Host]] = {}
    for host in verdict.idle:
        idle_hosts.setdefault(host.condition, []).append(host)
    for condition, hosts in idle_hosts.items():
        groups.append((_NOT_UP, condition, hosts))
    for group in verdict.groups:
        groups.append((_REFUSE, str(group.reason), group.hosts))
    rows = []
    for result, reason, hosts in groups:
        names = base.names_cell([host.name for host in hosts])
        rows.append([verdict.flavor.name, result, len(hosts), reason, names])
    return rows


def _list_hosts(verdict: 'Verdict') -> list[list[Any]]:
    """Return a row for each host: those that pass come first."""
    rows: dict[str, list[list[Any]]] = {_PASS: [], _NOT_UP: [], _REFUSE: []}
    for host in sorted(verdict.hosts, key=lambda host: host.name):
        reasons = verdict.reasons(host)
        result = _PASS
        if reasons:
            result = _REFUSE
        elif not host.usable:
            result = _NOT_UP
        rows[result].append(
            [
                verdict.flavor.name,
                host.name,
                host.condition,
                result,
                reasons,
                verdict.points(host),
            ]
        )
    return [*rows[_PASS], *rows[_NOT_UP], *rows[_REFUSE]]

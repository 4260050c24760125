# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter explain``."""

import argparse
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from cliff.columns import FormattableColumn
from osc_lib import exceptions

from os_placement_plugins.text import listed, printable
from osc_placement_plugins import output
from osc_placement_plugins.filter_command import FilterCommand

if TYPE_CHECKING:
    from osc_placement_plugins.explain.matches import HostMatches
    from osc_placement_plugins.inventory import Inventory
    from osc_placement_plugins.source.records import (
        CloudServer,
        ComputeHost,
        Flavor,
    )

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


class _NamesColumn(FormattableColumn):  # type: ignore[misc]
    """All names for programs, and the first names for people."""

    def human_readable(self) -> str:
        return printable(listed(self._value))


class ExplainFilter(FilterCommand):
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
        super().add_arguments(parser)
        parser.add_argument(
            'flavor', metavar='<flavor>', nargs='*', help='flavor (name or ID)'
        )
        parser.add_argument(
            '--server',
            metavar='<server>',
            help="server (name or ID): judge the server's own copy of the "
            'flavor, on all hosts but its own; can be repeated',
            **output.REPEATABLE,
        )
        parser.add_argument(
            '--host',
            metavar='<host>',
            help='judge this host in place of all hosts; can be repeated',
            **output.REPEATABLE,
        )
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

    def find_answer(self, parsed_args: argparse.Namespace) -> output.Answer:
        from osc_placement_plugins.source import records

        if not parsed_args.flavor and not parsed_args.server:
            raise exceptions.CommandError(
                'Name a flavor, or a server with --server'
            )
        source = self.find_source(parsed_args)
        flavors = []
        if parsed_args.flavor:
            flavors = records.select_named(
                source.read('flavors'), parsed_args.flavor, 'flavor'
            )
        servers = []
        if parsed_args.server:
            servers = source.find_servers(parsed_args.server)
        inventory = self.read_inventory(source, parsed_args)
        columns = _choose_columns(parsed_args, len(flavors) + len(servers))
        all_matches = _match_hosts(
            flavors, servers, inventory, parsed_args.host
        )
        summary = []
        rows = []
        notes = []
        has_takers = True
        has_passed = False
        for matches in all_matches:
            summary.append(matches.sentence())
            if parsed_args.all:
                rows += _list_hosts(matches, inventory)
            else:
                rows += _list_groups(matches)
            notes += matches.advice()
            if not matches.takers:
                has_takers = False
            if matches.takers or matches.idle:
                has_passed = True
        if has_passed:
            notes.append(_OTHER_FILTERS)
        return output.Answer(
            summary=summary,
            columns=columns,
            rows=rows,
            notes=notes + inventory.notes(),
            has_problem=parsed_args.fail_if_none and not has_takers,
            is_partial=inventory.services is None,
        )


def _choose_columns(
    parsed_args: argparse.Namespace, flavors: int
) -> Sequence[str]:
    """Return the columns. The table of a single flavor does not name it."""
    columns: Sequence[str] = _COLUMNS
    if parsed_args.all:
        columns = _HOST_COLUMNS
    is_table = parsed_args.formatter == 'table'
    if is_table and not parsed_args.columns and flavors == 1:
        parsed_args.columns = [*columns[1:]]
    return columns


def _match_hosts(
    flavors: Sequence['Flavor'],
    servers: Sequence['CloudServer'],
    inventory: 'Inventory',
    names: Sequence[str],
) -> list['HostMatches']:
    """Return how hosts match the flavors, and the servers' own copies of them.

    :param names: the names of the hosts; empty for all hosts.
    """
    from osc_placement_plugins.explain.matches import HostMatches

    hosts = _select_hosts(inventory, names)
    all_matches = []
    for flavor in flavors:
        all_matches.append(HostMatches(flavor, inventory, hosts))
    for server in servers:
        noun = 'host'
        other_hosts = hosts
        if not names and server.host in inventory.hosts:
            # The server cannot move to its own host.
            noun = 'other host'
            other_hosts = [host for host in hosts if host.name != server.host]
        all_matches.append(
            HostMatches(_copy_flavor(server), inventory, other_hosts, noun)
        )
    return all_matches


def _select_hosts(
    inventory: 'Inventory', names: Sequence[str]
) -> list['ComputeHost']:
    """Return the hosts that a command line names; all if it names none."""
    if not names:
        return [*inventory.hosts.values()]
    for name in names:
        if name not in inventory.hosts:
            raise exceptions.CommandError(
                f'No compute host has the name {name!r}'
            )
    return [inventory.hosts[name] for name in dict.fromkeys(names)]


def _copy_flavor(server: 'CloudServer') -> 'Flavor':
    """Return a server's own copy of its flavor, with the server's name."""
    if server.flavor is None:
        raise exceptions.CommandError(
            f'Nova does not show the flavor of {server.name}: the cell may be '
            'down'
        )
    name = f'{server.flavor.name} of {server.name}'
    return dataclasses.replace(server.flavor, name=name)


def _list_groups(matches: 'HostMatches') -> list[list[Any]]:
    """Return a row for the hosts that share a result and its reason."""
    groups: list[tuple[str, str, list[ComputeHost]]] = []
    if matches.takers:
        groups.append((_PASS, '', matches.takers))
    idle_hosts: dict[str, list[ComputeHost]] = {}
    for host in matches.idle:
        idle_hosts.setdefault(host.condition, []).append(host)
    for condition, hosts in idle_hosts.items():
        groups.append((_NOT_UP, condition, hosts))
    for group in matches.groups:
        groups.append((_REFUSE, group.reason, group.hosts))
    rows = []
    for result, reason, hosts in groups:
        names = _NamesColumn([host.name for host in hosts])
        rows.append([matches.flavor.name, result, len(hosts), reason, names])
    return rows


def _list_hosts(
    matches: 'HostMatches', inventory: 'Inventory'
) -> list[list[Any]]:
    """Return a row for each host: those that pass come first."""
    from nova_filters.matching.preferences import Preferences

    flavor = matches.flavor
    preferences = Preferences(
        flavor.extra_specs, inventory.aggregates, inventory.exempt
    )
    rows: dict[str, list[list[Any]]] = {_PASS: [], _NOT_UP: [], _REFUSE: []}
    for host in sorted(matches.hosts, key=lambda host: host.name):
        reasons = matches.reasons(host)
        result = _PASS
        if reasons:
            result = _REFUSE
        elif not host.usable:
            result = _NOT_UP
        points = '; '.join(
            f'{number:+} {why}'
            for number, why in preferences.reasons(host.aggregates)
        )
        rows[result].append(
            [flavor.name, host.name, host.condition, result, reasons, points]
        )
    return [*rows[_PASS], *rows[_NOT_UP], *rows[_REFUSE]]

# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter explain``."""

import argparse
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from osc_lib import exceptions

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
_HOST_COLUMNS: Final = ('Flavor', 'Host', 'State', 'Result', 'Reason')
# The results.
_PASS: Final = 'pass'  # noqa: S105
_NOT_UP: Final = 'not up'
_REFUSE: Final = 'refuse'
_OTHER_FILTERS: Final = (
    "Placement and Nova's other filters are not judged; they may refuse more "
    'hosts.'
)


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
    'gpu' not in any aggregate (9)". The command does not change anything.
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
        from nova_filters.matching.mismatch import quote_all
        from osc_placement_plugins.source import records

        if not parsed_args.flavor and not parsed_args.server:
            raise exceptions.CommandError(
                'Name a flavor, or a server with --server'
            )
        source = self.find_source(parsed_args)
        flavors = []
        if parsed_args.flavor:
            all_flavors = source.read('flavors')
            flavors = records.select_named(
                all_flavors,
                parsed_args.flavor,
                'flavor',
                records.note_public(all_flavors),
            )
        servers = []
        if parsed_args.server:
            servers = source.find_servers(parsed_args.server)
        inventory = self.read_inventory(source, parsed_args)
        all_matches = _match_hosts(
            flavors, servers, inventory, parsed_args.host
        )
        columns: Sequence[str] = _COLUMNS
        if parsed_args.all:
            columns = _HOST_COLUMNS
        rows = []
        notes = []
        for matches in all_matches:
            if parsed_args.all:
                rows += _list_hosts(matches)
            else:
                rows += _list_groups(matches)
            notes += matches.notes()
        is_table = parsed_args.formatter == 'table' and not parsed_args.columns
        if is_table and len(all_matches) == 1:
            # The sentence above the table names the flavor.
            columns = columns[1:]
            rows = [row[1:] for row in rows]
        if any(matches.takers or matches.idle for matches in all_matches):
            notes.append(_OTHER_FILTERS)
        lost_servers = [
            server.name for server in servers if server.host is None
        ]
        if lost_servers:
            notes.append(
                'Nova does not show the host of '
                f'{quote_all(lost_servers)}, so it counts like the others.'
            )
        has_takers = all(matches.takers for matches in all_matches)
        return output.Answer(
            summary=[matches.sentence() for matches in all_matches],
            columns=columns,
            rows=rows,
            notes=notes + inventory.notes(),
            has_problem=parsed_args.fail_if_none and not has_takers,
            is_partial=inventory.services is None or bool(lost_servers),
        )


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
    """Return a row for each result and reason, with its hosts."""
    groups: list[tuple[str, str, list[ComputeHost]]] = []
    if matches.takers:
        groups.append((_PASS, '', matches.takers))
    idle_hosts: dict[str, list[ComputeHost]] = {}
    for host in matches.idle:
        idle_hosts.setdefault(host.condition, []).append(host)
    for condition, hosts in idle_hosts.items():
        groups.append((_NOT_UP, condition, hosts))
    for group in matches.groups:
        groups.append((_REFUSE, matches.explain_group(group), group.hosts))
    rows = []
    for result, reason, hosts in groups:
        names = output.NamesColumn(sorted(host.name for host in hosts))
        rows.append([matches.flavor.name, result, len(hosts), reason, names])
    return rows


def _list_hosts(matches: 'HostMatches') -> list[list[Any]]:
    """Return a row for each host: those that pass come first."""
    rows: dict[str, list[list[Any]]] = {_PASS: [], _NOT_UP: [], _REFUSE: []}
    for host in sorted(matches.hosts, key=lambda host: host.name):
        reasons = matches.reasons(host)
        result = _PASS
        if reasons:
            result = _REFUSE
        elif not host.usable:
            result = _NOT_UP
        rows[result].append(
            [matches.flavor.name, host.name, host.condition, result, reasons]
        )
    return [*rows[_PASS], *rows[_NOT_UP], *rows[_REFUSE]]

# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter explain``."""

import argparse
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from osc_lib import exceptions

from os_placement_plugins.text import listed
from osc_placement_plugins import output
from osc_placement_plugins.filter_command import FilterCommand

if TYPE_CHECKING:
    from osc_placement_plugins.explain.matches import HostMatches
    from osc_placement_plugins.inventory import Inventory
    from osc_placement_plugins.source.records import ComputeHost, Server

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
        """Add the arguments of the command."""
        super().add_arguments(parser)
        parser.add_argument(
            'flavor', metavar='<flavor>', nargs='*', help='flavor (name or ID)'
        )
        output.add_repeatable(
            parser,
            '--server',
            '<server>',
            "server (name or ID): judge the server's own copy of the "
            'flavor, on all hosts but its own; can be repeated',
        )
        text = 'judge only this host; can be repeated'
        output.add_repeatable(parser, '--host', '<host>', text)
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
        """Return how the hosts match each flavor."""
        from osc_placement_plugins.explain.matches import HostMatches
        from osc_placement_plugins.source import records

        if not parsed_args.flavor and not parsed_args.server:
            raise exceptions.CommandError(
                'Name a flavor, or a server with --server'
            )
        source = self.find_source(parsed_args)
        flavors = []
        if parsed_args.flavor:
            flavors = records.select(
                source.read('flavors'), parsed_args.flavor, 'flavor'
            )
        servers = source.find_servers(parsed_args.server)
        inventory = self.read_inventory(source, parsed_args)
        hosts = _select_hosts(inventory, parsed_args.host)
        matches = [HostMatches(each, inventory, hosts) for each in flavors]
        for server in servers:
            matches.append(
                _match_server(server, inventory, hosts, bool(parsed_args.host))
            )
        return _convert_matches(matches, inventory, parsed_args)


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


def _match_server(
    server: 'Server',
    inventory: 'Inventory',
    hosts: Sequence['ComputeHost'],
    is_selection: bool,
) -> 'HostMatches':
    """Return how hosts match a server's own copy of its flavor.

    :param is_selection: whether the user has named the hosts. If not, the
        server's own host is left out, because the server cannot move there.
    """
    from osc_placement_plugins.explain.matches import HostMatches

    if server.flavor is None:
        raise exceptions.CommandError(
            f'Nova does not show the flavor of {server.name}: the cell may be '
            'down'
        )
    noun = 'host'
    if not is_selection and server.host in inventory.hosts:
        noun = 'other host'
        hosts = [host for host in hosts if host.name != server.host]
    name = f'{server.flavor.name} of {server.name}'
    flavor = dataclasses.replace(server.flavor, name=name)
    return HostMatches(flavor, inventory, hosts, noun)


def _convert_matches(
    all_matches: Sequence['HostMatches'],
    inventory: 'Inventory',
    parsed_args: argparse.Namespace,
) -> output.Answer:
    rows: list[list[Any]] = []
    notes: list[str] = []
    for matches in all_matches:
        if parsed_args.all:
            rows += _list_hosts(matches, inventory)
        else:
            rows += _list_groups(matches)
        notes += matches.advice()
    if any(matches.takers or matches.idle for matches in all_matches):
        notes.append(_OTHER_FILTERS)
    is_left_out = not all(matches.takers for matches in all_matches)
    return output.Answer(
        verdict=[matches.sentence() for matches in all_matches],
        columns=_HOST_COLUMNS if parsed_args.all else _COLUMNS,
        rows=rows,
        notes=notes + inventory.notes(),
        has_problem=parsed_args.fail_if_none and is_left_out,
        is_partial=inventory.services is None,
        hidden=['Flavor'] if len(all_matches) == 1 else [],
    )


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
        groups.append((_REFUSE, str(group.reason), group.hosts))
    rows = []
    for result, reason, hosts in groups:
        names = [host.name for host in hosts]
        cell = output.Cell(names, listed(names))
        rows.append([matches.flavor.name, result, len(hosts), reason, cell])
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

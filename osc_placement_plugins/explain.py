# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter explain``."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from osc_lib import exceptions

from os_placement_plugins.quoting import listed
from osc_placement_plugins import base

if TYPE_CHECKING:
    from osc_placement_plugins.cloud import Cloud
    from osc_placement_plugins.files import Saved
    from osc_placement_plugins.records import Flavor, Host, Inventory
    from osc_placement_plugins.verdicts import Verdict

_PASS = 'pass'  # noqa: S105
_REFUSE = 'refuse'
#: How many causes the table of a flavor lists.
_LISTED = 10


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
            'flavor; can be repeated',
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
        from osc_placement_plugins.verdicts import Verdict

        if not parsed_args.flavor and not parsed_args.server:
            raise exceptions.CommandError(
                'Name a flavor, or a server with --server'
            )
        source = self.source(parsed_args)
        flavors = _select_flavors(source, parsed_args)
        inventory = self.inventory(source, parsed_args)
        hosts = _select_hosts(inventory, parsed_args.host)
        verdicts = [Verdict(flavor, inventory, hosts) for flavor in flavors]
        unjudged = inventory.unjudged()
        status = base.FINE
        if parsed_args.fail_if_none:
            if not all(verdict.takers for verdict in verdicts):
                status = base.FOUND
            elif inventory.services is None:
                status = base.UNJUDGED
        documents = [
            _document(verdict, unjudged, parsed_args.all)
            for verdict in verdicts
        ]
        if parsed_args.all:
            rows = _list_hosts(documents)
        else:
            rows = _list_groups(verdicts)
        columns = _choose_columns(rows, len(verdicts))
        advice = []
        for document in documents:
            advice += document['advice']
        return base.Answer(
            verdict=[document['verdict'] for document in documents],
            columns=columns,
            rows=[[row[column] for column in columns] for row in rows],
            advice=advice + unjudged,
            document=documents,
            status=status,
        )


def _select_flavors(
    source: 'Cloud | Saved', parsed_args: argparse.Namespace
) -> list['Flavor']:
    from osc_placement_plugins import records

    flavors = []
    if parsed_args.flavor:
        flavors = records.select(
            source.flavors(), parsed_args.flavor, 'flavor'
        )
    for server in source.servers_named(parsed_args.server):
        if server.flavor is None:
            raise exceptions.CommandError(
                f'Nova does not show the flavor of {server.name}: the cell '
                'may be down'
            )
        name = f'{server.flavor.name} of {server.name}'
        flavors.append(records.Flavor(name, server.flavor.extra_specs))
    return flavors


def _select_hosts(
    inventory: 'Inventory', names: Sequence[str]
) -> list['Host']:
    for name in names:
        if name not in inventory.hosts:
            raise exceptions.CommandError(
                f'No compute host has the name {name!r}'
            )
    names = [*dict.fromkeys(names)] or [*inventory.hosts]
    return [inventory.hosts[name] for name in names]


def _list_groups(verdicts: Sequence['Verdict']) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for verdict in verdicts:
        takers, idle = verdict.takers, verdict.idle
        takes = 'takes it' if len(takers) == 1 else 'take it'
        groups: list[tuple[str, list[Host], Sequence[str]]] = [
            (takes, takers, ()),
            ('would take it if up', idle, ()),
        ]
        for group in verdict.groups[:_LISTED]:
            groups.append((group.text, group.hosts, sorted(group.aggregates)))
        rest: list[Host] = []
        for group in verdict.groups[_LISTED:]:
            rest += group.hosts
        groups.append(('other reasons, see --all', rest, ()))
        for text, hosts, aggregates in groups:
            if hosts:
                rows.append(
                    {
                        'Flavor': verdict.flavor.name,
                        'Hosts': len(hosts),
                        'Verdict': text,
                        'Aggregates': listed(aggregates),
                        'Names': listed([host.name for host in hosts]),
                    }
                )
    return rows


def _list_hosts(documents: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for document in documents:
        for entry in document['hosts']:
            row = {'Flavor': document['flavor']}
            for key, text in entry.items():
                row[key.capitalize()] = text
            rows.append(row)
    if all(row['State'] in ('', 'up') for row in rows):
        for row in rows:
            row['State'] = ''
    return rows


def _choose_columns(rows: Sequence[dict[str, Any]], flavors: int) -> list[str]:
    columns = []
    for column in rows[0] if rows else ():
        if column == 'Flavor' and flavors == 1:
            continue
        if any(row[column] != '' for row in rows):
            columns.append(column)
    return columns


def _host_verdicts(verdict: 'Verdict') -> list[dict[str, str]]:
    entries = []
    for host in sorted(verdict.hosts, key=lambda host: host.name):
        reasons = verdict.reasons(host)
        entries.append(
            {
                'host': host.name,
                'state': host.state,
                'result': _REFUSE if reasons else _PASS,
                'reasons': reasons,
                'preferences': verdict.points(host),
            }
        )
    entries.sort(key=lambda entry: entry['result'])
    return entries


def _document(
    verdict: 'Verdict', unjudged: list[str], has_hosts: bool
) -> dict[str, Any]:
    document = {
        'flavor': verdict.flavor.name,
        'verdict': verdict.sentence(),
        'takers': [host.name for host in verdict.takers],
        'causes': [
            {
                'cause': group.text,
                'aggregates': sorted(group.aggregates),
                'hosts': [host.name for host in group.hosts],
            }
            for group in verdict.groups
        ],
        'advice': verdict.advice(),
        'unjudged': unjudged,
    }
    if has_hosts:
        document['hosts'] = _host_verdicts(verdict)
    return document

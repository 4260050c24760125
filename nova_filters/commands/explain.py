# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter explain``."""

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

from osc_lib import exceptions
from osc_lib.cli import format_columns

from nova_filters.advice import explanation, inventory
from nova_filters.commands import common, compute, files

_Table = tuple[Sequence[str], Iterable[Sequence[Any]]]

_PASS = 'pass'  # noqa: S105
_REFUSE = 'refuse'


class ExplainFilter(common.FilterCommand):
    """Explain which hosts AggregateInstanceTypeFilter leaves to a flavor.

    The flavor is judged against the metadata of the host aggregates, as
    nova-scheduler does it. Hosts that pass come first, then near misses:
    those with the fewest keys that speak against them. Nothing is changed.
    """

    reads_servers = True

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        super().add_arguments(parser)
        parser.add_argument(
            'flavor',
            metavar='<flavor>',
            nargs='*',
            help='flavor (name or ID); all flavors if --summary or --matrix '
            'is given and no flavor',
        )
        parser.add_argument(
            '--server',
            metavar='<server>',
            action='append',
            default=[],
            help='server (name or ID): judge the copy of the flavor that is '
            'embedded in it; can be repeated; offline, all servers of the '
            'files if none is named',
        )
        parser.add_argument(
            '--host',
            metavar='<host>',
            action='append',
            default=[],
            help='only this host; can be repeated',
        )
        parser.add_argument(
            '--only-refused',
            action='store_true',
            help='leave out the hosts that pass',
        )
        form = parser.add_mutually_exclusive_group()
        form.add_argument(
            '--long',
            action='store_true',
            help='also list the aggregates of the host, all keys that speak '
            'against it, and the reason as the scheduler logs it',
        )
        form.add_argument(
            '--summary',
            action='store_true',
            help='count the hosts by reason',
        )
        form.add_argument(
            '--matrix',
            action='store_true',
            help='flavors by aggregates: what if a host were in that '
            'aggregate alone',
        )

    def take_action(self, parsed_args: argparse.Namespace) -> _Table:
        """Return the table."""
        source = self.source(parsed_args)
        flavors = _flavors(source, parsed_args)
        aggregates = source.aggregates()
        exempt = self.exempt(parsed_args)
        if parsed_args.matrix:
            if (
                parsed_args.host
                or parsed_args.hosts
                or parsed_args.only_refused
            ):
                raise exceptions.CommandError(
                    '--matrix judges aggregates: leave out --host, --hosts '
                    'and --only-refused'
                )
            return _matrix(flavors, aggregates, exempt)
        hosts = inventory.hosts_of(aggregates, source.hosts())
        found = explanation.explain(
            flavors, _select(hosts, parsed_args.host), exempt
        )
        if parsed_args.only_refused:
            found = [e for e in found if not e.passed]
        if parsed_args.summary:
            return _summary(found)
        return _table(found, parsed_args.long)


def _flavors(
    source: compute.Cloud | files.Saved, parsed_args: argparse.Namespace
) -> list[inventory.Flavor]:
    """Return the flavors to judge, and the servers' copies of them."""
    wanted = parsed_args.flavor
    copies = [
        inventory.Flavor(
            f'{server.flavor.name} of {server.name}',
            server.flavor.extra_specs,
        )
        for server in source.servers_named(parsed_args.server)
    ]
    if wanted:
        return inventory.select(source.flavors(), wanted, 'flavor') + copies
    if copies:
        return copies
    if not (parsed_args.summary or parsed_args.matrix):
        raise exceptions.CommandError(
            'Name a flavor, or a server with --server'
        )
    return source.flavors()


def _select(hosts: inventory.Hosts, wanted: Sequence[str]) -> inventory.Hosts:
    """Return the hosts that the command line names, or all of them."""
    unknown = [name for name in wanted if name not in hosts]
    if unknown:
        raise exceptions.CommandError(
            f'No compute host has the name {unknown[0]!r}'
        )
    return {name: hosts[name] for name in wanted} if wanted else hosts


def _table(found: Iterable[explanation.Explanation], long: bool) -> _Table:
    """Return a row for each flavor and host."""
    columns = (
        'Flavor',
        'Host',
        'Result',
        'Failing Keys',
        'Side',
        'Key',
        'Wanted',
        'Found',
        'Aggregate',
        *(('Host Aggregates', 'All Keys', 'Reason') if long else ()),
    )
    rows = []
    for entry in found:
        reason = entry.reasons[0] if entry.reasons else None
        row = (
            entry.flavor,
            entry.host,
            _REFUSE if reason else _PASS,
            len(entry.failing_keys),
            reason.side.value if reason else '',
            reason.key if reason else '',
            _list(reason.wanted if reason else ()),
            _list(reason.found if reason else ()),
            _list(reason.aggregate if reason else ()),
            _list(entry.aggregates),
            _list(entry.failing_keys),
            str(reason or ''),
        )
        rows.append(row[: len(columns)])
    return columns, rows


def _list(values: Iterable[str]) -> format_columns.ListColumn:
    """Return a cell that is a list for programs and a text for people."""
    return format_columns.ListColumn(list(dict.fromkeys(values)))


def _summary(found: Iterable[explanation.Explanation]) -> _Table:
    """Return a row for each flavor and reason."""
    return ('Flavor', 'Result', 'Hosts', 'Reason'), [
        (flavor, _REFUSE if reason else _PASS, hosts, reason)
        for flavor, reason, hosts in explanation.summarize(found)
    ]


def _matrix(
    flavors: Iterable[inventory.Flavor],
    aggregates: Iterable[inventory.HostAggregate],
    exempt: tuple[str, ...],
) -> _Table:
    """Return a row for each flavor and a column for each aggregate alone."""
    alone: inventory.Hosts = {
        '(none)': inventory.Host('(none)'),
        **{a.name: inventory.Host(a.name, (a,)) for a in aggregates},
    }
    return ('Flavor', *alone), [
        (
            flavor.name,
            *(
                ', '.join(cell.failing_keys) or _PASS
                for cell in explanation.judge(flavor, alone, exempt)
            ),
        )
        for flavor in flavors
    ]

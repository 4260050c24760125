# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter audit``."""

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from os_placement_plugins.quoting import listed
from osc_placement_plugins import base

if TYPE_CHECKING:
    from osc_placement_plugins.records import Inventory, Server

#: Servers that their own host would refuse today.
REFUSED: Final = 'refused'
#: Servers that cannot be judged.
UNKNOWN: Final = 'unknown'

#: The servers of each problem: what it is, the name of the flavor, the reason.
Problems = dict[tuple[str, str, str], list['Server']]


class AuditFilter(base.FilterCommand):
    """List running servers that their own host would refuse today.

    The command compares each server's own copy of its flavor with the metadata
    of the aggregates of its host, as AggregateInstanceTypeFilter does in
    nova-scheduler. It does not move any server.
    """

    nouns = ('aggregates', 'hosts', 'servers')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        super().add_arguments(parser)
        parser.add_argument(
            '--fail-on',
            choices=[REFUSED],
            help='exit with 2 if there is such a problem, and with 1 if '
            'a server could not be judged',
        )

    def find_answer(self, parsed_args: argparse.Namespace) -> base.Answer:
        """Return the servers that their host would refuse."""
        source = self.source(parsed_args)
        inventory = self.inventory(source, parsed_args)
        judged, problems = audit(source.servers(), inventory)
        counts = {REFUSED: 0, UNKNOWN: 0}
        for (kind, _, _), servers in problems.items():
            counts[kind] += len(servers)
        verdict = (
            f'{counts[REFUSED]} of {base.counted(judged, "running server")} '
            'would be refused by the host that it is on'
        )
        if counts[UNKNOWN]:
            verdict += f'; {counts[UNKNOWN]} could not be judged'
        verdict += '.'
        unjudged = inventory.unjudged()
        status = base.FINE
        if parsed_args.fail_on and counts[REFUSED]:
            status = base.FOUND
        elif parsed_args.fail_on and counts[UNKNOWN]:
            status = base.UNJUDGED
        return base.Answer(
            verdict=[verdict],
            columns=['Problem', 'Flavor', 'Servers', 'Reason'],
            rows=[
                [kind, flavor, listed([*map(_place, servers)]), reason]
                for (kind, flavor, reason), servers in problems.items()
            ],
            advice=unjudged,
            document={
                'verdict': verdict,
                'causes': [
                    {
                        'problem': kind,
                        'flavor': flavor,
                        'reason': reason,
                        'servers': [*map(_document, servers)],
                    }
                    for (kind, flavor, reason), servers in problems.items()
                ],
                'unjudged': unjudged,
            },
            status=status,
        )


def audit(
    servers: Iterable['Server'], inventory: 'Inventory'
) -> tuple[int, Problems]:
    """Judge servers on their hosts.

    Servers on no host, for example shelved servers, are left out.

    :returns: how many servers were judged, and the problems: first the
        servers that their host would refuse, then those that cannot be judged.
    """
    from osc_placement_plugins.verdicts import judge_of

    # Many servers have the same extra specs.
    judges: dict[frozenset[tuple[str, str]], Any] = {}
    judged = 0
    refused: Problems = {}
    unknown: Problems = {}
    for server in sorted(servers, key=lambda server: (server.name, server.id)):
        if server.host == '':
            continue
        if server.flavor is None or server.host is None:
            reason = 'Nova does not show the flavor or the host'
            unknown.setdefault((UNKNOWN, '', reason), []).append(server)
            continue
        host = inventory.hosts.get(server.host)
        if host is None:
            reason = 'the host is not among the compute hosts'
            unknown.setdefault((UNKNOWN, '', reason), []).append(server)
            continue
        judged += 1
        specs = frozenset(server.flavor.extra_specs.items())
        if specs not in judges:
            judges[specs] = judge_of(server.flavor, inventory)
        judge = judges[specs]
        refusals = judge.refusals(host.aggregates)
        if refusals:
            first = judge.explain(refusals[0], host.aggregates)
            key = REFUSED, server.flavor.name, str(first)
            refused.setdefault(key, []).append(server)
    return judged, {**refused, **unknown}


def _place(server: 'Server') -> str:
    if server.host:
        return f'{server.name} ({server.host})'
    return server.name


def _document(server: 'Server') -> dict[str, str | None]:
    return {'name': server.name, 'id': server.id, 'host': server.host}

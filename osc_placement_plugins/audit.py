# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter audit``."""

import argparse
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from os_placement_plugins.text import listed
from osc_placement_plugins import base

if TYPE_CHECKING:
    from osc_placement_plugins.records import Inventory, Server

_COLUMNS: Final = ('Problem', 'Flavor', 'Servers', 'Reason', 'Names')
#: Servers that their own host would refuse today.
REFUSED: Final = 'refused'
#: Servers that cannot be judged.
UNKNOWN: Final = 'unknown'


class Problem(NamedTuple):
    """Servers with the same problem.

    :param kind: :data:`REFUSED` or :data:`UNKNOWN`.
    :param flavor: the name of the servers' flavor; empty if it is unknown.
    """

    kind: str
    flavor: str
    reason: str
    servers: list['Server']


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
            help='exit with 2 if there is such a problem',
        )

    def find_answer(self, parsed_args: argparse.Namespace) -> base.Answer:
        """Return the servers that their host would refuse."""
        source = self.source(parsed_args)
        inventory = self.inventory(source, parsed_args)
        judged, problems = audit(source.servers(), inventory)
        counts = {REFUSED: 0, UNKNOWN: 0}
        for problem in problems:
            counts[problem.kind] += len(problem.servers)
        verdict = (
            f'{counts[REFUSED]} of {base.counted(judged, "running server")} '
            'would be refused by the host that it is on'
        )
        if counts[UNKNOWN]:
            verdict += f'; {counts[UNKNOWN]} could not be judged'
        return base.Answer(
            verdict=[f'{verdict}.'],
            columns=_COLUMNS,
            rows=[*map(_row, problems)],
            notes=inventory.notes(),
            status=base.exit_code(
                found=parsed_args.fail_on and counts[REFUSED],
                unjudged=counts[UNKNOWN],
            ),
        )


def audit(
    servers: Iterable['Server'], inventory: 'Inventory'
) -> tuple[int, list[Problem]]:
    """Matcher servers on their hosts.

    Servers on no host, for example shelved servers, are left out.

    :returns: how many servers were judged, and the problems: first the
        servers that their host would refuse, then those that cannot be judged.
        In each part, the problem with the most servers comes first.
    """
    judged: dict[tuple[str, frozenset[Any]], list[Server]] = {}
    hidden: list[Server] = []
    homeless: list[Server] = []
    for server in sorted(servers, key=lambda server: (server.name, server.id)):
        if server.host == '':
            continue
        if server.flavor is None or server.host is None:
            hidden.append(server)
        elif server.host not in inventory.hosts:
            homeless.append(server)
        else:
            # Many servers have the same extra specs.
            specs = frozenset(server.flavor.extra_specs.items())
            alike = judged.setdefault((server.flavor.name, specs), [])
            alike.append(server)
    refused: list[Problem] = []
    for alike in judged.values():
        refused += _find_refused(alike, inventory)
    refused.sort(key=lambda problem: (-len(problem.servers), problem[:3]))
    unknown = []
    for reason, unjudged in (
        ('Nova does not show the flavor or the host', hidden),
        ('the host is not among the compute hosts', homeless),
    ):
        if unjudged:
            unknown.append(Problem(UNKNOWN, '', reason, unjudged))
    return sum(map(len, judged.values())), [*refused, *unknown]


def _find_refused(
    servers: list['Server'], inventory: 'Inventory'
) -> Iterator[Problem]:
    """Yield the servers that their host would refuse.

    :param servers: servers with the same flavor, whose hosts are known.
    """
    from osc_placement_plugins.verdicts import create_matcher, group_refused

    flavor = servers[0].flavor
    assert flavor is not None  # noqa: S101
    matcher = create_matcher(flavor, inventory)
    hosts = {
        server.host: inventory.hosts[server.host or ''] for server in servers
    }
    _, refused = matcher.match_hosts(hosts.values())
    for group in group_refused(matcher, refused):
        names = {host.name for host in group.hosts}
        refused_servers = [each for each in servers if each.host in names]
        yield Problem(REFUSED, flavor.name, str(group.reason), refused_servers)


def _row(problem: Problem) -> list[Any]:
    servers = problem.servers
    places = [
        f'{server.name} ({server.host})' if server.host else server.name
        for server in servers
    ]
    documents = [
        {'name': server.name, 'id': server.id, 'host': server.host}
        for server in servers
    ]
    return [
        problem.kind,
        problem.flavor,
        len(servers),
        problem.reason,
        base.Cell(documents, listed(places)),
    ]

# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter audit``."""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from os_placement_plugins.text import listed
from osc_placement_plugins import output
from osc_placement_plugins.filter_command import FilterCommand

if TYPE_CHECKING:
    from nova_filters.matching.inputs import Aggregate
    from osc_placement_plugins.inventory import Inventory
    from osc_placement_plugins.source.records import Server

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


class _Resident(NamedTuple):
    """A server with the aggregates of its host."""

    server: 'Server'
    aggregates: Sequence['Aggregate']


class AuditFilter(FilterCommand):
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

    def find_answer(self, parsed_args: argparse.Namespace) -> output.Answer:
        """Return the servers that their host would refuse."""
        source = self.find_source(parsed_args)
        inventory = self.read_inventory(source, parsed_args)
        judged, problems = find_problems(source.read('servers'), inventory)
        counts = {REFUSED: 0, UNKNOWN: 0}
        for problem in problems:
            counts[problem.kind] += len(problem.servers)
        verdict = (
            f'{counts[REFUSED]} of '
            f'{output.format_count(judged, "running server")} would be '
            'refused by the host that it is on'
        )
        if counts[UNKNOWN]:
            verdict += f'; {counts[UNKNOWN]} could not be judged'
        return output.Answer(
            verdict=[f'{verdict}.'],
            columns=_COLUMNS,
            rows=[_convert_problem(problem) for problem in problems],
            notes=inventory.notes(),
            has_problem=bool(parsed_args.fail_on and counts[REFUSED]),
            is_partial=counts[UNKNOWN] > 0,
        )


def find_problems(
    servers: Iterable['Server'], inventory: 'Inventory'
) -> tuple[int, list[Problem]]:
    """Match servers with their hosts.

    Servers on no host, for example shelved servers, are left out.

    :returns: how many servers were judged, and the problems: first the
        servers that their host would refuse, then those that cannot be judged.
        In each part, the problem with the most servers comes first.
    """
    residents: dict[Any, list[_Resident]] = {}
    hidden = []
    homeless = []
    judged = 0
    for server in sorted(servers, key=lambda server: (server.name, server.id)):
        if server.host == '':
            continue
        if server.flavor is None or server.host is None:
            hidden.append(server)
        elif server.host not in inventory.hosts:
            homeless.append(server)
        else:
            judged += 1
            # Many servers have the same copy of a flavor.
            specs = frozenset(server.flavor.extra_specs.items())
            aggregates = inventory.hosts[server.host].aggregates
            residents.setdefault((server.flavor.name, specs), []).append(
                _Resident(server, aggregates)
            )
    problems: list[Problem] = []
    for alike in residents.values():
        problems += _find_refused(alike, inventory)
    problems.sort(key=lambda problem: (-len(problem.servers), problem[:3]))
    for reason, unjudged in (
        ('Nova does not show the flavor or the host', hidden),
        ('the host is not among the compute hosts', homeless),
    ):
        if unjudged:
            problems.append(Problem(UNKNOWN, '', reason, unjudged))
    return judged, problems


def _find_refused(
    residents: list[_Resident], inventory: 'Inventory'
) -> Iterator[Problem]:
    """Yield the servers that their host would refuse.

    :param residents: servers with the same flavor.
    """
    from osc_placement_plugins.inventory import create_matcher, group_refused

    flavor = residents[0].server.flavor
    assert flavor is not None  # noqa: S101
    matcher = create_matcher(flavor, inventory)
    _, refused = matcher.match_hosts(residents)
    for group in group_refused(matcher, refused):
        servers = [resident.server for resident in group.hosts]
        yield Problem(REFUSED, flavor.name, str(group.reason), servers)


def _convert_problem(problem: Problem) -> list[Any]:
    places = []
    documents = []
    for server in problem.servers:
        place = server.name
        if server.host:
            place += f' ({server.host})'
        places.append(place)
        documents.append(
            {'name': server.name, 'id': server.id, 'host': server.host}
        )
    return [
        problem.kind,
        problem.flavor,
        len(problem.servers),
        problem.reason,
        output.Cell(documents, listed(places)),
    ]

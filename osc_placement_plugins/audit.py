# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter audit``."""

import argparse
import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from os_placement_plugins.text import listed, printable
from osc_placement_plugins import output
from osc_placement_plugins.filter_command import FilterCommand

if TYPE_CHECKING:
    from osc_placement_plugins.inventory import Inventory
    from osc_placement_plugins.source.records import CloudServer

_COLUMNS: Final = ('Problem', 'Flavor', 'Servers', 'Reason', 'Names')
#: Servers that their own host would refuse today.
REFUSED: Final = 'refused'
#: Servers that cannot be judged.
UNKNOWN: Final = 'unknown'


class Problem(NamedTuple):
    """What is wrong with some servers.

    :param kind: :data:`REFUSED` or :data:`UNKNOWN`.
    :param flavor: the name of the servers' flavor; empty if it is unknown.
    """

    kind: str
    flavor: str
    reason: str


class _ServersColumn(output.NamesColumn):
    """Servers with their IDs and hosts."""

    def human_readable(self) -> str:
        places = []
        for server in self._value:
            place = server['name']
            if server['host']:
                place += f' ({server["host"]})'
            places.append(place)
        return printable(listed(places))


class AuditFilter(FilterCommand):
    """List running servers that their own host would refuse today.

    The command compares each server's own copy of its flavor with the metadata
    of the aggregates of its host, as AggregateInstanceTypeFilter does in
    nova-scheduler. It does not move any server.
    """

    nouns = ('aggregates', 'hosts', 'servers')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            '--fail-on',
            choices=[REFUSED],
            help='exit with 2 if there is such a problem',
        )

    def find_answer(self, parsed_args: argparse.Namespace) -> output.Answer:
        source = self.find_source(parsed_args)
        inventory = self.read_inventory(source, parsed_args)
        judged, problems = find_problems(source.read('servers'), inventory)
        counts = {REFUSED: 0, UNKNOWN: 0}
        rows = []
        for problem, servers in problems:
            counts[problem.kind] += len(servers)
            documents = []
            for server in sorted(
                servers, key=lambda each: (each.name, each.id)
            ):
                documents.append(
                    {'name': server.name, 'id': server.id, 'host': server.host}
                )
            kind, flavor, reason = problem
            names = _ServersColumn(documents)
            rows.append([kind, flavor, len(servers), reason, names])
        summary = (
            f'{counts[REFUSED]} of '
            f'{output.format_count(judged, "running server")} would be '
            'refused by the host that it is on'
        )
        if counts[UNKNOWN]:
            summary += f'; {counts[UNKNOWN]} could not be judged'
        return output.Answer(
            summary=[f'{summary}.'],
            columns=_COLUMNS,
            rows=rows,
            notes=inventory.notes(),
            has_problem=bool(parsed_args.fail_on and counts[REFUSED]),
            is_partial=counts[UNKNOWN] > 0,
        )


def find_problems(
    servers: Iterable['CloudServer'], inventory: 'Inventory'
) -> tuple[int, list[tuple[Problem, list['CloudServer']]]]:
    """Match servers with their hosts.

    Servers on no host, for example shelved servers, are left out.

    :returns: how many servers were judged, and the problems with their
        servers: first those with a server that its host would refuse, then
        those with the most servers.
    """
    from nova_filters.matching import report
    from osc_placement_plugins.inventory import create_matcher
    from osc_placement_plugins.source.records import Flavor

    judged = 0
    problems: dict[Problem, list[CloudServer]] = {}
    judged_servers: dict[Any, list[CloudServer]] = {}
    for server in servers:
        if server.host == '':
            continue
        reason = ''
        if server.flavor is None or server.host is None:
            reason = 'Nova does not show the flavor or the host'
        elif server.host not in inventory.hosts:
            reason = 'the host is not among the compute hosts'
        else:
            # Many servers have the same copy of a flavor.
            specs = frozenset(server.flavor.extra_specs.items())
            aggregates = inventory.hosts[server.host].aggregates
            judged += 1
            judged_servers.setdefault((server.flavor.name, specs), []).append(
                dataclasses.replace(server, aggregates=aggregates)
            )
        if reason:
            problem = Problem(UNKNOWN, '', reason)
            problems.setdefault(problem, []).append(server)
    for (flavor_name, specs), alike in judged_servers.items():
        flavor = Flavor(flavor_name, dict(specs))
        matcher = create_matcher(flavor, inventory)
        _, refused = matcher.match_hosts(alike)
        groups: dict[Any, list[CloudServer]] = {}
        for similar in report.group_hosts(refused).values():
            reasons = report.list_reasons(matcher, similar)
            mismatches = tuple(reason.mismatch for reason in reasons)
            groups.setdefault(mismatches, []).extend(similar)
        for mismatches, group in groups.items():
            texts = []
            for mismatch in mismatches:
                shared = report.Reason(mismatch, group)
                texts.append(str(report.explain_reason(matcher, shared)))
            problem = Problem(REFUSED, flavor_name, '; '.join(texts))
            problems[problem] = problems.get(problem, []) + group
    return judged, sorted(
        problems.items(),
        key=lambda item: (item[0].kind, -len(item[1]), item[0]),
    )

# SPDX-License-Identifier: Apache-2.0

"""The problems of running servers that the audit finds."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from openstack_commands.aggregates.advice import inventory

#: A server that its own host would refuse today, by this package's filter.
REFUSED: Final = 'refused'
#: A server group whose members break its hard policy, a server outside the
#: zone that it must stay in, or a server on a host of other projects.
BROKEN: Final = 'broken'
#: A stack or a server group that could be spread better.
SPREAD: Final = 'spread'
#: Servers that cannot be judged.
UNKNOWN: Final = 'unknown'

SERVER: Final = 'server'
SERVER_GROUP: Final = 'server group'
STACK: Final = 'stack'
FLAVOR: Final = 'flavor'


class Breach(NamedTuple):
    """One problem that the audit reports.

    :param problem: ``REFUSED``, ``BROKEN``, ``SPREAD`` or ``UNKNOWN``.
    :param noun: ``SERVER``, ``SERVER_GROUP``, ``STACK`` or ``FLAVOR``.
    :param name: the name of the flavor, server group or server; empty for
        ``UNKNOWN``. For a stack, the name of the root stack, or the ID of the
        root stack if the name is not known.
    :param servers: the servers that have the problem.
    :param reason: which rule the servers break, how they could be spread
        better, or why they cannot be judged.
    :param id: the ID of the server group, stack or server; otherwise empty.
    """

    problem: str
    noun: str
    name: str
    servers: Sequence[inventory.Server]
    reason: str
    id: str = ''

    @property
    def places(self) -> list[str]:
        """Return the name of each server with its host."""
        places = []
        for server in self.servers:
            place = server.name
            if server.host:
                place += f' ({server.host})'
            places.append(place)
        return places

    @property
    def server_ids(self) -> list[str]:
        """Return the ID of each server."""
        return [server.id for server in self.servers]

    @property
    def hosts(self) -> list[str]:
        """Return the hosts of the servers, each once."""
        hosts = {server.host for server in self.servers if server.host}
        return sorted(hosts)

    def fails(self, problem: str) -> bool:
        """Tell whether this breach counts for ``--fail-on``.

        :param problem: the value of ``--fail-on``. With ``spread``, a broken
            hard policy of a server group counts, too.
        """
        if problem == SPREAD and self.problem == BROKEN:
            return self.noun == SERVER_GROUP
        return self.problem == problem

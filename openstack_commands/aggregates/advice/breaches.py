# SPDX-License-Identifier: Apache-2.0

"""The problems of running servers that the audit finds."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from openstack_commands.aggregates.advice import inventory

#: A server that its own host would refuse today, by this package's filter.
REFUSED: Final = 'refused'
#: A hard rule of Nova that does not hold: of a server group, of a zone that a
#: server must stay in, or of a host that is reserved for projects.
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
    """One problem.

    :param problem: one of the constants above.
    :param noun: one of the constants above.
    :param name: the name of the flavor, server group or server; of a stack,
        the name of its root stack.
    :param servers: the servers that it is about.
    :param reason: which rule does not hold, or what could be better.
    :param id: the ID of the server group, stack or server.
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
        """Tell whether this counts for ``--fail-on`` with a problem.

        A hard policy that does not hold also counts for ``spread``.
        """
        if problem == SPREAD and self.problem == BROKEN:
            return self.noun == SERVER_GROUP
        return self.problem == problem

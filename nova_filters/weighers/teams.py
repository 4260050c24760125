# SPDX-License-Identifier: Apache-2.0

"""The team of a request, and the places where its members are."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import nova.conf
from oslo_log import log as logging

from nova_filters.stacks import members, places
from nova_filters.weighers import reader
from os_placement_plugins import errors, signature, stack_hints

LOG = logging.getLogger(__name__)
CONF = nova.conf.CONF

#: The attribute of a HostState that holds its distance, if a filter set it.
DISTANCE: Final = 'nova_filters_distance'


class Incomplete(Exception):
    """Some members are not known."""


#: What a request may meet without a mistake in this package.
AWAY: Final = (errors.DatabaseError, Incomplete)
#: Says an error in one line.
cause = errors.one_line


class Teams:
    """The teams of requests, and the places of their members."""

    def __init__(self) -> None:
        self._keys = signature.Keys(CONF.heat_hints.signing_key)
        self._levels = tuple(CONF.nova_filters.stack_spread_over)
        self._reader = reader.shared()

    def stack(self, request: Any) -> members.Team | None:
        """Return the stack of Nova's RequestSpec, unless a group counts."""
        hints = stack_hints.read_request(request, self._keys)
        return None if self.group(request) else members.of_stack(hints)

    def group(self, request: Any) -> members.Team | None:
        """Return the server group of Nova's RequestSpec, if groups count."""
        found = request.instance_group if 'instance_group' in request else None
        if not found or not CONF.nova_filters.server_group_weight_multiplier:
            return None
        return members.of_group(found.policy, found.uuid)

    def see(
        self,
        team: members.Team,
        hosts: Sequence[Any],
        request: Any,
    ) -> members.Sight:
        """Return what the request for one of Nova's HostStates sees."""
        server = request.instance_uuid if 'instance_uuid' in request else ''
        cells = frozenset(host.cell_uuid for host in hosts)
        found = self._reader.ask(
            reader.Question(team, server, request.project_id, cells)
        )
        LOG.debug('%s: %s', team, found)
        return found

    def survey(
        self,
        team: members.Team,
        hosts: Sequence[Any],
        request: Any,
        pack: bool,
        strict: bool = False,
    ) -> places.Places:
        """Return the places of hosts, with the members that come first.

        :param strict: whether to know some of the members only is an error.
        :raises Incomplete: if it is.
        """
        counts, ahead, unread = self.see(team, hosts, request)
        if strict and unread:
            raise Incomplete(f'not read: {", ".join(unread)}')
        every = {
            one.id: one for host in hosts for one in host.aggregates or ()
        }
        # A full host is known by the aggregates that it shares.
        located = [
            (self._path(n, [a for a in every.values() if n in a.hosts]), count)
            for n, count in counts.items()
        ]
        candidates = [self._path(h.host, h.aggregates or ()) for h in hosts]
        pack = members.POLICIES.get(team[0], pack)
        return places.Places(candidates, located, ahead, str(team), pack)

    def shared(self, aggregates: Iterable[Any], level: str) -> str | None:
        """Return the place that a host in Nova's Aggregates shares."""
        metadata = (one.metadata for one in aggregates)
        return places.shared(metadata, level, CONF.default_availability_zone)

    def _path(self, host: str, aggregates: Sequence[Any]) -> places.Path:
        """Return the path of a host; where it shares no place, it is one."""
        found = [(one, self.shared(aggregates, one)) for one in self._levels]
        return tuple(
            (kind, n) if n else (places.HOST, host) for kind, n in found
        )

# SPDX-License-Identifier: Apache-2.0

"""The team of a request, and the places where its members are."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import nova.conf
import sqlalchemy as sa
from oslo_db import exception as db_exception
from oslo_log import log as logging

from nova_filters import plugin
from nova_filters.matching.request import Request
from nova_filters.stacks import members, places
from nova_filters.weighers import reader
from os_placement_plugins import signature, stack_hints

LOG = logging.getLogger(__name__)
CONF = nova.conf.CONF

#: The attribute of a HostState that holds its distance, if a filter set it.
DISTANCE: Final = 'nova_filters_distance'


class Incomplete(Exception):
    """Some members are not known."""


#: What a request may meet without a mistake in this package.
AWAY: Final = (db_exception.DBError, sa.exc.SQLAlchemyError, Incomplete)


class Teams:
    """The teams of requests, and the places of their members."""

    def __init__(self) -> None:
        self._keys = signature.Keys(CONF.heat_hints.signing_key)
        self._levels = tuple(CONF.nova_filters.stack_spread_over)
        self._reader = reader.shared()
        enabled = CONF.filter_scheduler.enabled_filters
        self._judges = 'AggregateInstanceTypeFilter' in enabled

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
        sight = self._reader.ask(
            reader.Question(
                team=team,
                server=plugin.field(request, 'instance_uuid') or '',
                project=request.project_id,
                cells=frozenset(host.cell_uuid for host in hosts),
                # Other cells may have hosts in the same place.
                everywhere=self._levels[:1] != (places.HOST,),
            )
        )
        LOG.debug(
            'The members of %s are on %s; %d in flight come first. Not read: '
            '%s',
            *(team, dict(sight.counts), len(sight.ahead), sight.unread),
        )
        return sight

    def locate(
        self,
        team: members.Team,
        hosts: Sequence[Any],
        sight: members.Sight,
        pack: bool,
    ) -> places.Places:
        """Return the places of hosts, with the members that come first.

        :param hosts: the candidates, as Nova's HostStates.
        """
        aggregates = {
            aggregate.id: aggregate
            for host in hosts
            for aggregate in host.aggregates or ()
        }
        # A full host is known by the aggregates that it shares.
        by_host: dict[str, list[Any]] = {name: [] for name in sight.counts}
        for aggregate in aggregates.values():
            for name in sight.counts.keys() & {*aggregate.hosts}:
                by_host[name].append(aggregate)
        located = [
            (self._path(name, by_host[name]), count)
            for name, count in sight.counts.items()
        ]
        candidates = [
            self._path(host.host, host.aggregates or ()) for host in hosts
        ]
        return places.Places(
            candidates,
            located,
            self._ahead(sight, hosts, candidates),
            f'{team}/{sight.shape}',
            members.POLICIES.get(team[0], pack),
        )

    def _ahead(
        self,
        sight: members.Sight,
        hosts: Sequence[Any],
        candidates: Sequence[places.Path],
    ) -> list[places.Flight]:
        """Return the members in flight that come first.

        A member that may have none of the hosts goes elsewhere.

        :param candidates: the paths of the hosts.
        """
        mine = places.Flight()
        if not self._judges:
            return [mine for _ in sight.ahead]
        paths = {
            id(host): path
            for host, path in zip(hosts, candidates, strict=True)
        }
        exempt = tuple(CONF.nova_filters.exempt_metadata_keys)
        kinds = {sight.flavor: mine}
        for flavor in sight.ahead:
            if flavor not in kinds:
                passed, _ = Request(flavor, exempt).sift(hosts)
                allowed = [paths[id(host)] for host in passed]
                kinds[flavor] = places.flight(len(kinds), allowed)
        return [
            kinds[flavor]
            for flavor in sight.ahead
            if kinds[flavor] is mine or kinds[flavor].allowed
        ]

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

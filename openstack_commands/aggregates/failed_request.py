# SPDX-License-Identifier: Apache-2.0

"""A request that ended with no valid host: what is asked, and what is told."""

from collections.abc import Collection, Mapping, Sequence

from osc_lib import exceptions

from openstack_commands.aggregates import compute, verdicts
from openstack_commands.aggregates.advice import (
    demand,
    inventory,
    offers,
    walk,
)
from openstack_commands.aggregates.advice.explanation import Verdicts
from openstack_commands.base import lister
from os_placement_plugins import quoting


class FailedRequest:
    """A request for a server, put to Placement and to the filters again.

    :param limit: how many candidates Nova looks at.
    """

    def __init__(
        self,
        source: compute.Cloud,
        stock: inventory.Stock,
        server: inventory.Server,
        limit: int,
    ) -> None:
        self._source, self._stock, self._server = source, stock, server
        zone = [
            aggregate.uuid
            for aggregate in stock.aggregates
            if server.zone == aggregate.metadata.get(inventory.ZONE)
        ]
        hints = server.hints or {}
        is_limited = not (
            server.grouped or any(hint in hints for hint in demand.UNLIMITED)
        )
        flavor = server.flavor or inventory.Flavor('', {})
        self._limit = limit if is_limited else None
        self._asked = demand.of(
            flavor, server.from_volume, zone, limit=self._limit
        )
        #: Why Placement has no candidates; empty if it says which it has.
        self._silence = ''
        self._answer: offers.Answer | None = None

    def repeat(self, filters: Sequence[str]) -> walk.Walk:
        """Ask Placement, and return the way of the request.

        :param filters: the enabled filters, in order.
        """
        candidates: Collection[str] | None = None
        try:
            with lister.telling_in_one_line():
                self._answer, self._silence = self._source.candidates(
                    self._asked.query
                )
                candidates = self._hosts(self._answer)
        except exceptions.CommandError as exc:
            self._silence = str(exc)
        return walk.walk(
            self._stock, self._server, candidates, str(self._asked), filters
        )

    def conclude(self, way: walk.Walk) -> list[str]:
        """Return what was not judged, and what keeps the right hosts."""
        unjudged = [*way.unjudged]
        others = ', '.join(('the image', 'the ports', *self._asked.unasked))
        before, _, last = others.rpartition(', ')
        is_asked = any(step.name == walk.PLACEMENT for step in way.steps)
        if is_asked:
            unjudged.append(f'what {before} and {last} ask of Placement')
        else:
            unjudged.insert(0, f'Placement ({self._silence})')
        told = [
            f'Not judged: {", ".join(unjudged)}.',
            'The hosts are those of now: they may have changed since the '
            'request.',
        ]
        if not self._stock.hosts:
            return [*told, 'There is no compute host.']
        if not way.obstacles and way.verdicts is not None:
            return [*told, *_nobody(way.verdicts)]
        if is_asked and self._silence:
            told.append(
                f'Placement refuses the question, and Nova: {self._silence}'
            )
            return told
        return [*told, *self._kept(way.obstacles, is_asked)]

    def _kept(
        self,
        obstacles: Mapping[str, Sequence[offers.Obstacle]],
        is_asked: bool,
    ) -> list[str]:
        """Return what keeps the hosts that take the flavor.

        :param obstacles: by host, without Placement.
        """
        offered = self._offers(obstacles) if is_asked else None
        kept = {}
        for host, reasons in obstacles.items():
            kept[host] = [*reasons]
            if offered is not None:
                kept[host] += offered.obstacles(host, enabled=not reasons)
        takers = lister.counted(len(kept), 'host')
        verb = 'takes' if len(kept) == 1 else 'take'
        reason = offers.sentence(kept, quoting.LISTED)
        told = [f'{takers} {verb} the flavor: {reason}.'] if reason else []
        left = [host for host, reasons in kept.items() if not reasons]
        if left:
            told.append(
                f'Left: {quoting.listed(left)}. What was not judged has '
                'refused the request there, or the hosts have changed since. '
                'Try again.'
            )
        hosts = self._stock.hosts
        asleep = []
        for name, reasons in kept.items():
            if [reason.what for reason in reasons] == [hosts[name].state]:
                asleep.append(hosts[name])
        return told + verdicts.orders(asleep)

    def _offers(self, takers: Collection[str]) -> offers.Offers:
        """Ask Placement no more than the right hosts need.

        :param takers: the hosts that take the flavor.
        """
        answer = self._answer or {'allocation_requests': ()}
        number = len(answer['allocation_requests'])
        candidates = self._hosts(self._answer)
        found = offers.Offers(
            candidates,
            cut_at=number if number == self._limit else 0,
        )
        with lister.telling_in_one_line():
            if not candidates.issuperset(takers):
                others, _ = self._source.candidates(self._asked.anywhere)
                found = found._replace(others=self._hosts(others))
            if not {*found.others, *candidates}.issuperset(takers):
                found = found._replace(able=self._able())
        return found

    def _able(self) -> dict[str, Collection[str] | None]:
        """Return the hosts that have each class and each trait.

        :returns: by class or trait; None if others may share it.
        """
        nodes = self._source.nodes
        hosts: dict[str, Collection[str] | None] = {}
        for name, able in self._source.able(self._asked.parts).items():
            hosts[name] = {nodes[node] for node in able.nodes}
            if able.others:
                hosts[name] = None
        return hosts

    def _hosts(self, answer: offers.Answer | None) -> set[str]:
        """Return the hosts of allocation candidates."""
        if answer is None:
            return set()
        nodes = self._source.nodes
        return {nodes[root] for root in offers.roots(answer) if root in nodes}


def _nobody(found: Verdicts) -> list[str]:
    """Tell that no host takes the flavor, and which is nearest."""
    reasons = ', '.join(f'{n} {reason}' for n, reason in found.counts())
    total = lister.counted(len(found.panel.hosts), 'host')
    return [
        f'None of {total} takes the flavor: {reasons}.',
        *verdicts.nearest(found),
    ]

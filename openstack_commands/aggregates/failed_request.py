# SPDX-License-Identifier: Apache-2.0

"""Explain a request that ended with "No valid host"."""

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
    """A failed boot request, which Placement and the filters judge again.

    :param limit: how many candidates Nova requests from Placement at most.
    """

    def __init__(
        self,
        source: compute.Cloud,
        stock: inventory.Stock,
        server: inventory.Server,
        limit: int,
    ) -> None:
        self._source, self._stock, self._server = source, stock, server
        zone = []
        for aggregate in stock.aggregates:
            if server.zone == aggregate.metadata.get(inventory.ZONE):
                zone.append(aggregate.uuid)
        hints = server.hints or {}
        self._limit: int | None = limit
        if server.grouped or not hints.keys().isdisjoint(demand.UNLIMITED):
            self._limit = None
        flavor = server.flavor or inventory.Flavor('', {})
        self._demand = demand.of(
            flavor, server.from_volume, zone, limit=self._limit
        )
        #: Why Placement did not list the candidates; empty if Placement did.
        self._silence = ''
        self._answer: offers.Answer | None = None

    def repeat(self, filters: Sequence[str]) -> walk.Walk:
        """Ask Placement, and return the steps of the request.

        :param filters: the enabled filters, in order.
        """
        candidates: Collection[str] | None = None
        try:
            with lister.telling_in_one_line():
                self._answer, self._silence = self._source.candidates(
                    self._demand.query
                )
                candidates = self._hosts(self._answer)
        except exceptions.CommandError as exc:
            self._silence = str(exc)
        return walk.walk(
            self._stock, self._server, candidates, str(self._demand), filters
        )

    def conclude(self, way: walk.Walk) -> list[str]:
        """Return the remarks on the steps of the request.

        The remarks say what was not judged, and why hosts that accept the
        flavor are not used.
        """
        unjudged = [*way.unjudged]
        sources = ['the image', 'the ports', *self._demand.unasked]
        before, last = ', '.join(sources[:-1]), sources[-1]
        is_asked = any(step.name == walk.PLACEMENT for step in way.steps)
        if is_asked:
            unjudged.append(f'what {before} and {last} ask of Placement')
        else:
            unjudged.insert(0, f'Placement ({self._silence})')
        remarks = [
            f'Not judged: {", ".join(unjudged)}.',
            'The hosts are those of now: they may have changed since the '
            'request.',
        ]
        if not self._stock.hosts:
            return [*remarks, 'There is no compute host.']
        if not way.obstacles and way.verdicts is not None:
            return [*remarks, *_nobody(way.verdicts)]
        if is_asked and self._silence:
            remarks.append(
                f'Placement refuses the question, and Nova: {self._silence}'
            )
            return remarks
        return [*remarks, *self._kept(way.obstacles, is_asked)]

    def _kept(
        self,
        obstacles: Mapping[str, Sequence[offers.Obstacle]],
        is_asked: bool,
    ) -> list[str]:
        """Return remarks: why hosts that accept the flavor are not used.

        :param obstacles: host -> why the zone or a filter refuses the host.
            This method adds the reasons of Placement.
        :param is_asked: whether Placement could be asked.
        """
        kept = {host: [*reasons] for host, reasons in obstacles.items()}
        if is_asked:
            offered = self._offers(obstacles)
            for host, reasons in kept.items():
                reasons += offered.obstacles(host, enabled=not reasons)
        remarks = []
        reason = offers.sentence(kept, quoting.LISTED)
        if reason:
            takers = lister.counted(len(kept), 'host')
            verb = 'takes' if len(kept) == 1 else 'take'
            remarks.append(f'{takers} {verb} the flavor: {reason}.')
        left = [host for host, reasons in kept.items() if not reasons]
        if left:
            remarks.append(
                f'Left: {quoting.listed(left)}. What was not judged has '
                'refused the request there, or the hosts have changed since. '
                'Try again.'
            )
        hosts = self._stock.hosts
        asleep = []
        for name, reasons in kept.items():
            if [reason.what for reason in reasons] == [hosts[name].state]:
                asleep.append(hosts[name])
        return remarks + verdicts.orders(asleep)

    def _offers(self, takers: Collection[str]) -> offers.Offers:
        """Return what Placement says about the hosts that take a flavor.

        Placement gets a further request only if the answers so far do not
        contain all these hosts.

        :param takers: the hosts that take the flavor.
        """
        answer = self._answer or {'allocation_requests': ()}
        number = len(answer['allocation_requests'])
        candidates = self._hosts(self._answer)
        offered = offers.Offers(candidates)
        if number == self._limit:
            offered = offered._replace(cut_at=number)
        with lister.telling_in_one_line():
            if not candidates.issuperset(takers):
                anywhere, _ = self._source.candidates(self._demand.anywhere)
                offered = offered._replace(anywhere=self._hosts(anywhere))
            if not {*offered.anywhere, *candidates}.issuperset(takers):
                offered = offered._replace(able=self._able())
        return offered

    def _able(self) -> dict[str, Collection[str] | None]:
        """Return the hosts that have each resource class and each trait.

        :returns: class or trait -> the hosts that have it; None if a sharing
            provider may offer it to any host.
        """
        nodes = self._source.nodes
        hosts: dict[str, Collection[str] | None] = {}
        for name, able in self._source.able(self._demand.parts).items():
            hosts[name] = {nodes[node] for node in able.nodes}
            if able.sharing:
                hosts[name] = None
        return hosts

    def _hosts(self, answer: offers.Answer | None) -> set[str]:
        """Return the hosts among Placement's allocation candidates."""
        if answer is None:
            return set()
        nodes = self._source.nodes
        return {nodes[root] for root in offers.roots(answer) if root in nodes}


def _nobody(refused: Verdicts) -> list[str]:
    """Return remarks on a flavor that no host accepts.

    The remarks say why the hosts refuse, and which host is nearest to passing.

    :param refused: the verdicts on the flavor.
    """
    reasons = ', '.join(f'{n} {reason}' for n, reason in refused.counts())
    total = lister.counted(len(refused.evaluation.hosts), 'host')
    return [
        f'None of {total} takes the flavor: {reasons}.',
        *verdicts.nearest(refused),
    ]

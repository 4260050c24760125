# SPDX-License-Identifier: Apache-2.0

"""Repeat the steps of a boot request in nova-scheduler.

Only the steps that can be judged through APIs are repeated. The hosts are
those of now, and may have changed since the request.
"""

import collections
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from nova_filters.matching import request
from openstack_commands.aggregates.advice import (
    in_tree,
    inventory,
    offers,
    reservations,
)
from openstack_commands.aggregates.advice.explanation import (
    Evaluation,
    Verdicts,
)
from os_placement_plugins.quoting import quote

#: This package's filter.
OURS: Final = 'AggregateInstanceTypeFilter'
#: Nova's default of ``enabled_filters``, and this package's filter.
DEFAULT_FILTERS: Final = (
    'ComputeFilter',
    'ComputeCapabilitiesFilter',
    'ImagePropertiesFilter',
    'ServerGroupAntiAffinityFilter',
    'ServerGroupAffinityFilter',
    OURS,
)
PLACEMENT: Final = 'Placement'
_ZONE: Final = 'Availability zone'


class FilterStep(NamedTuple):
    """One step of the request.

    :param name: all compute hosts (the start), Placement, the availability
        zone, or a filter.
    :param left: the hosts that pass this step and all steps before.
    :param reason: what Placement was asked for, or why the step refuses hosts.
    """

    name: str
    left: Sequence[inventory.Host]
    reason: str


class Walk(NamedTuple):
    """All steps of a request, and what refuses the hosts.

    :param steps: the steps that can be judged, in order.
    :param unjudged: the enabled filters that cannot be judged through APIs.
    :param verdicts: the verdicts of the filter that compares flavors with
        aggregates; None if no such filter is enabled. If two of them are
        enabled, the verdicts of the second one on the hosts that pass the
        first one.
    :param obstacles: name of a host that accepts the flavor -> why steps other
        than Placement refuse the host.
    """

    steps: Sequence[FilterStep]
    unjudged: Sequence[str]
    verdicts: Verdicts | None
    obstacles: Mapping[str, list[offers.Obstacle]]


#: A function that returns why a host is refused; None if the host passes.
_Judge = Callable[[inventory.Host, inventory.Server], str | None]


def _state(host: inventory.Host, _: inventory.Server) -> str | None:
    """Refuse a host that is disabled or down."""
    if host.usable:
        return None
    return host.state


def _zone(host: inventory.Host, server: inventory.Server) -> str | None:
    """Refuse a host in another zone."""
    if server.zone == host.zone:
        return None
    return f'in zone {quote(host.zone)}'


def _projects(host: inventory.Host, server: inventory.Server) -> str | None:
    """Refuse a host that is reserved for other projects."""
    reserved = reservations.projects(host)
    if reservations.admits(reserved, server.project):
        return None
    return 'reserved for other projects'


def _flavors(host: inventory.Host, server: inventory.Server) -> str | None:
    """Refuse a host that is reserved for other flavors."""
    reserved = reservations.flavors(host)
    if reservations.admits(reserved, server.flavor_name):
        return None
    return 'reserved for other flavors'


#: Step -> the function that judges a host. Placement and the filters that
#: compare flavors with aggregates are not here.
_JUDGES: Final[Mapping[str, _Judge]] = {
    'AllHostsFilter': lambda host, server: None,
    'ComputeFilter': _state,
    _ZONE: _zone,
    reservations.PROJECT_FILTER: _projects,
    'AggregateTypeAffinityFilter': _flavors,
}
#: The filters that compare flavors with aggregates, and for each filter the
#: class with its rules.
_REQUESTS: Final = {
    'AggregateInstanceExtraSpecsFilter': in_tree.Request,
    OURS: request.Request,
}
#: The filters that do nothing for a server in no server group.
_OF_GROUPS: Final = (
    'ServerGroupAntiAffinityFilter',
    'ServerGroupAffinityFilter',
)


def walk(
    stock: inventory.Stock,
    server: inventory.Server,
    candidates: Collection[str] | None,
    demand: str,
    filters: Sequence[str],
) -> Walk:
    """Return the steps of a request.

    :param stock: the flavors, aggregates and hosts.
    :param server: the server that was requested.
    :param candidates: the names of Placement's candidates; None if Placement
        could not be asked.
    :param demand: what Placement was asked for.
    :param filters: the enabled filters, in order.
    """
    judges = [name for name in filters if name in _JUDGES]
    if _has_zone(server, stock):
        judges.append(_ZONE)
    verdicts = _verdicts(stock, server, filters)
    takers: Iterable[inventory.Host] = stock.hosts.values()
    if verdicts is not None:
        takers = verdicts.passed
    unjudged = []
    for name in filters:
        if name in _JUDGES or name in _REQUESTS:
            continue
        if server.grouped or name not in _OF_GROUPS:
            unjudged.append(name)
    return Walk(
        steps=_steps(stock, server, candidates, demand, filters),
        unjudged=unjudged,
        verdicts=verdicts,
        obstacles={
            host.name: _obstacles(host, server, judges) for host in takers
        },
    )


def _has_zone(server: inventory.Server, stock: inventory.Stock) -> bool:
    """Tell whether the request is limited to the hosts of a zone.

    Nova accepts any host for the default zone, unless an aggregate sets this
    zone.
    """
    zones = {
        aggregate.metadata.get(inventory.ZONE)
        for aggregate in stock.aggregates
    }
    is_default = server.zone == stock.default_zone
    return bool(server.zone) and (not is_default or server.zone in zones)


def _verdicts(
    stock: inventory.Stock, server: inventory.Server, filters: Iterable[str]
) -> Verdicts | None:
    """Return the verdicts of filters that compare flavors with aggregates."""
    verdicts: Verdicts | None = None
    # The hosts that pass the filters so far; None for all hosts.
    hosts = None
    for name in filters:
        if name not in _REQUESTS:
            continue
        if hosts == []:
            break
        evaluation = Evaluation(stock, hosts, _REQUESTS[name])
        verdicts = evaluation.of_specs(server.specs)
        hosts = verdicts.passed
    return verdicts


def _obstacles(
    host: inventory.Host, server: inventory.Server, judges: Iterable[str]
) -> list[offers.Obstacle]:
    """Return why steps refuse a host.

    :param judges: the names of the steps, in :data:`_JUDGES`.
    """
    reasons = [_JUDGES[name](host, server) for name in judges]
    return [offers.Obstacle('is', reason) for reason in reasons if reason]


def _steps(
    stock: inventory.Stock,
    server: inventory.Server,
    candidates: Collection[str] | None,
    demand: str,
    filters: Iterable[str],
) -> list[FilterStep]:
    """Return the steps that can be judged, one after the other."""
    names = list(filters)
    if candidates is not None:
        names.insert(0, PLACEMENT)
    if _has_zone(server, stock):
        names.insert(0, _ZONE)
    left = list(stock.hosts.values())
    steps = [FilterStep('All compute hosts', left, '')]
    for name in names:
        if name == PLACEMENT:
            left = [host for host in left if host.name in (candidates or ())]
            steps.append(FilterStep(name, left, demand))
        elif name in _REQUESTS:
            evaluation = Evaluation(stock, left, _REQUESTS[name])
            verdicts = evaluation.of_specs(server.specs)
            left = verdicts.passed
            steps.append(FilterStep(name, left, _counted(verdicts.counts())))
        elif name in _JUDGES:
            passed = []
            causes: collections.Counter[str] = collections.Counter()
            for host in left:
                cause = _JUDGES[name](host, server)
                if cause:
                    causes[cause] += 1
                else:
                    passed.append(host)
            left = passed
            counts = [
                (number, cause) for cause, number in causes.most_common()
            ]
            steps.append(FilterStep(name, left, _counted(counts)))
    return steps


def _counted(counts: Iterable[tuple[int, str]]) -> str:
    """Return a text with the number of hosts that each reason refuses."""
    return ', '.join(f'{number} {reason}' for number, reason in counts)

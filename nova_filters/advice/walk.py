# SPDX-License-Identifier: Apache-2.0

"""The way of a request through nova-scheduler, as far as it can be judged.

The hosts are those of now, and not those at the time of the request.
"""

import collections
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from nova_filters.advice import in_tree, inventory
from nova_filters.advice.explanation import Panel
from nova_filters.matching import request, requirement

#: This package's filter.
OURS: Final = 'AggregateInstanceTypeFilter'
#: Nova's default of ``enabled_filters``, and this package's filter.
DEFAULT_FILTERS: Final = (
    *('ComputeFilter', 'ComputeCapabilitiesFilter', 'ImagePropertiesFilter'),
    *('ServerGroupAntiAffinityFilter', 'ServerGroupAffinityFilter', OURS),
)
PLACEMENT: Final = 'Placement'
_ZONE: Final = 'Availability zone'


class Step(NamedTuple):
    """One step on the way.

    :param name: Placement, the availability zone, or a filter.
    :param left: the hosts that are left after it.
    :param reason: what it asks for, or why it refuses hosts.
    """

    name: str
    left: Sequence[inventory.Host]
    reason: str


class Walk(NamedTuple):
    """The whole way.

    :param steps: those that can be judged, in order.
    :param unjudged: the enabled filters that cannot be judged from outside.
    :param near: the hosts that no other step than this package's filter
        refuses.
    """

    steps: Sequence[Step]
    unjudged: Sequence[str]
    near: Sequence[inventory.Host]


#: Return why a host is refused; None if it passes.
_Judge = Callable[[inventory.Host, inventory.Server], str | None]


def _reserved(
    prefix: str, asking: Callable[[inventory.Server], str], reason: str
) -> _Judge:
    """Return what refuses a host that aggregates reserve for others.

    :param prefix: that of the keys that name for whom.
    """

    def judge(host: inventory.Host, server: inventory.Server) -> str | None:
        named = {
            one
            for aggregate in host.aggregates
            for key, value in aggregate.metadata.items()
            if key.startswith(prefix)
            for one in requirement.split(value)
        }
        return reason if named and asking(server) not in named else None

    return judge


#: The steps that can be judged from outside, beside the two that are asked.
_JUDGES: Final[Mapping[str, _Judge]] = {
    'AllHostsFilter': lambda host, _: None,
    'ComputeFilter': lambda host, _: None if host.usable else host.state,
    _ZONE: lambda host, server: (
        None if server.zone == host.zone else f'in {host.zone}'
    ),
    'AggregateMultiTenancyIsolation': _reserved(
        'filter_tenant_id', lambda asked: asked.project, 'for other projects'
    ),
    'AggregateTypeAffinityFilter': _reserved(
        'instance_type', lambda asked: asked.flavor_name, 'for other flavors'
    ),
}
#: The filters that a panel judges.
_OF_PANELS: Final = {
    'AggregateInstanceExtraSpecsFilter': in_tree.Request,
    OURS: request.Request,
}
_OF_GROUPS: Final = (
    'ServerGroupAntiAffinityFilter',
    'ServerGroupAffinityFilter',
)


def walk(
    stock: inventory.Stock,
    server: inventory.Server,
    candidates: Collection[str] | None,
    asked: str,
    filters: Iterable[str],
) -> Walk:
    """Return the way of a request.

    :param candidates: the names of Placement's candidates; None if Placement
        could not be asked.
    :param asked: what Placement was asked for.
    """
    judges: Mapping[str, _Judge] = {
        **_JUDGES,
        PLACEMENT: lambda host, _: (
            None if host.name in (candidates or ()) else asked
        ),
    }
    left = near = [*stock.hosts.values()]
    steps, unjudged = [Step('All compute hosts', left, '')], []
    before = [_ZONE] * bool(server.zone)
    before += [PLACEMENT] * (candidates is not None)
    for name in (*before, *filters):
        judge = judges.get(name)
        if ask := _OF_PANELS.get(name):
            verdicts = Panel(stock, left, ask).of_specs(server.specs)
            stay, counts = verdicts.passed, verdicts.counts()
            if name != OURS:
                near = Panel(stock, near, ask).of_specs(server.specs).passed
        elif judge is not None:
            causes = {host.name: judge(host, server) for host in left}
            stay = [host for host in left if not causes[host.name]]
            near = [host for host in near if not judge(host, server)]
            found = collections.Counter(filter(None, causes.values()))
            counts = [(n, cause) for cause, n in found.most_common()]
        else:
            if server.grouped or name not in _OF_GROUPS:
                unjudged.append(name)
            continue
        left = stay
        told = ', '.join(f'{number} {cause}' for number, cause in counts)
        reason = asked if name == PLACEMENT else told
        steps.append(Step(name, left, reason))
    return Walk(steps, unjudged, near)

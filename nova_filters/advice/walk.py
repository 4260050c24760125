# SPDX-License-Identifier: Apache-2.0

"""The way of a request through nova-scheduler, as far as it can be judged.

The hosts are those of now, and not those at the time of the request.
"""

import collections
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final, NamedTuple

from nova_filters.advice import explanation, in_tree, inventory
from nova_filters.matching import inputs, requirement

#: This package's filter.
OURS: Final = 'AggregateInstanceTypeFilter'
#: Nova's default of ``enabled_filters``, and this package's filter.
DEFAULT_FILTERS: Final = (
    *('ComputeFilter', 'ComputeCapabilitiesFilter', 'ImagePropertiesFilter'),
    *('ServerGroupAntiAffinityFilter', 'ServerGroupAffinityFilter', OURS),
)
_ZONE: Final = 'availability_zone'


class Request(NamedTuple):
    """What a server was requested with.

    :param flavor: the server's copy of its flavor.
    :param project: the ID of its project.
    :param zone: the availability zone that it asks for; empty for any.
    :param grouped: whether it is in a server group.
    """

    flavor: inventory.Flavor
    project: str
    zone: str = ''
    grouped: bool = False


class Step(NamedTuple):
    """One step on the way; the fields are the columns of the command's table.

    :param name: Placement, the availability zone, or a filter.
    :param left: how many hosts are left after it.
    :param reason: what it asks for, or why it refuses hosts.
    """

    name: str
    left: int
    reason: str


class Walk(NamedTuple):
    """The whole way.

    :param steps: those that can be judged, in order.
    :param unjudged: the enabled filters that cannot be judged from outside.
    :param near: the hosts that no other step than this package's filter
        refuses, judged by this filter.
    """

    steps: tuple[Step, ...]
    unjudged: tuple[str, ...]
    near: tuple[explanation.Explanation, ...]


#: Return why a host is refused; None if it passes.
_Judge = Callable[[inventory.Host, Request], str | None]


def _offered(host: inventory.Host, prefix: str) -> set[str]:
    """Return the values of the keys with a prefix in a host's aggregates."""
    return {
        piece.text
        for aggregate in host.aggregates
        for key, value in aggregate.metadata.items()
        if key.startswith(prefix)
        for piece in requirement.parse_metadata(value, forced=False)
    }


def _state(host: inventory.Host, request: Request) -> str | None:
    """Refuse a host that is disabled or down."""
    return None if host.usable else host.state


def _zone(host: inventory.Host, request: Request) -> str | None:
    """Refuse a host outside the zone; "nova" is Nova's default zone."""
    zones = _offered(host, _ZONE) or {'nova'}
    if not request.zone or request.zone in zones:
        return None
    return f'in {", ".join(sorted(zones))}'


def _project(host: inventory.Host, request: Request) -> str | None:
    """Refuse a host that aggregates reserve for other projects."""
    projects = _offered(host, 'filter_tenant_id')
    reserved = projects and request.project not in projects
    return 'for other projects' if reserved else None


def _type(host: inventory.Host, request: Request) -> str | None:
    """Refuse a host that aggregates reserve for other flavors."""
    types = _offered(host, 'instance_type')
    return (
        'for other flavors'
        if types and request.flavor.name not in types
        else None
    )


def _in_tree(host: inventory.Host, request: Request) -> str | None:
    """Refuse a host as Nova's own filter does."""
    specs = request.flavor.extra_specs.items()
    reason = in_tree.refusal(specs, host.aggregates)
    return reason.summary() if reason else None


#: The steps that can be judged from outside.
_JUDGES: Final[Mapping[str, _Judge]] = {
    'AllHostsFilter': lambda host, request: None,
    'ComputeFilter': _state,
    'Availability zone': _zone,
    'AvailabilityZoneFilter': _zone,
    'AggregateMultiTenancyIsolation': _project,
    'AggregateTypeAffinityFilter': _type,
    'AggregateInstanceExtraSpecsFilter': _in_tree,
}
_OF_GROUPS: Final = (
    'ServerGroupAntiAffinityFilter',
    'ServerGroupAffinityFilter',
)


def walk(
    hosts: inventory.Hosts,
    request: Request,
    candidates: Collection[str] | None,
    asked: str,
    filters: Iterable[str],
    exempt: inputs.Exempt,
) -> Walk:
    """Return the way of a request.

    :param candidates: the names of Placement's candidates; None if Placement
        could not be asked.
    :param asked: what Placement was asked for.
    """
    judged = {
        entry.host.name: entry
        for entry in explanation.judge(request.flavor, hosts, exempt)
    }
    steps = [Step('All compute hosts', len(hosts), '')]
    left = near = list(hosts.values())
    unjudged = []
    if candidates is not None:
        left = near = [host for host in left if host.name in candidates]
        steps.append(Step('Placement', len(left), asked))
    if request.zone:
        filters = 'Availability zone', *filters
    for name in filters:
        judge = _JUDGES.get(name)
        if name == OURS:
            refused = [judged[h.name] for h in left if judged[h.name].reasons]
            left = [host for host in left if judged[host.name].passed]
            reason = explanation.causes(refused)
            steps.append(Step(name, len(left), reason))
        elif judge is not None:
            counts = collections.Counter(
                cause for host in left if (cause := judge(host, request))
            )
            left = [host for host in left if not judge(host, request)]
            near = [host for host in near if not judge(host, request)]
            told = (f'{n} {cause}' for cause, n in counts.most_common())
            steps.append(Step(name, len(left), ', '.join(told)))
        elif request.grouped or name not in _OF_GROUPS:
            unjudged.append(name)
    return Walk(
        tuple(steps), tuple(unjudged), tuple(judged[h.name] for h in near)
    )

# SPDX-License-Identifier: Apache-2.0

"""Calculate from Placement's answers how many more servers fit.

If the answer is complete, the number of servers is an upper bound. If
Placement has cut the answer, the number is a lower bound. The numbers do not
consider NUMA and PCI devices, so fewer servers may fit.
"""

import collections
from collections.abc import (
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any, Final, NamedTuple

from openstack_commands.aggregates.advice.offers import Able, Answer
from os_placement_plugins.quoting import LISTED

#: The number is an upper bound. Rules that are not judged here, such as NUMA,
#: can only lower the number.
AT_MOST: Final = 'at most'
#: The number is a lower bound, because Placement's answer lacks some hosts.
AT_LEAST: Final = 'at least'

_HOSTS: Final = 'nova_flavor_hosts', 'Hosts that take the flavor and are up.'
_SERVERS: Final = (
    'nova_flavor_free_servers',
    'Servers of the flavor that fit, at most, if all else stays; at least, '
    'where nova_flavor_answer_cut is 1.',
)
_CUT: Final = (
    'nova_flavor_answer_cut',
    'Whether Placement has told of a part of the hosts only.',
)


class Room(NamedTuple):
    """How many servers of one flavor fit; the fields are the table's columns.

    :param hosts: how many hosts pass the filter and are up.
    :param nodes: how many nodes these hosts have. With Ironic, a host can have
        many nodes.
    :param servers: how many more servers fit on these nodes; None if
        Placement refuses the request.
    :param bound: ``AT_MOST`` or ``AT_LEAST``; empty if ``servers`` is None.
    :param full: how many of the nodes have no room.
    :param scarce: the resource classes and traits that limit the number of
        servers on the most nodes.
    :param unjudged: the extra specs that were not judged. Because of these
        extra specs, fewer servers may fit.
    """

    flavor: str
    hosts: int
    nodes: int
    servers: int | None
    bound: str
    full: int
    scarce: list[str]
    unjudged: list[str]


#: The resources of one server: (provider, resource class) -> amount.
Shape = Mapping[tuple[str, str], int]


class Candidates:
    """The free resources that Placement reports for one flavor.

    :param answer: the answer to ``GET /allocation_candidates``. In the answer,
        Placement has applied reserved amounts, ratios, usage and unit limits.
    :param nodes: the IDs of the nodes to count. Other providers may share
        resources with these nodes.
    """

    def __init__(self, answer: Answer, nodes: Collection[str]) -> None:
        summaries = answer['provider_summaries']
        #: Node -> the allocations that a server can have on the node.
        self.shapes: dict[str, list[Shape]] = {}
        self._free: dict[tuple[str, str], int] = {}
        self._roots = {
            provider: summary['root_provider_uuid']
            for provider, summary in summaries.items()
        }
        for candidate in answer['allocation_requests']:
            shape = _shape(candidate)
            roots = {self._roots[provider] for provider, _ in shape}
            # One root provider is the node. Another one may be shared storage.
            for node in roots.intersection(nodes):
                self.shapes.setdefault(node, []).append(shape)
                for provider, name in shape:
                    units = summaries[provider]['resources'][name]
                    left = units['capacity'] - units['used']
                    self._free[provider, name] = left

    def is_plain(self, nodes: Iterable[str]) -> bool:
        """Tell whether each node has one candidate that uses one provider."""
        for node in nodes:
            shapes = self.shapes.get(node, [])
            providers = {provider for provider, _ in _keys(shapes)}
            if len(shapes) != 1 or len(providers) != 1:
                return False
        return True

    def is_cut(self, able: Mapping[str, Able]) -> bool:
        """Tell whether Placement has cut the answer.

        If a provider has room for a resource class, but is in no candidate,
        Placement has cut the answer.

        :param able: resource class or trait -> the providers that have it.
        """
        offered: set[tuple[str, str]] = set()
        for shapes in self.shapes.values():
            offered.update(_keys(shapes))
        offered_classes = {name for _, name in offered}
        # The candidates name resource classes only, so traits are left out.
        for name in offered_classes.intersection(able):
            providers = set(able[name].sharing)
            for node in self.shapes:
                providers.update(able[name].nodes.get(node, ()))
            for provider in providers:
                if (provider, name) not in offered:
                    return True
        return False

    def least(self) -> int:
        """Return how many servers fit at least.

        The nodes are filled with servers, one node after the other.
        """
        free = dict(self._free)
        servers = 0
        for shapes in self.shapes.values():
            for shape in shapes:
                number = min(free[key] // shape[key] for key in shape)
                servers += number
                for key, amount in shape.items():
                    free[key] -= number * amount
        return servers

    def most(self) -> int:
        """Return how many servers fit at most.

        If a provider shares resources with several nodes, the resources
        count once.
        """
        limits = [self._most_of_nodes()]
        limits += [self._most_of_class(name) for name in self._shared()]
        return min(limits)

    def of_node(self, node: str) -> dict[str, int]:
        """Return how many servers fit on one node.

        :returns: resource class -> the number if only this class counts.
        """
        return {
            name: self._fitting(name, [node])
            for name in _needs(self.shapes[node])
        }

    def _most_of_nodes(self) -> int:
        """Count the servers that fit on each node, and return the sum.

        Each node counts as if no other node used the shared resources.
        """
        return sum(min(self.of_node(node).values()) for node in self.shapes)

    def _shared(self) -> set[str]:
        """Return the resource classes that come from sharing providers."""
        names = set()
        for shapes in self.shapes.values():
            for provider, name in _keys(shapes):
                if self._roots[provider] not in self.shapes:
                    names.add(name)
        return names

    def _most_of_class(self, name: str) -> int:
        """Return how many servers fit if shared resources count only once.

        Nodes with a common provider of the class are counted together.

        :param name: the resource class that providers share.
        """
        servers = 0
        for nodes in self._neighbours(name):
            alone = sum(min(self.of_node(node).values()) for node in nodes)
            servers += min(alone, self._fitting(name, nodes))
        return servers

    def _neighbours(self, name: str) -> Iterator[list[str]]:
        """Yield groups of nodes that use the same providers.

        All nodes that use a provider of the class are in the same group.

        :param name: the resource class.
        """
        users: dict[str, list[str]] = {}
        for node, shapes in self.shapes.items():
            for provider, resource_class in _keys(shapes):
                if resource_class == name:
                    users.setdefault(provider, []).append(node)
        seen = set()
        for start in self.shapes:
            if start in seen:
                continue
            seen.add(start)
            group = [start]
            # The loop appends to the group, and so visits the new nodes, too.
            for node in group:
                for provider, _ in _keys(self.shapes[node]):
                    for other in users.pop(provider, ()):
                        if other not in seen:
                            seen.add(other)
                            group.append(other)
            yield group

    def _fitting(self, name: str, nodes: Iterable[str]) -> int:
        """Return how many servers fit on nodes if only one class counts.

        If a server takes the class from several providers, the free amounts
        of these providers are added up. Otherwise, each provider has room for
        whole servers only.
        """
        shapes: list[Shape] = []
        for node in nodes:
            shapes.extend(self.shapes[node])
        need = _needs(shapes)[name]
        providers: set[str] = set()
        is_split = False
        for shape in shapes:
            for (provider, resource_class), amount in shape.items():
                if resource_class == name:
                    providers.add(provider)
                    is_split = is_split or amount != need
        free = [self._free[provider, name] for provider in providers]
        if is_split:
            return sum(free) // need
        return sum(units // need for units in free)


def _shape(candidate: Mapping[str, Any]) -> Shape:
    """Return the resources that a server needs from each provider."""
    shape = {}
    for provider, allocation in candidate['allocations'].items():
        for name, amount in allocation['resources'].items():
            shape[provider, name] = amount
    return shape


def _keys(shapes: Iterable[Shape]) -> set[tuple[str, str]]:
    """Return the pairs of provider and class in shapes."""
    return set().union(*shapes)


def _needs(shapes: Sequence[Shape]) -> dict[str, int]:
    """Return how much of each class a server needs.

    All shapes need the same total of a class, so the first shape is enough.
    """
    needs: collections.Counter[str] = collections.Counter()
    for (_, name), amount in shapes[0].items():
        needs[name] += amount
    return needs


def count(
    flavor: str,
    hosts: Collection[str],
    nodes: Mapping[str, str],
    answer: Answer,
    able: Mapping[str, Able],
    unjudged: Iterable[str],
) -> Room:
    """Return how many servers of one flavor fit.

    :param hosts: the hosts that pass the filter and are up.
    :param nodes: ID of a node -> host.
    :param answer: the answer to ``GET /allocation_candidates``.
    :param able: resource class or trait -> the providers that have it. Not
        needed if each node has one candidate that uses one provider.
    :param unjudged: the extra specs that were not judged.
    """
    counted = [node for node, host in nodes.items() if host in hosts]
    candidates = Candidates(answer, counted)
    scarce: collections.Counter[str] = collections.Counter()
    full, is_cut = 0, candidates.is_cut(able)
    for node in counted:
        if node in candidates.shapes:
            room = candidates.of_node(node)
            least = min(room.values())
            scarce.update(name for name in room if room[name] == least)
            continue
        lacking = [name for name in able if able[name].lacks(node)]
        scarce.update(lacking)
        full += bool(lacking)
        # The node lacks nothing, but is no candidate: the answer was cut.
        is_cut = is_cut or not lacking
    if is_cut:
        servers, bound = candidates.least(), AT_LEAST
    else:
        servers, bound = candidates.most(), AT_MOST
    return Room(
        flavor=flavor,
        hosts=len(hosts),
        nodes=len(counted),
        servers=servers,
        bound=bound,
        full=full,
        scarce=[name for name, _ in scarce.most_common(LISTED)],
        unjudged=[*unjudged],
    )


def exposition(rooms: Collection[Room]) -> str:
    """Return the numbers of all flavors in Prometheus' text format."""
    hosts: dict[str, int] = {}
    servers: dict[str, int] = {}
    cut: dict[str, int] = {}
    for room in rooms:
        hosts[room.flavor] = room.hosts
        if room.servers is not None:
            servers[room.flavor] = room.servers
            cut[room.flavor] = int(room.bound == AT_LEAST)
    lines = []
    metrics = ((_HOSTS, hosts), (_SERVERS, servers), (_CUT, cut))
    for (name, text), numbers in metrics:
        lines += [f'# HELP {name} {text}', f'# TYPE {name} gauge']
        for flavor, number in numbers.items():
            label = flavor.replace('\\', r'\\').replace('"', r'\"')
            label = label.replace('\n', r'\n')
            lines.append(f'{name}{{flavor="{label}"}} {number}')
    return '\n'.join([*lines, ''])

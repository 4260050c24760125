# SPDX-License-Identifier: Apache-2.0

"""Read from Placement's answers what each host offers."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

#: The JSON object of an answer of Placement.
Answer = Mapping[str, Any]


class Obstacle(NamedTuple):
    """Why a request cannot use a host, as the end of a sentence.

    :param verb: ``is``, ``lacks`` or ``has``.
    :param what: what follows the verb.
    """

    verb: str
    what: str


class Offers(NamedTuple):
    """What Placement offers for a request.

    :param candidates: the hosts that Placement returns to Nova.
    :param cut_at: Nova's limit of candidates, if the number of candidates
        reaches this limit; otherwise 0.
    :param anywhere: the hosts that Placement would return if Nova set no limit
        and no zone, and did not exclude disabled hosts.
    :param able: resource class or trait -> the hosts that have it, whether or
        not they meet the rest of the request. None if a sharing provider may
        offer the class or trait to any host.
    """

    candidates: Collection[str]
    cut_at: int = 0
    anywhere: Collection[str] = ()
    able: Mapping[str, Collection[str] | None] = {}

    def obstacles(self, host: str, enabled: bool) -> list[Obstacle]:
        """Return why a host is no candidate; an empty list for a candidate.

        :param enabled: whether the host is enabled and in the right zone. If
            not, another obstacle of the host already says so.
        """
        if host in self.candidates:
            return []
        if host in self.anywhere:
            if not enabled:
                return []
            if self.cut_at:
                text = f'beyond the first {self.cut_at} candidates'
                return [Obstacle('is', text)]
            return [Obstacle('is', 'disabled in Placement')]
        obstacles = []
        for name, hosts in self.able.items():
            if hosts is None or host in hosts:
                continue
            if name.startswith('!'):
                obstacles.append(Obstacle('has', name[1:]))
            else:
                obstacles.append(Obstacle('lacks', name))
        if not obstacles:
            return [Obstacle('is', 'no candidate of Placement')]
        return obstacles


def roots(answer: Answer) -> set[str]:
    """Return the root providers of allocation candidates.

    :param answer: the answer to ``GET /allocation_candidates``.
    """
    summaries = answer['provider_summaries']
    providers = set()
    for candidate in answer['allocation_requests']:
        for provider in candidate['allocations']:
            providers.add(summaries[provider]['root_provider_uuid'])
    return providers


class Able(NamedTuple):
    """The providers that have room for a resource class, or have a trait.

    :param nodes: node -> the node's providers with the class or trait.
    :param sharing: the providers that share the class or trait with nodes.
    """

    nodes: Mapping[str, Collection[str]]
    sharing: Collection[str] = ()

    def lacks(self, node: str) -> bool:
        """Tell whether a node lacks the class or trait.

        If any provider shares the class or trait, the answer is no.
        """
        return not self.sharing and node not in self.nodes


def able(
    providers: Iterable[Mapping[str, Any]],
    name: str,
    nodes: Collection[str],
    sharing: Collection[str],
) -> Able:
    """Return the providers that have a resource class or a trait.

    :param providers: as ``GET /resource_providers`` lists them.
    :param name: the class or the trait; a forbidden trait begins with ``!``.
    :param nodes: the IDs of the nodes of hosts.
    :param sharing: the IDs of the providers that share resources.
    """
    by_node: dict[str, set[str]] = {}
    sharing_it = set()
    is_forbidden = name.startswith('!')
    for provider in providers:
        uuid, root = provider['uuid'], provider['root_provider_uuid']
        # A child provider without the forbidden trait says nothing about the
        # host, because the root provider may have the trait.
        if is_forbidden and root != uuid:
            continue
        if root in nodes:
            by_node.setdefault(root, set()).add(uuid)
        elif uuid in sharing and not is_forbidden:
            sharing_it.add(uuid)
    return Able(by_node, sharing_it)


def sentence(obstacles: Mapping[str, Iterable[Obstacle]], most: int) -> str:
    """Return why a request cannot use hosts, as a sentence.

    :param obstacles: host -> the obstacles of the host. A host without
        obstacles is left out.
    :param most: how many hosts with the same obstacles are named at most.
    """
    groups: dict[tuple[Obstacle, ...], list[str]] = {}
    for host, reasons in obstacles.items():
        key = tuple(reasons)
        if key:
            groups.setdefault(key, []).append(host)
    clauses = []
    for obstacles_of_group, hosts in groups.items():
        clauses.append(_group(hosts, obstacles_of_group, most))
    return '; '.join(clauses)


_PLURAL = {'is': 'are', 'lacks': 'lack', 'has': 'have'}


def _group(hosts: list[str], reasons: Iterable[Obstacle], most: int) -> str:
    """Return why a request cannot use hosts with the same obstacles."""
    by_verb: dict[str, list[str]] = {}
    for verb, what in reasons:
        by_verb.setdefault(verb, []).append(what)
    words = []
    for verb, whats in by_verb.items():
        if len(hosts) > 1:
            verb = _PLURAL[verb]
        words.append(f'{verb} {_and(whats)}')
    names = hosts[:most]
    rest = len(hosts) - most
    if rest > 0:
        names.append(f'{rest} more')
    return f'{_and(names)} {_and(words)}'


def _and(words: list[str]) -> str:
    """Return words as a list in a sentence."""
    if len(words) == 1:
        return words[0]
    return f'{", ".join(words[:-1])} and {words[-1]}'

# SPDX-License-Identifier: Apache-2.0

"""Find the hosts that members in flight with other flavors may have.

The module ``order`` explains members in flight. Members may differ in the size
of their flavors and in extra specs that aggregates judge. This module ignores
the size, and applies the rules of ``AggregateInstanceTypeFilter`` to the extra
specs.
"""

import json
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from nova_filters.matching import inputs
from nova_filters.matching.judge import Judge
from nova_filters.spread import places


class Host(NamedTuple):
    """A host with its places, and with those of its aggregates that are known.

    :param path: the place of the host at each level; see ``places``.
    :param aggregates: objects with the attributes ``name`` and ``metadata``.
    """

    path: places.Path
    aggregates: Collection[Any]


def find_candidates(
    flavor: str,
    other_flavors: Collection[str],
    candidates: Sequence[Host],
    other_hosts: Sequence[Host],
    exempt: inputs.Exempt,
) -> dict[str, places.Candidates]:
    """Return the candidates of members in flight, for each other flavor.

    :param flavor: the extra specs of the server's own flavor, as JSON.
    :param other_flavors: the extra specs of the members in flight, as JSON.
    :param candidates: the candidates of the server.
    :param other_hosts: hosts that share aggregates with the candidates.
    :param exempt: patterns of keys that no aggregate may demand.
    :returns: the candidates, by flavor. A flavor is left out if none of the
        server's candidates suits the flavor, or if hosts that are unknown here
        may suit the flavor.
    """
    judge = _judge(flavor, exempt)
    # If one of the other hosts suits the server's own flavor, but is no
    # candidate, the host is full or disabled. So only the hosts that refuse
    # the server's own flavor may be candidates for other flavors.
    _, refused = judge.sift(other_hosts)
    only_for_others: list[Host] = []
    for refused_hosts in refused.values():
        only_for_others += refused_hosts
    candidates_by_flavor = {}
    for other_flavor in other_flavors:
        other_judge = _judge(other_flavor, exempt)
        shared, _ = other_judge.sift(candidates)
        elsewhere, _ = other_judge.sift(only_for_others)
        # True if hosts in no aggregate suit only the other flavor. Such hosts
        # are unknown here: other_hosts are in aggregates of the candidates.
        is_wider = _needs_aggregate(judge) > _needs_aggregate(other_judge)
        if shared and not is_wider:
            hosts = (*shared, *elsewhere)
            paths = [host.path for host in hosts]
            candidates_by_flavor[other_flavor] = places.Candidates(paths)
    return candidates_by_flavor


def _judge(flavor: str, exempt: inputs.Exempt) -> Judge:
    return Judge(inputs.read_flavor(json.loads(flavor)), exempt)


def _needs_aggregate(judge: Judge) -> bool:
    """Tell whether a host in no aggregate refuses the flavor."""
    return bool(judge.refusals(()))

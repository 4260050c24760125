# SPDX-License-Identifier: Apache-2.0

"""Weigh the candidates for the next member of a stack or server group.

The weight of a host is its rank: 0 for the right host, then 1, 2 and so on.
Nova tries the hosts in this order if builds fail. With a positive multiplier,
the ranks are negative.
"""

from collections.abc import Mapping

from nova_filters.spread import topology
from nova_filters.spread.members import (
    POLICIES,
    RESIZE,
    STRICT,
    Members,
    Pending,
    Team,
)


def weigh_hosts(
    team: Team,
    capacity: int,
    members: Members,
    paths: topology.Paths,
    sums: Mapping[str, float],
    multiplier: float,
) -> dict[str, float]:
    """Return the weight of each candidate, by host.

    :param capacity: how many members of a team with the policy
        ``anti-affinity`` a host may have.
    :param sums: the sum of the other weights of each candidate, by host.
    :param multiplier: the number by which Nova multiplies the weights. If it
        is positive, stacks are packed.
    """
    policy = topology.Policy(POLICIES.get(team[0], multiplier > 0))
    if team[0] == STRICT:
        policy = policy._replace(capacity=capacity)
    best = max(sums.values())
    deficits = {
        host: (best - total) / abs(multiplier) for host, total in sums.items()
    }
    ranks = _rank_hosts(team, policy, members, paths, deficits)
    weights = {}
    for host, rank in ranks.items():
        weight = float(rank)
        if team[0] == STRICT:
            # Nova refuses or breaks a hard policy if the other weighers send
            # a member to another host.
            weight -= deficits[host]
        if multiplier > 0:
            weight = -weight
        weights[host] = weight
    return weights


def _rank_hosts(
    team: Team,
    policy: topology.Policy,
    members: Members,
    paths: topology.Paths,
    deficits: Mapping[str, float],
) -> dict[str, int]:
    """Return the rank of each candidate, by host.

    :param deficits: by how many ranks the other weighers put each host below
        the best one.
    """
    by_host = {host: paths.find_path(host) for host in deficits}
    # If a host is more than one rank below the best one, even the right rank
    # does not make up for it.
    candidates = {
        path for host, path in by_host.items() if deficits[host] <= 1
    }
    refused = {*by_host.values()} - candidates
    is_strict = policy.capacity is not None
    if is_strict:
        candidates |= refused
    origin = _find_left_host(members.server, paths, by_host)
    if origin:
        candidates.add(origin)
    kind = 0
    if not policy.pack:
        kind = members.kind_number()
    domains = topology.Topology(
        candidates, policy, topology.Ties(str(team), kind)
    )
    if is_strict:
        domains.refuse_hosts(refused)
    for host, count in members.counts.items():
        domains.add_members(paths.find_path(host), count)
    for member in members.alike():
        domains.place_member(paths.find_origin(member.origin))
    order = domains.sort_candidates(origin)
    ranks = {path: rank for rank, path in enumerate(order)}
    return {
        host: ranks.get(path, len(order)) for host, path in by_host.items()
    }


def _find_left_host(
    server: Pending | None,
    paths: topology.Paths,
    by_host: Mapping[str, topology.Path],
) -> topology.Path:
    """Return the path of the host that a server leaves for another size.

    The host is no candidate of the server, but of the other members.

    :param by_host: the paths of the server's candidates.
    """
    if server is None or server.action != RESIZE or server.origin in by_host:
        return ()
    return paths.find_origin(server.origin)

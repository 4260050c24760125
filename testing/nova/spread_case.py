# SPDX-License-Identifier: Apache-2.0

"""What a simulation simulates: hosts, and servers that start or move.

Nothing here imports Nova.
"""

import dataclasses
from collections.abc import Mapping

#: How a server comes to its host.
BOOT, UNSHELVE, EVACUATE = 'boot', 'unshelve', 'evacuate'
LIVE_MIGRATION, RESIZE = 'live-migration', 'resize'
#: The policies of server groups that spread their members.
SOFT, STRICT = 'soft-anti-affinity', 'anti-affinity'
#: The policy that keeps all members on one host.
TOGETHER = 'affinity'


@dataclasses.dataclass(frozen=True)
class Role:
    """The servers that are alike, such as the databases of a stack.

    :param extra_specs: the extra specs of the flavor.
    :param hosts: the hosts that Placement offers; empty for all of them.
    :param memory: the memory of the flavor, in GiB.
    """

    extra_specs: Mapping[str, str] = dataclasses.field(default_factory=dict)
    hosts: range = range(0)
    memory: int = 1


@dataclasses.dataclass(frozen=True)
class Case:
    """What happens.

    :param servers: how many servers there are.
    :param hosts: how many hosts there are; the first is the preferred one.
    :param gap: the seconds between one request and the next.
    :param group: the policy of the server groups; empty for a stack.
    :param groups: how many groups there are. The servers belong to them in
        turn.
    :param pause: the seconds between the first servers of two groups.
    :param racks: how many hosts each rack has; empty without racks.
    :param kind: boots or moves. Before they move, members of a group with
        the policy anti-affinity have a host each, and others the first host.
    :param moving: how many of the servers move; 0 for all of them.
    :param rooms: how many servers fit on each of the first hosts; the others
        have room for all of them.
    :param memory: the memory of each host in GiB. By default, the first one
        has more than the others.
    :param filled: how many servers of others the first hosts have.
    :param second: the second of a minute in which the case begins.
    :param others: a server of others starts, ends, or moves this often, in
        seconds on average; never by default.
    :param roles: equally many servers have each role, in random order.
    :param filters: the filters that nova.conf enables.
    :param failing: the share of builds that fail once. The conductor then
        tries the next alternate.
    :param failed_builds: how many builds have failed before on each of the
        first hosts.
    :param failure_weight: the option ``build_failure_weight_multiplier``.
    :param claiming: how many seconds a scheduler takes to claim a host in
        Placement. In the loopback cloud, one claim took 0.05 to 0.08 seconds,
        and each of nine claims at once 0.3 to 0.5 seconds.
    :param clock: by how many seconds the clock of a nova-api is behind. It
        takes the request of every second move.
    :param multiplier: the multipliers of both weighers, without a sign.
    :param busy: by how many seconds at most the answer of a scheduler is late.
    :param late_check: whether nova-compute checks the policy of a group again,
        which needs upcalls from the cell.
    :param tracking: whether schedulers remember the servers of hosts, and
        nova-compute tells them.
    :param old_processes: how many scheduler processes have not been restarted
        with the weighers yet.
    """

    servers: int
    hosts: int
    gap: float = 0.0
    group: str = ''
    groups: int = 1
    pause: float = 0.0
    racks: tuple[int, ...] = ()
    kind: str = BOOT
    moving: int = 0
    rooms: tuple[int, ...] = ()
    memory: tuple[int, ...] = ()
    filled: tuple[int, ...] = ()
    others: float = 0.0
    second: float = 30.0
    roles: tuple[Role, ...] = (Role(),)
    filters: tuple[str, ...] = ()
    failing: float = 0.0
    failed_builds: tuple[int, ...] = ()
    # Nova's default.
    failure_weight: float = 1_000_000.0
    claiming: float = 0.05
    clock: float = 0.0
    # More than all other weighers together.
    multiplier: float = 10.0
    busy: float = 0.0
    late_check: bool = True
    tracking: bool = True
    old_processes: int = 0

    def origin(self, number: int) -> int:
        """Return the number of the host on which a server begins."""
        if self.group == STRICT:
            return number
        return 0

    def unevenness(self, counts: Mapping[str, int]) -> int:
        """Return by how many servers two hosts differ at most.

        :param counts: the number of servers on each host. Hosts that the
            servers leave do not count; nor do those on which a build has
            failed, unless builds have failed everywhere.
        """
        left_out = set()
        for number, failed in enumerate(self.failed_builds):
            if failed and len(self.failed_builds) < self.hosts:
                left_out.add(number)
        if self.kind in (EVACUATE, LIVE_MIGRATION) and self.group != STRICT:
            left_out.add(0)
        servers = [
            count
            for number, count in enumerate(counts.values())
            if number not in left_out
        ]
        return max(servers) - min(servers)

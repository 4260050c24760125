# SPDX-License-Identifier: Apache-2.0

"""What a simulation simulates: hosts, and servers that start or move.

Nothing here imports Nova.
"""

import dataclasses
from collections.abc import Mapping
from typing import Final

#: How a server comes to its host.
BOOT, UNSHELVE, EVACUATE = 'boot', 'unshelve', 'evacuate'
LIVE_MIGRATION, RESIZE = 'live-migration', 'resize'
#: The task state of a server that moves, by the kind of its move.
TASK_STATES: Final = {
    UNSHELVE: 'unshelving',
    EVACUATE: 'rebuilding',
    LIVE_MIGRATION: 'migrating',
    RESIZE: 'resize_prep',
}
#: The policies of server groups that spread their members.
SOFT, STRICT = 'soft-anti-affinity', 'anti-affinity'
#: What keeps a role on its hosts: Placement, aggregates whose metadata are
#: the flavor's extra specs, isolated images, or the hint ``different_host``.
PLACEMENT: Final = 'placement'
AGGREGATES: Final = 'aggregates'
ISOLATED_IMAGES: Final = 'isolated images'
DIFFERENT_HOST: Final = 'different_host'
#: The prefix of the extra specs that aggregates decide.
SCOPE: Final = 'aggregate_instance_extra_specs:'


@dataclasses.dataclass(frozen=True)
class Role:
    """The servers of a stack that are alike, such as its databases.

    :param hosts: the hosts that the role may use; empty if it may use all.
    :param extra_specs: the extra specs of the flavor.
    :param memory_mb: the memory of the flavor.
    :param image: the name of the image; roles may share an image.
    :param properties: the properties of the image.
    :param hints: the scheduler hints, without those of the stack.
    """

    hosts: range = range(0)
    extra_specs: Mapping[str, str] = dataclasses.field(default_factory=dict)
    memory_mb: int = 64
    image: str = ''
    properties: Mapping[str, str] = dataclasses.field(default_factory=dict)
    hints: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Case:
    """What happens.

    :param servers: how many servers there are.
    :param hosts: how many hosts there are; the first is the preferred one.
    :param gap: the seconds between one request and the next.
    :param flavors: the servers take turns with flavors; of each, which
        hosts it may use.
    :param zones: whether each flavor is a zone of its own.
    :param racks: how many hosts each rack has; empty if there are no racks.
    :param room: how many servers fit on each host; 0 if there is no limit.
    :param dying: the share of boots that fail on the compute node.
    :param subset: Nova's ``host_subset_size``.
    :param fresh: whether each request meets a process that knows nothing.
    :param group: the policy of the server group; empty if it is a stack.
    :param kind: boots or moves.
    :param roles: equally many servers have each role, in random order.
    :param apart: what keeps each role on its hosts.
    :param filters: the filters that nova.conf enables.
    :param max_skew: the option of this name.
    :param failing: the share of builds that fail once. The conductor then
        tries the next alternate.
    :param failed_hosts: the hosts on which a build has failed before.
    :param clock: by how many seconds the clock of a nova-api is behind. It
        takes the request of every second move.
    :param max_server_per_host: the rule of the server group; 0 if there is
        none.
    :param group_multiplier: the option ``server_group_weight_multiplier``.
    :param deleted_every: of this many servers, one is deleted before its
        host is known; 0 if no server is deleted.
    :param strong_hosts: the hosts of an aggregate whose metadata make Nova's
        RAMWeigher stronger than the weigher of the spread.
    :param busy: by how many seconds at most the answer of a scheduler is late.
    """

    servers: int
    hosts: int
    gap: float = 0.0
    flavors: tuple[range, ...] = ()
    zones: bool = False
    racks: tuple[int, ...] = ()
    room: tuple[int, ...] = ()
    dying: float = 0.0
    subset: int = 1
    fresh: bool = False
    group: str = ''
    kind: str = BOOT
    # What is printed of a case seeds it. So these do not change older cases.
    roles: tuple[Role, ...] = dataclasses.field(default=(), repr=False)
    apart: str = dataclasses.field(default='', repr=False)
    filters: tuple[str, ...] = dataclasses.field(default=(), repr=False)
    max_skew: int = dataclasses.field(default=0, repr=False)
    failing: float = dataclasses.field(default=0.0, repr=False)
    failed_hosts: tuple[int, ...] = dataclasses.field(default=(), repr=False)
    clock: float = dataclasses.field(default=0.0, repr=False)
    max_server_per_host: int = dataclasses.field(default=0, repr=False)
    group_multiplier: float = dataclasses.field(default=10.0, repr=False)
    deleted_every: int = dataclasses.field(default=0, repr=False)
    strong_hosts: tuple[int, ...] = dataclasses.field(default=(), repr=False)
    busy: float = dataclasses.field(default=0.0, repr=False)

    def unevenness(self, counts: Mapping[str, int]) -> int:
        """Return by how many servers the places differ.

        :param counts: the number of servers on each host.
        :returns: the largest difference between two racks if there are
            racks, and else between two hosts. Hosts that are full, that the
            servers leave, or on which a build has failed do not count.
        """
        servers = list(counts.values())
        if self.racks:
            hosts = iter(servers)
            servers = []
            for size in self.racks:
                servers.append(sum(next(hosts) for _ in range(size)))
        if self.room:
            servers = [
                count
                for count, room in zip(servers, self.room, strict=True)
                if count < room
            ]
        left_out = set(self.failed_hosts)
        if self.kind in (EVACUATE, LIVE_MIGRATION):
            left_out.add(0)
        places = [
            count
            for number, count in enumerate(servers)
            if number not in left_out
        ]
        return max(places) - min(places)

# SPDX-License-Identifier: Apache-2.0

"""The servers of other projects in a simulation.

They start, end and move, while the scheduler chooses hosts for the servers of
the case. Nobody chooses a host for them: it is drawn.

Import :mod:`testing.nova.engine` first: it chooses Nova's concurrency.
"""

import collections
import datetime
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from oslo_utils import timeutils

from testing.nova import engine, spread_case

#: The memory of each server, in GiB.
MEMORY: Final = 4


class OtherServers:
    """The servers of others.

    :param hosts: all hosts of the case.
    :param report: has the nova-compute of a host report.
    """

    def __init__(
        self,
        cloud: engine.Cloud,
        case: spread_case.Case,
        hosts: Sequence[str],
        draw: random.Random,
        report: Callable[[str], None],
    ) -> None:
        self._cloud, self._case, self._hosts = cloud, case, hosts
        self._random, self._report = draw, report
        #: The requests of the servers, by their hosts.
        self._requests: dict[str, list[Any]] = collections.defaultdict(list)

    def set_up(self) -> None:
        """Make the servers that are there from the beginning."""
        name = 'of-others'
        self._flavor = self._cloud.add_flavor(name, {}, MEMORY * 1024)
        for host, count in zip(self._hosts, self._case.filled, strict=False):
            for _ in range(count):
                self._start(host, early())

    def count(self, host: str) -> int:
        """Return how many servers are on a host."""
        return len(self._requests[host])

    def change(self) -> Iterator[float]:
        """Have a server start, end or move, again and again."""
        changes = (self._start_one, self._end, self._migrate, self._resize)
        while True:
            yield self._random.uniform(0.0, 2 * self._case.others)
            change = self._start_one
            if any(self._requests.values()):
                change = self._random.choice(changes)
            yield from change()

    def _start_one(self) -> Iterator[float]:
        self._start(self._random.choice(self._hosts), timeutils.utcnow())
        yield from ()

    def _start(self, host: str, time: datetime.datetime) -> None:
        request = self._cloud.request(self._flavor, project='others')
        self._cloud.place(request, host, 'active')
        self._cloud.update(request, created_at=time, launched_at=time)
        self._put(request, host)

    def _end(self) -> Iterator[float]:
        request, _ = self._take()
        self._cloud.update(
            request, deleted=1, terminated_at=timeutils.utcnow()
        )
        yield from ()

    def _migrate(self) -> Iterator[float]:
        """Move a server that goes on running."""
        request, origin = self._take()
        host = self._random.choice(self._hosts)
        kind = spread_case.LIVE_MIGRATION
        self._cloud.start_migration(request, origin, host, kind)
        # nova-compute writes down the progress.
        self._cloud.migrations(request, memory_remaining=0)
        self._cloud.update(request, host=host)
        # The migration ends some time after the server has the new host.
        yield self._random.uniform(0.1, 1.0)
        self._cloud.migrations(request, status='completed')
        self._put(request, host)

    def _resize(self) -> Iterator[float]:
        """Move a server that is stopped, and launched on its new host."""
        request, origin = self._take()
        host = self._random.choice(self._hosts)
        self._cloud.start_migration(request, origin, host, spread_case.RESIZE)
        yield self._random.uniform(0.1, 1.0)
        self._cloud.update(request, host=host, launched_at=timeutils.utcnow())
        self._cloud.migrations(request, status='finished')
        self._put(request, host)

    def _take(self) -> tuple[Any, str]:
        """Take a server from its host, and return its request and the host."""
        full = [host for host in self._hosts if self._requests[host]]
        host = self._random.choice(full)
        place = self._random.randrange(len(self._requests[host]))
        request = self._requests[host].pop(place)
        self._report(host)
        return request, host

    def _put(self, request: Any, host: str) -> None:
        self._requests[host].append(request)
        self._report(host)


def early() -> datetime.datetime:
    """Return a time long before the case."""
    return timeutils.utcnow() - datetime.timedelta(days=1)

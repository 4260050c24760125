# SPDX-License-Identifier: Apache-2.0

"""The root stacks of instances, remembered: bounded, and safe in threads.

Pure: what is not known yet is asked of a function that the caller gives.
"""

import collections
import itertools
import threading
from collections.abc import Callable, Collection, Mapping, Sequence

#: Asks for the root stacks of instances; None stands for no stack.
Load = Callable[[list[str]], Mapping[str, str | None]]


class StackMap:
    """Instance uuid to root stack id, for many requests at once.

    An entry never goes stale: scheduler hints cannot be changed. That an
    instance belongs to no stack is remembered, too.

    :param size: how many instances to remember; the ones that were not
        asked for longest are forgotten first.
    :param at_once: how many unknown instances to ask for at once.
    """

    def __init__(self, size: int, at_once: int) -> None:
        self._size = size
        self._at_once = at_once
        self._lock = threading.Lock()
        self._stacks: collections.OrderedDict[str, str | None] = (
            collections.OrderedDict()
        )

    def __len__(self) -> int:
        """Return how many instances are remembered."""
        return len(self._stacks)

    def roots(
        self, hosts: Sequence[Collection[str]], load: Load
    ) -> dict[str, str | None]:
        """Return the root stacks of the instances on some hosts.

        :param hosts: the uuids of the instances on each host.
        :param load: called at most once, with unknown instances; one that
            is missing from its answer belongs to no stack. What it raises
            goes through, and nothing is remembered.
        :returns: the root stack's id, or None, by instance. If more
            instances are unknown than may be asked for at once, the rest
            is missing: later calls ask for it.
        """
        known: dict[str, str | None] = {}
        unknown = []
        with self._lock:
            for uuids in hosts:
                new = []
                for uuid in uuids:
                    if uuid in self._stacks:
                        self._stacks.move_to_end(uuid)
                        known[uuid] = self._stacks[uuid]
                    else:
                        new.append(uuid)
                unknown.append(new)
        asked = share(unknown, self._at_once)
        if not asked:
            return known
        # Not under the lock: the database may take its time.
        loaded = load(asked)
        with self._lock:
            for uuid in asked:
                known[uuid] = self._stacks[uuid] = loaded.get(uuid)
                self._stacks.move_to_end(uuid)
            while len(self._stacks) > self._size:
                self._stacks.popitem(last=False)
        return known


def share(hosts: Sequence[Sequence[str]], count: int) -> list[str]:
    """Choose instances, as evenly from the hosts as can be.

    The hosts are compared with each other: knowing a part of each is worth
    more than knowing all of some.

    :param hosts: the instances on each host.
    :param count: how many to choose at most.
    :returns: the instances, each once: the first of each host, then the
        second of each, and so on.
    """
    rounds = itertools.zip_longest(*hosts)
    chosen = dict.fromkeys(
        uuid for uuids in rounds for uuid in uuids if uuid is not None
    )
    return list(itertools.islice(chosen, count))

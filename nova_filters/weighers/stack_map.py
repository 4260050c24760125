# SPDX-License-Identifier: Apache-2.0

"""Remember the root stacks of instances: bounded, and safe in threads."""

import collections
import itertools
import threading
from collections.abc import Callable, Collection, Mapping, Sequence

#: Reads the root stacks of instances; None stands for no stack.
Load = Callable[[list[str]], Mapping[str, str | None]]


class StackMap:
    """The root stack id of each instance, for many requests at once.

    An entry never goes stale, because scheduler hints cannot be changed. The
    map also remembers that an instance belongs to no stack.

    :param size: how many instances to remember; those unused for the longest
        time are forgotten first.
    :param at_once: how many unknown instances to read at once.
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
        :param load: called at most once, with unknown instances. An instance
            that is missing from its answer belongs to no stack. If it
            raises, nothing is remembered.
        :returns: the root stack's id, or None, by instance. If more
            instances are unknown than may be read at once, the others are
            missing; later calls read them.
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
    """Choose instances evenly from all hosts.

    The hosts are compared with each other, so a part of each host is worth
    more than all of some hosts.

    :param hosts: the instances on each host.
    :param count: how many instances to choose at most.
    :returns: each instance once: the first of each host, then the second of
        each host, and so on.
    """
    rounds = itertools.zip_longest(*hosts)
    chosen = dict.fromkeys(
        uuid for uuids in rounds for uuid in uuids if uuid is not None
    )
    return list(itertools.islice(chosen, count))

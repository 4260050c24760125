# SPDX-License-Identifier: Apache-2.0

"""Which instances belong to a stack, and where they are or will be.

A host lists an instance only when the instance is ACTIVE. Between a
scheduler's choice and that moment the instance is *starting*. Its host is
then what this process expects the scheduler to choose, and later what
Placement says. Each time is in seconds.
"""

import collections
import dataclasses
import itertools
import threading
from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Mapping,
    Sequence,
    Set,
)
from typing import Final

#: The id of a root stack, and the id of the project that owns the server.
Stack = tuple[str, str | None]
#: Reads the stacks of instances; those without a stack are missing.
Load = Callable[[list[str]], Mapping[str, Stack]]
#: What a host is in at each level, the most important one first.
Places = tuple[Hashable, ...]

#: After so many seconds a starting instance is looked up although no cell
#: has it, because its creation may have been given up.
GIVEN_UP: Final = 600.0
#: After so many seconds the host of a starting instance is looked up again.
LOOK_AGAIN: Final = 120.0
#: How many starting instances are remembered.
STARTING: Final = 10_000


@dataclasses.dataclass(slots=True)
class Starting:
    """An instance that no host lists.

    :param stack: the instance's stack.
    :param due: when to ask Placement for its host.
    :param hosts: the host; empty as long as nobody knows it. Placement may
        name more than one provider.
    :param asked: whether Placement has been asked.
    """

    stack: Stack
    due: float
    hosts: frozenset[str] = frozenset()
    asked: bool = False


class StackMembers:
    """The members of stacks, for many requests at once.

    :param at_once: how many unknown instances to read at once.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._lock = threading.Lock()
        #: What each host lists, as far as it has been read.
        self._listed: dict[str, dict[str, Stack | None]] = {}
        #: The host that lists each member of a stack.
        self._hosts: dict[Stack, dict[str, str]] = {}
        self._starting: dict[str, Starting] = {}

    def follow(
        self, lists: Mapping[str, Set[str]], load: Load, now: float
    ) -> int:
        """Take over what hosts list.

        :param lists: the instances on each host.
        :param load: called at most once, with instances that are not known.
            If it raises, nothing has changed.
        :returns: how many instances are left to be read by later calls.
        """
        with self._lock:
            changed = {
                host: uuids
                for host, uuids in lists.items()
                if uuids != self._listed.get(host, {}).keys()
            }
            unknown = [
                [
                    uuid
                    for uuid in uuids - self._listed.get(host, {}).keys()
                    if uuid not in self._starting
                ]
                for host, uuids in changed.items()
            ]
        asked = share(unknown, self._at_once)
        # Not under the lock: the database may take its time.
        stacks: Mapping[str, Stack] = load(asked) if asked else {}
        with self._lock:
            read = dict.fromkeys(asked) | dict(stacks)
            for host, uuids in changed.items():
                listed = self._listed.setdefault(host, {})
                for uuid in listed.keys() - uuids:
                    self._leave(uuid, host, listed.pop(uuid), now)
                for uuid in uuids - listed.keys():
                    starting = self._starting.get(uuid)
                    if starting is not None:
                        read[uuid] = starting.stack
                        if starting.hosts - {host}:
                            # It moves, or it went elsewhere than expected.
                            starting.due = now
                        else:
                            del self._starting[uuid]
                    if uuid in read:
                        listed[uuid] = stack = read[uuid]
                        if stack is not None:
                            self._hosts.setdefault(stack, {})[uuid] = host
        return len(set().union(*unknown)) - len(asked)

    def _leave(
        self, uuid: str, host: str, stack: Stack | None, now: float
    ) -> None:
        """Forget that a host lists an instance; it may be on its way."""
        members = self._hosts.get(stack, {}) if stack is not None else {}
        if stack is None or members.get(uuid) != host:
            return
        del members[uuid]
        if not members:
            del self._hosts[stack]
        self._start(uuid, Starting(stack, now))

    def _start(self, uuid: str, starting: Starting) -> None:
        """Remember a starting instance, in place of the oldest one."""
        self._starting.pop(uuid, None)
        self._starting[uuid] = starting
        if len(self._starting) > STARTING:
            del self._starting[next(iter(self._starting))]

    def announce(self, stacks: Mapping[str, Stack], now: float) -> None:
        """Remember instances that are about to be scheduled somewhere."""
        with self._lock:
            for uuid, stack in stacks.items():
                if uuid not in self._starting and uuid not in self._hosts.get(
                    stack, ()
                ):
                    self._start(uuid, Starting(stack, now + GIVEN_UP))

    def unasked(self, stack: Stack) -> set[str]:
        """Return starting members whose host Placement may know by now."""
        with self._lock:
            return {
                uuid
                for uuid, starting in self._starting.items()
                if starting.stack == stack and not starting.asked
            }

    def take_due(
        self, stack: Stack, ready: Collection[str], count: int, now: float
    ) -> list[str]:
        """Return members to ask Placement about; nobody else asks meanwhile.

        :param ready: members that a cell has, of :meth:`unasked`.
        :param count: how many to return at most.
        """
        with self._lock:
            due = [
                uuid
                for uuid, starting in self._starting.items()
                if starting.stack == stack
                and (
                    starting.due <= now
                    or (uuid in ready and not starting.asked)
                )
            ][:count]
            for uuid in due:
                starting = self._starting[uuid]
                starting.asked, starting.due = True, now + LOOK_AGAIN
            return due

    def ask_again(self, uuids: Collection[str], now: float) -> None:
        """Take note that Placement did not answer."""
        with self._lock:
            for uuid in uuids:
                if uuid in self._starting:
                    self._starting[uuid].due = now

    def found(self, uuid: str, hosts: frozenset[str]) -> None:
        """Take over what Placement says of a member, if it is news."""
        with self._lock:
            starting = self._starting.get(uuid)
            if starting is None:
                return
            listed = self._hosts.get(starting.stack, {}).get(uuid)
            if hosts - {listed}:
                starting.hosts = hosts
            else:
                del self._starting[uuid]

    def choose(
        self,
        stack: Stack,
        uuid: str,
        decide: Callable[[Mapping[str, int]], str],
        now: float,
    ) -> None:
        """Have a host chosen for an instance, one after the other.

        :param decide: returns the host that the scheduler is expected to
            choose, given how many other members each host has.
        """
        with self._lock:
            listed = self._hosts.get(stack, {})
            counts = collections.Counter(
                host for member, host in listed.items() if member != uuid
            )
            for member, starting in self._starting.items():
                if starting.stack == stack and member != uuid:
                    counts.update(starting.hosts - {listed.get(member)})
            host = decide(counts)
            # A server that moves has a cell, and its allocation is old.
            due = now + (LOOK_AGAIN if uuid in listed else GIVEN_UP)
            self._start(
                uuid, Starting(stack, due, frozenset({host}), uuid in listed)
            )


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


def weigh(
    counts: Mapping[str, int],
    hosts: Sequence[str],
    places: Mapping[str, Places],
) -> list[float]:
    """Count the members in the place of each host.

    :param counts: how many members each host has.
    :param hosts: the hosts to compare.
    :param places: the places of these hosts, and of all others that are
        known; equal numbers of levels.
    :returns: a number for each host. It is ordered by the first level; the
        levels below only part hosts that are equal in those above.
    """
    tallies: list[collections.Counter[Hashable]] = []
    for level in range(len(places[hosts[0]]) if hosts else 0):
        tallies.append(collections.Counter())
        for host, count in counts.items():
            if host in places:
                tallies[level][places[host][level]] += count
    found = [0.0] * len(hosts)
    scale = 1
    for level, tally in reversed(list(enumerate(tallies))):
        found = [
            tally[places[host][level]] + below / scale
            for host, below in zip(hosts, found, strict=True)
        ]
        scale = max(tally.values(), default=0) + 1
    return found

# SPDX-License-Identifier: Apache-2.0
"""What is kept between requests, within a fixed number of bytes.

Pure. A request keeps what the next one would compute again. Everything is
counted in bytes, at what it takes at the most, and forgotten at once when the
limit is reached: the first request after that is as slow as the first one
after a start. That needs no bookkeeping when something is read.
"""

import threading
from collections.abc import Hashable, Sequence
from typing import Any, Generic, TypeVar

KeyT = TypeVar('KeyT', bound=Hashable)
ValueT = TypeVar('ValueT')
ThingT = TypeVar('ThingT')

#: What a string takes beside its characters, and a character at the most.
_STRING = 80
_CHARACTER = 4


def text_size(texts: Sequence[str]) -> int:
    """Return how many bytes strings take at the most.

    :param texts: the strings.
    :returns: the number of bytes.
    :raises TypeError: when one of them is no string.
    """
    # Joining them is the fastest way to learn that all of them are strings.
    return _CHARACTER * len(''.join(texts)) + _STRING * len(texts)


class Memory(Generic[KeyT, ValueT]):
    """A dictionary that forgets everything before it grows too large.

    Safe to be used by several threads at once.

    :param limit: how many bytes it may take.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._entries: dict[KeyT, ValueT] = {}
        self._shared: dict[int, Any] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Return how many values are kept."""
        return len(self._entries)

    def get(self, key: KeyT) -> ValueT | None:
        """Return what is kept under a key.

        :param key: the key.
        :returns: the value, None if there is none.
        """
        return self._entries.get(key)

    def take(self, size: int) -> bool:
        """Ask for room for something that a kept value will hold.

        :param size: how many bytes it takes at the most.
        :returns: whether it may be kept; what is larger than the limit may
            not. When there is no room left, all values are forgotten, and
            with them what they hold.
        """
        if size > self.limit:
            return False
        with self._lock:
            if self.used + size > self.limit:
                self._clear()
            self.used += size
        return True

    def put(self, key: KeyT, value: ValueT, size: int) -> None:
        """Keep a value, unless it is larger than the limit.

        :param key: the key.
        :param value: the value.
        :param size: how many bytes both take at the most.
        """
        if self.take(size):
            self._entries[key] = value

    def share(self, identity: int, thing: ThingT) -> ThingT:
        """Return what several kept values hold in common.

        :param identity: what the thing is about.
        :param thing: the thing.
        :returns: what was shared last under this identity, if it is equal;
            else the thing itself, for which the caller must ask for room.
        """
        found: ThingT | None = self._shared.get(identity)
        if found == thing:
            return found
        self._shared[identity] = thing
        return thing

    def forget(self) -> None:
        """Forget everything."""
        with self._lock:
            self._clear()

    def _clear(self) -> None:
        """Drop everything; the caller holds the lock."""
        self._entries.clear()
        self._shared.clear()
        self.used = 0

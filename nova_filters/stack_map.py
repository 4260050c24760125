# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The root stacks of instances, remembered: bounded, and safe in threads.

Pure: what is not known yet is asked of a function that the caller gives.
"""

import collections
import threading
from collections.abc import Callable, Collection, Mapping

#: Asks for the root stacks of instances; None stands for no stack.
Load = Callable[[list[str]], Mapping[str, str | None]]


class StackMap:
    """Instance uuid to root stack id, for many requests at once.

    An entry never goes stale: scheduler hints cannot be changed. That an
    instance belongs to no stack is remembered, too.

    :param size: how many instances to remember; the ones that were not
        asked for longest are forgotten first.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._stacks: collections.OrderedDict[str, str | None] = (
            collections.OrderedDict()
        )

    def __len__(self) -> int:
        """Return how many instances are remembered."""
        return len(self._stacks)

    def roots(
        self, instances: Collection[str], load: Load
    ) -> dict[str, str | None]:
        """Return the root stacks of instances.

        :param instances: the instances' uuids.
        :param load: called at most once, with those that are unknown; an
            instance missing from its answer belongs to no stack. What it
            raises goes through, and nothing is remembered.
        :returns: the root stack's id, or None, by instance.
        """
        known: dict[str, str | None] = {}
        unknown = []
        with self._lock:
            for uuid in instances:
                if uuid in self._stacks:
                    self._stacks.move_to_end(uuid)
                    known[uuid] = self._stacks[uuid]
                else:
                    unknown.append(uuid)
        if not unknown:
            return known
        # Not under the lock: the database may take its time.
        loaded = load(unknown)
        with self._lock:
            for uuid in unknown:
                known[uuid] = self._stacks[uuid] = loaded.get(uuid)
                self._stacks.move_to_end(uuid)
            while len(self._stacks) > self._size:
                self._stacks.popitem(last=False)
        return known

# SPDX-License-Identifier: Apache-2.0

"""One filter object serves many native threads, while aggregates change."""

import functools
import itertools
import logging
import os
import sys
import threading
import traceback
import unittest
from typing import Any

from nova_filters.filters import aggregate_instance_type as filters
from nova_filters.matching import inputs
from nova_filters.matching.request import Request
from testing.nova import engine, states
from tests import processes
from tests.functional.nova_filters import base

#: Nova 29 looks at the variable when it is imported; otherwise it replaces
#: threads by greenlets, which take turns only where they want to.
PROGRAM = """
import os
os.environ['OS_NOVA_DISABLE_EVENTLET_PATCHING'] = 'true'
from tests.functional.nova_filters import test_threads
test_threads.main()
"""

#: Requests of each thread.
COUNT = 20
_TIMEOUT = 600

#: What aggregates change to and from: one key, so that there is nothing in
#: between if it changes in place.
CHANGES: tuple[tuple[dict[str, str], dict[str, str]], ...] = (
    ({'k': '1', 'l': '1'}, {'k': '2', 'l': '1'}),
    ({'k': '1,3'}, {'k': '1,3', **base.ON}),
    ({'k': '1', 'm': '~', **base.ON}, {'k': '1', **base.ON}),
    ({'l': '>= 2', **base.ON}, {'l': '<or> 1 <or> ~', **base.ON}),
    ({'m': '!', **base.ON}, {'m': '!'}),
    ({'n:x': '1'}, {'n:x': '2'}),
)

#: One for each thread.
FLAVORS: tuple[dict[str, str], ...] = (
    *({}, {'k': '1'}, {'k': '2'}, {'k': '*'}, {'k': '~'}, {'k': '!'}),
    *({'k': '<or> 1 <or> ~'}, {'k': '>= 2'}, {'l': '1'}, {'l': '>= 2'}),
    *({'l': '<or> 1 <or> 2', 'k': '1'}, {'m': '!'}, {'m': '~', 'l': '1'}),
    *({'n:x': '1'}, {'aggregate_instance_extra_specs:n:x': '2'}),
    {'k': '>= two'},
)


class Changing:
    """An aggregate of several hosts that changes while they are judged.

    :param number: which of the changes.
    :param in_place: whether its metadata change, or there is a new aggregate.
    """

    def __init__(self, number: int, in_place: bool, hosts: list[Any]) -> None:
        self.states, self.state = CHANGES[number], 0
        self._in_place, self._hosts = in_place, hosts
        (self._aggregate,) = states.aggregates(self.states[0])
        for host in hosts:
            host.aggregates.append(self._aggregate)

    def change(self) -> None:
        """Go on to the other state; one thread at a time may do so."""
        self.state = 1 - self.state
        wanted, metadata = self.states[self.state], self._aggregate.metadata
        if self._in_place:
            for key in metadata.keys() - wanted.keys():
                del metadata[key]
            metadata.update(wanted)
            return
        old = self._aggregate
        (self._aggregate,) = states.aggregates(wanted)
        for host in self._hosts:
            host.aggregates = [
                self._aggregate if one is old else one
                for one in host.aggregates
            ]


@functools.cache
def _evaluated(flavor: int, chosen: tuple[tuple[Changing, int], ...]) -> bool:
    """Return the evaluator's verdict on aggregates in these states."""
    own = [inputs.Aggregate('a', c.states[state]) for c, state in chosen]
    request = Request(inputs.read_flavor(FLAVORS[flavor]))
    return next(request.reasons(own), None) is None


class Scene:
    """Hosts, changing aggregates, one filter, and what was wrong."""

    def __init__(self) -> None:
        self.filter = filters.AggregateInstanceTypeFilter()
        self.hosts = [states.host_state(f'h{n}') for n in range(10)]
        self.changing = []
        self.wrong: list[str] = []
        self.begun = threading.Semaphore(0)
        self.of: dict[str, list[Changing]] = {h.host: [] for h in self.hosts}
        for number, in_place in itertools.product(range(6), (True, False)):
            own = self.hosts[(number + 3 * in_place) % 5 :: 5]
            changing = Changing(number, in_place, own)
            self.changing.append(changing)
            for host in own:
                self.of[host.host].append(changing)

    def judge(self, flavor: int) -> None:
        """Make requests, and compare each verdict with all possible ones."""
        request = states.request(FLAVORS[flavor])
        for _ in range(COUNT):
            self.begun.release()
            try:
                passed = self.filter.filter_all(self.hosts, request)
            except Exception:
                self.wrong.append(traceback.format_exc())
                continue
            names = {host.host for host in passed}
            for host, own in self.of.items():
                ways = itertools.product(*([(c, 0), (c, 1)] for c in own))
                if (host in names) not in {
                    _evaluated(flavor, one) for one in ways
                }:
                    self.wrong.append(f'{FLAVORS[flavor]}, {host}')


def main() -> None:
    """Change aggregates while threads make requests; tell mistakes."""
    sys.setswitchinterval(1e-5)
    logger = logging.getLogger(engine.LOGGER)
    logger.addHandler(logging.StreamHandler(open(os.devnull, 'w')))  # noqa: SIM115
    # At DEBUG the reasons are looked for while the aggregates change.
    logger.setLevel(logging.DEBUG)
    scene = Scene()
    threads = [
        threading.Thread(target=scene.judge, args=(flavor,))
        for flavor in range(len(FLAVORS))
    ]
    for thread in threads:
        thread.start()
    if len({thread.native_id for thread in threads}) < len(threads):
        scene.wrong.append('these are no native threads')
    changing = itertools.cycle(scene.changing)
    for _ in range(COUNT * len(threads)):
        if not scene.begun.acquire(timeout=_TIMEOUT):
            raise TimeoutError
        next(changing).change()
    for thread in threads:
        thread.join()
    print(*scene.wrong, sep='\n', end='')


class ThreadTest(unittest.TestCase):
    def test_a_verdict_is_that_of_a_state_during_the_request(self) -> None:
        self.assertEqual([], processes.run_python(PROGRAM))

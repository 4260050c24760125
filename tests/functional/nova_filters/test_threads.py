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

from nova_filters.filters import aggregate_instance_type as filters
from nova_filters.matching import inputs
from nova_filters.matching.judge import Judge
from testing.nova import engine, states
from tests import processes, threads
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
COUNT = 40
_TIMEOUT = 300

#: What aggregates change to and from: one key, so that there is nothing in
#: between if it changes in place.
CHANGES: tuple[tuple[dict[str, str], dict[str, str]], ...] = (
    ({'k': '1', 'l': '1'}, {'k': '2', 'l': '1'}),
    ({'k': '1,3'}, {'k': '1,3', **base.ON}),
    ({'k': '1', 'm': '~', **base.ON}, {'k': '1', **base.ON}),
)

#: One for each thread.
FLAVORS: tuple[dict[str, str], ...] = (
    {},
    {'k': '1'},
    {'k': '2'},
    {'k': '~'},
    {'k': '<or> 1 <or> ~'},
    {'l': '1'},
    {'m': '~', 'l': '1'},
    {'k': '>= two'},
)


@functools.cache
def _evaluated(flavor: int, chosen: tuple[tuple[int, int], ...]) -> bool:
    """Return the evaluator's verdict on changing aggregates.

    :param chosen: the numbers of the aggregates, and which state each is in.
    """
    aggregates = [
        inputs.Aggregate('a', CHANGES[n // 2][state]) for n, state in chosen
    ]
    judge = Judge(inputs.read_flavor(FLAVORS[flavor]))
    return next(judge.reasons(aggregates), None) is None


class Scene:
    """Hosts, changing aggregates, one filter, and what was wrong.

    Each change happens to two aggregates: the metadata of one change in
    place, and a new aggregate takes the place of the other.
    """

    def __init__(self) -> None:
        self.filter = filters.AggregateInstanceTypeFilter()
        self.hosts = [states.host_state(f'h{n}') for n in range(10)]
        self.wrong: list[str] = []
        self.begun = threading.Semaphore(0)
        self.state = [0] * 2 * len(CHANGES)
        first_states = []
        for first, _ in CHANGES:
            first_states += [first, first]
        self.aggregates = states.aggregates(*first_states)
        self.of: dict[str, list[int]] = {h.host: [] for h in self.hosts}
        for number, aggregate in enumerate(self.aggregates):
            for host in self.hosts[number * 3 % 5 :: 5]:
                host.aggregates.append(aggregate)
                self.of[host.host].append(number)

    def change(self, number: int) -> None:
        """Change an aggregate; one thread at a time may do so."""
        self.state[number] = 1 - self.state[number]
        metadata = CHANGES[number // 2][self.state[number]]
        old = self.aggregates[number]
        if number % 2:
            for key in old.metadata.keys() - metadata.keys():
                del old.metadata[key]
            old.metadata.update(metadata)
            return
        (new,) = states.aggregates(metadata)
        self.aggregates[number] = new
        for host in self.hosts:
            # A new list, because another thread may read this one.
            aggregates = []
            for aggregate in host.aggregates:
                if aggregate is old:
                    aggregate = new
                aggregates.append(aggregate)
            host.aggregates = aggregates

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
            for host, numbers in self.of.items():
                ways = itertools.product(*([(c, 0), (c, 1)] for c in numbers))
                if (host in names) not in {
                    _evaluated(flavor, way) for way in ways
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
    judges = [
        threading.Thread(target=scene.judge, args=(flavor,))
        for flavor in range(len(FLAVORS))
    ]
    for judge in judges:
        judge.start()
    if len({judge.native_id for judge in judges}) < len(judges):
        scene.wrong.append('these are no native threads')
    numbers = itertools.cycle(range(len(scene.aggregates)))
    for _ in range(COUNT * len(judges)):
        if not scene.begun.acquire(timeout=_TIMEOUT):
            raise TimeoutError('no thread has begun its next request')
        scene.change(next(numbers))
    threads.join(judges)
    print(*scene.wrong, sep='\n', end='')


class ThreadTest(unittest.TestCase):
    def test_a_verdict_is_that_of_a_state_during_the_request(self) -> None:
        self.assertEqual([], processes.run_python(PROGRAM))

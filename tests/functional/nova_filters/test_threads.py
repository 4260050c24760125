# SPDX-License-Identifier: Apache-2.0

"""One filter object serves many native threads, while aggregates change."""

import sys
import threading
import unittest

from nova_filters.filters import aggregate_instance_type as filters
from testing.nova import states
from tests import processes, threads

#: Nova 29 looks at the variable when it is imported; otherwise it replaces
#: threads by greenlets, which take turns only where they want to.
PROGRAM = """
import os
os.environ['OS_NOVA_DISABLE_EVENTLET_PATCHING'] = 'true'
from tests.functional.nova_filters import test_threads
test_threads.main()
"""

#: The aggregate is in one of these states, and never between them.
STATES = {'k': '1', 'l': '1'}, {'k': '2', 'l': '2'}
#: Flavors, and whether they pass in both states.
FLAVORS: tuple[tuple[dict[str, str], bool], ...] = (
    ({}, True),
    ({'k': '<or> 1 <or> 2', 'l': '*'}, True),
    ({'k': '1', 'l': '2'}, False),
    ({'k': '2', 'l': '1'}, False),
)
#: Requests of each thread.
COUNT = 200


class Scene:
    """A host, its aggregate that changes, a filter, and wrong verdicts."""

    def __init__(self) -> None:
        self.filter = filters.AggregateInstanceTypeFilter()
        self.host = states.host_state('host')
        self.wrong: list[str] = []
        self.begun = threading.Semaphore(0)
        self.change(0)

    def change(self, number: int) -> None:
        """Change the host's aggregate as a scheduler does."""
        self.host.aggregates = states.aggregates(STATES[number % 2])

    def judge(self, extra_specs: dict[str, str], passes: bool) -> None:
        """Make requests, and note each verdict that holds in no state."""
        request = states.request(extra_specs)
        for _ in range(COUNT):
            self.begun.release()
            passed = self.filter.filter_all([self.host], request)
            if bool(passed) is not passes:
                self.wrong.append(f'{extra_specs}: {passed}')


def main() -> None:
    """Change the aggregate while threads make requests; tell mistakes."""
    sys.setswitchinterval(1e-5)
    scene = Scene()
    judges = [
        threading.Thread(target=scene.judge, args=flavor) for flavor in FLAVORS
    ]
    for judge in judges:
        judge.start()
    if len({judge.native_id for judge in judges}) < len(judges):
        scene.wrong.append('these are no native threads')
    for number in range(COUNT * len(judges)):
        if not scene.begun.acquire(timeout=threads.LIMIT):
            raise TimeoutError('no thread has begun its next request')
        scene.change(number)
    threads.join(judges)
    print(*scene.wrong, sep='\n', end='')


class ThreadTest(unittest.TestCase):
    def test_a_verdict_is_that_of_a_state_during_the_request(self) -> None:
        self.assertEqual([], processes.run_python(PROGRAM))

# SPDX-License-Identifier: Apache-2.0

"""One filter object serves many native threads, while aggregates change."""

import itertools
import sys
import threading
import unittest

from nova_filters.filters import aggregate_instance_type as filters
from testing.nova import states
from tests import processes

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
RIGHT = 'right'


class Scene:
    """A host, its aggregate that changes, a filter, and its verdicts."""

    def __init__(self) -> None:
        self.filter = filters.AggregateInstanceTypeFilter()
        self.host = states.host_state('host')
        self.verdicts: list[str] = []
        self.change(0)

    def change(self, number: int) -> None:
        """Change the host's aggregate as a scheduler does."""
        self.host.aggregates = states.aggregates(STATES[number % 2])

    def judge(self, extra_specs: dict[str, str], passes: bool) -> None:
        """Make requests, and note which verdicts hold in no state."""
        request = states.request(extra_specs)
        for _ in range(COUNT):
            passed = self.filter.filter_all([self.host], request)
            verdict = RIGHT
            if bool(passed) is not passes:
                verdict = f'{extra_specs}: {passed}'
            self.verdicts.append(verdict)


def main() -> None:
    """Change the aggregate while threads make requests; print verdicts."""
    sys.setswitchinterval(1e-5)
    scene = Scene()
    judges = [
        threading.Thread(target=scene.judge, args=flavor) for flavor in FLAVORS
    ]
    for judge in judges:
        judge.start()
    if len({judge.native_id for judge in judges}) < len(judges):
        scene.verdicts.append('these are no native threads')
    numbers = itertools.count()
    while any(judge.is_alive() for judge in judges):
        scene.change(next(numbers))
    print(*scene.verdicts, sep='\n')


class ThreadTest(unittest.TestCase):
    def test_a_verdict_is_that_of_a_state_during_the_request(self) -> None:
        verdicts = processes.run_python(PROGRAM)
        self.assertEqual([RIGHT] * COUNT * len(FLAVORS), verdicts)

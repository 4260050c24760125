# SPDX-License-Identifier: Apache-2.0

"""One filter object serves many native threads."""

import json
import sys
import unittest
from typing import Any

from tests import processes
from tests.functional.nova_filters import threads

#: Nova 29 looks at the variable when it is imported.
PROGRAM = """
import os
os.environ['OS_NOVA_DISABLE_EVENTLET_PATCHING'] = 'true'
from tests.functional.nova_filters import threads
threads.main()
"""


class ThreadTest(unittest.TestCase):
    """Sixteen threads, sixteen flavors, shared aggregates that change."""

    found: dict[str, Any]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        (line,) = processes.run_python(PROGRAM)
        cls.found = json.loads(line)
        print(f'\nsixteen threads: {line}', file=sys.stderr)

    def check(self, phase: str, requests: int) -> dict[str, Any]:
        """Check that no verdict is wrong, and that there are all."""
        found = self.found[phase]
        self.assertEqual([], found['wrong'])
        self.assertEqual(threads.THREADS, found['native threads'])
        hosts = found['passed'] + found['refused']
        self.assertEqual(0, hosts % (threads.THREADS * requests))
        self.assertGreater(found['passed'], 0)
        self.assertGreater(found['refused'], 0)
        self.assertGreater(found['changes'], 0)
        return found

    def test_a_verdict_is_that_of_a_state_during_the_request(self) -> None:
        found = self.check('during', threads.REQUESTS)
        # Aggregates did change during requests, and not during all.
        self.assertGreater(found['changed'], 0)
        self.assertGreater(found['unchanged'], 0)
        self.assertGreater(found['one verdict'], 0)

    def test_a_change_is_seen_by_the_very_next_request(self) -> None:
        found = self.check('between', threads.ROUNDS)
        self.assertNotIn('changed', found)
        self.assertNotIn('two', found)

    def test_the_states_of_a_cycle_differ_in_one_key(self) -> None:
        for cycle in threads.CYCLES:
            for one, other in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
                differing = dict(one.items() ^ other.items())
                self.assertEqual(1, len(differing), cycle)
        self.assertEqual(threads.THREADS, len(threads.FLAVORS))

# SPDX-License-Identifier: Apache-2.0

"""One filter object serves many native threads."""

import unittest

from tests import processes

#: Nova 29 looks at the variable when it is imported.
PROGRAM = """
import os
os.environ['OS_NOVA_DISABLE_EVENTLET_PATCHING'] = 'true'
from tests.functional.nova_filters import threads
threads.main()
"""


class ThreadTest(unittest.TestCase):
    """Sixteen threads, sixteen flavors, shared aggregates that change."""

    def test_a_verdict_is_that_of_a_state_during_the_request(self) -> None:
        self.assertEqual([], processes.run_python(PROGRAM))

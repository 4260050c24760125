# SPDX-License-Identifier: Apache-2.0

"""Random templates: nothing raises, is forged, or writes a log line."""

import unittest

import tests
from testing import subprocesses
from tests import processes

#: How many templates are tried.
CASES = 1_000_000 if tests.ALL else 5_000

#: Seconds that they may take.
SECONDS = 36_000 if tests.ALL else subprocesses.LIMIT

_PROGRAM = f"""
from tests.functional.heat_hints import fuzzing
fuzzing.main({CASES})
"""


class FuzzTest(unittest.TestCase):
    def test_no_template_raises_forges_a_hint_or_writes_a_log_line(self):
        asked = processes.run_python(_PROGRAM, limit=SECONDS)[-1]
        self.assertEqual(str(CASES), asked)

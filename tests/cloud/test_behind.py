# SPDX-License-Identifier: Apache-2.0

"""What schedulers do whose databases are behind."""

import unittest

from testing import subprocesses
from tests.cloud import layout


class BehindTest(unittest.TestCase):
    environment = layout.ENVIRONMENT

    def test_nothing_that_is_absent_is_taken_for_no(self) -> None:
        """In a process of its own, since Nova's settings are global."""
        done = subprocesses.run(
            self.environment / 'bin' / 'python',
            *('-W', 'ignore', '-m', 'unittest', 'tests.cloud.behind_program'),
            cwd=layout.ROOT,
        )
        self.assertEqual(0, done.returncode, done.stderr)


class BehindInNewestNovaTest(BehindTest):
    environment = layout.NEWEST

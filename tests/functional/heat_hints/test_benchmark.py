# SPDX-License-Identifier: Apache-2.0

"""The benchmark of the hook's cost, in its small version, on a real engine.

What it counts is exact; the times are another machine's business.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from tests import processes


class TestBenchmark(unittest.TestCase):
    def test_the_small_version_counts_what_is_documented(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'numbers.json'
            done = subprocess.run(
                [
                    *(sys.executable, '-W', 'ignore'),
                    *('-m', 'benchmarks.heat_hints', '--quick'),
                    *('--json', str(path)),
                ],
                cwd=processes.ROOT,
                capture_output=True,
                text=True,
            )
            self.assertEqual(0, done.returncode, done.stderr)
            rows = json.loads(path.read_text())['rows']
        self.assertEqual(
            {
                ('nested stacks', 1, 0),
                ('nested stacks', 1, 1),
                ('nested stacks', 1, 2),
                ('group of servers', 1, 1),
                ('group of stacks', 1, 2),
                ('group of servers', 3, 1),
                ('group of stacks', 3, 2),
            },
            {(row['kind'], row['members'], row['depth']) for row in rows},
        )
        for row in rows:
            depth = row['depth']
            self.assertEqual(depth, row['cold']['statements'])
            self.assertEqual(4 * depth, row['cold']['columns'])
            self.assertEqual(0, row['warm']['statements'])
            # How many more is up to the release of Heat.
            self.assertGreaterEqual(row['in_tree']['statements'], 3 * depth)
        self.assertIn('at most [as wanted]', done.stdout)
        for line in done.stderr.splitlines():
            self.assertTrue(line.startswith('benchmark: '), line)

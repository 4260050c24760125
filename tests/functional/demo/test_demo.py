# SPDX-License-Identifier: Apache-2.0

"""The demo: the pictures of the pages, and what stands in its tables."""

import collections
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

import demo.__main__ as command
from testing import subprocesses
from tests import pages

#: Seconds for the whole demo, whose stories have a limit of their own.
LIMIT = command.LIMIT + subprocesses.LIMIT

#: The cells of one row of each table.
ROWS = (
    ['kept hosts: any value, or none', '11 of 14', '14 of 14'],
    ['identifiers for each server', '0', '6', '6'],
    ['servers with a signature', '0', '0', '6'],
    ['scale out by 9', '9, 0, 0', '2, 4, 3'],
)


class DemoTest(unittest.TestCase):
    def test_the_pictures_and_the_tables(self):
        # In a process of its own, as make does.
        done = subprocesses.run(
            *(sys.executable, '-W', 'ignore', '-m', 'demo'),
            limit=LIMIT,
            cwd=command.ROOT,
        )
        self.assertEqual(0, done.returncode, done.stderr)
        rows = []
        for line in done.stdout.splitlines():
            if line.startswith('|'):
                cells = line.strip('|').split('|')
                rows.append([cell.strip() for cell in cells])
        for row in ROWS:
            self.assertIn(row, rows)
        servers = [row for row in rows if row[0].startswith('web')]
        self.assertEqual(['big'] * 6, [row[1] for row in servers])
        hosts = collections.Counter(row[2] for row in servers)
        self.assertEqual({'big': 2, 'small-1': 2, 'small-2': 2}, hosts)
        for blocks in pages.select('demo').values():
            for block in blocks:
                self.assertIn(block.text.rstrip(), done.stdout, block)

    def test_a_service_that_breaks_off_is_a_failure(self):
        with tempfile.TemporaryDirectory(prefix='opp-demo-') as folder:
            log = pathlib.Path(folder, 'tale.log')
            process = command.start('tale', log)
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertFalse(command.tell('tale', process))
            self.assertIn("No module named 'demo.tale'", log.read_text())

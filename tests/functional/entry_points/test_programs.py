# SPDX-License-Identifier: Apache-2.0

"""The programs of the source tree that the pages name."""

import re
import subprocess
import sys
import unittest

import ddt

from tests import processes

PAGES = [
    processes.ROOT / 'README.rst',
    *(processes.ROOT / 'doc' / 'source').glob('*.rst'),
]
CALL = re.compile(r'python -m (benchmarks\.\w+)')


def named() -> list[str]:
    """Return the modules that a page tells to run."""
    return sorted(
        {
            module
            for page in PAGES
            for module in CALL.findall(page.read_text('utf-8'))
        }
    )


@ddt.ddt
class BenchmarksTest(unittest.TestCase):
    def test_every_benchmark_is_named(self):
        self.assertEqual(
            named(),
            sorted(
                f'benchmarks.{file.stem}'
                for file in (processes.ROOT / 'benchmarks').glob('*.py')
                if '__main__' in file.read_text('utf-8')
            ),
        )

    @ddt.data(*named())
    def test_it_tells_how_to_call_it(self, module):
        result = subprocess.run(
            [sys.executable, '-W', 'ignore', '-m', module, '--help'],
            cwd=processes.ROOT,
            capture_output=True,
            text=True,
        )
        self.assertEqual(0, result.returncode, result.stderr)
        self.assertIn('usage:', result.stdout)
        # What the page of the benchmarks says of each that it shows.
        page = (processes.ROOT / 'doc/source/benchmarks.rst').read_text()
        _, found, told = page.partition(f'/bin/python -m {module}\n')
        if found:
            options = re.findall(r'``(--\w+)', told.partition('-----')[0])
            self.assertIn('--quick', options)
            for option in options:
                self.assertIn(option, result.stdout, module)

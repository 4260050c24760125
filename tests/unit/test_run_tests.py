# SPDX-License-Identifier: Apache-2.0

"""What the runner of all tests reads from what stestr prints."""

import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

from tools import run_tests

TESTS = """
    import sys
    import unittest

    class Sample(unittest.TestCase):
        def test_good(self):
            self.assertTrue(True)

        @unittest.expectedFailure
        def test_fails_as_expected(self):
            self.fail('as it should')

        @unittest.expectedFailure
        def test_unexpected(self):
            pass

        @unittest.skip('for a reason')
        def test_skipped(self):
            pass

        def test_wrong(self):
            print('told on the way', file=sys.stderr)
            self.assertEqual([], ['too much'])

        def test_broken(self):
            raise KeyError('nosuch')

    class Hopeless(unittest.TestCase):
        @classmethod
        def setUpClass(cls):
            raise OSError('the disk is full')

        def test_never_run(self):
            pass
"""


class StestrTest(unittest.TestCase):
    def stestr(self, tests: str) -> str:
        """Run tests with stestr; return what it printed."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name, 'sample')
            folder.mkdir()
            (folder / '__init__.py').touch()
            (folder / 'test_it.py').write_text(textwrap.dedent(tests))
            done = subprocess.run(
                [
                    *(sys.executable, '-m', 'stestr'),
                    *('--test-path', './sample', '--top-dir', '.', 'run'),
                ],
                cwd=name,
                capture_output=True,
                text=True,
            )
        return done.stdout

    def test_every_end_of_a_test_is_counted(self):
        count = run_tests.count_in(self.stestr(TESTS))
        self.assertEqual('2 passed, 4 failed, 1 skipped', str(count))

    def test_what_failed_is_named_with_its_error(self):
        found = run_tests.failures_in(self.stestr(TESTS))
        self.assertEqual(
            {
                'setUpClass (sample.test_it.Hopeless)': 'OSError: the disk is '
                'full',
                'sample.test_it.Sample.test_broken': "KeyError: 'nosuch'",
                'sample.test_it.Sample.test_unexpected': '',
                'sample.test_it.Sample.test_wrong': 'AssertionError: Lists '
                "differ: [] != ['too much']",
            },
            {
                failure.splitlines()[0]: ''.join(
                    line.strip() for line in failure.splitlines()[1:2]
                )
                for failure in found
            },
        )

    def test_nothing_failed(self):
        tests = """
            import unittest

            class Sample(unittest.TestCase):
                def test_good(self):
                    self.assertTrue(True)
        """
        self.assertEqual([], run_tests.failures_in(self.stestr(tests)))

# SPDX-License-Identifier: Apache-2.0

"""Run tox, say again what failed and why, and count the tests.

``make test`` calls this. The tests run in a new order each time; the variable
``OPP_SEED`` repeats one. Each suite leaves its results, a stream of subunit,
beside the environment that it ran in. The last line is the sum over all
suites: ``N passed, N failed, N skipped``.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
from typing import Any

import subunit
import testtools

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOX = ROOT / '.tox'
RESULT = TOX / 'result.json'

#: Two environments at a time: a suite waits at its start and at its end.
PARALLEL = ('--parallel', '2', '--parallel-live')

#: How many lines of a failed test's error are said again at the end.
LINES = 6


# testtools carries no types.
class Suite(testtools.TestByTestResult):  # type: ignore[misc]
    """What one stream of subunit tells: how many passed, what went wrong."""

    def __init__(self, stream: pathlib.Path) -> None:
        super().__init__(self._add)
        self.passed = 0
        self.failed: list[str] = []
        self.skipped: list[str] = []
        with stream.open('rb') as source:
            subunit.ProtocolTestCase(source).run(self)

    def addFailure(
        self, test: Any, err: Any = None, details: Any = None
    ) -> None:
        """Count a failure, also one whose details subunit could not read."""
        told = testtools.content.text_content('failed, see above')
        super().addFailure(test, err, details or {'traceback': told})

    def addUnexpectedSuccess(self, test: Any, details: Any = None) -> None:
        """Count a test that passes where a failure is expected as failed."""
        told = testtools.content.text_content('unexpected success')
        self.addFailure(test, details={'traceback': told})

    def _add(
        self, *, test: Any, status: str, details: Any, **_times: Any
    ) -> None:
        if status in ('success', 'xfail'):
            self.passed += 1
        elif status == 'skip':
            reason = details['reason'].as_text()
            self.skipped.append(f'{test.id()}: {reason}')
        else:
            trace = (details or {}).get('traceback')
            # The error stands behind the innermost frame and its code.
            text = trace.as_text() if trace else status
            error = text.rpartition('\n  File "')[2].splitlines()
            error = error[2 if len(error) > 2 else 0 :][:LINES]
            self.failed.append('\n    '.join([test.id(), *error]))


def suites(environment: str) -> list[Suite]:
    """Return the suites that have left results in an environment."""
    results = TOX / environment / '.stestr'
    return [Suite(stream) for stream in sorted(results.glob('[0-9]*'))]


def main(arguments: list[str]) -> int:
    """Run tox and tell what came of it.

    :param arguments: what ``tox run-parallel`` is called with.
    :returns: 0 when no test failed and every environment came to its end.
    """
    # What is beside them, the time of each test, balances the next run.
    for results in TOX.glob('*/.stestr/[0-9]*'):
        results.unlink()
    seed = os.environ.setdefault('OPP_SEED', str(random.randrange(10_000)))  # noqa: S311
    print(f'The order of the tests is OPP_SEED={seed}.', flush=True)
    RESULT.unlink(missing_ok=True)
    command = [sys.executable, '-m', 'tox', 'run-parallel', *PARALLEL]
    command += ['--result-json', str(RESULT), *arguments]
    code = subprocess.run(command, cwd=ROOT).returncode
    if not RESULT.exists():
        return code
    passed = 0
    failures: list[str] = []
    skips: list[str] = []
    for name, told in json.loads(RESULT.read_text())['testenvs'].items():
        if 'result' not in told:
            continue
        failed = len(failures)
        for suite in suites(name):
            passed += suite.passed
            failures += [f'{name}: {line}' for line in suite.failed]
            skips += [f'{name}: {line}' for line in suite.skipped]
        if failed == len(failures) and not told['result']['success']:
            failures.append(f'{name}: broke off, see above')
    for title, lines in (('skipped', skips), ('failed', failures)):
        if lines:
            print(f'\n=== {title} ===', *lines, sep='\n')
    print(f'The order of the tests was OPP_SEED={seed}.')
    print(f'{passed} passed, {len(failures)} failed, {len(skips)} skipped')
    return 1 if failures or code else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

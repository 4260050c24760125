# SPDX-License-Identifier: Apache-2.0

"""Run tox, say again what failed and why, and count the tests.

``make test`` calls this. ``OPP_SEED`` chooses the order of the tests: without
it, each run has the same order; ``random`` draws a new one. Each suite leaves
a stream of subunit beside the environment that it ran in. The last line is the
sum over all suites: ``N passed, N failed, N skipped``.
"""

import fcntl
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

#: The Python that the older version set is made for, and what needs this set.
OLDER_PYTHON = (3, 11)
OLDER = ('functional-2024.1', 'cloud')

#: How many lines of an error are said again at the end.
LINES = 6


class Results:
    """What all environments have left."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed: list[str] = []
        self.skipped: list[str] = []

    def read_stream(self, environment: str, stream: pathlib.Path) -> None:
        """Add the tests of one suite."""

        def add(*, test: Any, status: str, details: Any, **_more: Any) -> None:
            name = f'{environment}: {test.id()}'
            details = details or {}
            if status in ('success', 'xfail'):
                self.passed += 1
            elif status == 'skip':
                reason = details['reason'].as_text()
                self.skipped.append(f'{name}: {reason}')
            else:
                trace = details.get('traceback')
                text = trace.as_text() if trace else f'{status}, see above'
                self.failed.append(said_again(name, text))

        with stream.open('rb') as source:
            tests = subunit.ProtocolTestCase(source)
            tests.run(testtools.TestByTestResult(add))

    def read_environment(self, name: str, told: dict[str, Any]) -> None:
        """Add the suites of an environment.

        :param told: what tox tells of it; no result if tox left it out.
        """
        if 'result' not in told:
            return
        failed_before = len(self.failed)
        for stream in sorted((TOX / name / '.stestr').glob('[0-9]*')):
            self.read_stream(name, stream)
        succeeded = told['result']['success']
        if not succeeded and len(self.failed) == failed_before:
            self.failed.append(
                said_again(f'{name}: broke off, see above', last_output(told))
            )


def said_again(title: str, text: str) -> str:
    """Return a title above the last lines of a text."""
    return '\n    '.join([title, *text.splitlines()[-LINES:]])


def last_output(told: dict[str, Any]) -> str:
    """Return what the first command printed that failed."""
    for command in [*told.get('setup', ()), *told.get('test', ())]:
        if command['retcode']:
            printed: str = command['output'] + command['err']
            return printed
    return ''


def choose_seed() -> str:
    """Return the seed of the order, which the tests read, too."""
    seed = os.environ.get('OPP_SEED', '1')
    if seed == 'random':
        seed = str(random.randrange(10_000))  # noqa: S311
    os.environ['OPP_SEED'] = seed
    return seed


def left_out() -> list[str]:
    """Return the options that leave out what this Python cannot run."""
    if sys.version_info[:2] == OLDER_PYTHON:
        return []
    version = '.'.join(map(str, sys.version_info[:2]))
    print(
        f'Left out with Python {version}: {" and ".join(OLDER)}, whose '
        'services are made for Python 3.11.'
    )
    return ['--skip-env', '|'.join(OLDER)]


def main(arguments: list[str]) -> int:
    """Run tox and tell what came of it, unless tests run here already.

    :param arguments: what ``tox run-parallel`` is called with.
    :returns: 0 when no test failed and every environment came to its end.
    """
    TOX.mkdir(exist_ok=True)
    with (TOX / 'lock').open('w') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # The results of both would lie in the same files.
            print('Tests run in this folder already: wait for their end.')
            return 2
        return run_and_count(arguments)


def run_and_count(arguments: list[str]) -> int:
    """Run tox and tell what came of it; return what ``main`` returns."""
    for stream in TOX.glob('*/.stestr/[0-9]*'):
        stream.unlink()
    RESULT.unlink(missing_ok=True)
    seed = choose_seed()
    command = [sys.executable, '-m', 'tox', 'run-parallel', *PARALLEL]
    command += ['--result-json', str(RESULT), *left_out(), *arguments]
    sys.stdout.flush()
    code = subprocess.run(command, cwd=ROOT).returncode
    if not RESULT.exists():
        return code
    results = Results()
    environments = json.loads(RESULT.read_text())['testenvs']
    for name, told in environments.items():
        results.read_environment(name, told)
    for title, lines in (
        ('skipped', results.skipped),
        ('failed', results.failed),
    ):
        if lines:
            print(f'\n=== {title} ===', *lines, sep='\n')
    print(f'To repeat it in this order: OPP_SEED={seed} make test')
    print(
        f'{results.passed} passed, {len(results.failed)} failed, '
        f'{len(results.skipped)} skipped'
    )
    return 1 if results.failed or code else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

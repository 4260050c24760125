# SPDX-License-Identifier: Apache-2.0

"""Run tox, say again what failed and why, and count the tests.

``make test`` calls this. The variable ``OPP_SEED`` chooses the order of the
tests. Without it, each run has the same order. ``random`` draws a new one.
Each suite leaves its results, a stream of subunit, beside the environment that
it ran in. The last line is the sum over all suites: ``N passed, N failed, N
skipped``.
"""

import dataclasses
import fcntl
import json
import os
import pathlib
import random
import re
import subprocess
import sys
from typing import Any

import subunit
import testtools

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOX = ROOT / '.tox'
RESULT = TOX / 'result.json'

#: The order of the tests for whoever just runs them.
SEED = '1'

#: Two environments at a time: a suite waits at its start and at its end.
PARALLEL = ('--parallel', '2', '--parallel-live')

#: The Python that the older version set is made for, and what needs this set.
OLDER_PYTHON = (3, 11)
OLDER = ('functional-2024.1', 'cloud')

#: How many lines of a failed test's error are said again at the end.
LINES = 6


# testtools carries no types.
class Suite(testtools.TestByTestResult):  # type: ignore[misc]
    """What one stream of subunit tells: how many passed, what went wrong."""

    def __init__(self, stream: pathlib.Path) -> None:
        super().__init__(self._add)
        self.passed = 0
        #: Each failed test with the first lines of its error.
        self.failed: dict[str, list[str]] = {}
        self.skipped: list[str] = []
        #: The worker of each class.
        self.workers: dict[str, str] = {}
        with stream.open('rb') as source:
            subunit.ProtocolTestCase(source).run(self)

    def addFailure(
        self, test: Any, err: Any = None, details: Any = None
    ) -> None:
        """Count a failure, also one whose details subunit could not read."""
        text = testtools.content.text_content('failed, see above')
        super().addFailure(test, err, details or {'traceback': text})

    def addUnexpectedSuccess(self, test: Any, details: Any = None) -> None:
        """Count a test that passes where a failure is expected as failed."""
        text = testtools.content.text_content('unexpected success')
        self.addFailure(test, details={'traceback': text})

    def name(self) -> str:
        """Return the folder of the tests, as stestr is told; '' if elsewhere.

        The wheel's tests lie outside the packages of tests.
        """
        for test_class in self.workers:
            parts = test_class.split('.')
            if parts[0] == 'tests':
                depth = 3 if parts[1] == 'functional' else 2
                return '/'.join(parts[:depth])
        return ''

    def classes(self, worker: str) -> list[str]:
        """Return the classes that a worker ran."""
        return sorted(
            test_class
            for test_class, its_worker in self.workers.items()
            if its_worker == worker
        )

    def _add(
        self, *, test: Any, status: str, details: Any, tags: Any, **_times: Any
    ) -> None:
        for tag in tags or ():
            if tag.startswith('worker-'):
                self.workers[class_of(test.id())] = tag
        if status in ('success', 'xfail'):
            self.passed += 1
        elif status == 'skip':
            reason = details['reason'].as_text()
            self.skipped.append(f'{test.id()}: {reason}')
        else:
            trace = (details or {}).get('traceback')
            text = trace.as_text() if trace else status
            self.failed[test.id()] = last_error(text)


def class_of(test: str) -> str:
    """Return the class of a test, or of what is set up for a class."""
    in_brackets = re.search(r'\((.*)\)', test)
    if test.startswith(('setUp', 'tearDown')) and in_brackets:
        return in_brackets[1]
    return test.rpartition('.')[0]


def last_error(trace: str) -> list[str]:
    """Return the first lines of what stands behind the innermost frame."""
    lines = trace.rpartition('\n  File "')[2].splitlines()
    # The frame and its code.
    if len(lines) > 2:
        lines = lines[2:]
    return lines[:LINES]


def repetition(environment: str, suite: Suite, test: str, seed: str) -> str:
    """Return the command that repeats the worker of a failed test.

    The worker's classes are written to a file beside the environment.
    """
    worker = suite.workers.get(class_of(test))
    if worker is None or not suite.name():
        return f'OPP_SEED={seed} make test ARGS="-e {environment}"'
    title = suite.name().rpartition('/')[2]
    file = TOX / environment / f'{title}-{worker}.txt'
    patterns = [f'^{re.escape(name)}\\.' for name in suite.classes(worker)]
    file.write_text('\n'.join(patterns) + '\n')
    return (
        f'OPP_SEED={seed} .tox/{environment}/bin/stestr '
        f'--test-path {suite.name()} run --serial '
        f'--include-list {file.relative_to(ROOT)}'
    )


def suites(environment: str) -> list[Suite]:
    """Return the suites that have left results in an environment."""
    results = TOX / environment / '.stestr'
    return [Suite(stream) for stream in sorted(results.glob('[0-9]*'))]


def order() -> str:
    """Return the seed of the order, which the tests read, too."""
    seed = os.environ.get('OPP_SEED', SEED)
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


@dataclasses.dataclass
class Report:
    """What all environments have left, as lines to print."""

    passed: int = 0
    workers: list[str] = dataclasses.field(default_factory=list)
    skipped: list[str] = dataclasses.field(default_factory=list)
    failed: list[str] = dataclasses.field(default_factory=list)

    def add(self, environment: str, suite: Suite, seed: str) -> None:
        """Add what a suite of an environment has left."""
        self.passed += suite.passed
        self.skipped += [f'{environment}: {line}' for line in suite.skipped]
        if suite.name():
            count = len(set(suite.workers.values()))
            self.workers.append(f'{environment}: {suite.name()}: {count}')
        for test, error in suite.failed.items():
            again = repetition(environment, suite, test, seed)
            lines = [
                f'{environment}: {test}',
                *error,
                f'To repeat it: {again}',
            ]
            self.failed.append('\n    '.join(lines))


def last_words(environment: dict[str, Any]) -> list[str]:
    """Return the last lines of the first command that failed.

    :param environment: what tox tells of an environment.
    """
    commands = [*environment.get('setup', ()), *environment.get('test', ())]
    for command in commands:
        if command['retcode']:
            printed: str = command['output'] + command['err']
            return printed.splitlines()[-LINES:]
    return []


def read_report(seed: str) -> Report:
    """Return what tox and all suites have left."""
    report = Report()
    environments = json.loads(RESULT.read_text())['testenvs']
    for name, environment in environments.items():
        if 'result' not in environment:
            continue
        failed_before = len(report.failed)
        for suite in suites(name):
            report.add(name, suite, seed)
        succeeded = environment['result']['success']
        if not succeeded and len(report.failed) == failed_before:
            lines = [f'{name}: broke off, see above', *last_words(environment)]
            report.failed.append('\n    '.join(lines))
    return report


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
    for results in TOX.glob('*/.stestr/[0-9]*'):
        results.unlink()
    RESULT.unlink(missing_ok=True)
    seed = order()
    print(f'The order of the tests is OPP_SEED={seed}.')
    command = [sys.executable, '-m', 'tox', 'run-parallel', *PARALLEL]
    command += ['--result-json', str(RESULT), *left_out(), *arguments]
    sys.stdout.flush()
    code = subprocess.run(command, cwd=ROOT).returncode
    if not RESULT.exists():
        return code
    report = read_report(seed)
    sections = {
        'workers of each suite': report.workers,
        'skipped': report.skipped,
        'failed': report.failed,
    }
    for title, lines in sections.items():
        if lines:
            print(f'\n=== {title} ===', *lines, sep='\n')
    print(f'The order of the tests was OPP_SEED={seed}.')
    print(
        f'{report.passed} passed, {len(report.failed)} failed, '
        f'{len(report.skipped)} skipped'
    )
    return 1 if report.failed or code else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

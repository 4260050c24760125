# SPDX-License-Identifier: Apache-2.0

"""Run all tests, each service's in processes of their own, and count them.

``make test`` calls this. It makes the environments that are missing, lets
stestr run each suite in the environment it belongs to, says again at the end
what failed and why, and ends with one line ``N passed, N failed, N skipped``:
the sum over all runs.
"""

import argparse
import contextlib
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import time

from tools import environments

#: Each package's tests run in processes of their own, as the services do;
#: beside the package, how many. Senlin's engine sleeps most of the time, in
#: rounds of three seconds, so its tests share a processor well.
PACKAGES = {'senlin_plugins': 6, 'nova_filters': 0, 'heat_hints': 0}

#: What stestr's closing summary calls each outcome, and how we count it. A
#: test that passes where a failure is expected is a failure.
OUTCOMES = {
    'Passed': 'passed',
    'Expected Fail': 'passed',
    'Failed': 'failed',
    'Unexpected Success': 'failed',
    'Skipped': 'skipped',
}

#: How many lines of a failed test's error are said again at the end.
LINES = 6


@dataclasses.dataclass(frozen=True)
class Suite:
    """One run of stestr.

    :param environment: the environment it runs in.
    :param path: the folder in which stestr finds the tests.
    :param needs: further environments that the tests themselves use.
    :param workers: how many processes share the tests; 0 stands for one per
        processor.
    :param cloud: whether the tests need the loopback cloud, which is booted
        before and stopped after them.
    """

    environment: str
    path: str
    needs: tuple[str, ...] = ()
    workers: int = 0
    cloud: bool = False

    @property
    def title(self) -> str:
        """Return the name that is printed and that ``--only`` matches."""
        return f'{self.path} on {self.environment}'


@dataclasses.dataclass
class Count:
    """How many tests ended in which way.

    :param passed: how many did what they should.
    :param failed: how many did not.
    :param skipped: how many were not run.
    :param failures: for those that failed, lines that say which and why.
    """

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list[str] = dataclasses.field(default_factory=list)

    def add(self, other: 'Count') -> None:
        """Add the numbers of another count to this one."""
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures

    def fail(self, reason: str) -> None:
        """Count one failure more, of no test in particular, and say so.

        :param reason: what went wrong.
        """
        print(reason, flush=True)
        self.failed += 1
        self.failures.append(reason)

    def __str__(self) -> str:
        return (
            f'{self.passed} passed, {self.failed} failed, '
            f'{self.skipped} skipped'
        )


def all_suites(cloud: bool = False) -> list[Suite]:
    """Return every run, the quick ones first.

    :param cloud: whether the loopback cloud is wanted, which may install
        packages of the system.
    :returns: the runs.
    """
    suites = [
        Suite('unit', 'tests/unit'),
        Suite(
            'unit',
            'tests/packaging',
            needs=('only-senlin', 'only-nova', 'only-heat', 'only-client'),
        ),
    ]
    # The shell of the newest series alone, and the oldest one beside the
    # services, which bring it along.
    for name in ('client', environments.OLDEST):
        suites.append(Suite(name, 'tests/functional/client'))
    for series in (environments.OLDEST, environments.NEWEST):
        suites += [
            Suite(series, f'tests/functional/{package}', workers=workers)
            for package, workers in PACKAGES.items()
        ]
        suites.append(Suite(series, 'tests/functional/entry_points'))
    suites.append(Suite(environments.NEWEST, 'tests/functional/demo'))
    if cloud:
        # The tests take parts of it down: one after the other.
        suites.append(
            Suite(
                'cloud',
                'tests/cloud',
                needs=(environments.NEWEST,),
                workers=1,
                cloud=True,
            )
        )
    return suites


def count_in(output: str) -> Count:
    """Read the numbers from the summary that stestr prints.

    :param output: all that stestr printed.
    :returns: the count; nothing is counted when there is no summary.
    """
    count = Count()
    for label, number in re.findall(
        r'^ - ([A-Z][\w ]+): (\d+)$', output, re.M
    ):
        outcome = OUTCOMES.get(label)
        if outcome is not None:
            setattr(count, outcome, getattr(count, outcome) + int(number))
    return count


def failures_in(output: str) -> list[str]:
    """Read from what stestr prints at its end which tests failed, and why.

    :param output: all that stestr printed.
    :returns: for each test its name, and the first lines of its error.
    """
    _, _, told = output.rpartition(' tests - output below:\n')
    told, _, _ = told.partition('\nTotals\n')
    # A name stands over a line of dashes.
    parts = re.split(r'^(\S.*)\n-{8,}\n', told, flags=re.M)[1:]
    found = []
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        # What the test logged may come before or behind it.
        _, _, trace = text.rpartition('Captured traceback:\n')
        trace, _, _ = trace.partition('\nCaptured ')
        # An empty line is between the innermost frame and the error.
        frame = re.split(r'^ {6}File "', trace, flags=re.M)[-1]
        _, _, error = frame.partition('\n\n')
        lines = [line.strip() for line in error.splitlines()]
        lines = [line for line in lines if line.strip('=')][:LINES]
        found.append('\n    '.join([name, *lines]))
    return found


def run(suite: Suite) -> Count:
    """Run one suite and show its output as it comes.

    :param suite: what to run.
    :returns: its count. A run that broke off, or found no test, counts as
        one failure even if no test failed.
    """
    for name in (*suite.needs, suite.environment):
        python = environments.make(environments.ENVIRONMENTS[name])
    print(f'\n=== {suite.title} ===', flush=True)
    started = time.monotonic()
    with contextlib.ExitStack() as stack:
        booted = True
        if suite.cloud:
            # What an interrupted run has left would be in the way.
            booted = all(
                tell_cloud(python, command)
                for command in ('install', 'down', 'up')
            )
            stack.callback(tell_cloud, python, 'down')
        count = run_stestr(suite, python) if booted else Count(failed=1)
    seconds = time.monotonic() - started
    print(f'--- {suite.title}: {count} in {seconds:.0f} s', flush=True)
    return count


def tell_cloud(python: pathlib.Path, command: str) -> bool:
    """Carry out a command of the loopback cloud.

    :param python: the interpreter of its environment.
    :param command: for example ``up``.
    :returns: whether it was done; if not, it has said why.
    """
    whole = [str(python), '-W', 'ignore', '-m', 'tests.cloud', command]
    return subprocess.run(whole, cwd=environments.ROOT).returncode == 0


def run_stestr(suite: Suite, python: pathlib.Path) -> Count:
    """Let stestr run a suite and show its output as it comes.

    :param suite: what to run.
    :param python: the interpreter that runs it.
    :returns: its count.
    """
    command = [str(python), '-W', 'ignore', '-m', 'stestr']
    command += ['--test-path', f'./{suite.path}', 'run']
    if suite.workers:
        command += ['--concurrency', str(suite.workers)]
    # stestr starts its workers as ${PYTHON}. What the services' libraries
    # warn each other of would hide what the tests print.
    env = dict(os.environ, PYTHON=str(python), PYTHONWARNINGS='ignore')
    lines = []
    with subprocess.Popen(
        command,
        cwd=environments.ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors='replace',
    ) as process:
        for line in process.stdout or ():
            print(line, end='', flush=True)
            lines.append(line)
    output = ''.join(lines)
    count = count_in(output)
    if count.failed:
        count.failures = failures_in(output)
    elif process.returncode:
        count.fail(f'stestr ended with exit code {process.returncode}')
    elif not count.passed:
        count.fail('no test ran')
    return count


def main(argv: list[str] | None = None) -> int:
    """Run the suites.

    :param argv: the command line without the program's name.
    :returns: 0 when no test failed, 1 when one did, 2 for a wrong call.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        '--list', action='store_true', help='list the suites and stop'
    )
    parser.add_argument(
        '--only',
        metavar='TEXT',
        default='',
        help='run the suites whose title contains TEXT, for example '
        '"unit", "nova_filters" or "on 2024.1"',
    )
    parser.add_argument(
        '--cloud',
        action='store_true',
        help='also boot a cloud of two regions on the loopback address and '
        'test on it; installs MariaDB and RabbitMQ of Debian if they are '
        'missing, for which it must be run as root',
    )
    args = parser.parse_args(argv)
    suites = [
        suite for suite in all_suites(args.cloud) if args.only in suite.title
    ]
    if not suites:
        print(f'no suite matches "{args.only}"; see --list', file=sys.stderr)
        return 2
    if args.list:
        for suite in suites:
            print(suite.title)
        return 0
    total = Count()
    ends = []
    for suite in suites:
        try:
            count = run(suite)
        except environments.EnvironmentFailed as exc:
            count = Count()
            count.fail(str(exc))
        count.failures = [f'{suite.title}: {one}' for one in count.failures]
        ends.append(f'{suite.title}: {count}')
        total.add(count)
    print('\n=== all suites ===')
    print('\n'.join(ends))
    if total.failures:
        print('\n=== what failed ===')
        print('\n'.join(total.failures))
    print(total, flush=True)
    return 1 if total.failed else 0


if __name__ == '__main__':
    sys.exit(main())

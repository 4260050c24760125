# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks have in common: a clock, and the command line."""

import argparse
import functools
import gc
import importlib.util
import os
import pathlib
import platform
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import prettytable


class BenchmarkError(Exception):
    """The two sides cannot be compared; the text says why."""


def seconds(run: Callable[[], Any]) -> float:
    """Return the processor time of a call, without the garbage collector."""
    gc.collect()
    gc.disable()
    start = time.process_time()
    run()
    taken = time.process_time() - start
    gc.enable()
    return taken


@functools.cache
def nova_cloud() -> Any:
    """Return the cloud of this process: Nova's databases are global."""
    # It chooses Nova's concurrency, and needs Nova.
    from testing.nova import engine

    return engine.Cloud()


def machine(service: str) -> str:
    """Say in one line what all this ran on.

    :param service: the service and its version.
    """
    return (
        f'{service}, Python {platform.python_version()}, '
        f'{platform.system()} on {platform.machine()}, {os.cpu_count()} CPUs'
    )


def table(
    heads: Sequence[str], rows: Iterable[Sequence[Any]], left: str = ''
) -> str:
    """Return a table as text.

    :param left: the title of the one column that is aligned to the left.
    """
    made = prettytable.PrettyTable(heads, align='r')
    if left:
        made.align[left] = 'l'
    made.add_rows([*rows])
    return str(made)


def say(what: str) -> None:
    """Tell what goes on."""
    print(f'benchmark: {what}', file=sys.stderr, flush=True)


def command(
    service: str,
    description: str,
    quick: str,
    measure: Callable[[bool], str],
) -> int:
    """Run a benchmark from the command line, and print its report.

    :param quick: what ``--quick`` does.
    :param measure: takes whether to be quick, returns the report.
    :returns: 0, or 1 when it broke off, or 2 when the service is missing.
    """
    parser = argparse.ArgumentParser(
        prog=f'python -m benchmarks.{pathlib.Path(sys.argv[0]).stem}',
        description=description,
    )
    parser.add_argument('--quick', action='store_true', help=quick)
    args = parser.parse_args()
    if importlib.util.find_spec(service.lower()) is None:
        say(
            f'{service} is not installed here: "make demo" leaves an '
            'environment behind that has it: .tox/functional-2026.2.'
        )
        return 2
    try:
        print(measure(args.quick))
    except BenchmarkError as ex:
        say(f'broke off: {ex}')
        return 1
    return 0

# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks have in common: a clock, and the command line."""

import argparse
import functools
import gc
import os
import pathlib
import platform
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from importlib import metadata
from typing import Any

import prettytable


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
    distribution: str,
    description: str | None,
    quick: str,
    measure: Callable[[bool], str],
) -> None:
    """Run a benchmark from the command line, and print its report.

    :param distribution: that of the service.
    :param description: the docstring of the benchmark.
    :param quick: what ``--quick`` does.
    :param measure: takes whether to be quick, returns the report.
    """
    parser = argparse.ArgumentParser(
        prog=f'python -m benchmarks.{pathlib.Path(sys.argv[0]).stem}',
        description=str(description).splitlines()[0],
    )
    parser.add_argument('--quick', action='store_true', help=quick)
    args = parser.parse_args()
    service = distribution.removeprefix('openstack-').title()
    report = measure(args.quick)
    print(
        f'{service} {metadata.version(distribution)}, '
        f'Python {platform.python_version()}, '
        f'{platform.system()} on {platform.machine()}, {os.cpu_count()} CPUs'
    )
    print(report)

# SPDX-License-Identifier: Apache-2.0

"""Find in the logs what somebody wants to see after a failure."""

import pathlib
import re

from tests.cloud import layout

#: How many lines are shown of one log.
LINES = 15

#: What a line says that is worth showing.
SIGNS = re.compile(r' ERROR | CRITICAL |Traceback|[Ee]rror:')

COLOURS = re.compile('\x1b\\[[0-9;]*m')


def all_logs() -> list[pathlib.Path]:
    """Return the logs that there are, by name."""
    return sorted(layout.LOG.glob('*.log'))


def lines_of(log: pathlib.Path, start: int = 0) -> list[str]:
    """Return the lines of a log, without the colours.

    :param start: the byte to begin with.
    """
    text = log.read_bytes()[start:].decode(errors='replace')
    return COLOURS.sub('', text).splitlines()


def sizes() -> dict[pathlib.Path, int]:
    """Return how long each log is, in bytes."""
    return {log: log.stat().st_size for log in all_logs()}


def errors(before: dict[pathlib.Path, int] | None = None) -> list[str]:
    """Return the last errors that each service has logged.

    :param before: what :func:`sizes` returned then, if only errors since
        then are wanted.
    :returns: lines under the names of the logs.
    """
    report = []
    for log in all_logs():
        lines = [
            line
            for line in lines_of(log, (before or {}).get(log, 0))
            if SIGNS.search(line)
        ]
        if lines:
            report += [f'--- {log}', *lines[-LINES:]]
    return report

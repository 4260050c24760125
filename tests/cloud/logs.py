# SPDX-License-Identifier: Apache-2.0

"""Find in the logs what somebody wants to see after a failure."""

import pathlib
import re

from tests.cloud import layout

#: How many lines are shown of one log.
LINES = 15

#: What a line says that is worth showing.
SIGNS = (' ERROR ', ' CRITICAL ', 'Traceback', 'Error:', 'error:')

COLOURS = re.compile('\x1b\\[[0-9;]*m')


def all_logs() -> list[pathlib.Path]:
    """Return the logs that there are, by name."""
    return sorted(layout.LOG.glob('*.log'))


def lines_of(log: pathlib.Path) -> list[str]:
    """Return the lines of a log, without the colours.

    :param log: the file.
    """
    text = log.read_text(errors='replace')
    return COLOURS.sub('', text).splitlines()


def sizes() -> dict[pathlib.Path, int]:
    """Return how long each log is, in bytes."""
    return {log: log.stat().st_size for log in all_logs()}


def errors_since(before: dict[pathlib.Path, int]) -> list[str]:
    """Return the last errors that each service has logged since.

    :param before: what :func:`sizes` returned then.
    :returns: lines under the names of the logs.
    """
    found = []
    for log in all_logs():
        with log.open('rb') as stream:
            stream.seek(before.get(log, 0))
            text = stream.read().decode(errors='replace')
        lines = _errors_in(COLOURS.sub('', text).splitlines())
        if lines:
            found += [f'--- {log.name}', *lines[-LINES:]]
    return found


def tail(log: pathlib.Path, lines: int = LINES) -> list[str]:
    """Return the end of a log.

    :param log: the file.
    :param lines: how many lines of it.
    """
    return lines_of(log)[-lines:]


def errors(log: pathlib.Path, lines: int = LINES) -> list[str]:
    """Return the last lines of a log that report an error.

    :param log: the file.
    :param lines: how many of them.
    """
    return _errors_in(lines_of(log))[-lines:]


def _errors_in(lines: list[str]) -> list[str]:
    """Return the lines that report an error."""
    return [line for line in lines if any(sign in line for sign in SIGNS)]


def of_failure(step: str) -> list[str]:
    """Return what the logs say about a step that failed.

    :param step: its name, which begins as the names of its logs do.
    :returns: the ends of the logs that belong to it; if there are none, the
        errors in all of them.
    """
    words = step.replace('.', ' ').split()
    own = [
        log
        for log in all_logs()
        if log.stem == step
        or log.stem.replace('.', ' ').startswith(' '.join(words[:-1] or words))
    ]
    found = []
    for log in own or all_logs():
        lines = errors(log) or (tail(log) if own else [])
        if lines:
            found += [f'--- {log.name}', *lines]
    return found

# SPDX-License-Identifier: Apache-2.0

"""One part of the demo, and the process in which a service's parts run.

The services configure their whole process. So ``python -m demo`` starts one
process for each service.
"""

import dataclasses
import importlib
import json
import os
import pathlib
import sys
import time
import traceback
from typing import Any

import yaml

#: Says what runs in each part, and what is stubbed.
DESCRIPTIONS = pathlib.Path(__file__).parent / 'parts.yaml'
STARTED = time.monotonic()
WIDTH = 78


@dataclasses.dataclass
class Step:
    """One step of a story: a table and the checks made on it.

    :param title: what was done, in an operator's words.
    :param columns: the table's header.
    :param note: sentences for below the table.
    :param bars: a picture: numbers by distribution and place.
    :param boots: a picture: by flavor and aggregate, whether a server boots
        there as the specification wants, with the plug-ins, and in-tree.
    """

    title: str
    columns: tuple[str, ...]
    note: str = ''
    rows: list[tuple[Any, ...]] = dataclasses.field(default_factory=list)
    checks: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    bars: dict[str, dict[str, int]] = dataclasses.field(default_factory=dict)
    boots: dict[str, dict[str, list[bool]]] = dataclasses.field(
        default_factory=dict
    )

    def row(self, *cells: Any) -> None:
        """Add a row to the table."""
        self.rows.append(cells)

    def check(self, what: str, expected: Any, observed: Any) -> None:
        """Add a check.

        :param what: what the specs demand, in one sentence.
        :param expected: the value that the spec demands.
        :param observed: the value that was read from the running service.
        """
        self.checks.append(
            {
                'what': what,
                'wanted': expected,
                'found': observed,
                'ok': expected == observed,
            }
        )


@dataclasses.dataclass
class Part:
    """What one service did in the demo.

    :param name: the part's key in ``parts.yaml``.
    :param service: the service's name, as in ``Senlin 16.0.0``.
    :param unit: what the part's one table on the screen shows.
    :param compared: the table's columns, after the first one.
    :param steps: the story, in order.
    """

    name: str
    service: str
    unit: str
    compared: tuple[str, ...]
    steps: list[Step] = dataclasses.field(default_factory=list)
    beside: list[tuple[str, ...]] = dataclasses.field(default_factory=list)

    def compare(self, what: str, *cells: object) -> None:
        """Add a row to the table that is shown on the screen."""
        self.beside.append((what, *map(str, cells)))

    def progress(self, text: str) -> None:
        """Say on standard error what begins now, in one line that changes."""
        if sys.stderr.isatty():
            seconds = time.monotonic() - STARTED
            line = f'[{self.name:<6} {seconds:5.1f} s] {text}'
            print(f'\r{line[:WIDTH]:<{WIDTH}}', end='', file=sys.stderr)
            sys.stderr.flush()

    def step(
        self, title: str, columns: tuple[str, ...], note: str = ''
    ) -> Step:
        """Begin the next step and return it."""
        self.progress(title)
        self.steps.append(Step(title, columns, note))
        return self.steps[-1]

    def result(self) -> dict[str, Any]:
        """Return what is shown, or written as JSON."""
        # What is real in this part, and what is stubbed.
        description = yaml.safe_load(DESCRIPTIONS.read_text())[self.name]
        checks = []
        for step in self.steps:
            checks += step.checks
        failed = [check for check in checks if not check['ok']]
        sums = {'checks': len(checks), 'failed': len(failed)}
        return {**dataclasses.asdict(self), **description, **sums}


def main() -> None:
    """Run the parts of one service and print the results as JSON.

    The command line is ``NAME LOG``: the module with the story, and the file
    for the service's log.
    """
    name, log = sys.argv[1], pathlib.Path(sys.argv[2])
    # What a service prints would stand in the middle of the result.
    result, sys.stdout = sys.stdout, sys.stderr
    try:
        parts: list[Part] = importlib.import_module(f'demo.{name}').run(log)
    except Exception as exc:
        with log.open('a') as stream:
            traceback.print_exc(file=stream)
        sys.exit(
            f'demo: {name} broke off: {type(exc).__name__}: {exc} '
            f'(the traceback is in {log}).'
        )
    json.dump([part.result() for part in parts], result)
    result.flush()
    sys.stderr.flush()
    # At a usual end, Python 3.13.0 to 3.13.2 print an error for each green
    # thread (https://github.com/python/cpython/issues/130522).
    os._exit(0)

# SPDX-License-Identifier: Apache-2.0

"""One part of the demo: what it hands back, and the process it runs in.

The services configure their whole process, so each part has a process of its
own, which ``python -m demo`` starts.
"""

import dataclasses
import importlib
import json
import pathlib
import resource
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

import yaml

DESCRIPTIONS = pathlib.Path(__file__).parent / 'parts.yaml'

#: Says what begins now.
Progress = Callable[[str], None]


@dataclasses.dataclass
class Step:
    """One step of a story: a table and the checks made on it.

    :param title: what was done, in an operator's words.
    :param columns: the table's header.
    :param note: sentences for below the table.
    """

    title: str
    columns: tuple[str, ...]
    note: str = ''
    rows: list[tuple[Any, ...]] = dataclasses.field(default_factory=list)
    checks: list[dict[str, Any]] = dataclasses.field(default_factory=list)

    def row(self, *cells: Any) -> None:
        """Add a row to the table."""
        self.rows.append(cells)

    def check(self, what: str, wanted: Any, found: Any) -> None:
        """Add a check.

        :param what: what the specs demand, in one sentence.
        :param wanted: the value that the spec demands.
        :param found: the value that was read from the running service.
        """
        check = {'what': what, 'wanted': wanted, 'found': found}
        self.checks.append({**check, 'ok': wanted == found})


@dataclasses.dataclass
class Part:
    """What one service did in the demo.

    :param service: the service's name, as in ``Senlin 16.0.0``.
    :param steps: the story, in order.
    :param leaves: what the part "stack" goes on with.
    """

    service: str
    steps: list[Step]
    leaves: Any = None


def main() -> None:
    """Run one part and print what it found as JSON.

    The command line is ``NAME LOG GIVEN``; the last is, as JSON, what an
    earlier part has left for this one.
    """
    name, log, given = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    started = time.monotonic()
    # What a service prints would stand in the middle of the result.
    result, sys.stdout = sys.stdout, sys.stderr

    def progress(text: str) -> None:
        seconds = time.monotonic() - started
        print(f'[{name:<6} {seconds:5.1f} s] {text}', file=sys.stderr)

    try:
        story = importlib.import_module(f'demo.{name}')
        data = yaml.safe_load(DESCRIPTIONS.read_text())[name]
        part = story.run(progress, log, json.loads(given))
    except Exception as exc:
        with log.open('a') as stream:
            traceback.print_exc(file=stream)
        sys.exit(
            f'demo: {name} broke off: {type(exc).__name__}: {exc} '
            f'(the traceback is in {log}).'
        )
    data |= dataclasses.asdict(part)
    checks = [check for step in part.steps for check in step.checks]
    data['checks'] = len(checks)
    data['failed'] = sum(not check['ok'] for check in checks)
    data['seconds'] = round(time.monotonic() - started, 1)
    # Linux counts in KiB; a child is a heat-engine.
    data['peak_mib'] = round(
        max(
            resource.getrusage(who).ru_maxrss
            for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        / 1024,
        1,
    )
    json.dump(data, result)

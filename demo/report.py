# SPDX-License-Identifier: Apache-2.0

"""What a part of the demo hands back: steps, tables and checks, as data.

The parts fill these classes in; ``demo.__main__`` prints them, as text or as
JSON. Nothing here imports a service, and nothing here decides what is right:
a check holds what was wanted beside what was found.
"""

import dataclasses
import sys
import time
from typing import Any, TextIO


class DemoError(Exception):
    """Something that the user must change, told in one line.

    A part raises it for what is wrong outside the demo: a busy port, a file
    that cannot be written. Its text says what to do.
    """


@dataclasses.dataclass(frozen=True)
class Check:
    """One thing the specs demand, and what the services really did.

    :param what: the demand in one sentence, with the section of its spec.
    :param wanted: the value that the spec demands.
    :param found: the value that was read from the running service.
    """

    what: str
    wanted: Any
    found: Any

    @property
    def ok(self) -> bool:
        """Tell whether the service did what the spec demands."""
        return bool(self.wanted == self.found)


@dataclasses.dataclass(frozen=True)
class Step:
    """One step of a part's story: a table and the checks made on it.

    :param title: what was done, in an operator's words.
    :param columns: the table's header.
    :param rows: the table's rows, each as long as ``columns``; cells are
        strings, numbers or ``None``.
    :param checks: the demands that this step must meet.
    :param note: a sentence for below the table, or an empty string.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    checks: tuple[Check, ...] = ()
    note: str = ''


@dataclasses.dataclass(frozen=True)
class Part:
    """What one service did in the demo.

    :param service: the service's name, as in ``Senlin 16.0.0``.
    :param real: the real classes that ran.
    :param stubs: what was stubbed, and at which seam.
    :param steps: the story, in order.
    :param seconds: how long the part took.
    :param peak_mib: the largest resident memory of one process, in MiB.
    """

    service: str
    real: tuple[str, ...]
    stubs: tuple[str, ...]
    steps: tuple[Step, ...]
    seconds: float = 0.0
    peak_mib: float = 0.0

    @property
    def checks(self) -> tuple[Check, ...]:
        """Return the checks of every step, in order."""
        return tuple(check for step in self.steps for check in step.checks)

    def to_dict(self) -> dict[str, Any]:
        """Return the part as data that JSON can carry."""
        data = dataclasses.asdict(self)
        for step, step_data in zip(self.steps, data['steps'], strict=True):
            for check, check_data in zip(
                step.checks, step_data['checks'], strict=True
            ):
                check_data['ok'] = check.ok
        return data


def part_from_dict(data: dict[str, Any]) -> Part:
    """Rebuild a part from what :meth:`Part.to_dict` gave.

    :param data: the part as read from JSON.
    :returns: the same part; verdicts are computed again, not believed.
    """
    steps = tuple(
        Step(
            title=step['title'],
            columns=tuple(step['columns']),
            rows=tuple(tuple(row) for row in step['rows']),
            checks=tuple(
                Check(check['what'], check['wanted'], check['found'])
                for check in step['checks']
            ),
            note=step['note'],
        )
        for step in data['steps']
    )
    return Part(
        service=data['service'],
        real=tuple(data['real']),
        stubs=tuple(data['stubs']),
        steps=steps,
        seconds=data['seconds'],
        peak_mib=data['peak_mib'],
    )


class Progress:
    """Print one line per long step, with the time since the start.

    :param label: the part's name, printed in front of each line.
    :param stream: where to print; standard error by default, so that the
        result on standard output stays clean.
    """

    def __init__(self, label: str, stream: TextIO | None = None) -> None:
        self._label = label
        self._stream = stream if stream is not None else sys.stderr
        self._start = time.monotonic()

    def __call__(self, text: str) -> None:
        """Print that ``text`` begins now."""
        seconds = time.monotonic() - self._start
        print(
            f'[{self._label:<6} {seconds:5.1f} s] {text}',
            file=self._stream,
            flush=True,
        )

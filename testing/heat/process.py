# SPDX-License-Identifier: Apache-2.0

"""Run heat-engines in processes of their own, and read their results."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

from testing import subprocesses

ROOT = pathlib.Path(__file__).parents[2]

#: Longest time for one engine and its stacks, in seconds: SIGALRM ends it.
ENGINE_SECONDS = 1800


class Launcher(subprocesses.Server):
    """Start one heat-engine for each scenario, one after the other.

    Heat is imported once, in a process that forks for each scenario. It has
    read no option then and no plug-in, so each engine starts afresh.
    """

    def __init__(self) -> None:
        command = [sys.executable, '-W', 'ignore', '-m', 'testing.heat.worker']
        super().__init__(command, cwd=ROOT)

    def run(
        self,
        scenario: Mapping[str, Any],
        log: pathlib.Path,
        *python_path: pathlib.Path,
    ) -> list[dict[str, Any]]:
        """Have a new engine work through a scenario.

        :param scenario: what :func:`testing.heat.worker.run` is told.
        :param log: the engine's log; its temporary files are beside it.
        :param python_path: folders that the engine looks into for modules
            and entry points before all others.
        :raises RuntimeError: when it broke off; its log says why.
        """
        order = [scenario, str(log), [*map(str, python_path)]]
        # The engine has the first limit. The import of Heat comes before.
        limit = ENGINE_SECONDS + subprocesses.LIMIT
        line = self.ask(json.dumps(order), limit)
        # Nothing comes if the process itself has ended.
        answer = json.loads(line or 'null')
        if not isinstance(answer, list):
            raise RuntimeError(f'heat-engine ended with {answer}; see {log}')
        # Its exit code: from here on it holds no connection.
        self.read_line(limit)
        return answer


def run_forked(
    scenario: Mapping[str, Any],
    workers: int,
    folder: pathlib.Path,
    *python_path: pathlib.Path,
) -> list[list[dict[str, Any]]]:
    """Have each worker of a ``heat-engine`` work through a scenario.

    :param scenario: as for :meth:`Launcher.run`.
    :param workers: how many workers there will be.
    :param folder: where the engine writes its log, ``heat.log``.
    :returns: what each worker reports.
    :raises RuntimeError: if the engine or a worker broke off.
    """
    command = [sys.executable, '-W', 'ignore', '-m', 'testing.heat.forked']
    first = os.pathsep.join(map(str, python_path))
    process = subprocess.Popen(
        [*command, json.dumps(scenario), str(folder)],
        cwd=ROOT,
        env={**os.environ, 'PYTHONPATH': first},
        start_new_session=True,
    )
    files: list[pathlib.Path] = []
    deadline = time.monotonic() + ENGINE_SECONDS
    try:
        while len(files) < workers:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f'heat-engine broke off; see {folder}')
            time.sleep(0.05)
            files = list(folder.glob('*.json'))
        reports = [json.loads(file.read_text()) for file in files]
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for report in reports:
        if isinstance(report, str):
            raise RuntimeError(report)
    return reports

# SPDX-License-Identifier: Apache-2.0

"""Start a heat-engine in a process of its own, and read its result."""

import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

ROOT = pathlib.Path(__file__).parents[2]

#: Longest time for one engine and its stacks, in seconds.
TIMEOUT = 300


class EngineProcess:
    """A heat-engine that works through a scenario.

    :param name: names the files in ``folder``.
    :param scenario: what :func:`testing.heat.worker.run` is told.
    :param folder: where the scenario and its result are written.
    :param log: the file for the engine's log.
    :param python_path: folders that the engine looks into for modules and
        entry points before all others.
    :param worker: the module that runs there.
    """

    def __init__(
        self,
        name: str,
        scenario: Mapping[str, Any],
        folder: pathlib.Path,
        log: pathlib.Path,
        python_path: tuple[pathlib.Path, ...] = (),
        worker: str = 'testing.heat.worker',
    ) -> None:
        self.name = name
        self._out = folder / f'{name}.out.json'
        source = folder / f'{name}.json'
        source.write_text(json.dumps(scenario))
        paths = [*(str(path) for path in python_path), str(ROOT)]
        if os.environ.get('PYTHONPATH'):
            paths.append(os.environ['PYTHONPATH'])
        # -P: without it the current folder would come before python_path.
        command = [sys.executable, '-P', '-W', 'ignore']
        command += ['-m', worker]
        with log.open('a') as stream:
            self._process = subprocess.Popen(
                [*command, str(source), str(self._out), str(log)],
                cwd=ROOT,
                env={**os.environ, 'PYTHONPATH': os.pathsep.join(paths)},
                stdout=stream,
                stderr=stream,
            )

    def result(self) -> dict[str, Any]:
        """Wait for the engine and return its result.

        :raises RuntimeError: when it broke off; its log says why.
        """
        code = self._process.wait(timeout=TIMEOUT)
        if code != 0:
            raise RuntimeError(
                f'the heat-engine of the run "{self.name}" ended with {code}'
            )
        data: dict[str, Any] = json.loads(self._out.read_text())
        return data

    def kill(self) -> None:
        """End the process, if it still runs."""
        self._process.kill()
        self._process.wait()

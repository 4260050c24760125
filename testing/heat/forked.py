# SPDX-License-Identifier: Apache-2.0

"""The real command ``heat-engine``, with the workers that it forks.

Each worker has a message bus and a database of its own, in memory, and does
all that the scenario says. See :func:`testing.heat.process.run_forked`.
"""

import json
import os
import pathlib
import sys
import threading
import traceback
from typing import Any

from testing.heat import configuration, engine, worker  # isort: skip

from heat.cmd import engine as command
from heat.engine import service


def main(scenario: dict[str, Any], folder: pathlib.Path) -> None:
    """Run heat-engine, whose workers write what they did into a folder."""

    class Service(service.EngineService):  # type: ignore[misc]
        def start(self) -> None:
            # oslo.service calls this method in each worker.
            self._anchor = engine.make_database()
            super().start()
            threading.Thread(target=work, daemon=True).start()

    def work() -> None:
        try:
            client = engine.Client(scenario['cloud'])
            report = [
                worker.work_on(client, stack) for stack in scenario['stacks']
            ]
            text = json.dumps(report)
        except BaseException:
            text = json.dumps(traceback.format_exc())
        # Whoever waits for the report sees all of it, or nothing.
        part = folder / f'{os.getpid()}.part'
        part.write_text(text)
        part.rename(part.with_suffix('.json'))

    path = configuration.write(folder, scenario['cloud'], scenario['settings'])
    log = folder / 'heat.log'
    sys.argv = ['heat-engine', '--config-file', str(path)]
    sys.argv += ['--log-file', str(log)]
    engine.look_more_often()
    service.EngineService = Service
    command.main()


if __name__ == '__main__':
    main(json.loads(sys.argv[1]), pathlib.Path(sys.argv[2]))

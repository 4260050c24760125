# SPDX-License-Identifier: Apache-2.0

"""Run one heat-engine, have it handle some stacks, and tell of them.

Heat reads its plug-ins when it starts, so one process shows one
configuration: the demo and the functional tests start one for each. The
scenario comes as a JSON file; :func:`run` tells what it holds.
"""

import dataclasses
import json
import os
import pathlib
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import sqlalchemy

from testing.heat import engine


def run(scenario: dict[str, Any], log: pathlib.Path) -> dict[str, Any]:
    """Do what the scenario says and return what Heat says about it.

    :param scenario: ``cloud`` (the URL of the cloud), ``settings`` (lines of
        ``heat.conf`` by section), ``convergence``, and ``stacks``: a list of
        what :meth:`engine.Engine.create` takes; an ``update`` with a
        template may follow there.
    :param log: the file for the engine's log.
    :returns: for each stack its status, reason, root stack id and resources;
        and the SQL statements that were sent meanwhile.
    """
    statements: list[str] = []
    # Before the engine sends any: SQLAlchemy fails the statement of a thread
    # that finds its list of listeners changed.
    sqlalchemy.event.listen(
        sqlalchemy.engine.Engine,
        'before_cursor_execute',
        lambda *args: statements.append(args[2]),
    )
    heat = engine.Engine(
        scenario['cloud'],
        scenario['settings'],
        convergence=scenario.get('convergence', True),
        log=log,
    )
    stacks = []
    for stack in scenario['stacks']:
        project, name = stack['project'], stack['name']
        status, reason = heat.create(
            project,
            name,
            stack['template'],
            files=stack.get('files'),
            environment=stack.get('environment'),
        )
        if 'update' in stack:
            status, reason = heat.update(project, name, stack['update'])
        stacks.append(
            {
                'name': name,
                'status': status,
                'reason': reason,
                'root': heat.identify(project, name),
                'resources': [
                    dataclasses.asdict(resource)
                    for resource in heat.resources(project, name)
                ],
            }
        )
    return {'stacks': stacks, 'statements': statements}


def main(
    work: Callable[[dict[str, Any], pathlib.Path], dict[str, Any]] = run,
) -> NoReturn:
    """Read the scenario, work on it, write the result as JSON, and end.

    The command line is ``SCENARIO OUT LOG``, three files.

    :param work: makes the result of the scenario and the log's file.
    """
    # The engine's threads would keep the process; there is nothing left to
    # save in a database in memory, so they are not waited for.
    code = 1
    try:
        scenario, out, log = (pathlib.Path(arg) for arg in sys.argv[1:])
        out.write_text(json.dumps(work(json.loads(scenario.read_text()), log)))
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == '__main__':
    main()

# SPDX-License-Identifier: Apache-2.0

"""Run one heat-engine for each scenario, each in a forked process.

Heat reads its options and its plug-ins once in a process. Importing Heat
takes longer than all that, so it is done once, before the process forks.

``python -m testing.heat.worker`` reads a JSON list from each line of its
standard input: a scenario, the file for the engine's log, and folders to
import from. It answers with the result, unless the engine broke off, and
with the exit code of the engine, which is gone then. See
:class:`testing.heat.process.Launcher`.
"""

import gc
import importlib
import importlib.metadata
import json
import logging
import os
import pathlib
import signal
import sys
import tempfile
from collections.abc import Mapping
from typing import Any, NoReturn

from testing.heat import engine, process  # isort: skip

import sqlalchemy.orm
from heat.common import plugin_loader
from heat.engine import resources
from oslo_config import cfg
from oslo_reports.generators import conf as conf_report

LOG = logging.getLogger('config-dump')

#: What Heat loads when it starts, before any plug-in of others. Its resource
#: types come after this.
LOADED_FIRST = ('heat.clients', 'heat.constraints')

#: What Heat imports when the first stack needs it.
LOADED_LATE = (
    'novaclient.v2.client',
    'glanceclient.v2.client',
    'cinderclient.v3.client',
    'sqlalchemy.dialects.sqlite',
)


def run(scenario: Mapping[str, Any], log: str) -> list[dict[str, Any]]:
    """Do what the scenario says and return what Heat says about each stack.

    :param scenario: ``cloud`` (the URL of the cloud), ``settings`` (lines of
        ``heat.conf`` by section) and ``stacks``, see :func:`work_on`.
    """
    path = pathlib.Path(log)
    heat = engine.Engine(scenario['cloud'], scenario['settings'], log=path)
    reports = [work_on(heat, stack) for stack in scenario['stacks']]
    dump_configuration()
    return reports


def work_on(heat: engine.Client, stack: Mapping[str, Any]) -> dict[str, Any]:
    """Do what the scenario says about one stack, and tell of it.

    The report has the stack's resources at the end, and in ``history`` those
    after each step.

    :param stack: ``project``, ``name``, ``template`` with ``files`` and
        ``environment``; then ``steps``: lists of what to do, a template, and
        what else :meth:`engine.Engine.do` takes, if anything.
    """
    owner = stack['project'], stack['name']
    more = {k: stack.get(k) for k in ('files', 'environment')}
    create = ('create', stack['template'], more)
    report: dict[str, Any] = {'project': owner[0], 'name': owner[1]}
    report |= {'steps': [], 'history': []}
    for action, template, *options in (create, *stack.get('steps', ())):
        (more,) = options or [{}]
        status, reason = heat.do(*owner, action, template, **more)
        report['steps'].append((status, reason))
        listing = heat.listing(*owner)
        report['history'].append(listing)
        report |= {'status': status, 'reason': reason, **listing}
    return report


def dump_configuration() -> None:
    """Log all options in the ways in which heat-engine does.

    oslo.service logs them when heat-engine starts and at SIGHUP, when the
    file is also read again; oslo.reports writes them into its report. None
    of these may fail, and heat-engine with it.
    """
    cfg.CONF.log_opt_values(LOG, logging.INFO)
    cfg.CONF.mutate_config_files()
    report = conf_report.ConfigReportGenerator()()
    report.set_current_view_type('text')
    LOG.info('%s', report)


def work(
    scenario: Mapping[str, Any], log: str, python_path: list[str]
) -> NoReturn:
    code = 1
    answer, sys.stdout = sys.stdout, sys.stderr
    try:
        signal.alarm(process.ENGINE_SECONDS)
        with open(log, 'a') as stream:
            os.dup2(stream.fileno(), sys.stderr.fileno())
        # Whoever removes the log removes what the engine leaves.
        tempfile.tempdir = os.path.dirname(log)
        if 'eventlet' in sys.modules:
            # As oslo.service does in a new worker: a hub of its own.
            sys.modules['eventlet'].hubs.use_hub()
        sys.path[:0] = python_path
        print(json.dumps(run(scenario, log)), file=answer, flush=True)
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        # The engine's threads would keep the process; there is nothing left
        # to save in a database in memory, so they are not waited for.
        sys.stderr.flush()
        os._exit(code)


def load() -> None:
    """Import what a heat-engine imports, but no plug-in of others."""
    for group in LOADED_FIRST:
        for point in importlib.metadata.entry_points(group=group):
            point.load()
    for _ in plugin_loader.load_modules(resources):
        pass
    for name in LOADED_LATE:
        importlib.import_module(name)
    sqlalchemy.orm.configure_mappers()
    # The forks need not look through all of this for what is garbage.
    gc.freeze()


def main() -> None:
    """Fork for each line of standard input."""
    load()
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            work(*json.loads(line))
        # os.waitpid would be eventlet's, and wait with a hub that is forked.
        _, status, _ = os.wait4(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == '__main__':
    main()

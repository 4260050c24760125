# SPDX-License-Identifier: Apache-2.0

"""A heat-engine for the tests: the demo's, with all that a user may ask.

Run by :mod:`tests.functional.heat_hints.base` in a process of its own.
"""

import dataclasses
import json
import logging
import pathlib
from collections.abc import Mapping
from typing import Any

import sqlalchemy
from oslo_config import cfg
from oslo_reports.generators import conf as conf_report

from testing.heat import engine, worker

LOG = logging.getLogger('config-dump')

ADMIN_PROJECT = 'admin-project'


class Engine(engine.Engine):
    """The demo's engine, and the calls that only the tests need."""

    def adopt(
        self, project: str, name: str, data: Mapping[str, Any]
    ) -> tuple[str, str]:
        """Adopt what another stack left, and wait for the end.

        :param project: the project's id.
        :param name: the stack's name.
        :param data: what Heat tells when it abandons a stack.
        """
        context = self.context(project)
        identity = self.rpc.create_stack(
            context,
            name,
            dict(data['template']),
            {},
            {},
            {'adopt_stack_data': json.dumps(data), 'timeout_mins': 5},
        )
        return self._wait(context, identity, 'ADOPT')

    def act(self, project: str, name: str, action: str) -> tuple[str, str]:
        """Check, suspend or resume a stack, and wait for the end.

        :param project: the project's id.
        :param name: the stack's name.
        :param action: ``check``, ``suspend`` or ``resume``.
        """
        context = self.context(project)
        identity = self.rpc.identify_stack(context, name)
        getattr(self.rpc, f'stack_{action}')(context, identity)
        return self._wait(context, identity, action.upper())

    def update_as_admin(
        self, project: str, name: str, template: Mapping[str, Any]
    ) -> tuple[str, str]:
        """Update a stack as an admin who belongs to another project.

        Heat then asks Nova with the admin's token, and the servers are the
        admin's project's.

        :param project: the id of the stack's project.
        :param name: the stack's name.
        :param template: the new template as data.
        """
        identity = self.rpc.identify_stack(self.context(project), name)
        context = self.context(ADMIN_PROJECT)
        context.is_admin = True
        self.rpc.update_stack(
            context, identity, dict(template), {}, {}, {'timeout_mins': 5}
        )
        return self._wait(context, identity, 'UPDATE')

    def preview(
        self, project: str, name: str, template: Mapping[str, Any]
    ) -> list[str]:
        """Return the names of the resources that a stack would have.

        :param project: the project's id.
        :param name: the stack's name.
        :param template: the template as data.
        """
        told = self.rpc.preview_stack(
            self.context(project), name, dict(template), {}, {}, {}
        )
        return [resource['resource_name'] for resource in told['resources']]


def work_on(heat: Engine, stack: Mapping[str, Any]) -> dict[str, Any]:
    """Do what the scenario says about one stack, and tell of it.

    :param heat: the engine.
    :param stack: ``template`` with ``files`` and ``environment``, or
        ``adopt``; then ``steps``: pairs of what to do and a template or
        ``None``. A stack with ``preview`` alone is never made.
    """
    project, name = stack['project'], stack['name']
    if 'preview' in stack:
        found = heat.preview(project, name, stack['preview'])
        return {'name': name, 'preview': found}
    if 'adopt' in stack:
        status, reason = heat.adopt(project, name, stack['adopt'])
    else:
        status, reason = heat.create(
            project,
            name,
            stack['template'],
            files=stack.get('files'),
            environment=stack.get('environment'),
        )
    steps = [status]
    for action, template in stack.get('steps', ()):
        if action.startswith('update'):
            status, reason = getattr(heat, action)(project, name, template)
        else:
            status, reason = heat.act(project, name, action)
        steps.append(status)
    return {
        'name': name,
        'status': status,
        'reason': reason,
        'steps': steps,
        'root': heat.identify(project, name),
        'resources': [
            dataclasses.asdict(resource)
            for resource in heat.resources(project, name)
        ],
    }


def dump_configuration() -> None:
    """Log all options in the ways in which heat-engine does.

    oslo.service logs them when heat-engine starts and at SIGHUP, when the
    file is also read again; oslo.reports writes them into its report. None
    of these may fail, and heat-engine with it.
    """
    cfg.CONF.log_opt_values(LOG, logging.INFO)
    cfg.CONF.mutate_config_files()
    LOG.info('%s', conf_report.ConfigReportGenerator()())


def run(scenario: dict[str, Any], log: pathlib.Path) -> dict[str, Any]:
    """Do what the scenario says and return what Heat says about it.

    :param scenario: ``cloud`` (the URL of the cloud), ``settings`` (lines of
        ``heat.conf`` by section), ``convergence``, and ``stacks``, see
        :func:`work_on`.
    :param log: the file for the engine's log.
    """
    heat = Engine(
        scenario['cloud'],
        scenario['settings'],
        convergence=scenario['convergence'],
        log=log,
    )
    statements: list[str] = []
    sqlalchemy.event.listen(
        heat.database,
        'before_cursor_execute',
        lambda *args: statements.append(args[2]),
    )
    stacks = [work_on(heat, stack) for stack in scenario['stacks']]
    dump_configuration()
    return {'stacks': stacks, 'statements': statements}


if __name__ == '__main__':
    worker.main(run)

# SPDX-License-Identifier: Apache-2.0

"""heat-engine in this process: the real service, nothing of it replaced.

Importing this module prepares the whole process as ``heat-engine`` does
(Heat 22 patches it with eventlet, Heat 27 chooses native threads), so it is
imported before anything else of Heat, in a process that does nothing else.

What a deployment would give the engine comes from here: a ``heat.conf``, an
in-process message bus (``fake://``) and a database in memory.
"""

import gc
import json
import logging
import pathlib
import random
import sqlite3
import tempfile
import threading
import time
import warnings
from collections.abc import Mapping
from typing import Any

# Heat's own start-up module; it must come before the rest of Heat.
import heat.cmd.engine  # noqa: F401  isort: skip

import sqlalchemy
from heat.common import config as heat_config
from heat.common import context as heat_context
from heat.common import messaging
from heat.db import api as db_api
from heat.db import models
from heat.engine import scheduler
from heat.engine import service as engine_service
from heat.objects import resource as resource_object
from heat.rpc import api as rpc_api
from heat.rpc import client as rpc_client
from oslo_config import cfg
from oslo_log import log as oslo_logging

from testing.heat import loopback

#: How long one statement may wait for another's transaction, in seconds.
LOCK_SECONDS = 120.0
#: After how long a wait it is asked whether anybody still wants the other.
STALE_SECONDS = 0.5
#: How long a stack may take, in seconds.
STACK_SECONDS = 600.0
#: The longest pause between two looks at something that is being made, by
#: Heat itself and from outside, in seconds.
PAUSE = 0.05


#: Whose turn it is to ask for SQLite's write lock. Green in Heat 22.
_TURN = threading.Lock()


class Engine:
    """Run one heat-engine against a loopback cloud.

    One engine per process: Heat reads its plug-ins once.

    :param cloud_url: where the loopback cloud answers.
    :param settings: lines for ``heat.conf``, by section and option.
    :param convergence: the engine's default of today, or the legacy one.
    :param log: a file for the engine's log; ``None`` leaves logging alone.
    """

    def __init__(
        self,
        cloud_url: str,
        settings: Mapping[str, Mapping[str, str]] | None = None,
        *,
        convergence: bool = True,
        log: pathlib.Path | None = None,
    ) -> None:
        self.cloud_url = cloud_url
        self._folder = tempfile.TemporaryDirectory(prefix='heat-engine-')
        configure(
            pathlib.Path(self._folder.name),
            cloud_url,
            settings or {},
            convergence=convergence,
            log=log,
        )
        name = f'/heat-{random.getrandbits(64):x}'  # noqa: S311
        url = f'file:{name}?vfs=memdb'
        # The database lives as long as one connection to it is open.
        self._anchor = sqlite3.connect(url, uri=True, check_same_thread=False)
        cfg.CONF.set_override(
            'connection', f'sqlite:///{url}&uri=true', group='database'
        )
        self.database = db_api.get_engine()
        sqlalchemy.event.listen(
            self.database,
            'before_cursor_execute',
            _begin_immediate,
            retval=True,
        )
        models.BASE.metadata.create_all(self.database)
        _look_more_often()
        messaging.setup()
        self.service = engine_service.EngineService(
            'embedded', rpc_api.ENGINE_TOPIC
        )
        self.service.start()
        self.rpc = rpc_client.EngineClient()

    def context(self, project: str) -> Any:
        """Return the request context of a user of a project.

        :param project: the project's id.
        """
        return heat_context.RequestContext(
            username='demo',
            password='demo',
            user_id='demo-user',
            project_id=project,
            project_name=project,
            user_domain_id='default',
            project_domain_id='default',
            auth_token=project,
            auth_url=f'{self.cloud_url}/identity/v3',
            roles=['member'],
            is_admin=False,
        )

    def do(
        self,
        project: str,
        name: str,
        action: str,
        data: Mapping[str, Any] | None = None,
        *,
        files: Mapping[str, str] | None = None,
        environment: Mapping[str, Any] | None = None,
    ) -> tuple[str, str]:
        """Do something to a stack, and wait for the end.

        :param project: the project's id.
        :param name: the stack's name.
        :param action: ``create``, ``adopt``, ``update``, ``check``,
            ``suspend`` or ``resume``; or ``update_as_admin`` of another
            project, whose token Heat then shows to Nova.
        :param data: the template; to adopt a stack, what Heat tells when it
            abandons one.
        :param files: the nested templates by name, as text.
        :param environment: the user's environment.
        :returns: the stack's status and the reason Heat gives for it.
        """
        context = self.context(project)
        options: dict[str, Any] = {'timeout_mins': 5}
        if action in ('create', 'adopt'):
            template = dict(data or {})
            options['disable_rollback'] = True
            if action == 'adopt':
                options['adopt_stack_data'] = json.dumps(data)
                template = template['template']
            identity = self.rpc.create_stack(
                *(context, name, template),
                *(dict(environment or {}), dict(files or {}), options),
            )
            return self._wait(context, identity, action.upper())
        identity = self.rpc.identify_stack(context, name)
        if data is None:
            getattr(self.rpc, f'stack_{action}')(context, identity)
            return self._wait(context, identity, action.upper())
        if action == 'update_as_admin':
            context = self.context(loopback.ADMIN_PROJECT)
            context.is_admin = True
        self.rpc.update_stack(context, identity, dict(data), {}, {}, options)
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

    def _wait(
        self, context: Any, identity: Any, action: str
    ) -> tuple[str, str]:
        deadline = time.monotonic() + STACK_SECONDS
        while True:
            (stack,) = self.rpc.show_stack(
                context, identity, resolve_outputs=False
            )
            done = (
                stack[rpc_api.STACK_ACTION] == action
                and stack[rpc_api.STACK_STATUS] != 'IN_PROGRESS'
            )
            if done or time.monotonic() > deadline:
                return (
                    f'{stack[rpc_api.STACK_ACTION]}_'
                    f'{stack[rpc_api.STACK_STATUS]}',
                    stack[rpc_api.STACK_STATUS_DATA],
                )
            time.sleep(PAUSE)

    def identify(self, project: str, name: str) -> str:
        """Return a stack's id, as Heat's RPC API tells it.

        :param project: the project's id.
        :param name: the stack's name.
        """
        identity = self.rpc.identify_stack(self.context(project), name)
        stack_id: str = identity['stack_id']
        return stack_id

    def resources(self, project: str, name: str) -> list[dict[str, Any]]:
        """List the resources of a stack and of the stacks nested in it.

        :param project: the project's id.
        :param name: the root stack's name.
        :returns: what Heat's RPC API says, stack by stack. ``uuid`` is the
            resource's own id, ``physical_id`` that of what it made, ``path``
            the (resource, stack) names from the root stack down.
        """
        context = self.context(project)
        identity = self.rpc.identify_stack(context, name)
        return self._resources(context, identity, ((None, name),))

    def _resources(
        self,
        context: Any,
        identity: Any,
        path: tuple[tuple[str | None, str], ...],
    ) -> list[dict[str, Any]]:
        found = []
        for row in self.rpc.list_stack_resources(
            context, identity, with_detail=True
        ):
            name = row[rpc_api.RES_NAME]
            found.append(
                {
                    'name': name,
                    'uuid': _uuid(context, name, identity),
                    'physical_id': row[rpc_api.RES_PHYSICAL_ID],
                    'type': row[rpc_api.RES_TYPE],
                    'stack_id': identity['stack_id'],
                    'stack_name': identity['stack_name'],
                    'path': path,
                }
            )
            nested = row.get(rpc_api.RES_NESTED_STACK_ID)
            if nested:
                below = (*path, (name, nested['stack_name']))
                found.extend(self._resources(context, nested, below))
        return found


def _uuid(context: Any, name: str, identity: Mapping[str, str]) -> str:
    """Return a resource's own id: Heat's RPC API does not tell it."""
    row = resource_object.Resource.get_by_name_and_stack(
        context, name, identity['stack_id']
    )
    uuid: str = row.uuid
    return uuid


def configure(
    folder: pathlib.Path,
    cloud_url: str,
    settings: Mapping[str, Mapping[str, str]],
    *,
    convergence: bool,
    log: pathlib.Path | None,
) -> None:
    """Write a ``heat.conf`` and have Heat read it.

    :param folder: where the file is written.
    :param cloud_url: where the loopback cloud answers.
    :param settings: further lines, by section and option.
    :param convergence: which of Heat's engines works.
    :param log: a file for the log, or ``None``.
    """
    sections: dict[str, dict[str, str]] = {
        'DEFAULT': {
            'transport_url': 'fake://',
            'deferred_auth_method': 'password',
            'convergence_engine': str(convergence).lower(),
            'num_engine_workers': '1',
            'auth_encryption_key': 'demo' * 8,
            'region_name_for_services': loopback.REGION,
            'environment_dir': str(folder / 'environment.d'),
            'template_dir': str(folder / 'templates'),
            'error_wait_time': '1',
        },
        'clients_keystone': {'auth_uri': f'{cloud_url}/identity/v3'},
        'keystone_authtoken': {'www_authenticate_uri': cloud_url},
        'oslo_policy': {'policy_file': str(folder / 'policy.yaml')},
    }
    if log is not None:
        sections['DEFAULT']['log_file'] = str(log)
    for section, options in settings.items():
        sections.setdefault(section, {}).update(options)
    lines = []
    for section, options in sections.items():
        lines.append(f'[{section}]')
        lines.extend(f'{key} = {value}' for key, value in options.items())
    path = folder / 'heat.conf'
    path.write_text('\n'.join(lines) + '\n')
    if log is not None:
        oslo_logging.register_options(cfg.CONF)
    cfg.CONF(
        ['--config-file', str(path)],
        project='heat',
        prog='heat-engine',
        default_config_dirs=[],
    )
    if log is not None:
        oslo_logging.setup(cfg.CONF, 'heat-engine')
        logging.captureWarnings(True)
    warnings.simplefilter('ignore')
    heat_config.startup_sanity_check()


def _look_more_often() -> None:
    """Shorten the seconds for which Heat waits for its clouds.

    Heat looks once a second whether a resource is there, and starts one
    resource of a stack a second. Both numbers stand in its code. Here all is
    there after some milliseconds, so that most of a test would be waiting.
    """
    # Without this name TaskRunner does not sleep at all, and neither does
    # the loop that starts a stack's resources.
    scheduler.ENABLE_SLEEP = False

    def sleep(task: Any, seconds: float | None) -> None:
        if seconds is not None:
            time.sleep(min(seconds, PAUSE))

    scheduler.TaskRunner._sleep = sleep


def _begin_immediate(
    connection: Any,
    cursor: Any,
    statement: str,
    parameters: Any,
    context: Any,
    executemany: bool,
) -> tuple[str, Any]:
    """Take SQLite's only write lock when a transaction begins.

    Heat's threads read and then write in one transaction. SQLite refuses
    that to the second of two ("database is locked") without waiting, so
    each transaction waits here for its turn. The wait is a Python sleep,
    because SQLite's own would stop every green thread of Heat 22.

    Heat leaves some sessions to Python's garbage collector. While all its
    threads wait here, nothing happens that would set the collector going.
    """
    if statement != 'BEGIN':
        return statement, parameters
    # Only one of those that wait asks SQLite: each question keeps the end of
    # the other's transaction waiting.
    with _TURN:
        _take_lock(cursor)
    return 'SELECT 1', parameters


def _take_lock(cursor: Any) -> None:
    """Ask SQLite for its write lock until it is given."""
    deadline = time.monotonic() + LOCK_SECONDS
    stale = time.monotonic() + STALE_SECONDS
    cursor.execute('PRAGMA busy_timeout = 0')
    while True:
        try:
            cursor.execute('BEGIN IMMEDIATE')
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            if time.monotonic() > stale:
                gc.collect()
                stale = time.monotonic() + STALE_SECONDS
            time.sleep(0.001)
        else:
            # The end of the transaction waits for whoever is just asking
            # for the lock, which takes no time at all.
            cursor.execute('PRAGMA busy_timeout = 1000')
            return

# SPDX-License-Identifier: Apache-2.0

"""heat-engine in this process: the real service, nothing of it replaced.

Importing this module prepares the whole process as ``heat-engine`` does
(Heat 22 patches it with eventlet, Heat 27 chooses native threads), so it is
imported before anything else of Heat, in a process that does nothing else.

What a deployment would give the engine comes from here: a ``heat.conf``, an
in-process message bus (``fake://``) and a database in memory.
"""

import gc
import logging
import pathlib
import random
import sqlite3
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
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
from heat.objects import stack as stack_object
from heat.rpc import api as rpc_api
from heat.rpc import client as rpc_client
from oslo_config import cfg
from oslo_log import log as oslo_logging

from testing.heat import configuration, loopback

#: How long a stack may take, in seconds.
STACK_SECONDS = 1000.0
#: The longest pause between two looks at something that is being made, by
#: Heat itself and from outside, in seconds.
PAUSE = 0.05
#: The status of a stack that is worked on.
BUSY = 'IN_PROGRESS'
#: How long one statement may wait for another's transaction, in seconds.
LOCK_SECONDS = 120.0
#: After how long a wait it is asked whether anybody still wants the other.
STALE_SECONDS = 0.5

#: Whose turn it is to ask for SQLite's write lock. Green in Heat 22.
_TURN = threading.Lock()


class Client:
    """Ask the heat-engine of this process for stacks."""

    def __init__(self, cloud_url: str) -> None:
        self.cloud_url = cloud_url
        self.rpc = rpc_client.EngineClient()

    def context(self, project: str) -> Any:
        """Return the request context of a user of a project."""
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
        data: Any,
        *,
        files: Mapping[str, str] | None = None,
        environment: Mapping[str, Any] | None = None,
    ) -> tuple[str, str]:
        """Do something to a stack, and wait for the end.

        :param action: ``create``, ``update``, or ``update_as_admin`` of
            another project, whose token Heat then shows to Nova.
        :param data: the template.
        :param files: the nested templates by name, as text.
        :returns: the stack's status and the reason Heat gives for it.
        """
        context = self.context(project)
        options: dict[str, Any] = {'timeout_mins': 15}
        arguments = dict(environment or {}), dict(files or {}), options
        rpc = self.rpc
        if action == 'create':
            options['disable_rollback'] = True
            identity = rpc.create_stack(context, name, data, *arguments)
        else:
            identity = rpc.identify_stack(context, name)
        if action == 'update_as_admin':
            context = self.context(loopback.ADMIN_PROJECT)
            context.is_admin = True
            action = 'update'
        if action == 'update':
            rpc.update_stack(context, identity, data, *arguments)
        deadline = time.monotonic() + STACK_SECONDS
        while time.monotonic() < deadline:
            # Heat's RPC API would load the whole stack each time.
            last_action, status, reason, _ = stack_object.Stack.get_status(
                context, identity['stack_id']
            )
            if last_action == action.upper() and status != BUSY:
                return f'{last_action}_{status}', reason
            time.sleep(PAUSE)
        return f'{action.upper()}_LATE', ''

    def listing(self, project: str, name: str) -> dict[str, Any]:
        """Return a stack's id, and its resources with those nested in it.

        :returns: what Heat's RPC API says, stack by stack. ``uuid`` is the
            resource's own id, ``server`` the id that its cloud gave it, and
            ``path`` the (resource, stack) names from the root stack down.
        """
        context = self.context(project)
        identity = self.rpc.identify_stack(context, name)
        resources = [*self._resources(context, identity, ((None, name),))]
        return {'root': identity['stack_id'], 'resources': resources}

    def _resources(
        self, context: Any, identity: Any, path: tuple[Any, ...]
    ) -> Iterator[dict[str, Any]]:
        stack_id = identity['stack_id']
        listed = self.rpc.list_stack_resources
        for row in listed(context, identity, with_detail=True):
            name = row[rpc_api.RES_NAME]
            # Heat's RPC API does not tell the resource's own id.
            stored = resource_object.Resource.get_by_name_and_stack(
                context, name, stack_id
            )
            yield {
                'name': name,
                'uuid': stored.uuid,
                'server': row[rpc_api.RES_PHYSICAL_ID],
                'type': row[rpc_api.RES_TYPE],
                'stack_id': stack_id,
                'stack_name': identity['stack_name'],
                'path': path,
            }
            nested = row.get(rpc_api.RES_NESTED_STACK_ID)
            if nested:
                below = (*path, (name, nested['stack_name']))
                yield from self._resources(context, nested, below)


class Engine(Client):
    """The only heat-engine of its process: Heat reads its plug-ins once.

    :param log: a file for the engine's log; ``None`` leaves logging alone.
    """

    def __init__(
        self,
        cloud_url: str,
        settings: Mapping[str, Mapping[str, str]],
        *,
        log: pathlib.Path | None = None,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix='heat-engine-')
        path = configuration.write(
            pathlib.Path(self._folder.name), cloud_url, settings
        )
        arguments = ['--config-file', str(path)]
        if log is not None:
            oslo_logging.register_options(cfg.CONF)
            arguments += ['--log-file', str(log)]
        cfg.CONF(
            arguments,
            project='heat',
            prog='heat-engine',
            default_config_dirs=[],
        )
        if log is not None:
            oslo_logging.setup(cfg.CONF, 'heat-engine')
            logging.captureWarnings(True)
        warnings.simplefilter('ignore')
        heat_config.startup_sanity_check()
        self._anchor = make_database()
        look_more_often()
        messaging.setup()
        self.service = engine_service.EngineService(
            'embedded', rpc_api.ENGINE_TOPIC
        )
        self.service.start()
        super().__init__(cloud_url)


def make_database() -> sqlite3.Connection:
    """Give Heat a database in memory, which lives as this connection does."""
    name = f'/heat-{random.getrandbits(64):x}'  # noqa: S311
    url = f'file:{name}?vfs=memdb'
    anchor = sqlite3.connect(url, uri=True, check_same_thread=False)
    cfg.CONF.set_override(
        'connection', f'sqlite:///{url}&uri=true', group='database'
    )
    database = db_api.get_engine()
    sqlalchemy.event.listen(
        database, 'before_cursor_execute', _begin_immediate, retval=True
    )
    models.BASE.metadata.create_all(database)
    return anchor


def look_more_often() -> None:
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
    connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any
) -> tuple[str, Any]:
    """Take SQLite's only write lock when a transaction begins.

    Heat's threads read and then write in one transaction. SQLite refuses
    that to the second of two ("database is locked") without waiting, so
    each transaction waits here for its turn. The wait is a Python sleep,
    because SQLite's own would stop every green thread of Heat 22.
    """
    if statement != 'BEGIN':
        return statement, parameters
    # Only one of those that wait asks SQLite: each question keeps the end of
    # the other's transaction waiting.
    with _TURN:
        deadline = time.monotonic() + LOCK_SECONDS
        stale = time.monotonic() + STALE_SECONDS
        cursor.execute('PRAGMA busy_timeout = 0')
        while True:
            try:
                cursor.execute('BEGIN IMMEDIATE')
                break
            except sqlite3.OperationalError:
                if time.monotonic() > deadline:
                    raise
            if time.monotonic() > stale:
                # Heat leaves some sessions to Python's garbage collector.
                # While all its threads wait, nothing else sets it going.
                gc.collect()
                stale = time.monotonic() + STALE_SECONDS
            time.sleep(0.001)
        # The end of the transaction waits for whoever is just asking for the
        # lock, which takes no time at all.
        cursor.execute('PRAGMA busy_timeout = 1000')
    return 'SELECT 1', parameters

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
from collections.abc import Mapping
from typing import Any

# Heat's own start-up module; it must come before the rest of Heat.
import heat.cmd.engine  # noqa: F401  isort: skip

import sqlalchemy
from heat.common import config as heat_config
from heat.common import messaging
from heat.db import api as db_api
from heat.db import models
from heat.engine import scheduler
from heat.engine import service as engine_service
from heat.rpc import api as rpc_api
from oslo_config import cfg
from oslo_log import log as oslo_logging

from testing.heat import configuration, stacks

#: How long one statement may wait for another's transaction, in seconds.
LOCK_SECONDS = 120.0
#: After how long a wait it is asked whether anybody still wants the other.
STALE_SECONDS = 0.5

#: Whose turn it is to ask for SQLite's write lock. Green in Heat 22.
_TURN = threading.Lock()


class Engine(stacks.Stacks):
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
            time.sleep(min(seconds, stacks.PAUSE))

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

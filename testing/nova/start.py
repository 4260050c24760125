# SPDX-License-Identifier: Apache-2.0

"""The start of nova-scheduler and one boot, for each configuration file.

See :mod:`testing.starts`. The start is that of the command. Not the operator's
are the databases and Placement, which are those of an :class:`engine.Cloud`.
Instead of workers that wait for requests, there is one request.
"""

from testing.nova import engine  # isort: skip

import functools
import os
import sys
from typing import Any

from nova import service
from nova.cmd import scheduler
from nova.db.api import api as api_db
from nova.db.main import api as main_db
from oslo_utils import uuidutils
from sqlalchemy import event, pool

from testing import starts


def make_request(cloud: engine.Cloud) -> Any:
    """Return a request that each filter and weigher here has a say in."""
    for name in 'a', 'b':
        cloud.add_host(name)
        metadata = {'force_metadata_check': 'true', 'rack': name}
        cloud.add_aggregate(name, [name], metadata)
    request = cloud.request(
        cloud.add_flavor('small', {'rack': '<or> a <or> b'}),
        hints={'heat_root_stack_id': 'root', 'heat_resource_name': 'server'},
        group=cloud.add_group('soft-anti-affinity'),
        image={'id': uuidutils.generate_uuid(), 'disk_format': 'qcow2'},
    )
    # As the API sets it.
    request.is_bfv = False
    return request


def boot(cloud: engine.Cloud, request: Any, server: Any, workers: int) -> None:
    """Handle a request, where nova-scheduler would fork workers."""
    try:
        print(cloud.boot(server.manager, request))
    except BaseException as exc:
        raise starts.BootError(f'{type(exc).__name__}: {exc}') from exc


def keep_connection(connection: Any, record: Any, proxy: Any) -> None:
    """Keep oslo.db from a new connection in a forked process.

    A database in memory goes with its connection.
    """
    record.info['pid'] = os.getpid()


def main() -> None:
    """Make a cloud, and then start with each file."""
    cloud = engine.Cloud()
    service.serve = functools.partial(boot, cloud, make_request(cloud))
    service.wait = lambda: None
    event.listen(pool.Pool, 'checkout', keep_connection)
    for database in api_db, main_db:
        database.configure = lambda conf: None
    if hasattr(scheduler, 'thread_pool_factory'):
        # Before it forks, Nova 34 waits two seconds for its threads.
        scheduler.thread_pool_factory.reset_all_executors = lambda: None
    # Each start reads its own file, also when it imports this module.
    engine.CONF.clear()
    del sys.modules['nova.scheduler.manager']
    starts.serve(scheduler.main)

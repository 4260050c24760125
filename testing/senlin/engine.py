# SPDX-License-Identifier: Apache-2.0

"""Senlin in this process: REST application, conductor and engine.

The real classes, on SQLite in memory and oslo.messaging's in-process
transport. Importing this module patches the whole process, as Senlin itself
does; :func:`boot` starts the services once.
"""

# ruff: noqa: E402 - the process is patched before anything is imported.

import dataclasses
import functools
import json
import os
import tempfile
import time
import types
import uuid
import warnings
from typing import Any

# Eventlet announces its end on import, which is Senlin's concern.
warnings.simplefilter('ignore')

import eventlet
import senlin.cmd  # noqa: F401  patches the process
import webob
from oslo_config import cfg
from oslo_log import log as logging
from oslo_messaging._drivers import impl_fake
from oslo_middleware import request_id
from senlin import objects
from senlin.api import middleware
from senlin.api.openstack.v1 import router
from senlin.common import config, consts, context, messaging
from senlin.conductor import service as conductor_service
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models
from senlin.engine import dispatcher, environment
from senlin.engine import service as engine_service
from senlin.engine.actions import base as actions

# Senlin imports node_action at the first action on a node. If two green
# threads import it at once, one of them fails.
from senlin.engine.actions import (
    cluster_action,
    node_action,  # noqa: F401
)

from testing.senlin import stub_cloud

REGIONS = ('RegionOne', 'RegionTwo', 'RegionThree')
#: Where whatever names no region goes.
DEFAULT_REGION = REGIONS[0]

USER = uuid.uuid5(uuid.NAMESPACE_DNS, 'user.example').hex
PROJECT = uuid.uuid5(uuid.NAMESPACE_DNS, 'project.example').hex
#: What the stub of Keystone's middleware reads of each request.
HEADERS = {
    'X-User-Id': USER,
    'X-Project-Id': PROJECT,
    'X-Roles': 'admin',
    'OpenStack-API-Version': 'clustering 1.14',
    'Content-Type': 'application/json',
}

#: What an operator would write into senlin.conf.
CONFIG = f"""
[DEFAULT]
transport_url = fake://
cloud_backend = openstack_test
default_region_name = {DEFAULT_REGION}
log_file = {{log}}
# The pause after a node was deleted to be created again.
batch_interval = 0

[database]
connection = sqlite://

# Each action would write events that nobody reads.
[dispatchers]
priority = critical
"""

#: The statuses that an action keeps.
ENDS = ('SUCCEEDED', 'FAILED', 'CANCELLED')

#: All tables but those that say who Senlin is.
TABLES = [
    table
    for table in models.BASE.metadata.sorted_tables
    if table.name not in ('service', 'credential')
]
#: Seconds until an action that does not end is given up.
PATIENCE = 600
#: Seconds between two looks at something that will change.
PAUSE = 0.05


class ApiError(Exception):
    """The API answered with an error; the text is its message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclasses.dataclass
class Engine:
    """The running services, driven through REST."""

    app: Any
    cloud: stub_cloud.Cloud
    service: engine_service.EngineService

    def call(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """Send one REST request.

        :param path: the path after ``/v1``.
        :returns: the answer from JSON, with the id of the action that the
            ``Location`` header names as ``started``.
        :raises: :class:`ApiError` when the status is 400 or greater.
        """
        request = webob.Request.blank(
            f'/v1{path}', method=method, headers=HEADERS
        )
        if body is not None:
            request.body = json.dumps(body).encode()
        response = request.get_response(self.app)
        answer = json.loads(response.body or '{}') or {}
        if response.status_int >= 400:
            raise ApiError(response.status_int, answer['error']['message'])
        if response.location:
            answer['started'] = response.location.rsplit('/', 1)[1]
        return answer

    def profile(
        self, type_name: str = 'senlin_plugins.nova.server', **properties: Any
    ) -> str:
        properties = properties or {'flavor': 'small', 'networks': []}
        body = {'profile': _definition(type_name, properties, '1.0')}
        return str(self.call('POST', '/profiles', body)['profile']['id'])

    def policy(
        self, type_name: str, properties: dict[str, Any], version: str = '1.0'
    ) -> str:
        body = {'policy': _definition(type_name, properties, version)}
        return str(self.call('POST', '/policies', body)['policy']['id'])

    def cluster(self, profile_id: str, size: int = 0) -> str:
        """Create a cluster, wait for it and return its id."""
        cluster = {
            'name': 'cluster',
            'profile_id': profile_id,
            'desired_capacity': size,
            'min_size': 0,
            'max_size': -1,
        }
        answer = self.call('POST', '/clusters', {'cluster': cluster})
        self.wait(answer['started'])
        return str(answer['cluster']['id'])

    def start(self, cluster_id: str, name: str, **arguments: Any) -> str:
        """Start an action on a cluster and return its id."""
        body = {name: arguments}
        answer = self.call('POST', f'/clusters/{cluster_id}/actions', body)
        return str(answer['action'])

    def act(
        self, cluster_id: str, name: str, **arguments: Any
    ) -> dict[str, Any]:
        """Run an action on a cluster to its end and return it."""
        return self.wait(self.start(cluster_id, name, **arguments))

    def attach(self, cluster_id: str, policy_id: str) -> dict[str, Any]:
        return self.act(cluster_id, 'policy_attach', policy_id=policy_id)

    def start_node(self, cluster_id: str, profile_id: str) -> tuple[str, str]:
        """Start to create a node in a cluster and return (action, node)."""
        node = {
            'name': 'node',
            'profile_id': profile_id,
            'cluster_id': cluster_id,
        }
        answer = self.call('POST', '/nodes', {'node': node})
        return answer['started'], answer['node']['id']

    def act_node(
        self, node_id: str, name: str, **arguments: Any
    ) -> dict[str, Any]:
        """Run an action on a node to its end and return it."""
        path = f'/nodes/{node_id}/actions'
        return self.wait(self.call('POST', path, {name: arguments})['action'])

    def delete(self, path: str) -> dict[str, Any]:
        """Delete a node or a cluster and return the action."""
        return self.wait(self.call('DELETE', path)['started'])

    def nodes(self, cluster_id: str) -> list[dict[str, Any]]:
        """Return the nodes of a cluster, the oldest index first."""
        nodes = self.call('GET', f'/nodes?cluster_id={cluster_id}')['nodes']
        return sorted(nodes, key=lambda node: node['index'])

    def by_age(self, cluster_id: str) -> list[str]:
        """Return the ids of a cluster's nodes, the oldest first."""
        # From the database: the API cuts the times to seconds.
        nodes = objects.Node.get_all_by_cluster(
            context.get_admin_context(), cluster_id, project_safe=False
        )
        nodes.sort(key=lambda node: (node.created_at, node.index))
        return [node.id for node in nodes]

    def run(self, target: str, name: str, **inputs: Any) -> dict[str, Any]:
        """Run an action with inputs that the API does not let through."""
        owner = context.RequestContext(
            user_id=USER, project_id=PROJECT, is_admin=True
        )
        action_id = actions.Action.create(
            owner,
            target,
            name,
            force=True,
            name=name.lower(),
            cluster_id=target,
            cause=consts.CAUSE_RPC,
            status=actions.Action.READY,
            inputs=inputs,
        )
        return self.wait(action_id)

    def wait(self, action_id: str) -> dict[str, Any]:
        """Wait for the end of an action and return it."""
        with eventlet.Timeout(PATIENCE):
            while (status := _status(action_id)) not in ENDS:
                if status == 'READY':
                    # Senlin 16.0.0 calls no engine for an action that got no
                    # lock. The next request would do it.
                    dispatcher.start_action()
                eventlet.sleep(PAUSE)
        return dict(self.call('GET', f'/actions/{action_id}')['action'])

    def reset(self) -> None:
        """Become a new Senlin, before a new cloud."""
        self.cloud.heal()
        unfinished = models.Action.status.not_in(ENDS)
        with db_api.session_for_write() as session:
            session.query(models.Action).filter(unfinished).update(
                {'control': actions.Action.SIG_CANCEL},
                synchronize_session=False,
            )
        with eventlet.Timeout(PATIENCE):
            while self.service.tg.threads:
                eventlet.sleep(PAUSE)
        with db_api.session_for_write() as session:
            for table in reversed(TABLES):
                session.execute(table.delete())
        self.cloud.reset()


def _definition(
    type_name: str, properties: dict[str, Any], version: str
) -> dict[str, Any]:
    spec = {'type': type_name, 'version': version, 'properties': properties}
    return {'name': type_name, 'spec': spec}


def _status(action_id: str) -> str | None:
    # To ask the API takes thirty times as long.
    with db_api.session_for_read() as session:
        query = session.query(models.Action.status).filter_by(id=action_id)
        return query.scalar()


def _shorten_waits() -> None:
    """Let Senlin look for news more often, for which it has no options.

    It waits three seconds for the end of child actions, and 50 ms for the
    next message of the in-process transport.
    """
    sleep = cluster_action.ClusterAction._sleep

    def sleep_less(action: Any, period: float) -> None:
        # Grace periods sleep in the same way. No test has one of 3 seconds.
        sleep(action, PAUSE if period == 3 else period)

    cluster_action.ClusterAction._sleep = sleep_less
    impl_fake.time = types.SimpleNamespace(
        time=time.time, sleep=lambda seconds: eventlet.sleep(seconds / 10)
    )
    # Senlin frees a parent of its failed child in one transaction, and fails
    # the parent in the next. A parent that looks in between succeeds. Senlin
    # itself seldom looks then.
    mark_failed = db_api.action_mark_failed

    def mark_failed_at_once(*args: Any, **kwargs: Any) -> None:
        with db_api.session_for_write():
            mark_failed(*args, **kwargs)

    db_api.action_mark_failed = mark_failed_at_once


@functools.cache
def boot(log: str | os.PathLike[str] = os.devnull) -> Engine:
    """Start the services in this process, once."""
    conf = cfg.CONF
    with tempfile.NamedTemporaryFile('w', suffix='.conf') as senlin_conf:
        senlin_conf.write(CONFIG.format(log=log))
        senlin_conf.flush()
        config.parse_args(
            ['senlin', '--config-file', senlin_conf.name], 'senlin'
        )
    logging.setup(conf, 'senlin')

    objects.register_all()
    messaging.setup()
    models.BASE.metadata.create_all(
        db_api._get_main_context_manager().writer.get_engine()
    )
    cloud = stub_cloud.Cloud(REGIONS)
    environment.initialize()
    environment.global_env().register_driver('openstack_test', cloud.driver)

    _shorten_waits()
    conductor_service.ConductorService(
        conf.host, consts.CONDUCTOR_TOPIC
    ).start()
    service = engine_service.EngineService(conf.host, consts.ENGINE_TOPIC)
    service.start()
    # The trust that Senlin would have created at the user's first request.
    objects.Credential.update_or_create(
        context.get_admin_context(),
        {
            'user': USER,
            'project': PROJECT,
            'cred': {'openstack': {'trust': uuid.uuid4().hex}},
        },
    )
    # The pipeline of the service without Keystone: who calls is read from the
    # headers.
    app = middleware.context_filter(router.API({}), {})
    app = middleware.version_filter(app, conf)
    app = middleware.fault_filter(app, {})
    return Engine(request_id.RequestId(app), cloud, service)

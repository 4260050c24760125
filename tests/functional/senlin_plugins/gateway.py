# SPDX-License-Identifier: Apache-2.0

"""The real ``openstack`` shell before a running Senlin.

The commands speak HTTP to Senlin's real REST application; only the logins and
Keystone's list of regions are a stub.
"""

import json
import logging
from unittest import mock
from urllib import parse

import eventlet
import eventlet.wsgi
from keystoneauth1 import fixture

from testing.senlin import engine, stub_cloud
from tests.functional.client import base as client
from tests.functional.senlin_plugins import base

CLOUDS = """
clouds:
  stub:
    auth_type: v3password
    auth:
      auth_url: "{url}/identity/v3"
      username: stub
      password: stub
      project_name: stub
      user_domain_id: default
      project_domain_id: default
    clustering_endpoint_override: "{url}/clustering/v1"
    identity_endpoint_override: "{url}/identity/v3"
"""


class Gateway:
    """A stub of what stands before Senlin: Keystone, and the login.

    :param senlin: the running engine; requests go through its REST
        application.
    """

    def __init__(self, senlin):
        self._senlin = senlin
        self.methods = set()

    def __call__(self, environ, start_response):
        path = environ['PATH_INFO']
        if path != '/identity/v3/auth/tokens':
            self.methods.add(environ['REQUEST_METHOD'])
        status, answer = self._answer(environ, path)
        body = json.dumps(answer).encode()
        headers = [
            ('Content-Type', 'application/json'),
            ('Content-Length', str(len(body))),
            ('X-Subject-Token', 'stub'),
        ]
        start_response(f'{status} Answer', headers)
        return [body]

    def _token(self):
        """Return a token with the catalog of the cloud."""
        token = fixture.V3Token(expires='2199-01-01T00:00:00.000000Z')
        for service in stub_cloud.SERVICES:
            listed = token.add_service(service, service)
            for region in self._senlin.cloud.regions.values():
                if service in region.catalog:
                    url = f'http://{service}.example'
                    listed.add_endpoint('public', url, region=region.name)
        return token

    def _answer(self, environ, path):
        if path == '/identity/v3/regions':
            names = sorted(self._senlin.cloud.keystone_regions)
            regions = [{'id': name} for name in names]
            return 200, {'regions': regions, 'links': {}}
        if path == '/identity/v3/auth/tokens':
            return 201, self._token()
        if path == '/identity/v3':
            url = f'http://{environ["HTTP_HOST"]}{path}/'
            return 200, {'version': fixture.V3Discovery(url)}
        if not path.startswith('/clustering/v1'):
            return 404, {'error': {'message': path}}
        path = parse.quote(path.removeprefix('/clustering/v1') or '/')
        if environ.get('QUERY_STRING'):
            path += f'?{environ["QUERY_STRING"]}'
        method = environ['REQUEST_METHOD']
        body = environ['wsgi.input'].read()
        try:
            return 200, self._senlin.call(
                method, path, json.loads(body or 'null')
            )
        except engine.ApiError as ex:
            return ex.code, {'error': {'message': str(ex)}}


class ShellTestCase(base.TestCase, client.CommandTestCase):
    """Clusters of the engine in this process, and a shell beside it."""

    def setUp(self):
        super().setUp()
        self.gateway = Gateway(self.senlin)
        listener = eventlet.listen(('127.0.0.1', 0))
        url = 'http://{}:{}'.format(*listener.getsockname())
        server = eventlet.spawn(
            eventlet.wsgi.server, listener, self.gateway, log_output=False
        )
        self.addCleanup(server.kill)
        file = self.write(CLOUDS.format(url=url), 'clouds.yaml')
        self.login = {'OS_CLIENT_CONFIG_FILE': file, 'OS_CLOUD': 'stub'}

    def shell(self, *arguments):
        """Run ``openstack`` and return what it left behind.

        In this process, which is quick: Senlin's green threads go on.
        """
        # What these log is nothing that the shell says.
        with mock.patch.object(
            logging.getLogger('senlin'), 'propagate', False
        ):
            return self.openstack(*arguments, **self.login, COLUMNS='80')

# SPDX-License-Identifier: Apache-2.0

"""The real ``openstack`` shell before a running Senlin.

The commands speak HTTP to Senlin's real REST application; only the logins and
Keystone's list of regions are a stub.
"""

import json
import logging
from unittest import mock

import eventlet
import eventlet.wsgi
import webob
import webob.dec
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
    clustering_endpoint_override: "{url}/clustering"
    identity_endpoint_override: "{url}/identity/v3"
"""


class Gateway:
    """A stub of what stands before Senlin: Keystone, and the login.

    :param senlin: the running engine, with its REST application.
    """

    def __init__(self, senlin):
        self._senlin = senlin
        self.methods = set()

    @webob.dec.wsgify
    def __call__(self, request):
        if request.path == '/identity/v3/auth/tokens':
            headers = {'X-Subject-Token': 'stub'}
            return webob.Response(
                status=201, json=self._token(), headers=headers
            )
        self.methods.add(request.method)
        if request.path == '/identity/v3':
            discovered = fixture.V3Discovery(f'{request.url}/')
            return webob.Response(json={'version': discovered})
        if request.path == '/identity/v3/regions':
            names = sorted(self._senlin.cloud.keystone_regions)
            regions = [{'id': name} for name in names]
            return webob.Response(json={'regions': regions, 'links': {}})
        request.path_info_pop()
        request.headers.update(engine.HEADERS)
        return self._senlin.app

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

        In this process, which is quick: Senlin's green threads go on. A plan
        must only read.
        """
        self.gateway.methods.clear()
        # What these log is nothing that the shell says.
        with mock.patch.object(
            logging.getLogger('senlin'), 'propagate', False
        ):
            result = self.openstack(*arguments, **self.login, COLUMNS='80')
        if arguments[:3] == ('cluster', 'region', 'plan'):
            self.assertLessEqual(self.gateway.methods, {'GET'})
        return result

    def changes(self, result):
        """Return how many nodes a plan adds to each region, or removes."""
        return {
            row['Region']: row['Change']
            for row in json.loads(result.output)
            if row['Change']
        }

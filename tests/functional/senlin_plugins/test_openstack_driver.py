# SPDX-License-Identifier: Apache-2.0

"""What the parts expect of Senlin's own OpenStack driver.

The other tests put a stub behind the driver seam. Here it is the driver that
Senlin uses in production, on the real SDK, with an HTTP cloud of two regions.
"""

import contextlib
import time
import unittest
from unittest import mock

import eventlet
import requests
import requests_mock
from keystoneauth1 import fixture
from keystoneauth1 import session as ks_session
from senlin.drivers.os import keystone_v3, nova_v2

from senlin_plugins import regions
from testing.senlin import engine
from tests import processes
from tests.functional.senlin_plugins.base import ONE, THREE, TWO

KEYSTONE = 'http://keystone.example:5000/v3'
COMPUTE = 'http://compute.{}.example/v2.1'


class OpenStackDriver(unittest.TestCase):
    def setUp(self):
        super().setUp()
        engine.boot()
        token = fixture.V3Token(project_id='p' * 32)
        identity = token.add_service('identity')
        compute = token.add_service('compute')
        orchestration = token.add_service('orchestration')
        for region in (ONE, TWO):
            identity.add_standard_endpoints(public=KEYSTONE, region=region)
            compute.add_standard_endpoints(
                public=COMPUTE.format(region.lower()), region=region
            )
        orchestration.add_standard_endpoints(
            public='http://heat.example', region=ONE
        )
        self.http = requests_mock.Mocker()
        self.http.start()
        self.addCleanup(self.http.stop)
        discovery = fixture.V3Discovery(KEYSTONE)
        self.http.get(KEYSTONE, json={'version': discovery})
        self.http.post(
            f'{KEYSTONE}/auth/tokens',
            json=token,
            headers={'X-Subject-Token': 'a-token'},
        )
        self.http.get(
            f'{KEYSTONE}/regions',
            json={'regions': [{'id': ONE}, {'id': TWO}, {'id': THREE}]},
        )
        self.params = {
            'auth_url': KEYSTONE,
            'username': 'senlin',
            'password': 'secret',
            'project_name': 'service',
            'user_domain_name': 'Default',
            'project_domain_name': 'Default',
        }

    def test_the_catalog_tells_which_region_offers_what(self):
        keystone = keystone_v3.KeystoneClient(self.params)
        self.assertEqual([TWO], keystone.validate_regions([TWO, 'Nowhere']))
        missing = []
        for region in (ONE, TWO, THREE):
            for service in ('compute', 'orchestration'):
                if not regions.find_endpoint(
                    keystone.session, region, service, 'public'
                ):
                    missing.append((region, service))
        self.assertEqual(
            [
                (TWO, 'orchestration'),
                (THREE, 'compute'),
                (THREE, 'orchestration'),
            ],
            missing,
        )
        hosts = {request.hostname for request in self.http.request_history}
        self.assertEqual({'keystone.example'}, hosts)

    def test_services_that_answer_at_all_are_there(self):
        session = keystone_v3.KeystoneClient(self.params).session
        refusing, failing, late, away = (
            f'http://{name}.example/' for name in ('a', 'b', 'c', 'd')
        )
        self.http.get(refusing, status_code=401)
        self.http.get(failing, status_code=503)
        too_late = {'exc': requests.exceptions.ConnectTimeout}
        self.http.get(late, [too_late, too_late, {'status_code': 300}])
        self.http.get(away, **too_late)
        urls = {refusing, failing, late, away}
        with mock.patch.object(regions, 'PAUSES', (0.1, 0.2)):
            began = time.monotonic()
            silent = regions.find_silent_endpoints(session, urls, 1)
            self.assertGreaterEqual(time.monotonic() - began, 0.3)
        self.assertEqual({failing, away}, silent)
        probes = [
            request
            for request in self.http.request_history
            if request.url in urls
        ]
        self.assertEqual(10, len(probes))
        for request in probes:
            self.assertNotIn('X-Auth-Token', request.headers)
            self.assertEqual(1, request.timeout)

    def test_a_client_for_a_region_talks_to_that_region(self):
        for region in (TWO, ONE):
            url = COMPUTE.format(region.lower())
            version = {
                'id': 'v2.1',
                'status': 'CURRENT',
                'version': '2.90',
                'min_version': '2.1',
                'links': [{'rel': 'self', 'href': url}],
            }
            self.http.get(url, json={'version': version})
            self.http.get(f'{url}/servers/abc', json={'server': {'id': 'abc'}})
            params = self.params | {'region_name': region}
            client = nova_v2.NovaClient(params)
            self.assertEqual('abc', client.server_get('abc').id)
            last = self.http.request_history[-1]
            self.assertEqual(
                f'compute.{region.lower()}.example', last.hostname
            )


class FirstLogin(unittest.TestCase):
    def test_green_threads_find_the_login_plugin_loaded(self):
        # Senlin's driver alone leaves the import to the first login.
        (loaded,) = processes.run_python(
            'import sys, senlin.cmd, senlin_plugins.profiles\n'
            'print(sys.argv[1] in sys.modules)\n',
            'keystoneauth1.loading._plugins.identity.generic',
        )
        self.assertEqual('True', loaded)


class Trickling(unittest.TestCase):
    """Services that answer without an end, and URLs that are none."""

    def setUp(self):
        super().setUp()
        self.server = eventlet.listen(('127.0.0.1', 0))
        self.addCleanup(self.server.close)
        self.lines = 0
        self.patch = mock.patch.object(regions, 'PAUSES', (0, 0))
        self.patch.start()
        self.addCleanup(self.patch.stop)

    def serve(self, head, line):
        """Answer each client, line after line."""

        def listen():
            while True:
                client, _ = self.server.accept()
                threads.append(eventlet.spawn(answer, client))

        def answer(client):
            with client, contextlib.suppress(OSError):
                client.recv(4096)
                client.sendall(head)
                for _ in range(40):
                    client.sendall(line)
                    self.lines += 1
                    eventlet.sleep(0.2)

        threads = []
        threads.append(eventlet.spawn(listen))
        self.addCleanup(lambda: [thread.kill() for thread in threads])
        return f'http://127.0.0.1:{self.server.getsockname()[1]}/'

    def find_silent(self, *urls):
        """Return the services that do not answer within a second."""
        return regions.find_silent_endpoints(ks_session.Session(), urls, 1)

    def test_headers_without_an_end_are_no_answer(self):
        url = self.serve(b'HTTP/1.1 200 OK\r\n', b'X-Slow: 1\r\n')
        self.assertEqual({url}, self.find_silent(url))
        # The look takes two seconds, and each line 0.2.
        self.assertLess(self.lines, 15)

    def test_nobody_waits_for_a_body(self):
        head = b'HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\n'
        url = self.serve(head, b'slow')
        # URLs that are not valid do not stop the look.
        bad = {'http://nova..example/', 'http://[::1:8774'}
        self.assertEqual(bad, self.find_silent(url, *bad))
        self.assertLess(self.lines, 40)

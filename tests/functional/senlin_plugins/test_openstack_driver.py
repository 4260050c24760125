# SPDX-License-Identifier: Apache-2.0

"""What the parts expect of Senlin's own OpenStack driver.

The other tests put a stub behind the driver seam. Here it is the driver that
Senlin uses in production, on the real SDK, with an HTTP cloud of two regions.
"""

import contextlib
import unittest
from unittest import mock

import eventlet
import requests
import requests_mock
from keystoneauth1 import fixture
from keystoneauth1 import session as ks_session
from senlin.common import exception as exc
from senlin.drivers.os import keystone_v3, nova_v2

from senlin_plugins import regions
from testing.senlin import engine
from tests import processes
from tests.functional.senlin_plugins.base import ONE, THREE, TWO

KEYSTONE = 'http://keystone.example:5000/v3'
COMPUTE = 'http://compute.{}.example/v2.1'
HEAT = 'http://heat.example'


class OpenStackDriver(unittest.TestCase):
    def setUp(self):
        super().setUp()
        engine.boot()
        token = fixture.V3Token(project_id='p' * 32)
        identity = token.add_service('identity')
        compute = token.add_service('compute')
        orchestration = token.add_service('orchestration')
        orchestration.add_standard_endpoints(public=HEAT, region=ONE)
        for region in (ONE, TWO):
            identity.add_standard_endpoints(public=KEYSTONE, region=region)
            url = COMPUTE.format(region.lower())
            compute.add_standard_endpoints(public=url, region=region)
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
        listed = [{'id': region} for region in (ONE, TWO, THREE)]
        self.http.get(f'{KEYSTONE}/regions', json={'regions': listed})
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
        faults = regions.find_faults(
            keystone.session,
            (ONE, TWO, THREE),
            (ONE, TWO, THREE, 'Nowhere'),
            ('compute', 'orchestration'),
            'public',
        )
        self.assertEqual(
            {
                TWO: 'its catalog offers no orchestration',
                THREE: 'its catalog offers no compute',
                'Nowhere': 'Keystone does not know it',
            },
            faults,
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
            silent = regions.find_silent_endpoints(session, urls, 1)
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
        url = COMPUTE.format(TWO.lower())
        version = {
            'id': 'v2.1',
            'status': 'CURRENT',
            'version': '2.90',
            'min_version': '2.1',
            'links': [{'rel': 'self', 'href': url}],
        }
        self.http.get(url, json={'version': version})
        self.http.get(f'{url}/servers/abc', json={'server': {'id': 'abc'}})
        client = nova_v2.NovaClient(self.params | {'region_name': TWO})
        self.assertEqual('abc', client.server_get('abc').id)
        # Senlin calls the SDK's rebuild in a way that the SDK refuses.
        with self.assertRaisesRegex(
            exc.InternalError, "multiple values for argument 'image'"
        ):
            client.server_rebuild('abc', 'image', 'name', 'password')


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
    """A service that answers without an end."""

    def find_silent(self, head, line, *urls):
        """Look whether services answer within a second.

        :param head: the first bytes of the answer of one more service; then
            the service sends lines for some seconds.
        :returns: the URLs of services that do not answer.
        """
        server = eventlet.listen(('127.0.0.1', 0))
        self.addCleanup(server.close)

        def answer():
            client, _ = server.accept()
            with client, contextlib.suppress(OSError):
                client.recv(4096)
                client.sendall(head)
                for _ in range(20):
                    client.sendall(line)
                    eventlet.sleep(0.2)

        thread = eventlet.spawn(answer)
        self.addCleanup(thread.kill)
        self.url = 'http://{}:{}/'.format(*server.getsockname())
        return regions.find_silent_endpoints(
            ks_session.Session(), {self.url, *urls}, 1
        )

    def test_headers_without_an_end_are_no_answer(self):
        silent = self.find_silent(b'HTTP/1.1 200 OK\r\n', b'X-Slow: 1\r\n')
        self.assertEqual({self.url}, silent)

    def test_nobody_waits_for_a_body(self):
        head = b'HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\n'
        # URLs that are not valid do not stop the look.
        bad = {'http://nova..example/', 'http://[::1:8774'}
        with mock.patch.object(regions, 'PAUSES', (0, 0)):
            self.assertEqual(bad, self.find_silent(head, b'slow', *bad))

# SPDX-License-Identifier: Apache-2.0

"""A cloud for heat-engine on the loopback address, that writes down requests.

The only stub of the embedded Heat: it stands where Keystone, Glance, Nova and
Cinder would answer. It knows one image and one flavor; servers and volumes are
ready as soon as they are asked for. What Heat sends to create them is kept
letter by letter, because that is what the demo and the tests look at.
"""

import dataclasses
import json
import socketserver
import threading
import uuid
from typing import Any
from wsgiref import simple_server

import webob
import webob.dec
from keystoneauth1 import fixture
from keystoneauth1.fixture import discovery

HOST = '127.0.0.1'
REGION = 'RegionOne'
IMAGE = '11111111-0000-4000-8000-000000000001'
FLAVOR = 'small'
#: The project of an admin who works on other projects' stacks.
ADMIN_PROJECT = 'admin-project'

_NOVA = '/compute/v2.1'
#: Path of what is created -> its kind.
_KINDS = {f'{_NOVA}/servers': 'server', '/volume/v3/volumes': 'volume'}

_IMAGE = {
    'id': IMAGE,
    'name': 'cirros',
    'status': 'active',
    'min_ram': 0,
    'min_disk': 0,
    'visibility': 'public',
}
_FLAVOR = {
    'id': FLAVOR,
    'name': FLAVOR,
    'ram': 64,
    'disk': 1,
    'vcpus': 1,
    'links': [],
    'extra_specs': {},
}


@dataclasses.dataclass(frozen=True)
class Request:
    """One request to create a server or a volume."""

    project: str
    #: ``server`` or ``volume``, and the id that it got.
    kind: str
    id: str
    #: The bytes that went over the wire.
    body: bytes

    @property
    def data(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.body)
        return data

    @property
    def name(self) -> str:
        name: str = self.data[self.kind]['name']
        return name

    @property
    def key(self) -> str:
        """Return the key of the scheduler hints: Nova's, or Cinder's."""
        prefix = 'os:' if self.kind == 'server' else 'OS-SCH-HNT:'
        return f'{prefix}scheduler_hints'

    @property
    def hints(self) -> dict[str, Any] | None:
        """Return the hints, ``None`` when the body has no such key."""
        hints: dict[str, Any] | None = self.data.get(self.key)
        return hints


class _Server(socketserver.ThreadingMixIn, simple_server.WSGIServer):
    """A server whose end waits for its clients."""


class _Handler(simple_server.WSGIRequestHandler):
    def log_message(self, *args: Any) -> None:
        """Keep standard error for the demo's progress lines."""


class Cloud:
    """Serve the cloud from a thread of this process, on any free port."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._things: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()
        self._server = simple_server.make_server(
            HOST, 0, self._serve, _Server, _Handler
        )
        self.url = f'http://{HOST}:{self._server.server_address[1]}'
        self._fixed = self._answers()
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            name=f'loopback cloud {self.url}',
        )
        self._thread.start()

    def close(self) -> None:
        """Stop serving, free the port, and wait until no client is left."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def sent(self, project: str) -> list[Request]:
        """Return what one project asked for, in the order of arrival."""
        with self._lock:
            return [r for r in self.requests if r.project == project]

    @webob.dec.wsgify
    def _serve(self, request: webob.Request) -> webob.Response:
        path = request.path.rstrip('/')
        # A token is its project's id.
        project = request.headers.get('X-Auth-Token', '')
        status, data = self._answer(
            request.method, path, request.body, project
        )
        response = webob.Response(status=status)
        if data is not None:
            response.json = data
        if isinstance(data, fixture.V3Token):
            response.headers['X-Subject-Token'] = data.project_id or 'unscoped'
        return response

    def _answer(
        self, method: str, path: str, body: bytes, project: str
    ) -> tuple[int, Any]:
        """Return the status and the data for a request."""
        name = path.rpartition('/')[2]
        if method == 'GET' and path in self._fixed:
            return self._fixed[path]
        if method == 'POST' and name == 'tokens':
            return 201, self._token(body)
        if method == 'POST' and path in _KINDS:
            return 202, self._create(_KINDS[path], project, body)
        with self._lock:
            if method == 'GET' and name in self._things:
                return 200, self._things[name]
            if method == 'DELETE' and name in self._things:
                del self._things[name]
                return 204, None
        if method == 'GET' and name == 'os-interface':
            return 200, {'interfaceAttachments': []}
        return 404, {'error': {'code': 404, 'message': f'{method} {path}'}}

    def _answers(self) -> dict[str, tuple[int, Any]]:
        """Return what is answered whenever a path is asked for."""
        identity = fixture.V3Discovery(f'{self.url}/identity/v3/')
        compute = discovery.NovaMicroversionDiscovery(
            f'{self.url}{_NOVA}/', 'v2.1', min_version='2.1', version='2.96'
        )
        volume = discovery.NovaMicroversionDiscovery(
            f'{self.url}/volume/v3/', 'v3.0', min_version='3.0', version='3.70'
        )
        schema = {
            'name': 'image',
            'properties': {name: {} for name in _IMAGE},
            'additionalProperties': {'type': 'string'},
        }
        return {
            '/identity/v3': (200, {'version': identity}),
            _NOVA: (200, {'version': compute}),
            '/volume': (300, {'versions': [volume]}),
            '/image/v2/images': (200, {'images': [_IMAGE]}),
            '/image/v2/schemas/image': (200, schema),
            f'{_NOVA}/flavors': (200, {'flavors': [_FLAVOR]}),
            f'{_NOVA}/flavors/{FLAVOR}': (200, {'flavor': _FLAVOR}),
            f'/image/v2/images/{IMAGE}': (200, _IMAGE),
        }

    def _token(self, body: bytes) -> fixture.V3Token:
        scope = json.loads(body)['auth'].get('scope', {})
        project = scope.get('project', {}).get('id')
        token = fixture.V3Token(
            '2099-01-01T00:00:00.000000Z',
            None,
            'demo-user',
            'demo',
            user_domain_id='default',
            project_id=project,
            project_name=project,
            project_domain_id='default',
        )
        token.add_role('member', 'member')
        for kind, path in (
            ('identity', '/identity/v3'),
            ('compute', _NOVA),
            ('image', '/image'),
            ('volumev3', '/volume/v3'),
            ('block-storage', '/volume/v3'),
            # Heat itself: it writes this address into user data.
            ('cloudformation', '/heat-cfn/v1'),
        ):
            url = self.url + path
            service = token.add_service(kind, kind)
            service.add_standard_endpoints(url, url, url, REGION)
        return token

    def _create(self, kind: str, project: str, body: bytes) -> dict[str, Any]:
        thing = {
            'id': str(uuid.uuid4()),
            'name': json.loads(body)[kind]['name'],
            'status': 'ACTIVE' if kind == 'server' else 'available',
            'metadata': {},
            'addresses': {},
            'attachments': [],
            'links': [],
            'flavor': {'original_name': FLAVOR},
            'image': {'id': IMAGE},
        }
        with self._lock:
            self.requests.append(Request(project, kind, thing['id'], body))
            self._things[thing['id']] = {kind: thing}
        return {kind: thing}

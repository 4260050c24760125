# SPDX-License-Identifier: Apache-2.0

"""A cloud for heat-engine on the loopback address, that writes down requests.

The only stub of the embedded Heat: it stands where Keystone, Glance, Nova and
Cinder would answer. It knows one image and one flavor; servers and volumes are
ready as soon as they are asked for. What Heat sends to create them is kept
letter by letter, because that is what the demo and the tests look at.
"""

import dataclasses
import http.server
import json
import re
import socketserver
import threading
import uuid
from collections.abc import Callable
from typing import Any

from keystoneauth1 import fixture

HOST = '127.0.0.1'
REGION = 'RegionOne'
IMAGE = '11111111-0000-4000-8000-000000000001'
FLAVOR = 'small'
#: The project of an admin who works on other projects' stacks.
ADMIN_PROJECT = 'admin-project'

_NOVA = '/compute/v2.1'
_THING = r'(?:/compute/v2\.1/servers|/volume/v3/volumes)/([^/]+)'

_IMAGE: dict[str, Any] = {'id': IMAGE, 'name': 'cirros', 'status': 'active'}
_IMAGE |= {'min_ram': 0, 'min_disk': 0, 'visibility': 'public'}
_FLAVOR: dict[str, Any] = {
    'id': FLAVOR,
    'name': FLAVOR,
    'ram': 64,
    'disk': 1,
    'vcpus': 1,
}
_FLAVOR |= {'links': [], 'extra_specs': {}}
#: The ports that are attached to a server.
_NONE = 200, {'interfaceAttachments': list[str]()}


@dataclasses.dataclass(frozen=True)
class Request:
    """One request to create a server or a volume.

    :param project: the project whose token came with it.
    :param kind: ``server`` or ``volume``.
    :param body: the bytes that went over the wire.
    :param id: the id of the server or volume.
    """

    project: str
    kind: str
    body: bytes
    id: str

    @property
    def data(self) -> dict[str, Any]:
        """Return the body as data."""
        data: dict[str, Any] = json.loads(self.body)
        return data

    @property
    def name(self) -> str:
        """Return the name of the server or volume that was asked for."""
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


class _Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """A server whose end waits for its clients."""


class Cloud:
    """Serve the cloud from a thread of this process, on any free port."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._things: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()
        self._server = _Server((HOST, 0), self._handler())
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

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        cloud = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'
            # An answer leaves in one piece: two would wait for each other
            # for 40 ms (Nagle's algorithm and delayed acknowledgements).
            wbufsize = -1
            disable_nagle_algorithm = True

            def answer(self) -> None:
                length = int(self.headers.get('Content-Length') or 0)
                body = self.rfile.read(length)
                path = self.path.partition('?')[0].rstrip('/')
                status, data = cloud.answer(
                    self.command, path, body, self.headers
                )
                payload = b'' if data is None else json.dumps(data).encode()
                self.send_response(status)
                self.send_header('Content-Type', 'application/json')
                self.send_header('Content-Length', str(len(payload)))
                if path.endswith('/auth/tokens'):
                    project = (data or {}).get('token', {}).get('project', {})
                    self.send_header(
                        'X-Subject-Token', project.get('id', 'unscoped')
                    )
                self.end_headers()
                self.wfile.write(payload)

            do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = answer

            def log_message(self, *args: Any) -> None:
                """Keep standard error for the demo's progress lines."""

        return Handler

    def answer(
        self, method: str, path: str, body: bytes, headers: Any
    ) -> tuple[int, Any]:
        """Answer one request.

        :param path: the path without its query.
        :param headers: the headers; the token is the project's id.
        :returns: the status and the data to send back.
        """
        project = headers.get('X-Auth-Token', '')
        routes: tuple[tuple[str, str, Callable[..., tuple[int, Any]]], ...] = (
            ('POST', r'/identity/v3/auth/tokens', self._token),
            ('POST', _NOVA + r'/servers', self._create('server', project)),
            ('POST', r'/volume/v3/volumes', self._create('volume', project)),
            ('GET', _THING, self._show),
            ('DELETE', _THING, self._delete),
            (
                'GET',
                _NOVA + r'/servers/[^/]+/os-interface',
                lambda body: _NONE,
            ),
        )
        if method == 'GET' and path in self._fixed:
            return self._fixed[path]
        for verb, pattern, function in routes:
            match = re.fullmatch(pattern, path)
            if verb == method and match:
                return function(body, *match.groups())
        return 404, {'error': {'code': 404, 'message': f'{method} {path}'}}

    def _answers(self) -> dict[str, tuple[int, Any]]:
        """Return what is answered whenever a path is asked for."""

        def version(path: str, **more: str) -> dict[str, Any]:
            links = [{'rel': 'self', 'href': f'{self.url}{path}/'}]
            return {**more, 'links': links}

        identity = version('/identity/v3', id='v3.14', status='stable')
        current = {'status': 'CURRENT'}
        compute = version(_NOVA, **current, id='v2.1', version='2.96')
        compute['min_version'] = '2.1'
        volume = version('/volume/v3', **current, id='v3.0', version='3.70')
        volume['min_version'] = '3.0'
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

    def _token(self, body: bytes) -> tuple[int, Any]:
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
        urls = {
            kind: self.url + path
            for kind, path in (
                ('identity', '/identity/v3'),
                ('compute', _NOVA),
                ('image', '/image'),
                ('volumev3', '/volume/v3'),
                ('block-storage', '/volume/v3'),
                # Heat itself: it writes this address into user data.
                ('cloudformation', '/heat-cfn/v1'),
            )
        }
        for kind, url in urls.items():
            service = token.add_service(kind, kind)
            service.add_standard_endpoints(url, url, url, REGION)
        return 201, token

    def _create(
        self, kind: str, project: str
    ) -> Callable[[bytes], tuple[int, Any]]:
        def create(body: bytes) -> tuple[int, Any]:
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
                self.requests.append(
                    Request(project, kind, body, str(thing['id']))
                )
                self._things[thing['id']] = {kind: thing}
            return 202, {kind: thing}

        return create

    def _show(self, body: bytes, thing_id: str) -> tuple[int, Any]:
        with self._lock:
            thing = self._things.get(thing_id)
        return (200, thing) if thing else (404, {})

    def _delete(self, body: bytes, thing_id: str) -> tuple[int, Any]:
        with self._lock:
            thing = self._things.pop(thing_id, None)
        return (204, None) if thing else (404, {})

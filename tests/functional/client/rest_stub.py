# SPDX-License-Identifier: Apache-2.0

"""A cloud for the ``openstack`` shell: the tests' only stub.

It answers the requests of the shell in place of Keystone and Nova. The shell,
the SDK and keystoneauth are real.
"""

import json
import re
from typing import Any
from urllib import parse

import requests_mock
from keystoneauth1 import fixture
from keystoneauth1.fixture import discovery

from tests import pages

AUTH_URL = 'http://cloud.test/identity/v3'
COMPUTE = 'http://cloud.test/compute/v2.1'
#: What a user sets to log in.
LOGIN = {
    'OS_AUTH_URL': AUTH_URL,
    'OS_USERNAME': 'admin',
    'OS_PASSWORD': 'secret',
    'OS_PROJECT_NAME': 'admin',
    'OS_USER_DOMAIN_NAME': 'Default',
    'OS_PROJECT_DOMAIN_NAME': 'Default',
}

Rows = dict[str, dict[str, Any]]


class Cloud:
    """Flavors, aggregates, services and servers by name, as Nova shows them.

    A test may change these rows.
    """

    def __init__(self) -> None:
        self.flavors: Rows = {}
        self.aggregates: Rows = {}
        self.services: Rows = {}
        self.servers: Rows = {}
        self.add_service('controller', 'nova-scheduler')

    def add_flavor(self, name: str, extra_specs: dict[str, str]) -> None:
        self.flavors[name] = {
            'id': str(len(self.flavors) + 1),
            'name': name,
            'extra_specs': extra_specs,
            'ram': 512,
            'vcpus': 1,
            'disk': 1,
            'swap': '',
            'rxtx_factor': 1.0,
            'OS-FLV-EXT-DATA:ephemeral': 0,
            'os-flavor-access:is_public': True,
        }

    def add_aggregate(
        self, name: str, metadata: dict[str, str], hosts: list[str]
    ) -> None:
        number = len(self.aggregates) + 1
        self.aggregates[name] = {
            'id': number,
            'uuid': f'uuid-{number}',
            'name': name,
            'availability_zone': metadata.get('availability_zone'),
            'metadata': metadata,
            'hosts': hosts,
        }

    def add_service(self, host: str, binary: str = 'nova-compute') -> None:
        self.services[host] = {
            'id': f'service-{host}',
            'host': host,
            'binary': binary,
            'status': 'enabled',
            'state': 'up',
            'zone': 'nova',
            'disabled_reason': None,
            'forced_down': False,
        }

    def add_server(self, name: str, host: str, flavor: str) -> None:
        self.servers[name] = {
            'id': f'id-{name}',
            'name': name,
            'status': 'ACTIVE',
            'tenant_id': 'p1',
            'hostId': 'a1b2',
            'OS-EXT-SRV-ATTR:host': host,
            'image': '',
            'metadata': {},
            'addresses': {},
            'flavor': {
                'original_name': flavor,
                'extra_specs': self.flavors[flavor]['extra_specs'],
                'ram': 512,
                'vcpus': 1,
                'disk': 1,
                'swap': 0,
                'ephemeral': 0,
            },
        }

    def add_lost_server(self) -> None:
        """Add a server whose cell is down."""
        self.servers['lost'] = {'id': 'lost', 'status': 'UNKNOWN'}

    def install(self, mocker: requests_mock.Mocker) -> None:
        """Answer the requests of this process."""
        token = fixture.V3Token(user_name='admin')
        token.set_project_scope(name='admin')
        token.add_role(name='admin')
        # "flavor set" wants the identity service, even if it names no project.
        for kind, url in ('compute', COMPUTE), ('identity', AUTH_URL):
            service = token.add_service(kind)
            service.add_standard_endpoints(public=url, region='RegionOne')
        mocker.post(
            f'{AUTH_URL}/auth/tokens',
            json=token,
            headers={'X-Subject-Token': 'token'},
        )
        mocker.get(AUTH_URL, json={'version': fixture.V3Discovery(AUTH_URL)})
        version = discovery.NovaMicroversionDiscovery(
            COMPUTE, 'v2.1', min_version='2.1', version='2.100'
        )
        mocker.get(COMPUTE, json={'version': version})
        below_compute = re.compile(f'{COMPUTE}/.')
        mocker.register_uri(
            requests_mock.ANY, below_compute, json=self._answer
        )

    def _answer(self, request: Any, context: Any) -> dict[str, Any]:
        version = request.headers.get('OpenStack-API-Version', '2.1')
        minor = int(version.rpartition('.')[2])
        url = parse.urlsplit(request.url)
        words = url.path.removeprefix('/compute/v2.1/').split('/')
        try:
            if request.method == 'POST':
                return self._change(words, request.json())
            if request.method == 'DELETE':
                _, flavor_id, _, key = words
                flavor = _with_id(self.flavors, flavor_id)
                del flavor['extra_specs'][parse.unquote(key)]
                return {}
            return self._read(words, url.query, minor)
        except LookupError:
            context.status_code = 404
            return {'itemNotFound': {'message': url.path, 'code': 404}}

    def _read(
        self, words: list[str], query: str, minor: int
    ) -> dict[str, Any]:
        """Return what a GET asks for."""
        match words:
            case ['flavors', 'detail']:
                flavors = [dict(flavor) for flavor in self.flavors.values()]
                if minor < 61:
                    for flavor in flavors:
                        del flavor['extra_specs']
                return {'flavors': flavors}
            case ['flavors', flavor_id]:
                return {'flavor': _with_id(self.flavors, flavor_id)}
            case ['flavors', flavor_id, 'os-extra_specs']:
                flavor = _with_id(self.flavors, flavor_id)
                return {'extra_specs': flavor['extra_specs']}
            case ['os-aggregates']:
                return {'aggregates': [*self.aggregates.values()]}
            case ['os-services']:
                services = [
                    service
                    for service in self.services.values()
                    if query in ('', f'binary={service["binary"]}')
                ]
                return {'services': services}
            case ['servers'] | ['servers', 'detail']:
                return {'servers': [*self._servers(minor).values()]}
            case ['servers', server_id]:
                return {'server': _with_id(self._servers(minor), server_id)}
        raise LookupError(words)

    def _servers(self, minor: int) -> Rows:
        if minor >= 47:
            return self.servers
        # Older microversions show the ID of the flavor alone.
        return {
            name: server | {'flavor': {'id': '1'}}
            for name, server in self.servers.items()
        }

    def _change(self, words: list[str], body: Any) -> dict[str, Any]:
        """Change what a POST says, and return what Nova answers."""
        match words:
            case ['flavors', flavor_id, 'os-extra_specs']:
                flavor = _with_id(self.flavors, flavor_id)
                flavor['extra_specs'].update(body['extra_specs'])
                return {'extra_specs': flavor['extra_specs']}
            case ['os-aggregates']:
                name = body['aggregate']['name']
                self.add_aggregate(name, {}, [])
                return {'aggregate': self.aggregates[name]}
            case ['os-aggregates', aggregate_id, 'action']:
                aggregate = _with_id(self.aggregates, int(aggregate_id))
                if 'add_host' in body:
                    aggregate['hosts'].append(body['add_host']['host'])
                else:
                    metadata = body['set_metadata']['metadata']
                    for key, value in metadata.items():
                        aggregate['metadata'][key] = value
                        if value is None:
                            del aggregate['metadata'][key]
                return {'aggregate': aggregate}
        raise LookupError(words)


def _with_id(rows: Rows, row_id: int | str) -> dict[str, Any]:
    for row in rows.values():
        if row['id'] == row_id:
            return row
    raise LookupError(row_id)


def examples(folder: str = '.') -> Cloud:
    """Return a cloud of the documentation's examples, from their files.

    :param folder: where the files lie, among the examples.
    """
    cloud = Cloud()
    for file, key, column, rows in (
        ('flavors', 'flavors', 'name', cloud.flavors),
        ('aggregates', 'aggregates', 'name', cloud.aggregates),
        ('hosts', 'services', 'host', cloud.services),
    ):
        path = pages.PAGES / 'examples' / folder / f'{file}.json'
        for row in json.loads(path.read_text())[key]:
            rows[row[column]] = row
    cloud.add_server('mail', 'compute-7', 'win.medium')
    if folder == '.':
        cloud.add_server('train', 'compute-2', 'gpu.large')
        cloud.add_server('web', 'compute-4', 'm1.small')
    return cloud

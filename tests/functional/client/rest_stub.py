# SPDX-License-Identifier: Apache-2.0

"""A cloud for the ``openstack`` shell: the tests' only stub.

It stands where Keystone and Nova would answer. It knows the few requests that
read flavors, aggregates, compute services and servers, and those that change
flavors and aggregates. Everything in front of it is real: the shell, the SDK,
keystoneauth.
"""

import dataclasses
import json
import re
from typing import Any
from urllib import parse

import requests_mock
from keystoneauth1 import fixture

from tests import pages

#: The files of the examples.
FILES = pages.PAGES / 'examples'

AUTH_URL = 'http://cloud.test/identity/v3'
COMPUTE = 'http://cloud.test/compute/v2.1'
#: URL and version of each service. "flavor set" wants the identity service
#: even if it names no project.
_SERVICES = {
    'compute': (COMPUTE, 'v2.1'),
    'identity': (AUTH_URL, 'v3.0'),
}

#: What a user sets to log in.
LOGIN = {
    'OS_AUTH_URL': AUTH_URL,
    'OS_USERNAME': 'admin',
    'OS_PASSWORD': 'secret',
    'OS_PROJECT_NAME': 'admin',
    'OS_USER_DOMAIN_NAME': 'Default',
    'OS_PROJECT_DOMAIN_NAME': 'Default',
}


@dataclasses.dataclass
class Cloud:
    """What the stub answers with.

    :param flavors: extra specs by name.
    :param aggregates: metadata and hosts by name.
    :param hosts: compute hosts, in an aggregate or not.
    :param servers: host and the flavor's name by name.
    """

    flavors: dict[str, dict[str, str]]
    aggregates: dict[str, tuple[dict[str, str], list[str]]]
    hosts: list[str]
    servers: dict[str, tuple[str | None, str]]

    def __post_init__(self) -> None:
        """Begin with a cloud in which nothing is odd."""
        #: The newest microversion of this Nova.
        self.maximum = '2.100'
        #: Status and state of hosts that are not enabled and up.
        self.states: dict[str, tuple[str, str]] = {}
        #: Servers whose cell is down: Nova shows next to nothing.
        self.down: tuple[str, ...] = ()
        #: What else Nova shows of servers, or shows otherwise, by name.
        self.shown: dict[str, dict[str, Any]] = {}
        #: (method, path) of the requests to Nova.
        self.requests: list[tuple[str, str]] = []

    def install(self, mocker: requests_mock.Mocker) -> None:
        """Answer the requests of this process."""
        token = fixture.V3Token(user_name='admin')
        token.set_project_scope(name='admin')
        token.add_role(name='admin')
        for kind, (url, _) in _SERVICES.items():
            service = token.add_service(kind)
            service.add_standard_endpoints(public=url, region='RegionOne')
            mocker.get(url, json=lambda *_, kind=kind: self._version(kind))
        mocker.post(
            f'{AUTH_URL}/auth/tokens',
            json=token,
            headers={'X-Subject-Token': 'token'},
        )
        compute = re.compile(f'{COMPUTE}/.')
        mocker.get(compute, json=self._answer)
        mocker.post(compute, json=self._answer)

    def _version(self, kind: str) -> dict[str, Any]:
        """Return the version document of a service."""
        url, version = _SERVICES[kind]
        newest = ''
        if kind == 'compute':
            newest = self.maximum
        return {'versions': [{
            'id': version, 'status': 'CURRENT', 'version': newest,
            'min_version': f'{version[1]}.{version[3]}' if newest else '',
            'links': [{'rel': 'self', 'href': url}],
        }]}  # fmt: skip

    def _answer(self, request: Any, context: Any) -> dict[str, Any]:
        """Return Nova's answer."""
        url = parse.urlsplit(request.url)
        path = url.path.removeprefix('/compute/v2.1')
        self.requests.append((request.method, path))
        words = path.strip('/').split('/')
        try:
            if request.method == 'POST':
                return self._change(words, request.json())
            version = request.headers.get('OpenStack-API-Version', '2.1')
            minor = int(version.rpartition('.')[2])
            if minor > int(self.maximum.rpartition('.')[2]):
                context.status_code = 406
                return {}
            return self._read(words, parse.parse_qs(url.query), minor)
        except LookupError:
            context.status_code = 404
            return {'itemNotFound': {'message': path, 'code': 404}}

    def _read(
        self, words: list[str], query: dict[str, list[str]], minor: int
    ) -> dict[str, Any]:
        """Return what a GET asks for."""
        match words:
            case ['flavors', *rest]:
                flavors = self._flavors(minor)
                if rest[1:] == ['os-extra_specs']:
                    return {'extra_specs': self._flavor(rest[0])}
                return _rows_or_row('flavor', flavors, rest)
            case ['servers', *rest]:
                return _rows_or_row('server', self._servers(minor), rest)
            case ['os-aggregates']:
                return {'aggregates': self._aggregates()}
            case ['os-services']:
                services = self._services()
                if 'binary' in query:
                    services = [
                        service
                        for service in services
                        if service['binary'] in query['binary']
                    ]
                return {'services': services}
        raise LookupError(words)

    def _change(self, words: list[str], body: Any) -> dict[str, Any]:
        """Change what a POST says, and answer as Nova does."""
        match words, body:
            case ['os-aggregates'], {'aggregate': {'name': name}}:
                self.aggregates[name] = ({}, [])
                return {'aggregate': self._aggregates()[-1]}
            case ['os-aggregates', number, 'action'], action:
                index = int(number) - 1
                metadata, hosts = [*self.aggregates.values()][index]
                match action:
                    case {'set_metadata': {'metadata': new}}:
                        for key, value in new.items():
                            metadata[key] = value
                            if value is None:
                                del metadata[key]
                    case {'add_host': {'host': host}}:
                        hosts.append(host)
                return {'aggregate': self._aggregates()[index]}
            case ['flavors', number, 'os-extra_specs'], {'extra_specs': new}:
                self._flavor(number).update(new)
                return {'extra_specs': self._flavor(number)}
        raise LookupError(words)

    def _flavor(self, number: str) -> dict[str, str]:
        """Return the extra specs of the flavor with an ID."""
        return [*self.flavors.values()][int(number) - 1]

    def _flavors(self, minor: int) -> dict[str, dict[str, Any]]:
        """Return the flavors as Nova shows them, by ID."""
        return {
            str(number): {
                'id': str(number), 'name': name, 'ram': 512, 'vcpus': 1,
                'disk': 1, 'swap': '', 'os-flavor-access:is_public': True,
                'OS-FLV-EXT-DATA:ephemeral': 0, 'rxtx_factor': 1.0,
                'OS-FLV-DISABLED:disabled': False, 'links': [],
                **({'extra_specs': specs} if minor >= 61 else {}),
            }
            for number, (name, specs) in enumerate(self.flavors.items(), 1)
        }  # fmt: skip

    def _aggregates(self) -> list[dict[str, Any]]:
        """Return the aggregates as Nova shows them."""
        return [
            {
                'id': number, 'name': name, 'metadata': metadata,
                'availability_zone': metadata.get('availability_zone'),
                'hosts': hosts, 'uuid': f'uuid-{number}', 'deleted': False,
                'created_at': None, 'updated_at': None, 'deleted_at': None,
            }
            for number, (name, (metadata, hosts)) in enumerate(
                self.aggregates.items(), 1
            )
        ]  # fmt: skip

    def _services(self) -> list[dict[str, Any]]:
        """Return the services as Nova shows them."""
        programs = [('nova-scheduler', 'controller')]
        programs += [('nova-compute', host) for host in self.hosts]
        services = []
        for binary, host in programs:
            status, state = self.states.get(host, ('enabled', 'up'))
            services.append({
                'id': f'service-{host}', 'binary': binary, 'host': host,
                'zone': 'nova', 'status': status, 'state': state,
                'updated_at': None, 'disabled_reason': None,
                'forced_down': False,
            })  # fmt: skip
        return services

    def _servers(self, minor: int) -> dict[str, dict[str, Any]]:
        """Return the servers as Nova shows them, by ID."""
        servers: dict[str, dict[str, Any]] = {}
        for name, (host, flavor) in self.servers.items():
            embedded: dict[str, Any] = {'id': '1', 'links': []}
            if minor >= 47:
                embedded = {
                    'original_name': flavor, 'ram': 512, 'vcpus': 1,
                    'disk': 1, 'ephemeral': 0, 'swap': 0,
                    'extra_specs': self.flavors[flavor],
                }  # fmt: skip
            servers[f'id-{name}'] = {
                'id': f'id-{name}', 'name': name, 'status': 'ACTIVE',
                'OS-EXT-SRV-ATTR:host': host, 'flavor': embedded,
                'hostId': '' if host == '' else 'a1b2', 'tenant_id': 'p1',
                'image': '', 'metadata': {}, 'addresses': {}, 'links': [],
                **self.shown.get(name, {}),
            }  # fmt: skip
        for name in self.down:
            servers[name] = {'id': name, 'status': 'UNKNOWN', 'links': []}
        return servers


def _rows_or_row(
    noun: str, rows: dict[str, dict[str, Any]], words: list[str]
) -> dict[str, Any]:
    """Return all rows, or the one that a request names."""
    if words in ([], ['detail']):
        return {f'{noun}s': [*rows.values()]}
    return {noun: rows[words[0]]}


def examples(folder: str = '.') -> Cloud:
    """Return a cloud of the documentation's examples, from their files.

    :param folder: where the files lie, among the examples.
    """
    flavors, aggregates, hosts = (
        json.loads((FILES / folder / f'{name}.json').read_text('utf-8'))
        for name in ('flavors', 'aggregates', 'hosts')
    )
    for row in aggregates:
        if row['Availability Zone']:
            row['Properties']['availability_zone'] = row['Availability Zone']
    cloud = Cloud(
        flavors={row['Name']: row['Properties'] for row in flavors},
        aggregates={
            row['Name']: (row['Properties'], row['Hosts'])
            for row in aggregates
        },
        hosts=[row['Host'] for row in hosts],
        servers={'mail': ('compute-7', 'win.medium')},
    )
    if folder == '.':
        cloud.servers['train'] = ('compute-2', 'gpu.large')
        cloud.servers['web'] = ('compute-4', 'm1.small')
    cloud.states = {
        row['Host']: (row['Status'], row['State'])
        for row in hosts
        if row['State'] != 'up'
    }
    return cloud

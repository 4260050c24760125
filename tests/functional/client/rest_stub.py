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

from tests.functional.client import pages

AUTH_URL = 'http://cloud.test/identity/v3'
COMPUTE = 'http://cloud.test/compute/v2.1'
HEAT = 'http://cloud.test/heat/v1'
PLACEMENT = 'http://cloud.test/placement'
_IMAGE = 'http://cloud.test/image'

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
    :param servers: host and the flavor's name by name; each has a copy of
        the flavor as it was when the cloud was made.
    :param maximum: the newest microversion of this Nova.
    :param resources: those of the stack "shop", as Heat shows them.
    :param down: servers whose cell is down: Nova shows next to nothing.
    :param states: status and state of hosts that are not enabled and up.
    :param faults: what Nova says of servers in ERROR, by name.
    :param candidates: the hosts that Placement offers.
    :param hints: the scheduler hints of servers, by name.
    :param groups: the server groups as Nova shows them.
    """

    flavors: dict[str, dict[str, str]]
    aggregates: dict[str, tuple[dict[str, str], list[str]]]
    hosts: list[str]
    servers: dict[str, tuple[str | None, str]]
    maximum: str = '2.100'
    resources: list[dict[str, str]] = dataclasses.field(default_factory=list)
    down: tuple[str, ...] = ()
    states: dict[str, tuple[str, str]] = dataclasses.field(
        default_factory=dict
    )
    faults: dict[str, str] = dataclasses.field(default_factory=dict)
    candidates: list[str] = dataclasses.field(default_factory=list)
    hints: dict[str, dict[str, object]] = dataclasses.field(
        default_factory=dict
    )
    groups: list[dict[str, object]] = dataclasses.field(default_factory=list)

    def __post_init__(self) -> None:
        """Copy the flavors into the servers, as Nova does."""
        self._copies = {
            name: dict(self.flavors[flavor])
            for name, (_, flavor) in self.servers.items()
        }
        #: (method, path) of the requests to Nova.
        self.requests: list[tuple[str, str]] = []
        #: The availability zone of the servers in ERROR.
        self.zone = ''
        #: The zone that servers must stay in.
        self.pinned = ''
        #: MiB of swap in the flavors of servers.
        self.swap = 0
        #: What Placement was asked for last.
        self.asked: dict[str, list[str]] = {}

    def install(self, mocker: requests_mock.Mocker) -> None:
        """Answer the requests of this process.

        :param mocker: what stands in for the network.
        """
        token = fixture.V3Token(user_name='admin')
        token.set_project_scope(name='admin')
        token.add_role(name='admin')
        # "flavor set" of a newer shell wants the identity service even if it
        # names no project, "server show" of an older one that of images.
        for kind, url in (
            ('compute', COMPUTE),
            ('identity', AUTH_URL),
            ('image', _IMAGE),
            ('orchestration', HEAT),
            ('placement', PLACEMENT),
        ):
            token.add_service(kind).add_standard_endpoints(
                public=url, region='RegionOne'
            )
        images = fixture.DiscoveryList(v2=False, v3=False)
        images.add_v2(f'{_IMAGE}/v2')
        mocker.get(_IMAGE, json={'versions': images.versions})
        discovery = fixture.DiscoveryList(v2=False, v3=False)
        discovery.add_v3(AUTH_URL)
        mocker.get(AUTH_URL, json={'version': discovery.versions[0]})
        mocker.post(
            f'{AUTH_URL}/auth/tokens',
            json=token,
            headers={'X-Subject-Token': 'token'},
        )
        mocker.get(re.compile(f'{HEAT}/'), status_code=404, json={})
        version = _version(HEAT, 'v1.0', '1.0')
        mocker.get(HEAT, json={'version': version})
        shop = {'id': 'id-shop', 'stack_name': 'shop'}
        mocker.get(f'{HEAT}/stacks/shop', json={'stack': shop})
        mocker.get(
            f'{HEAT}/stacks/shop/id-shop/resources',
            json=lambda *_: {'resources': self.resources},
        )
        version = _version(PLACEMENT, 'v1.0', '1.39')
        version |= {'min_version': '1.0', 'max_version': '1.39'}
        mocker.get(PLACEMENT, json={'versions': [version]})
        mocker.get(f'{PLACEMENT}/allocation_candidates', json=self._placement)
        compute = re.compile(re.escape(COMPUTE))
        mocker.get(compute, json=self._answer)
        mocker.post(compute, json=self._change)

    def _answer(self, request: Any, context: Any) -> dict[str, Any]:
        """Return Nova's answer to a GET."""
        url = parse.urlsplit(request.url)
        path = url.path.removeprefix('/compute/v2.1')
        self.requests.append((request.method, path))
        version = request.headers.get('OpenStack-API-Version', 'compute 2.1')
        minor = int(version.split('.')[1])
        match path.strip('/').split('/'):
            case ['']:
                return {'version': _version(COMPUTE, 'v2.1', self.maximum)}
            case ['flavors', *rest]:
                return self._flavors(rest, minor, context)
            case ['os-aggregates']:
                return {'aggregates': self._aggregates()}
            case ['os-services']:
                binary = parse.parse_qs(url.query).get('binary')
                return {'services': self._services(binary)}
            case ['os-server-groups']:
                first = 'offset' not in url.query
                return {'server_groups': self.groups if first else []}
            case ['servers', *rest]:
                return self._servers(rest, minor, context)
            case ['os-hypervisors', 'detail'] if minor >= 53:
                return {'hypervisors': [
                    {
                        'id': f'uuid-{host}', 'state': 'up',
                        'hypervisor_hostname': f'{host}.cloud.test',
                        'status': 'enabled',
                        'service': {'id': f'id-{host}', 'host': host},
                    }
                    for host in self.hosts
                ]}  # fmt: skip
        context.status_code = 404
        return {'itemNotFound': {'message': path, 'code': 404}}

    def _placement(self, request: Any, context: Any) -> dict[str, Any]:
        """Return Placement's answer on allocation candidates."""
        self.asked = parse.parse_qs(parse.urlsplit(request.url).query)
        free = {host: {'VCPU': (1, 0)} for host in self.candidates}
        return candidates(free, {'VCPU': 1})

    def _flavors(
        self, rest: list[str], minor: int, context: Any
    ) -> dict[str, Any]:
        """Answer a request for flavors."""
        found = {}
        for number, name in enumerate(self.flavors, 1):
            found[str(number)] = {
                'id': str(number), 'name': name, 'ram': 512, 'vcpus': 1,
                'disk': 1, 'swap': '', 'os-flavor-access:is_public': True,
                'OS-FLV-EXT-DATA:ephemeral': 0, 'rxtx_factor': 1.0,
                'OS-FLV-DISABLED:disabled': False, 'links': [],
            }  # fmt: skip
            if minor >= 61:
                found[str(number)]['extra_specs'] = self.flavors[name]
        match rest:
            case [] | ['detail']:
                return {'flavors': list(found.values())}
            case [number, *more] if number in found:
                name = found[number]['name']
                if more == ['os-extra_specs']:
                    return {'extra_specs': self.flavors[name]}
                return {'flavor': found[number]}
        context.status_code = 404
        return {'itemNotFound': {'message': 'no such flavor', 'code': 404}}

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

    def _services(self, binaries: list[str] | None) -> list[dict[str, Any]]:
        """Return the services of some binaries as Nova shows them."""
        services = [('nova-scheduler', 'controller')]
        services += [('nova-compute', host) for host in self.hosts]
        found = []
        for binary, host in services:
            status, state = self.states.get(host, ('enabled', 'up'))
            found.append({
                'id': f'service-{host}', 'binary': binary, 'host': host,
                'zone': 'nova', 'status': status, 'state': state,
                'updated_at': None, 'disabled_reason': None,
                'forced_down': False,
            })  # fmt: skip
        return [
            service
            for service in found
            if not binaries or service['binary'] in binaries
        ]

    def _servers(
        self, rest: list[str], minor: int, context: Any
    ) -> dict[str, Any]:
        """Answer a request for servers."""
        found = {}
        for name, (host, flavor) in self.servers.items():
            embedded: dict[str, Any] = {'id': '1', 'links': []}
            if minor >= 47:
                embedded = {
                    'original_name': flavor, 'ram': 512, 'vcpus': 1,
                    'disk': 1, 'ephemeral': 0, 'swap': self.swap,
                    'extra_specs': self._copies[name],
                }  # fmt: skip
            found[f'id-{name}'] = {
                'id': f'id-{name}', 'name': name, 'status': 'ACTIVE',
                'OS-EXT-SRV-ATTR:host': host, 'flavor': embedded,
                'hostId': '' if host == '' else 'a1b2', 'tenant_id': 'p1',
                'image': '', 'metadata': {}, 'addresses': {}, 'links': [],
            }  # fmt: skip
            if minor >= 96:
                found[f'id-{name}']['pinned_availability_zone'] = self.pinned
            if minor >= 100:
                hints = self.hints.get(name)
                found[f'id-{name}']['scheduler_hints'] = hints
            if name in self.faults:
                found[f'id-{name}'] |= {
                    'status': 'ERROR', 'server_groups': [], 'hostId': '',
                    'OS-EXT-SRV-ATTR:host': None, 'image': {'id': 'image'},
                    'OS-EXT-AZ:availability_zone': self.zone,
                    'fault': {'message': self.faults[name], 'code': 500},
                }  # fmt: skip
        for name in self.down:
            found[name] = {'id': name, 'status': 'UNKNOWN', 'links': []}
        match rest:
            case [] | ['detail']:
                return {'servers': list(found.values())}
            case [number] if number in found:
                return {'server': found[number]}
        context.status_code = 404
        return {'itemNotFound': {'message': 'no such server', 'code': 404}}

    def _change(self, request: Any, context: Any) -> dict[str, Any]:
        """Change what a POST says, and answer as Nova does."""
        path = parse.urlsplit(request.url).path.removeprefix('/compute/v2.1')
        self.requests.append((request.method, path))
        match path.strip('/').split('/'), request.json():
            case ['os-aggregates'], {'aggregate': {'name': name}}:
                self.aggregates[name] = ({}, [])
                return {'aggregate': self._aggregates()[-1]}
            case ['os-aggregates', number, 'action'], action:
                index = int(number) - 1
                metadata, hosts = [*self.aggregates.values()][index]
                match action:
                    case {'set_metadata': {'metadata': new}}:
                        metadata.update(new)
                    case {'add_host': {'host': host}}:
                        hosts.append(host)
                return {'aggregate': self._aggregates()[index]}
            case ['flavors', number, 'os-extra_specs'], {'extra_specs': new}:
                name = [*self.flavors][int(number) - 1]
                self.flavors[name].update(new)
                return {'extra_specs': self.flavors[name]}
        context.status_code = 404
        return {'itemNotFound': {'message': path, 'code': 404}}


def _version(url: str, name: str, maximum: str) -> dict[str, Any]:
    """Return the version document of an API."""
    return {
        'id': name, 'status': 'CURRENT', 'version': maximum,
        'min_version': '2.1', 'links': [{'rel': 'self', 'href': url}],
    }  # fmt: skip


def candidates(
    free: dict[str, dict[str, tuple[int, int]]], wanted: dict[str, int]
) -> dict[str, Any]:
    """Return an answer of Placement.

    :param free: by host and resource class, the capacity and what is used.
    :param wanted: what was asked for, by resource class.
    """
    return {
        'allocation_requests': [
            {'allocations': {f'uuid-{host}': {'resources': wanted}}}
            for host in free
        ],
        'provider_summaries': {
            f'uuid-{host}': {
                'root_provider_uuid': f'uuid-{host}',
                'resources': {
                    name: {'capacity': capacity, 'used': used}
                    for name, (capacity, used) in own.items()
                },
            }
            for host, own in free.items()
        },
    }


def examples(prefix: str = '') -> Cloud:
    """Return a cloud of the documentation's examples, from their files.

    :param prefix: what the names of the files begin with.
    """
    flavors, aggregates, hosts = (
        json.loads((pages.FILES / f'{name}.json').read_text('utf-8'))
        for name in (f'{prefix}flavors', f'{prefix}aggregates', 'hosts')
    )
    for row in aggregates:
        if row['Availability Zone']:
            row['Properties']['availability_zone'] = row['Availability Zone']
    servers = {
        'mail': ('compute-7', 'win.medium'),
        'train': ('compute-2', 'gpu.large'),
        'web': ('compute-4', 'm1.small'),
    }
    return Cloud(
        flavors={row['Name']: row['Properties'] for row in flavors},
        aggregates={
            row['Name']: (row['Properties'], row['Hosts'])
            for row in aggregates
        },
        hosts=[row['Host'] for row in hosts],
        servers={} if prefix else servers,
    )

# SPDX-License-Identifier: Apache-2.0

"""A stub cloud with three regions, at Senlin's driver seam.

Senlin talks to a cloud through a driver: one client for each service, which
gets the connection parameters, ``region_name`` among them. These clients keep
servers and stacks in dictionaries, one per region. For a server of another
region they answer what a real region would: 404. A region can be told to fail.
"""

import collections
import copy
import types
import uuid
from collections.abc import Iterable
from typing import Any

from keystoneauth1 import exceptions as keystone_exc
from oslo_config import cfg
from senlin.common import exception as exc
from senlin.drivers import base, sdk

SERVICES = ('compute', 'image', 'network', 'orchestration', 'block-storage')


class Thing(sdk.FakeResourceObject):
    """A server or a stack as the SDK would return it."""

    def to_dict(self):
        return dict(vars(self))


class Region:
    """What one region holds."""

    def __init__(self, name: str) -> None:
        self.name = name
        #: The services that have an endpoint here.
        self.catalog = set(SERVICES)
        self.servers: dict[str, Thing] = {}
        self.ports: dict[str, Thing] = {}
        self.floating: dict[str, Thing] = {}
        self.stacks: dict[str, Thing] = {}
        #: Method of a client -> the message with which such calls fail.
        #: ``probe compute`` stands for the question whether Nova answers.
        self.failures: dict[str, str] = {}


class Client(base.DriverBase):
    """A client for one region, chosen as Senlin's real driver does."""

    #: The only cloud of this process.
    cloud: Any = None

    def __init__(self, params):
        super().__init__(params)
        name = params.get('region_name') or cfg.CONF.default_region_name
        self.region = self.cloud.regions[name]

    def _call(self, method):
        message = self.region.failures.get(method)
        if message:
            raise exc.InternalError(code=500, message=message)

    def _create(self, kind, **attrs):
        thing = Thing({'id': str(uuid.uuid4()), **attrs})
        getattr(self.region, kind)[thing.id] = thing
        return thing

    def _get(self, kind, thing_id):
        things = getattr(self.region, kind)
        if thing_id not in things:
            raise exc.InternalError(
                code=404, message=f'{thing_id} is not in {self.region.name}.'
            )
        return things[thing_id]

    def _copy(self, kind, thing_id):
        # What a service answers does not change with its own records.
        return copy.deepcopy(self._get(kind, thing_id))

    def find(self, name_or_id, ignore_missing=True):
        self._call(f'find {name_or_id}')
        return Thing({'id': name_or_id, 'is_disabled': False})

    image_find = find


def _deletion(call, kind):
    """Return a method that deletes a thing, if it is there."""

    def delete(self, thing_id, ignore_missing=True):
        self._call(call)
        getattr(self.region, kind).pop(thing_id, None)

    return delete


def _done(self, thing_id, timeout=None):
    """Return at once: servers and stacks go at once."""


class Compute(Client):
    """As much of Nova's driver as the server profile calls."""

    flavor_find = keypair_find = Client.find
    server_delete = _deletion('server_delete', 'servers')
    wait_for_server_delete = _done

    def validate_azs(self, azs):
        return azs

    def server_create(self, **attrs):
        self._call('server_create')
        server = self._create(
            'servers',
            name=attrs['name'],
            status='ACTIVE',
            availability_zone=attrs.get('availability_zone', 'nova'),
            metadata=dict(attrs['metadata']),
            image={'id': attrs.get('imageRef')},
            flavor=dict.fromkeys(('id', 'name'), attrs['flavorRef']),
            fault={'message': None},
            addresses={},
            attached_volumes=[],
            key_name=None,
            block_device_mapping=[],
            disk_config='AUTO',
            has_config_drive=False,
            security_groups=[],
            reboots=0,
        )
        return copy.deepcopy(server)

    def server_get(self, server):
        self._call('server_get')
        return self._copy('servers', server)

    def wait_for_server(self, server, status='ACTIVE', timeout=None, **kwargs):
        self._call('wait_for_server')
        return self._copy('servers', server)

    def server_update(self, server, **attrs):
        vars(self._get('servers', server)).update(attrs)

    def server_reboot(self, server, reboot_type):
        self._get('servers', server).reboots += 1

    def server_metadata_update(self, server, metadata):
        self._get('servers', server).metadata.update(metadata)

    def server_metadata_delete(self, server, keys):
        self._call('server_metadata_delete')
        for key in keys:
            self._get('servers', server).metadata.pop(key, None)

    def server_group_find(self, name_or_id, ignore_missing=True):
        return None

    def server_group_create(self, name, policies):
        return Thing({'id': f'group {name}', 'policies': policies})


class Network(Client):
    """As much of Neutron's driver as the server profile calls."""

    network_get = subnet_get = Client.find
    port_delete = _deletion('port_delete', 'ports')
    floatingip_delete = _deletion('floatingip_delete', 'floating')

    def port_create(self, **attrs):
        self._call(f'port on {attrs["network_id"]}')
        attrs = {'security_group_ids': [], 'fixed_ips': [], **attrs}
        return self._create('ports', **attrs)

    def floatingip_create(self, **attrs):
        self._call('floatingip_create')
        attrs = {'floating_ip_address': '192.0.2.1', **attrs}
        return self._create('floating', **attrs)


class Orchestration(Client):
    """As much of Heat's driver as the stack profile calls."""

    stack_delete = _deletion('stack_delete', 'stacks')
    wait_for_stack_delete = _done

    def stack_create(self, preview=False, **attrs):
        self._call('stack_create')
        attrs = {
            'status': 'CREATE_COMPLETE',
            'is_rollback_disabled': attrs.get('disable_rollback'),
            **attrs,
            'tags': attrs.get('tags', '').split(','),
        }
        # A preview leaves nothing.
        if preview:
            return Thing(attrs)
        stack = self._create('stacks', name=attrs['stack_name'], **attrs)
        return copy.deepcopy(stack)

    def stack_get(self, stack_id):
        self._call('stack_get')
        return self._copy('stacks', stack_id)

    stack_check = stack_get

    def stack_update(self, stack_id, **attrs):
        if 'tags' in attrs:
            attrs['tags'] = attrs['tags'].split(',')
        vars(self._get('stacks', stack_id)).update(attrs)

    def wait_for_stack(self, stack_id, status, timeout=None):
        self._call('wait_for_stack')
        return self.stack_get(stack_id)


class LoadBalancer(Client):
    """As much of the driver as Senlin's load-balancing policy calls."""

    def lb_create(self, vip, pool, cluster_name, hm, az, flavor_id):
        made = dict.fromkeys(('loadbalancer', 'pool'), str(uuid.uuid4()))
        return True, {**made, 'vip_address': '192.0.2.1'}

    def member_add(self, node, lb_id, pool_id, port, subnet):
        member_id = str(uuid.uuid4())
        self.cloud.pools[pool_id][member_id] = node.physical_id
        return member_id

    def member_remove(self, lb_id, pool_id, member_id):
        if 'member_remove' in self.region.failures:
            return False
        del self.cloud.pools[pool_id][member_id]
        return True


class Queue(Client):
    """As much of Zaqar's driver as lifecycle hooks call."""

    def queue_exists(self, queue_name):
        self._call('queue_exists')
        return queue_name in self.cloud.queues

    def queue_create(self, name, **attrs):
        self.cloud.queues[name] = []

    def message_post(self, queue_name, message):
        self.cloud.queues[queue_name] += [m['body'] for m in message]


class Identity(Client):
    """As much of Keystone's driver as Senlin and the policies call."""

    def __init__(self, params):
        super().__init__(params)
        # The policies read the catalog through the session's own method.
        self.session = self

    @classmethod
    def get_service_credentials(cls, **kwargs):
        return {'auth_url': 'http://keystone.example/v3', **kwargs}

    def validate_regions(self, regions):
        if self.cloud.keystone_failure:
            raise exc.InternalError(
                code=503, message=self.cloud.keystone_failure
            )
        listed = self.cloud.keystone_regions
        return [name for name in regions if name in listed]

    def get_endpoint(self, service_type, region_name, **kwargs):
        region = self.cloud.regions[region_name]
        if service_type not in region.catalog:
            raise keystone_exc.EndpointNotFound(
                f'{service_type} is not in {region_name}.'
            )
        return f'http://{service_type}.{region_name}.example'

    def get(self, url, **kwargs):
        service, name, *_ = url.removeprefix('http://').split('.')
        if f'probe {service}' in self.cloud.regions[name].failures:
            raise keystone_exc.ConnectFailure(f'{url} does not answer')
        # As without a token.
        return types.SimpleNamespace(status_code=401, close=lambda: None)


class Cloud:
    """Three regions, and the driver that leads there."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = list(names)
        self.reset()
        Client.cloud = self
        others = ('block_storage', 'workflow', 'octavia')
        self.driver = types.SimpleNamespace(
            compute=Compute,
            glance=Client,
            network=Network,
            orchestration=Orchestration,
            identity=Identity,
            message=Queue,
            loadbalancing=LoadBalancer,
            **dict.fromkeys(others, Client),
        )

    def reset(self) -> None:
        """Become a new cloud."""
        self.regions = {name: Region(name) for name in self.names}
        #: Regions that Keystone knows; take one out to make it unknown.
        self.keystone_regions = set(self.names)
        #: Set to a message to let every call of Keystone fail.
        self.keystone_failure = ''
        #: Queue name -> bodies of the messages posted there.
        self.queues: dict[str, list[Any]] = collections.defaultdict(list)
        #: Pool -> member id -> id of the member's server.
        self.pools: dict[str, dict[str, str]] = collections.defaultdict(dict)

    def heal(self) -> None:
        """Take all faults out."""
        self.keystone_failure = ''
        for region in self.regions.values():
            region.failures.clear()

    def region_of_server(self, server_id: str) -> str | None:
        """Return the name of the region that holds a server, or ``None``."""
        regions = self.regions.values()
        return next((r.name for r in regions if server_id in r.servers), None)

    def servers_of(self, cluster_id: str) -> dict[str, int]:
        """Return how many servers of a cluster each region has."""
        counts = dict.fromkeys(self.regions, 0)
        for name, region in self.regions.items():
            for server in region.servers.values():
                # Senlin's server profile writes it.
                counts[name] += server.metadata.get('cluster_id') == cluster_id
        return counts

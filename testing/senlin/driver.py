# SPDX-License-Identifier: Apache-2.0

"""The clients of a stub cloud, as Senlin's own driver has them."""

import copy
import types
import uuid

from keystoneauth1 import exceptions as keystone_exc
from oslo_config import cfg
from senlin.common import exception as exc
from senlin.drivers import base, sdk


class Thing(sdk.FakeResourceObject):
    """A server or a stack as the SDK would return it."""

    def to_dict(self):
        """Return the attributes."""
        return dict(vars(self))


class Client(base.DriverBase):
    """A client for one region, chosen as Senlin's real driver does."""

    cloud = None

    def __init__(self, params):
        super().__init__(params)
        name = params.get('region_name') or cfg.CONF.default_region_name
        self.region = self.cloud.regions[name]

    def _call(self, method):
        """Go wrong if the region was told to fail the call."""
        message = self.region.failures.get(method)
        if message:
            raise exc.InternalError(code=500, message=message)

    def _create(self, kind, **attrs):
        """Create a thing in this region."""
        thing = Thing({'id': str(uuid.uuid4()), **attrs})
        getattr(self.region, kind)[thing.id] = thing
        return thing

    def _get(self, kind, thing_id):
        """Return a thing of this region or answer 404."""
        things = getattr(self.region, kind)
        if thing_id not in things:
            raise exc.InternalError(
                code=404, message=f'{thing_id} is not in {self.region.name}.'
            )
        return things[thing_id]

    def _copy(self, kind, thing_id):
        """Return a copy, as every answer of a service is one."""
        return copy.deepcopy(self._get(kind, thing_id))

    def find(self, name_or_id, ignore_missing=True):
        """Know every name, but those that the region was told to lack."""
        self._call(f'find {name_or_id}')
        return Thing({'id': name_or_id, 'is_disabled': False})


def _deletion(call, kind):
    """Return a method that deletes a thing, if it is there."""

    def delete(self, thing_id, ignore_missing=True):
        self._call(call)
        if not ignore_missing:
            self._get(kind, thing_id)
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
        """Know every availability zone."""
        return azs

    def server_create(self, **attrs):
        """Create a server, active at once."""
        self._call('server_create')
        server = self._create(
            'servers',
            name=attrs['name'],
            status='ACTIVE',
            availability_zone=attrs.get('availability_zone', 'nova'),
            metadata=dict(attrs['metadata']),
            image={'id': attrs.get('imageRef', 'none')},
            flavor=dict.fromkeys(('id', 'name'), attrs['flavorRef']),
            fault={'message': self.region.failures.get('fault')},
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
        """Return a server of this region."""
        self._call('server_get')
        return self._copy('servers', server)

    def _changing(self, server):
        """Return the server itself, to change it."""
        self._call('server_get')
        return self._get('servers', server)

    def wait_for_server(self, server, status='ACTIVE', timeout=None, **kwargs):
        """Return at once, or fail as a time-out does."""
        self._call('wait_for_server')
        return self._copy('servers', server)

    def server_update(self, server, **attrs):
        """Change attributes such as the name."""
        vars(self._changing(server)).update(attrs)

    def server_reboot(self, server, reboot_type):
        """Count the reboot."""
        self._changing(server).reboots += 1

    def server_rebuild(self, server, image, name, admin_password):
        """Put another image on the server."""
        self._call('server_rebuild')
        self._changing(server).image = {'id': image}

    def server_metadata_update(self, server, metadata):
        """Add to the metadata."""
        self._changing(server).metadata.update(metadata)

    def server_metadata_delete(self, server, keys):
        """Remove from the metadata."""
        for key in keys:
            self._changing(server).metadata.pop(key, None)

    def server_group_find(self, name_or_id, ignore_missing=True):
        """Know no server group."""

    def server_group_create(self, name, policies):
        """Pretend to create a server group."""
        return Thing({'id': f'group {name}', 'policies': policies})


class Image(Client):
    """As much of Glance's driver as the server profile calls."""

    image_find = Client.find


class Network(Client):
    """As much of Neutron's driver as the server profile calls."""

    network_get = subnet_get = Client.find
    port_delete = _deletion('port_delete', 'ports')
    floatingip_delete = _deletion('floatingip_delete', 'floating')

    def port_create(self, **attrs):
        """Create a port."""
        self._call(f'port on {attrs["network_id"]}')
        attrs = {'security_group_ids': [], 'fixed_ips': [], **attrs}
        return self._create('ports', **attrs)

    def floatingip_create(self, **attrs):
        """Create a floating IP of a port."""
        self._call('floatingip_create')
        attrs = {'floating_ip_address': '192.0.2.1', **attrs}
        return self._create('floating', **attrs)


class Orchestration(Client):
    """As much of Heat's driver as the stack profile calls."""

    stack_delete = _deletion('stack_delete', 'stacks')
    wait_for_stack_delete = _done

    def stack_create(self, preview=False, **attrs):
        """Create a stack, complete at once; a preview leaves nothing."""
        self._call('stack_create')
        attrs = {
            'status': 'CREATE_COMPLETE',
            'is_rollback_disabled': attrs.get('disable_rollback'),
            **attrs,
            'tags': attrs.get('tags', '').split(','),
        }
        if preview:
            return Thing(attrs)
        stack = self._create('stacks', name=attrs['stack_name'], **attrs)
        return copy.deepcopy(stack)

    def stack_get(self, stack_id):
        """Return a stack of this region."""
        self._call('stack_get')
        return self._copy('stacks', stack_id)

    stack_check = stack_get

    def stack_update(self, stack_id, **attrs):
        """Change a stack of this region."""
        if 'tags' in attrs:
            attrs['tags'] = attrs['tags'].split(',')
        vars(self._get('stacks', stack_id)).update(attrs)

    def stack_get_template(self, stack_id):
        """Return the template of a stack of this region."""
        return Thing(dict(self.stack_get(stack_id).template))

    def stack_get_environment(self, stack_id):
        """Return the environment of a stack of this region."""
        return Thing(dict(self.stack_get(stack_id).environment or {}))

    def stack_get_files(self, stack_id):
        """Return the files of a stack of this region."""
        return self.stack_get(stack_id).files

    def wait_for_stack(self, stack_id, status, timeout=None):
        """Return at once, or fail as a time-out does."""
        self._call('wait_for_stack')
        return self.stack_get(stack_id)


class LoadBalancer(Client):
    """As much of the driver as Senlin's load-balancing policy calls."""

    def lb_create(self, vip, pool, cluster_name, hm, az, flavor_id):
        """Create a load balancer with an empty pool."""
        made = dict.fromkeys(('loadbalancer', 'pool'), str(uuid.uuid4()))
        return True, {**made, 'vip_address': '192.0.2.1'}

    def member_add(self, node, lb_id, pool_id, port, subnet):
        """Add the server of a node to a pool."""
        member_id = str(uuid.uuid4())
        self.cloud.pools[pool_id][member_id] = node.physical_id
        return member_id

    def member_remove(self, lb_id, pool_id, member_id):
        """Take a member out of its pool."""
        del self.cloud.pools[pool_id][member_id]
        return True


class Queue(Client):
    """As much of Zaqar's driver as lifecycle hooks call."""

    def queue_exists(self, queue_name):
        """Tell whether something was posted to the queue."""
        self._call('queue_exists')
        return queue_name in self.cloud.queues

    def queue_create(self, name, **attrs):
        """Create a queue."""
        self.cloud.queues[name] = []

    def message_post(self, queue_name, message):
        """Keep the bodies."""
        self.cloud.queues[queue_name] += [m['body'] for m in message]


class Identity(Client):
    """As much of Keystone's driver as Senlin and the policies call."""

    def __init__(self, params):
        super().__init__(params)
        # The policies read the catalog through the session's own method.
        self.session = self

    @classmethod
    def get_service_credentials(cls, **kwargs):
        """Return the credentials of Senlin's service user."""
        return {
            'auth_url': 'http://keystone.example/v3',
            'username': 'senlin',
            'password': 'secret',
            'project_name': 'service',
            'user_domain_name': 'Default',
            'project_domain_name': 'Default',
            'verify': True,
            'interface': 'public',
            **kwargs,
        }

    def validate_regions(self, regions):
        """Return those of the regions that exist."""
        if self.cloud.keystone_failure:
            raise exc.InternalError(
                code=503, message=self.cloud.keystone_failure
            )
        listed = self.cloud.keystone_regions
        return [name for name in regions if name in listed]

    def get_endpoint(self, service_type, region_name, **kwargs):
        """Return a URL if the region's catalog has the service."""
        region = self.cloud.regions[region_name]
        if service_type not in region.catalog:
            raise keystone_exc.EndpointNotFound(
                f'{service_type} is not in {region_name}.'
            )
        return f'http://{service_type}.{region_name}.example'

    def get(self, url, **kwargs):
        """Answer for a service that is asked whether it is there."""
        service, name, *_ = url.removeprefix('http://').split('.')
        self.cloud.probes.append((name, service))
        if f'probe {service}' in self.cloud.regions[name].failures:
            raise keystone_exc.ConnectFailure(f'{url} does not answer')
        # As without a token.
        return types.SimpleNamespace(status_code=401, close=lambda: None)

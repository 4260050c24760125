# SPDX-License-Identifier: Apache-2.0

"""The faults of Senlin 16.0.0 that "Other parts of Senlin" lists.

All types here are Senlin's own. Each test looks at what a fault leaves behind,
and then does what the page says.
"""

from unittest import mock

import requests_mock
from senlin import objects
from senlin.common import exception as exc
from senlin.drivers.os import nova_v2

from testing.senlin import driver, engine
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import EXACTLY, LOAD_BALANCER, ONE

NOVA = 'http://nova.example'
NO_IMAGE = {'flavor': 'small', 'networks': []}
IMAGE = {**NO_IMAGE, 'image': 'cirros'}


def rebuild_with_sdk(_stub, *arguments):
    """Rebuild a server with Senlin's own driver and the SDK."""
    version = {
        'id': 'v2.1',
        'status': 'CURRENT',
        'version': '2.90',
        'min_version': '2.1',
        'links': [{'rel': 'self', 'href': NOVA}],
    }
    with requests_mock.Mocker() as http:
        http.get(NOVA, json={'version': version})
        http.post(requests_mock.ANY, json={'server': {}})
        login = {'auth_type': 'none', 'endpoint': NOVA}
        nova_v2.NovaClient(login).server_rebuild(*arguments)


class Faults(base.TestCase):
    def senlin_cluster(self, *policies, size=0, **properties):
        """Create a cluster of servers and return its id."""
        profile = self.senlin.profile(
            'os.nova.server', **(properties or IMAGE)
        )
        return self.cluster(*policies, profile=profile, size=size)

    def update_in_vain(self, cluster_id, **properties):
        """Give a cluster another profile, which must fail."""
        profile = self.senlin.profile('os.nova.server', **properties)
        body = {'cluster': {'profile_id': profile}}
        answer = self.senlin.call('PATCH', f'/clusters/{cluster_id}', body)
        action = self.senlin.wait(answer['started'])
        self.assertEqual('FAILED', action['status'])
        self.wait_until_free(cluster_id)

    def only_node(self, cluster_id):
        """Return the only node of a cluster."""
        (node,) = self.senlin.nodes(cluster_id)
        return node

    def assert_error(self, reason, cluster_id):
        """Check that the only node of a cluster is in ERROR, and why."""
        node = self.only_node(cluster_id)
        self.assertEqual('ERROR', node['status'])
        self.assertIn(reason, node['status_reason'])

    def assert_mended(self, cluster_id, server_id):
        """Recover a cluster with a check; it must keep its only server."""
        self.act(cluster_id, 'recover', check=True)
        node = self.only_node(cluster_id)
        self.assertEqual('ACTIVE', node['status'])
        self.assertEqual(server_id, node['physical_id'])
        self.assertEqual([server_id], [*self.servers])

    @property
    def servers(self):
        """The servers in the only region that is used."""
        return self.cloud.regions[ONE].servers

    def test_a_node_forgets_the_server_that_was_to_be_rebuilt(self):
        self.patch(driver.Compute, 'server_rebuild', rebuild_with_sdk)
        cluster = self.senlin_cluster(size=1)
        node = self.only_node(cluster)
        self.senlin.act_node(node['id'], 'recover', operation='REBUILD')
        self.assert_error("multiple values for argument 'image'", cluster)
        self.assertIsNone(self.only_node(cluster)['physical_id'])
        # Not even this recovery keeps the server.
        self.act(cluster, 'recover', check=True)
        created = self.only_node(cluster)['physical_id']
        self.assertEqual({node['physical_id'], created}, {*self.servers})

    def test_a_new_image_stops_the_server(self):
        self.patch(driver.Compute, 'server_rebuild', rebuild_with_sdk)
        cluster = self.senlin_cluster(size=1)
        (server,) = self.servers.values()
        self.update_in_vain(cluster, **IMAGE | {'image': 'newer'})
        self.assert_error("multiple values for argument 'image'", cluster)
        self.assertEqual('SHUTOFF', server.status)
        # What an operator does.
        server.status = 'ACTIVE'
        self.assert_mended(cluster, server.id)
        # A plain recovery replaces the server, with the old image.
        self.update_in_vain(cluster, **IMAGE | {'image': 'newest'})
        self.act(cluster, 'recover')
        (replacement,) = self.servers.values()
        self.assertNotEqual(server.id, replacement.id)
        self.assertEqual('cirros', replacement.image['id'])

    def test_without_an_image_other_metadata_end_in_error(self):
        cluster = self.senlin_cluster(size=1, **NO_IMAGE)
        (server_id,) = self.servers
        self.update_in_vain(cluster, **NO_IMAGE, metadata={'tier': 'web'})
        self.assert_error('image set to None', cluster)
        self.assert_mended(cluster, server_id)

    def test_a_volume_type_leaves_a_node_in_creating(self):
        volume = {
            'uuid': 'cirros',
            'source_type': 'image',
            'destination_type': 'volume',
            'volume_size': 1,
            'volume_type': 'fast',
        }
        cluster = self.senlin_cluster(
            **NO_IMAGE, block_device_mapping_v2=[volume]
        )
        action = self.senlin.act(cluster, 'scale_out')
        self.assertEqual('FAILED', action['status'])
        self.wait_until_free(cluster)
        node = self.only_node(cluster)
        self.assertEqual('CREATING', node['status'])
        path = f'/nodes/{node["id"]}'
        with self.assertRaisesRegex(engine.ApiError, 'in status CREATING'):
            self.senlin.delete(path)
        answer = self.senlin.call('DELETE', path, {'force': True})
        self.assert_done(self.senlin.wait(answer['started']))
        self.assertEqual([], self.senlin.nodes(cluster))

    def hook(self, timeout, **properties):
        """Create a deletion policy with a hook and return its id."""
        hook = {'type': 'zaqar', 'timeout': timeout}
        hook['params'] = {'queue': 'farewell'}
        properties['hooks'] = hook
        return self.senlin.policy('senlin.policy.deletion', properties, '1.1')

    def test_a_server_that_survives_stays_in_the_pool(self):
        cluster = self.senlin_cluster(
            self.senlin.policy('senlin.policy.loadbalance', LOAD_BALANCER),
            self.hook(1, destroy_after_deletion=False),
        )
        self.act(cluster, 'scale_out', count=2)
        self.act(cluster, 'scale_in')
        (pool,) = self.cloud.pools.values()
        self.assertEqual({*self.servers}, {*pool.values()})
        self.assertEqual(2, len(pool))
        self.assertEqual(1, len(self.senlin.nodes(cluster)))

    def test_an_engine_that_dies_leaves_the_capacity_too_low(self):
        cluster = self.senlin_cluster(self.hook(600), size=3)
        action = self.senlin.start(cluster, 'scale_in')
        self.wait_until(lambda: self.cloud.queues['farewell'])
        # Another engine frees what the dead engine held.
        objects.Service.gc_by_engine(self.senlin.action(action)['owner'])
        self.assertEqual('FAILED', self.senlin.wait(action)['status'])
        self.wait_until_free(cluster)
        self.assert_capacity(cluster, 2)
        self.act(cluster, 'resize', number=3, **EXACTLY)
        self.assert_capacity(cluster, 3)
        self.assertEqual(3, len(self.servers))

    def zones(self, *names):
        """Create a zone policy and return its id."""
        zones = [{'name': name} for name in names]
        return self.senlin.policy(
            'senlin.policy.zone_placement', {'zones': zones}
        )

    def test_a_zone_that_the_policy_does_not_list_fails_actions(self):
        # In the zone "nova".
        cluster = self.senlin_cluster(size=1)
        self.attach(cluster, self.zones('AZ-1'))
        for name in ('scale_out', 'scale_in'):
            action = self.senlin.act(cluster, name)
            self.assertEqual('FAILED', action['status'])
            self.assertEqual("'nova'", action['status_reason'])
        self.detach(cluster)
        self.attach(cluster, self.zones('AZ-1', 'nova'))
        self.act(cluster, 'scale_out')

    def test_a_lost_answer_leaves_a_server(self):
        create = driver.Compute.server_create

        def lose_answer(client, **attrs):
            create(client, **attrs)
            raise exc.InternalError(code=500, message='The read timed out')

        cluster = self.senlin_cluster()
        with mock.patch.object(driver.Compute, 'server_create', lose_answer):
            action = self.senlin.act(cluster, 'scale_out')
        self.assertEqual('FAILED', action['status'])
        self.wait_until_free(cluster)
        self.assert_error('The read timed out', cluster)
        self.act(cluster, 'recover')
        node = self.only_node(cluster)
        named = [
            server.metadata['cluster_node_id']
            for server in self.servers.values()
        ]
        self.assertEqual([node['id']] * 2, named)

    def test_a_server_can_belong_to_two_nodes(self):
        cluster = self.senlin_cluster(size=1)
        server = self.only_node(cluster)['physical_id']
        adopted = {
            'type': 'os.nova.server-1.0',
            'identity': server,
            'overrides': {'networks': [], 'key_name': 'none'},
        }
        node = self.senlin.call('POST', '/nodes/adopt', adopted)['node']
        self.assertEqual(server, node['physical_id'])
        self.assert_done(self.senlin.delete(f'/nodes/{node["id"]}'))
        self.assertEqual({}, self.servers)

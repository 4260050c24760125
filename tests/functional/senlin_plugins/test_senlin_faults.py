# SPDX-License-Identifier: Apache-2.0

"""The faults of Senlin 16.0.0 of which the page warns, with the way out.

Each test looks at what a fault leaves behind, and then does what the page
says.
"""

from unittest import mock

from senlin import objects
from senlin.common import exception as exc

from testing.senlin import engine, stub_cloud
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, TWO

PLAIN = {'flavor': 'small', 'networks': []}
HOOK = {'params': {'queue': 'farewell'}, 'timeout': 1}


class FaultCase(base.TestCase):
    def only_node(self, cluster_id):
        (node,) = self.senlin.nodes(cluster_id)
        return node

    @property
    def servers(self):
        """The servers in the only region that is used."""
        return self.cloud.regions[ONE].servers

    def delete_by_force(self, node_id):
        path = f'/nodes/{node_id}'
        answer = self.senlin.call('DELETE', path, {'force': True})
        self.assert_done(self.senlin.wait(answer['started']))


class Profiles(FaultCase):
    def test_a_volume_type_leaves_a_node_in_creating(self):
        volume = base.VOLUME | {
            'uuid': 'cirros',
            'source_type': 'image',
            'volume_type': 'fast',
        }
        profile = self.senlin.profile(
            **PLAIN, block_device_mapping_v2=[volume]
        )
        cluster = self.cluster(profile=profile)
        action = self.senlin.act(cluster, 'scale_out')
        self.assertEqual('FAILED', action['status'])
        self.wait_until_free(cluster)
        node = self.only_node(cluster)
        self.assertEqual('CREATING', node['status'])
        with self.assertRaisesRegex(engine.ApiError, 'in status CREATING'):
            self.senlin.delete(f'/nodes/{node["id"]}')
        self.delete_by_force(node['id'])
        self.assertEqual([], self.senlin.nodes(cluster))

    def test_without_an_image_other_metadata_end_in_error(self):
        cluster = self.cluster(size=1)
        before = self.held(cluster)
        profile = self.senlin.profile(**PLAIN, metadata={'tier': 'web'})
        body = {'cluster': {'profile_id': profile}}
        answer = self.senlin.call('PATCH', f'/clusters/{cluster}', body)
        self.assertEqual(
            'FAILED', self.senlin.wait(answer['started'])['status']
        )
        self.wait_until_free(cluster)
        self.assertEqual('ERROR', self.only_node(cluster)['status'])
        self.act(cluster, 'recover', check=True)
        self.assertEqual('ACTIVE', self.only_node(cluster)['status'])
        self.assertEqual(before, self.held(cluster))

    def test_a_server_can_belong_to_two_nodes(self):
        cluster = self.cluster(size=1)
        server = self.only_node(cluster)['physical_id']
        adopted = {
            'type': 'senlin_plugins.nova.server-1.0',
            'identity': server,
            'overrides': {'networks': [], 'key_name': 'none'},
        }
        node = self.senlin.call('POST', '/nodes/adopt', adopted)['node']
        self.assertEqual(server, node['physical_id'])
        self.assert_done(self.senlin.delete(f'/nodes/{node["id"]}'))
        self.assertEqual({}, self.servers)
        self.assertEqual(server, self.only_node(cluster)['physical_id'])

    def test_a_lost_answer_leaves_a_server(self):
        create = stub_cloud.Compute.server_create

        def lose_answer(client, **attrs):
            create(client, **attrs)
            raise exc.InternalError(code=500, message='The read timed out')

        cluster = self.cluster()
        with mock.patch.object(
            stub_cloud.Compute, 'server_create', lose_answer
        ):
            action = self.senlin.act(cluster, 'scale_out')
        self.assertEqual('FAILED', action['status'])
        self.wait_until_free(cluster)
        self.assertEqual('ERROR', self.only_node(cluster)['status'])
        self.act(cluster, 'recover')
        node = self.only_node(cluster)
        named = []
        for server in self.servers.values():
            named.append(server.metadata['cluster_node_id'])
        self.assertEqual([node['id']] * 2, named)
        self.assertIn(node['physical_id'], self.servers)


class Deletions(FaultCase):
    def test_a_node_delete_destroys_the_server(self):
        policy = self.deletion_policy(destroy_after_deletion=False)
        cluster = self.cluster(policy, size=1)
        node = self.only_node(cluster)
        action = self.senlin.delete(f'/nodes/{node["id"]}')
        self.assert_done(action)
        self.assertIs(
            False, action['data']['deletion']['destroy_after_deletion']
        )
        self.assertEqual({}, self.servers)

    def test_a_hook_leaves_a_server_in_the_pool(self):
        for properties, failure in (
            ({'destroy_after_deletion': False}, ''),
            ({}, 'member_remove'),
        ):
            policy = self.deletion_policy('1.1', hooks=HOOK, **properties)
            cluster = self.cluster(
                self.load_balancing_policy(), policy, size=0
            )
            self.act(cluster, 'scale_out', count=2)
            before = {*self.held(cluster).values()}
            if failure:
                self.cloud.regions[ONE].failures[failure] = 'Out of order'
            self.act(cluster, 'scale_in')
            self.assertEqual(1, len(self.ids(cluster)))
            (pool,) = self.cloud.pools.values()
            self.assertEqual(before, {*pool.values()})
            self.senlin.reset()

    def lose_engine(self):
        """Let an engine die while its hook waits; return the cluster."""
        hook = HOOK | {'timeout': 600}
        cluster = self.cluster(self.deletion_policy('1.1', hooks=hook), size=3)
        action = self.senlin.start(cluster, 'scale_in')
        self.wait_until(lambda: self.cloud.queues['farewell'])
        # Another engine frees what the dead engine held.
        started = self.senlin.call('GET', f'/actions/{action}')['action']
        objects.Service.gc_by_engine(started['owner'])
        self.assertEqual('FAILED', self.senlin.wait(action)['status'])
        self.wait_until_free(cluster)
        self.assertEqual(3, len(self.servers))
        self.assert_capacity(cluster, 2)
        return cluster

    def test_an_engine_that_dies_leaves_the_capacity_too_low(self):
        cluster = self.lose_engine()
        self.act(cluster, 'resize', number=3, **base.EXACTLY)
        self.assert_capacity(cluster, 3)
        self.act(cluster, 'recover', check_capacity=True)
        self.assertEqual(3, len(self.servers))

    def test_a_recovery_deletes_nodes_above_the_capacity(self):
        cluster = self.lose_engine()
        self.act(cluster, 'recover', check_capacity=True)
        self.assertEqual(2, len(self.servers))


class Sizes(FaultCase):
    def test_an_empty_cluster_needs_a_minimum_of_0(self):
        body = {
            'name': 'cluster',
            'profile_id': self.senlin.profile(),
            'desired_capacity': 0,
            'min_size': 1,
            'max_size': -1,
        }
        with self.assertRaisesRegex(engine.ApiError, 'min_size'):
            self.senlin.call('POST', '/clusters', {'cluster': body})
        cluster = self.spread((ONE,), (TWO,), count=2)
        self.act(cluster, 'resize', min_size=2)
        self.assertEqual(
            'FAILED', self.senlin.act(cluster, 'scale_in')['status']
        )


class Zones(FaultCase):
    def zones(self, *names):
        zones = [{'name': name} for name in names]
        return self.senlin.policy(
            'senlin.policy.zone_placement', {'zones': zones}
        )

    def test_a_zone_that_the_policy_does_not_list_fails_actions(self):
        # In the zone "nova".
        cluster = self.cluster(size=1)
        self.attach(cluster, self.zones('AZ-1'))
        for name in ('scale_out', 'scale_in'):
            action = self.senlin.act(cluster, name)
            self.assertEqual('FAILED', action['status'])
            self.assertEqual("'nova'", action['status_reason'])
        action, node_id = self.senlin.start_node(
            cluster, self.senlin.profile()
        )
        self.assertEqual('FAILED', self.senlin.wait(action)['status'])
        self.wait_until_free(cluster)
        self.assertEqual('INIT', self.shown(node_id)['status'])
        self.assert_done(self.senlin.delete(f'/nodes/{node_id}'))
        self.detach(cluster)
        self.attach(cluster, self.zones('AZ-1', 'nova'))
        self.act(cluster, 'scale_out')


class Gone(FaultCase):
    def test_nodes_of_a_dead_region_cannot_be_taken_out(self):
        for policies in (), (self.deletion_policy(),):
            cluster = self.spread((ONE,), (TWO,), count=4)
            for policy in policies:
                self.attach(cluster, policy)
            before = self.ids(cluster)
            lost = self.ids(cluster, TWO)
            for call in 'server_delete', 'server_metadata_delete':
                self.cloud.regions[TWO].failures[call] = 'dead'
            action = self.senlin.act(cluster, 'del_nodes', nodes=lost)
            self.assertEqual('FAILED', action['status'])
            self.wait_until_free(cluster)
            self.assertEqual(before, self.ids(cluster))
            self.assert_capacity(cluster, 2)
            action = self.senlin.delete(f'/nodes/{lost[0]}')
            self.assertEqual('FAILED', action['status'])
            self.assertEqual(before, self.ids(cluster))
            self.cloud.heal()

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
        with self.assertRaisesRegex(engine.ApiError, 'in status CREATING'):
            self.senlin.delete(f'/nodes/{node["id"]}')
        servers = 'a server' if self.servers else 'no server'
        self.delete_by_force(node['id'])
        verb = 'keeps' if self.senlin.nodes(cluster) else 'deletes'
        self.assert_page_says(
            'senlin',
            'Leave ``volume_type`` out of ``block_device_mapping_v2``. '
            f'Otherwise, Senlin creates {servers}, and the node stays in '
            f'{node["status"]}. ``openstack cluster node delete --force`` '
            f'{verb} such a node.',
        )

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
        broken = self.only_node(cluster)['status']
        self.act(cluster, 'recover', check=True)
        healed = self.only_node(cluster)['status']
        verb = 'keeps' if before == self.held(cluster) else 'replaces'
        self.assert_page_says(
            'senlin',
            f'``metadata``: the nodes go to {broken}. ``openstack cluster '
            f'recover --check true`` brings them back to {healed}, and {verb} '
            'the servers.',
        )

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
        self.assertEqual(server, self.only_node(cluster)['physical_id'])
        verb = 'keep' if server in self.servers else 'lose'
        self.assert_page_says(
            'senlin',
            'Senlin would adopt it again, and if you deleted one of the two '
            f'nodes, the other node would {verb} its server.',
        )

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
        status = self.only_node(cluster)['status']
        self.act(cluster, 'recover')
        node = self.only_node(cluster)
        named = []
        for server in self.servers.values():
            named.append(server.metadata['cluster_node_id'])
        self.assertEqual([node['id']] * 2, named)
        self.assertIn(node['physical_id'], self.servers)
        self.assert_page_says(
            'senlin',
            'If Nova creates a server, but the answer is lost, the node goes '
            f'to {status}. The next recovery creates another server. The '
            'metadata ``cluster_node_id`` of both servers is the id of the '
            'node',
        )


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
        verb = 'keeps' if self.servers else 'destroys'
        self.assert_page_says(
            'senlin',
            f'{verb} the server even if ``destroy_after_deletion`` is '
            '``false``.',
        )

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
        self.assert_page_says(
            'senlin',
            'a server can stay in the pool although the action has succeeded. '
            'This happens if ``destroy_after_deletion`` is ``false``, or if '
            'the load balancer does not remove the server.',
        )

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
        self.assertEqual(3, len(self.ids(cluster)))
        shown = self.senlin.call('GET', f'/clusters/{cluster}')['cluster']
        level = 'low' if shown['desired_capacity'] < 3 else 'high'
        self.assert_page_says(
            'senlin',
            'If senlin-engine dies while it waits, the nodes stay, but the '
            f'desired capacity is too {level}.',
        )
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
        verb = {2: 'deletes', 3: 'keeps'}[len(self.servers)]
        self.assert_page_says(
            'senlin',
            'Run ``openstack cluster resize --capacity`` with the number of '
            'nodes. Otherwise, ``openstack cluster recover --check-capacity '
            f'true`` {verb} nodes.',
        )


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
        del body['min_size']
        made = self.senlin.call('POST', '/clusters', {'cluster': body})
        self.assert_page_says(
            'senlin', f'Its ``min_size`` must be {made["cluster"]["min_size"]}'
        )
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
        started, node_id = self.senlin.start_node(
            cluster, self.senlin.profile()
        )
        self.assertEqual('FAILED', self.senlin.wait(started)['status'])
        self.wait_until_free(cluster)
        status = self.shown(node_id)['status']
        self.assert_done(self.senlin.delete(f'/nodes/{node_id}'))
        self.assert_page_says(
            'senlin',
            'Otherwise, actions fail with the name of a zone as the reason, '
            f'such as ``{action["status_reason"]}``. A new node then stays in '
            f'{status}: delete the node.',
        )
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
            self.assert_page_says(
                'senlin',
                'Do not delete nodes there, either: the deletion fails. After '
                '``openstack cluster members del``, the desired capacity is '
                'also too low.',
            )
            self.cloud.heal()

# SPDX-License-Identifier: Apache-2.0

"""The region-aware profiles: every operation goes to the node's region."""

import types

import ddt
from senlin.common import consts, context
from senlin.engine import node as node_mod
from senlin.policies import affinity_policy, lb_policy, zone_placement
from senlin.profiles import base as profile_base

from senlin_plugins.planning.region_state import Left
from testing.senlin import driver, engine
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, THREE, TWO

STACK = 'senlin_plugins.heat.stack'
TEMPLATE = {'heat_template_version': '2021-04-16'}


class TestCase(base.TestCase):
    def engine_node(self, node_id):
        """Return a node as the engine's own threads load it."""
        return node_mod.Node.load(
            context.get_admin_context(), node_id=node_id, project_safe=False
        )

    def healthy(self, node_id):
        """Ask as the health manager does."""
        return self.engine_node(node_id).do_healthcheck(
            context.get_admin_context(), consts.NODE_STATUS_POLLING
        )

    def act_and_fail(self, cluster_id, name, **arguments):
        """Run an action that must fail, wait until it is over."""
        action = self.senlin.act(cluster_id, name, **arguments)
        self.assertEqual('FAILED', action['status'])
        self.wait_until_free(cluster_id)
        return action


class Servers(TestCase):
    def setUp(self):
        super().setUp()
        self.cluster_id, self.node_id = self.built(self.build)

    def build(self):
        """Return a cluster and its node in the last region."""
        profile = self.senlin.profile(
            flavor='small', image='cirros', networks=[]
        )
        policy = self.region_policy((THREE,))
        cluster = self.cluster(policy, profile=profile)
        return cluster, self.add_node(cluster, profile)

    def node(self, query=''):
        """Return the node as the API shows it."""
        return self.shown(f'{self.node_id}{query}')

    def server(self):
        """Return the node's server from the cloud of its region."""
        servers = self.cloud.regions[THREE].servers
        return servers[self.node()['physical_id']]

    def test_details_come_from_the_region(self):
        details = self.node('?show_details=True')['details']
        self.assertEqual(self.server().id, details['id'])
        self.assertEqual('ACTIVE', details['status'])

    def test_rebooting_and_rebuilding_reach_the_server(self):
        before = self.node()['physical_id']
        for how in (
            {'operation': 'REBOOT'},
            {'operation': 'REBUILD', 'operation_params': {'image': 'newer'}},
        ):
            self.act_node(self.node_id, 'recover', **how)
        self.assertEqual(1, self.server().reboots)
        self.assertEqual({'id': 'newer'}, self.server().image)
        self.assertEqual(before, self.server().id)
        self.assert_servers(self.cluster_id, **{THREE: 1})

    def test_a_server_is_checked_rebuilt_and_recreated(self):
        before = self.server().id
        self.server().status = 'ERROR'
        self.act(self.cluster_id, 'check')
        self.assertEqual('ERROR', self.node()['status'])
        self.server().status = 'ACTIVE'
        self.act(self.cluster_id, 'recover', operation='REBUILD')
        self.assertEqual('ACTIVE', self.node()['status'])
        self.act_node(self.node_id, 'recover', operation='RECREATE')
        self.assertNotEqual(before, self.node()['physical_id'])
        self.assert_servers(self.cluster_id, **{THREE: 1})

    def test_a_health_check_looks_at_the_server(self):
        self.assertTrue(self.healthy(self.node_id))
        self.server().status = 'ERROR'
        self.assertFalse(self.healthy(self.node_id))
        del self.cloud.regions[THREE].servers[self.node()['physical_id']]
        self.assertFalse(self.healthy(self.node_id))
        # A region that does not answer is no reason to replace its nodes.
        self.cloud.regions[THREE].failures['server_get'] = 'Out of order'
        self.assertTrue(self.healthy(self.node_id))

    def test_the_server_is_changed_and_removed(self):
        # Senlin's API does not offer it; its engine does.
        done = self.engine_node(self.node_id).do_operation(
            context.get_admin_context(), operation='snapshot'
        )
        self.assertTrue(done)
        self.assertEqual([self.node()['name']], self.server().snapshots)
        profile = self.senlin.profile(
            flavor='small', image='cirros', networks=[], name='renamed'
        )
        self.update(f'/nodes/{self.node_id}', profile_id=profile)
        self.assertEqual('renamed', self.server().name)
        self.act(self.cluster_id, 'del_nodes', nodes=[self.node_id])
        self.assertNotIn('cluster_id', self.server().metadata)
        self.act(self.cluster_id, 'add_nodes', nodes=[self.node_id])
        self.assertEqual(self.cluster_id, self.server().metadata['cluster_id'])
        self.assert_servers(self.cluster_id, **{THREE: 1})
        self.assert_done(self.senlin.delete(f'/nodes/{self.node_id}'))
        self.assert_servers(self.cluster_id)


@ddt.ddt
class Ports(TestCase):
    """What a node that cannot be made whole leaves behind: nothing."""

    def setUp(self):
        super().setUp()
        self.cluster_id = self.built(self.build)
        self.failures = self.cloud.regions[TWO].failures

    def build(self):
        """Return a cluster whose nodes have ports and a floating IP."""
        networks = [
            {'network': 'front', 'floating_network': 'out'},
            {'network': 'back'},
        ]
        profile = self.senlin.profile(flavor='small', networks=networks)
        return self.cluster(self.region_policy((TWO,)), profile=profile)

    def assert_nothing_left(self):
        """Check that no cloud holds a port or a server of the cluster."""
        for region in self.cloud.regions.values():
            for things in (region.ports, region.floating, region.servers):
                self.assertEqual({}, things, region.name)

    def test_ports_come_and_go_with_the_server_in_its_region(self):
        self.act(self.cluster_id, 'scale_out')
        ports = self.cloud.regions[TWO].ports.values()
        self.assertEqual(
            ['front', 'back'], [port.network_id for port in ports]
        )
        self.assertEqual({}, self.cloud.regions[ONE].ports)
        self.assert_servers(self.cluster_id, **{TWO: 1})
        self.act(self.cluster_id, 'scale_in')
        self.assert_nothing_left()

    @ddt.data(
        'server_create',
        'wait_for_server',
        'port on front',
        'port on back',
        'find back',
        'find out',
        'floatingip_create',
    )
    def test_a_node_that_fails_halfway_is_undone_in_its_region(self, step):
        self.failures[step] = f'No {step} today'
        self.act_and_fail(self.cluster_id, 'scale_out')
        self.assert_nothing_left()
        (node,) = self.senlin.nodes(self.cluster_id)
        self.assertEqual(TWO, base.region_of(node))
        self.assertEqual('ERROR', node['status'])
        self.assertIn(f'No {step} today', node['status_reason'])

    def test_what_cannot_be_undone_goes_with_the_node(self):
        self.failures['port on back'] = 'No port today'
        self.failures['floatingip_delete'] = 'Neutron is on fire'
        self.act_and_fail(self.cluster_id, 'scale_out')
        self.assertEqual(1, len(self.cloud.regions[TWO].ports))
        self.assertEqual(1, len(self.cloud.regions[TWO].floating))
        self.failures.clear()
        self.assert_done(self.senlin.delete(f'/clusters/{self.cluster_id}'))
        self.assert_nothing_left()

    def test_a_network_that_is_not_found_the_second_time_is_no_leak(self):
        for on in (1, 2):
            fault = driver.Fault('No network today', on=on)
            self.failures['find back'] = fault
            self.senlin.act(self.cluster_id, 'scale_out')
            self.wait_until_free(self.cluster_id)
        self.act(self.cluster_id, 'scale_in', count=2)
        self.assert_nothing_left()

    def test_a_node_that_was_undone_is_made_whole_by_a_recovery(self):
        self.failures['port on back'] = 'No port today'
        self.act_and_fail(self.cluster_id, 'scale_out')
        (node,) = self.senlin.nodes(self.cluster_id)
        self.failures.clear()
        self.act_node(node['id'], 'recover', operation='RECREATE')
        self.assertEqual(2, len(self.cloud.regions[TWO].ports))
        self.assert_servers(self.cluster_id, **{TWO: 1})
        self.assert_done(self.senlin.delete(f'/clusters/{self.cluster_id}'))
        self.assert_nothing_left()

    def test_of_what_is_left_behind_only_what_senlin_made_goes(self):
        made = {'remove': True}
        left = {
            'made': {**made, 'floating': {'id': 'made', **made}},
            'mixed': {**made, 'floating': {'id': 'mixed'}},
            'own': {'floating': {'id': 'own'}},
        }
        profile = profile_base.Profile.load(
            context.get_admin_context(), profile_id=self.senlin.profile()
        )
        owner = types.SimpleNamespace(user=engine.USER, project=engine.PROJECT)
        ports = [{'id': name, **port} for name, port in left.items()]
        for name, region in self.cloud.regions.items():
            entry = Left(name, 'node', 'name', 'id', ports, 'then')
            region.ports, region.floating = {**left}, {**left}
            profile.discard(owner, entry)
            self.assertEqual({'own'}, region.ports.keys())
            self.assertEqual({'mixed', 'own'}, region.floating.keys())


class Validation(TestCase):
    def test_a_profile_is_validated_in_the_default_region(self):
        properties = {'flavor': 'small', 'networks': [{'network': 'front'}]}
        for name in (TWO, THREE):
            self.cloud.regions[name].failures['find front'] = 'Not here'
        self.senlin.profile(**properties)
        self.cloud.regions[TWO].failures.clear()
        self.cloud.regions[ONE].failures['find front'] = 'Not in the first'
        with self.assertRaisesRegex(engine.ApiError, 'Not in the first'):
            self.senlin.profile(**properties)
        # A region of its own is the one where its nodes will be.
        self.senlin.profile(context={'region_name': TWO}, **properties)


class Adoption(TestCase):
    def test_an_adopted_server_is_kept_in_the_region_of_the_overrides(self):
        profile = self.senlin.profile()
        policy = self.region_policy((TWO,), (THREE,))
        cluster = self.cluster(policy, profile=profile)
        self.act(cluster, 'scale_out', count=2)
        (there,) = self.ids(cluster, THREE)
        server = self.held(cluster)[there]
        # As if somebody else had created it.
        self.act(cluster, 'del_nodes', nodes=[there])
        self.abandon(there)
        node = self.senlin.adopt(
            server, context={'region_name': THREE}, networks=[]
        )
        self.act_node(node['id'], 'check')
        self.act(cluster, 'add_nodes', nodes=[node['id']])
        self.assertIn(server, self.held(cluster).values())
        self.assertEqual(
            {ONE: 0, TWO: 1, THREE: 1}, self.cloud.servers_of(cluster)
        )
        # It counts where it is: the next one goes elsewhere by the tie.
        data = self.act(cluster, 'scale_in', count=2)
        self.assertEqual({TWO: 1, THREE: 1}, data['deletion']['regions'])
        self.assertIsNone(self.cloud.region_of_server(server))

    def test_a_server_is_adopted_from_the_region_of_the_overrides(self):
        cluster = self.cluster(self.region_policy((TWO,)))
        self.act(cluster, 'scale_out')
        (node,) = self.senlin.nodes(cluster)
        preview = {
            'type': 'senlin_plugins.nova.server-1.0',
            'identity': node['physical_id'],
            'overrides': {},
        }
        self.abandon(node['id'])
        with self.assertRaisesRegex(engine.ApiError, 'is not in RegionOne'):
            self.senlin.call('POST', '/nodes/adopt-preview', preview)
        preview['overrides'] = {'context': {'region_name': TWO}}
        answer = self.senlin.call('POST', '/nodes/adopt-preview', preview)
        spec = answer['node_profile']['node_preview']['properties']
        self.assertEqual({'region_name': TWO}, spec['context'])
        self.assertEqual('none', spec['image'])

    def test_a_server_that_a_node_has_is_refused(self):
        cluster = self.cluster(size=1)
        (node,) = self.senlin.nodes(cluster)
        server = node['physical_id']
        with self.assertRaisesRegex(
            engine.ApiError, f'409: a node has {server} already'
        ):
            self.senlin.adopt(server, networks=[])
        self.assertEqual(1, len(self.senlin.call('GET', '/nodes')['nodes']))

    def test_a_context_that_is_no_map_is_refused(self):
        with self.assertRaisesRegex(engine.ApiError, 'is not a map') as caught:
            self.senlin.adopt('a server', context=TWO)
        self.assertEqual(400, caught.exception.code)

    def test_an_adopted_server_stays_when_the_default_region_changes(self):
        cluster = self.cluster(size=1)
        (node,) = self.senlin.nodes(cluster)
        self.abandon(node['id'])
        adopted = self.senlin.adopt(node['physical_id'], networks=[])
        self.set_option('default_region_name', TWO, None)
        self.act_node(adopted['id'], 'check')
        self.assertEqual('ACTIVE', self.shown(adopted['id'])['status'])


class Stacks(TestCase):
    def setUp(self):
        super().setUp()
        self.cluster_id = self.built(self.build)

    def build(self):
        """Return a cluster for stacks."""
        profile = self.senlin.profile(STACK, template=TEMPLATE)
        return self.cluster(self.region_policy((TWO,)), profile=profile)

    def test_every_operation_on_a_stack_goes_to_its_region(self):
        self.act(self.cluster_id, 'scale_out')
        (node,) = self.senlin.nodes(self.cluster_id)
        path = f'/nodes/{node["id"]}'
        stacks = self.cloud.regions[TWO].stacks
        stack = stacks[node['physical_id']]

        details = self.shown(f'{node["id"]}?show_details=True')['details']
        self.assertEqual(stack.id, details['id'])

        self.act_node(node['id'], 'check')
        changed = self.senlin.profile(STACK, template=TEMPLATE, timeout=7)
        self.update(path, profile_id=changed)
        self.assertEqual(7, stack.timeout_mins)

        self.act(self.cluster_id, 'del_nodes', nodes=[node['id']])
        membership = f'cluster_node_id={node["id"]}'
        self.assertNotIn(membership, stack.tags)
        self.act(self.cluster_id, 'add_nodes', nodes=[node['id']])
        self.assertIn(membership, stack.tags)

        # One like it that no node has.
        alone = driver.Thing({**vars(stack), 'id': 'alone'})
        stacks[alone.id] = alone
        preview = {
            'type': f'{STACK}-1.0',
            'identity': alone.id,
            'overrides': {'context': {'region_name': TWO}},
        }
        answer = self.senlin.call('POST', '/nodes/adopt-preview', preview)
        spec = answer['node_profile']['node_preview']['properties']
        self.assertEqual(TEMPLATE, spec['template'])
        del stacks[alone.id]

        self.act_node(node['id'], 'recover', operation='RECREATE')
        (new,) = stacks
        self.assertNotEqual(stack.id, new)
        self.assert_done(self.senlin.delete(path))
        self.assertEqual({}, stacks)

    def test_a_health_check_looks_at_the_stack(self):
        region = self.cloud.regions[TWO]
        region.failures['stack_create'] = 'No Heat today'
        self.act_and_fail(self.cluster_id, 'scale_out')
        (node,) = self.senlin.nodes(self.cluster_id)
        self.assertFalse(self.healthy(node['id']))
        region.failures.clear()
        # The whole cluster, without a word on how: the stack is recreated.
        self.act(self.cluster_id, 'recover')
        ((stack_id, stack),) = region.stacks.items()
        self.assertTrue(self.healthy(node['id']))
        stack.status = 'UPDATE_FAILED'
        self.assertFalse(self.healthy(node['id']))
        del region.stacks[stack_id]
        self.assertFalse(self.healthy(node['id']))
        # A region that does not answer is no reason to replace its nodes.
        region.failures['stack_get'] = 'Out of order'
        self.assertTrue(self.healthy(node['id']))

    def test_a_region_without_heat_is_not_used(self):
        self.cloud.regions[TWO].catalog.discard('orchestration')
        action = self.senlin.act(self.cluster_id, 'scale_out')
        self.assert_failed('No region is found usable.', action)


class Types(base.TestCase):
    def test_the_api_shows_the_types_own_name(self):
        profile = self.senlin.profile()
        shown = self.senlin.call('GET', f'/profiles/{profile}')['profile']
        self.assertEqual('senlin_plugins.nova.server-1.0', shown['type'])

    def test_policies_for_servers_take_it_and_senlins_own(self):
        own = 'senlin_plugins.nova.server-1.0'
        for policy in (
            affinity_policy.AffinityPolicy,
            lb_policy.LoadBalancingPolicy,
            zone_placement.ZonePlacementPolicy,
        ):
            self.assertEqual(['os.nova.server-1.0', own], policy.PROFILE_TYPE)
        profile = profile_base.Profile.load(
            context.get_admin_context(), profile_id=self.senlin.profile()
        )
        # What the health policy looks at before it reboots a server.
        self.assertEqual('os.nova.server', profile.type_name)

    def test_policies_for_servers_refuse_stacks(self):
        cluster = self.cluster(
            profile=self.senlin.profile(STACK, template=TEMPLATE)
        )
        affinity = self.senlin.policy(
            'senlin.policy.affinity', {'servergroup': {'name': 'apart'}}
        )
        self.assert_not_attached(STACK, cluster, affinity)

    def test_nodes_of_the_in_tree_type_do_not_mix(self):
        cluster = self.cluster()
        with self.assertRaisesRegex(engine.ApiError, 'different profile type'):
            self.senlin.start_node(
                cluster, self.senlin.profile('os.nova.server')
            )

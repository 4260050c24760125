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
    def act_and_fail(self, cluster_id, name, **arguments):
        """Run an action that must fail, wait until it is over."""
        action = self.senlin.act(cluster_id, name, **arguments)
        self.assertEqual('FAILED', action['status'])
        self.wait_until_free(cluster_id)
        return action


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
            'given': {'floating': {'id': 'given', **made}},
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
            self.assertEqual({'own', 'given'}, region.ports.keys())
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


@ddt.ddt
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

    @ddt.data(
        ('senlin_plugins.nova.server', 'servers', 'image', 'none'),
        (STACK, 'stacks', 'template', TEMPLATE),
    )
    @ddt.unpack
    def test_a_preview_asks_the_region_of_the_overrides(
        self, type_name, things, key, value
    ):
        spec = {} if things == 'servers' else {'template': TEMPLATE}
        profile = self.senlin.profile(type_name, **spec)
        cluster = self.cluster(self.region_policy((TWO,)), profile=profile)
        self.abandon(self.add_node(cluster, profile))
        (made,) = getattr(self.cloud.regions[TWO], things)
        preview = {'type': f'{type_name}-1.0', 'identity': made}
        path = '/nodes/adopt-preview'
        with self.assertRaisesRegex(engine.ApiError, 'is not in RegionOne'):
            self.senlin.call('POST', path, {**preview, 'overrides': {}})
        preview['overrides'] = {'context': {'region_name': TWO}}
        answer = self.senlin.call('POST', path, preview)
        spec = answer['node_profile']['node_preview']['properties']
        self.assertEqual({'region_name': TWO}, spec['context'])
        self.assertEqual(value, spec[key])

    def test_what_makes_no_sense_is_refused(self):
        with self.assertRaisesRegex(engine.ApiError, 'not a map') as caught:
            self.senlin.adopt('another', context=TWO)
        self.assertEqual(400, caught.exception.code)
        self.assertEqual([], self.senlin.call('GET', '/nodes')['nodes'])

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
        self.region = self.cloud.regions[TWO]

    def build(self):
        """Return a cluster for stacks."""
        profile = self.senlin.profile(STACK, template=TEMPLATE)
        return self.cluster(self.region_policy((TWO,)), profile=profile)

    def is_healthy(self):
        """Ask for the only node as the health manager does."""
        admin = context.get_admin_context()
        (node_id,) = self.ids(self.cluster_id)
        node = node_mod.Node.load(admin, node_id=node_id)
        return node.do_healthcheck(admin, consts.NODE_STATUS_POLLING)

    def test_a_health_check_looks_at_the_stack(self):
        self.region.failures['stack_create'] = 'No Heat today'
        self.act_and_fail(self.cluster_id, 'scale_out')
        self.assertFalse(self.is_healthy())
        self.region.failures.clear()
        # The whole cluster, without a word on how: the stack is recreated.
        self.act(self.cluster_id, 'recover')
        ((stack_id, stack),) = self.region.stacks.items()
        self.assertTrue(self.is_healthy())
        stack.status = 'UPDATE_FAILED'
        self.assertFalse(self.is_healthy())
        del self.region.stacks[stack_id]
        self.assertFalse(self.is_healthy())
        # A region that does not answer is no reason to replace its nodes.
        self.region.failures['stack_get'] = 'Out of order'
        self.assertTrue(self.is_healthy())

    def test_a_stack_that_never_gets_ready_is_deleted(self):
        self.region.failures['wait_for_stack'] = 'CREATE_FAILED'
        self.act_and_fail(self.cluster_id, 'scale_out')
        (node,) = self.senlin.nodes(self.cluster_id)
        self.assertIn('CREATE_FAILED', node['status_reason'])
        self.assertEqual({}, self.region.stacks)
        self.assert_done(self.senlin.delete(f'/clusters/{self.cluster_id}'))

    def test_a_region_without_heat_is_not_used(self):
        self.region.catalog.discard('orchestration')
        action = self.senlin.act(self.cluster_id, 'scale_out')
        self.assert_failed('No region is found usable.', action)


class Types(base.TestCase):
    def test_policies_for_servers_take_it_and_senlins_own(self):
        aware = 'senlin_plugins.nova.server-1.0'
        for policy in (
            affinity_policy.AffinityPolicy,
            lb_policy.LoadBalancingPolicy,
            zone_placement.ZonePlacementPolicy,
        ):
            self.assertEqual(
                ['os.nova.server-1.0', aware], policy.PROFILE_TYPE
            )
        profile_id = self.senlin.profile()
        shown = self.senlin.call('GET', f'/profiles/{profile_id}')['profile']
        self.assertEqual(aware, shown['type'])
        profile = profile_base.Profile.load(
            context.get_admin_context(), profile_id=profile_id
        )
        # What the health policy looks at before it reboots a server.
        self.assertEqual('os.nova.server', profile.type_name)

    def test_nodes_of_the_in_tree_type_do_not_mix(self):
        cluster = self.cluster()
        with self.assertRaisesRegex(engine.ApiError, 'different profile type'):
            self.senlin.start_node(
                cluster, self.senlin.profile('os.nova.server')
            )

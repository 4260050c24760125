# SPDX-License-Identifier: Apache-2.0

"""The region-aware profiles: every operation goes to the node's region."""

import ddt
from senlin.common import context
from senlin.policies import affinity_policy, lb_policy, zone_placement
from senlin.profiles import base as profile_base

from testing.senlin import engine
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, THREE, TWO

STACK = 'senlin_plugins.heat.stack'
TEMPLATE = {'heat_template_version': '2021-04-16'}
#: What Senlin cannot adopt from a server without networks and a key pair.
OVERRIDES = {'networks': [], 'key_name': 'none'}


class Ports(base.TestCase):
    def test_ports_come_and_go_with_the_server_in_its_region(self):
        networks = [
            {'network': 'front', 'floating_network': 'out'},
            {'network': 'back'},
        ]
        profile = self.senlin.profile(flavor='small', networks=networks)
        cluster = self.cluster(self.region_policy((TWO,)), profile=profile)
        self.act(cluster, 'scale_out')
        region = self.cloud.regions[TWO]
        self.assertEqual(
            ['front', 'back'],
            [port.network_id for port in region.ports.values()],
        )
        self.assertEqual({}, self.cloud.regions[ONE].ports)
        self.assert_servers(cluster, **{TWO: 1})
        self.act(cluster, 'scale_in')
        for things in (region.ports, region.floating, region.servers):
            self.assertEqual({}, things)


class Validation(base.TestCase):
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
class Adoption(base.TestCase):
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
            server, context={'region_name': THREE}, **OVERRIDES
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

    @ddt.data('os.nova.server', 'senlin_plugins.nova.server')
    def test_senlin_adopts_no_server_without_a_key_pair(self, type_name):
        cluster = self.cluster(size=1)
        (node,) = self.senlin.nodes(cluster)
        body = {
            'type': f'{type_name}-1.0',
            'identity': node['physical_id'],
            'name': 'foundling',
            'overrides': {'networks': []},
        }
        with self.assertRaisesRegex(engine.ApiError, "The value 'None'"):
            self.senlin.call('POST', '/nodes/adopt', body)

    def test_an_adopted_server_stays_when_the_default_region_changes(self):
        cluster = self.cluster(size=1)
        (node,) = self.senlin.nodes(cluster)
        self.abandon(node['id'])
        adopted = self.senlin.adopt(node['physical_id'], **OVERRIDES)
        self.set_option('default_region_name', TWO, None)
        self.act_node(adopted['id'], 'check')
        self.assertEqual('ACTIVE', self.shown(adopted['id'])['status'])


class Stacks(base.TestCase):
    def test_a_region_without_heat_is_not_used(self):
        profile = self.senlin.profile(STACK, template=TEMPLATE)
        cluster = self.cluster(self.region_policy((TWO,)), profile=profile)
        self.cloud.regions[TWO].catalog.discard('orchestration')
        action = self.senlin.act(cluster, 'scale_out')
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

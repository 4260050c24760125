# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The region-aware profiles: every operation goes to the node's region."""

import copy

from senlin.common import context
from senlin.profiles import base as profile_base

from demo.senlin import engine
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, THREE, TWO


class Servers(base.TestCase):
    def setUp(self):
        super().setUp()
        profile = self.senlin.profile(
            flavor='small', image='cirros', networks=[]
        )
        self.cluster_id = self.cluster(
            self.region_policy((THREE,)), profile=profile
        )
        action, self.node_id = self.senlin.start_node(self.cluster_id, profile)
        self.assert_done(self.senlin.wait(action))

    def node(self, query=''):
        """Return the node as the API shows it."""
        return self.senlin.call('GET', f'/nodes/{self.node_id}{query}')['node']

    def server(self):
        """Return the node's server from the cloud of its region."""
        servers = self.cloud.regions[THREE].servers
        return servers[self.node()['physical_id']]

    def test_details_come_from_the_region(self):
        details = self.node('?show_details=True')['details']
        self.assertEqual(self.server().id, details['id'])
        self.assertEqual('ACTIVE', details['status'])

    def test_a_check_finds_the_server(self):
        self.assert_done(self.senlin.act_node(self.node_id, 'check'))
        self.assertEqual('ACTIVE', self.node()['status'])
        self.server().status = 'ERROR'
        self.assert_done(self.senlin.act_node(self.node_id, 'check'))
        self.assertEqual('ERROR', self.node()['status'])

    def test_recreating_stays_in_the_region(self):
        before = self.node()['physical_id']
        self.assert_done(
            self.senlin.act_node(self.node_id, 'recover', operation='RECREATE')
        )
        self.assertNotEqual(before, self.node()['physical_id'])
        self.assertIsNone(self.cloud.region_of_server(before))
        self.assert_servers(self.cluster_id, **{THREE: 1})

    def test_rebooting_reaches_the_server(self):
        self.assert_done(
            self.senlin.act_node(self.node_id, 'recover', operation='REBOOT')
        )
        self.assertEqual(1, self.server().reboots)

    def test_an_update_reaches_the_server(self):
        profile = self.senlin.profile(
            flavor='small', image='cirros', networks=[], name='renamed'
        )
        answer = self.senlin.call(
            'PATCH',
            f'/nodes/{self.node_id}',
            {'node': {'profile_id': profile}},
        )
        self.assert_done(self.senlin.wait(answer['started']))
        self.assertEqual('renamed', self.server().name)

    def test_leaving_and_joining_reach_the_server(self):
        self.assert_done(
            self.senlin.act(self.cluster_id, 'del_nodes', nodes=[self.node_id])
        )
        self.assertNotIn('cluster_id', self.server().metadata)
        self.assert_done(
            self.senlin.act(self.cluster_id, 'add_nodes', nodes=[self.node_id])
        )
        self.assertEqual(self.cluster_id, self.server().metadata['cluster_id'])
        self.assert_servers(self.cluster_id, **{THREE: 1})

    def test_deleting_the_node_removes_the_server(self):
        self.assert_done(self.senlin.delete(f'/nodes/{self.node_id}'))
        self.assert_servers(self.cluster_id)

    def test_deleting_the_cluster_removes_the_servers(self):
        self.assert_done(self.senlin.delete(f'/clusters/{self.cluster_id}'))
        self.assertEqual(
            dict.fromkeys(self.cloud.regions, 0),
            self.cloud.servers_of(self.cluster_id),
        )

    def test_a_new_region_in_the_profile_does_not_lose_the_server(self):
        # context is not updatable, but the cluster's profile may change
        # without its nodes.
        profile = self.senlin.profile(
            flavor='small', networks=[], context={'region_name': TWO}
        )
        answer = self.senlin.call(
            'PATCH',
            f'/clusters/{self.cluster_id}',
            {'cluster': {'profile_id': profile, 'profile_only': True}},
        )
        self.assert_done(self.senlin.wait(answer['started']))
        self.assert_done(self.senlin.act_node(self.node_id, 'check'))
        self.assert_servers(self.cluster_id, **{THREE: 1})


class Adoption(base.TestCase):
    def test_a_server_is_adopted_from_the_region_of_the_overrides(self):
        cluster = self.cluster(self.region_policy((TWO,)))
        self.assert_done(self.senlin.act(cluster, 'scale_out'))
        (node,) = self.senlin.nodes(cluster)
        preview = {
            'type': 'senlin_plugins.nova.server-1.0',
            'identity': node['physical_id'],
            'overrides': {},
        }
        with self.assertRaisesRegex(engine.ApiError, 'is not in RegionOne'):
            self.senlin.call('POST', '/nodes/adopt-preview', preview)
        preview['overrides'] = {'context': {'region_name': TWO}}
        answer = self.senlin.call('POST', '/nodes/adopt-preview', preview)
        spec = answer['node_profile']['node_preview']['properties']
        self.assertEqual({'region_name': TWO}, spec['context'])
        self.assertEqual('none', spec['image'])


class Stacks(base.TestCase):
    def test_stacks_are_created_checked_and_deleted_in_their_region(self):
        profile = self.senlin.profile(
            'senlin_plugins.heat.stack',
            template={'heat_template_version': '2021-04-16'},
        )
        cluster = self.cluster(
            self.region_policy((TWO,), (THREE,)), profile=profile
        )
        self.act(cluster, 'scale_out', count=2)
        for node in self.senlin.nodes(cluster):
            region = self.cloud.regions[base.region_of(node)]
            self.assertIn(node['physical_id'], region.stacks)
            self.assert_done(self.senlin.act_node(node['id'], 'check'))
        self.assertEqual(
            {TWO: 1, THREE: 1, ONE: 0},
            {r.name: len(r.stacks) for r in self.cloud.regions.values()},
        )
        self.act(cluster, 'scale_in', count=2)
        self.assertEqual(
            {TWO: 0, THREE: 0, ONE: 0},
            {r.name: len(r.stacks) for r in self.cloud.regions.values()},
        )

    def test_a_region_without_heat_is_not_used(self):
        profile = self.senlin.profile(
            'senlin_plugins.heat.stack',
            template={'heat_template_version': '2021-04-16'},
        )
        cluster = self.cluster(self.region_policy((TWO,)), profile=profile)
        self.cloud.regions[TWO].catalog.discard('orchestration')
        action = self.senlin.act(cluster, 'scale_out')
        self.assert_failed('No region is found usable.', action)


class Types(base.TestCase):
    def test_the_api_shows_the_types_own_name(self):
        profile = self.senlin.profile()
        shown = self.senlin.call('GET', f'/profiles/{profile}')['profile']
        self.assertEqual('senlin_plugins.nova.server-1.0', shown['type'])

    def test_policies_see_the_in_tree_type_that_it_extends(self):
        profile = profile_base.Profile.load(
            context.get_admin_context(), profile_id=self.senlin.profile()
        )
        for seen in (profile.type, copy.deepcopy(profile.type)):
            self.assertIn(seen, ['os.nova.server-1.0'])
            self.assertIn(seen, ['senlin_plugins.nova.server-1.0'])
            self.assertNotIn(seen, ['os.heat.stack-1.0'])
            self.assertEqual('senlin_plugins.nova.server-1.0', str(seen))
        self.assertEqual('os.nova.server', profile.type_name)

    def test_nodes_of_the_in_tree_type_do_not_mix(self):
        cluster = self.cluster()
        with self.assertRaisesRegex(engine.ApiError, 'different profile type'):
            self.senlin.start_node(
                cluster, self.senlin.profile('os.nova.server')
            )

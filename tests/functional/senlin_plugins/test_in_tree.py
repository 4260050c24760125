# SPDX-License-Identifier: Apache-2.0

"""The profiles leave behind what Senlin's own profiles leave.

Senlin's own nodes are in the default region, and ours in another one.
"""

import json
import re

from testing.senlin import engine
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, THREE

SERVER = {
    'flavor': 'small',
    'image': 'cirros',
    'networks': [{'network': 'front', 'floating_network': 'out'}],
}
STACK = {'template': {'heat_template_version': '2021-04-16'}}
#: What differs from node to node, and times.
VARYING_KEYS = (
    'id',
    'name',
    'cluster_id',
    'profile_id',
    'profile_name',
    'physical_id',
    'init_at',
    'created_at',
    'updated_at',
)
#: Ids, regions and the random ends of the names of stacks.
VARYING = re.compile(
    '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'
    r'|Region(One|Three)|(?<=node-)\w{8}(-\w{8})?'
)


class Compared(base.TestCase):
    maxDiff = None

    def begin(self, type_name, properties, region, *policies):
        """Create a node, and forget what was noted of another one."""
        self.type_name = type_name
        self.properties = properties
        self.region = self.cloud.regions[region]
        profile = self.senlin.profile(type_name, **properties)
        self.cluster_id = self.cluster(*policies, profile=profile)
        self.node_id = self.add_node(self.cluster_id, profile)
        self.made = self.held(self.cluster_id)
        self.notes = []

    def note(self, action):
        """Note what an action has left behind."""
        self.wait_until_free(self.cluster_id)
        before = self.made
        self.made = self.held(self.cluster_id)
        reason = VARYING.sub('*', action.get('status_reason', ''))
        self.notes.append((self.made == before, reason, self.look()))

    def look(self):
        """Return a node and what it is made of, without what must differ."""
        try:
            node = self.shown(f'{self.node_id}?show_details=True')
        except engine.ApiError as ex:
            return str(ex.code)
        things = {**self.region.servers, **self.region.stacks}
        made = things.get(node['physical_id'])
        node['data'].get('placement', {}).pop('region_name', None)
        if not node['data'].get('placement'):
            node['data'].pop('placement', None)
        for key in VARYING_KEYS:
            node[key] = bool(node[key])
        ports = len(self.region.ports), len(self.region.floating)
        parts = node, made and vars(made), ports
        return VARYING.sub('*', json.dumps(parts, sort_keys=True))

    def run_on_node(self, name, **inputs):
        self.note(self.senlin.act_node(self.node_id, name, **inputs))

    def recreate(self):
        self.run_on_node('recover', operation='RECREATE')

    def update(self, **changes):
        """Give the node another profile."""
        properties = {**self.properties, **changes}
        profile = self.senlin.profile(self.type_name, **properties)
        body = {'node': {'profile_id': profile}}
        answer = self.senlin.call('PATCH', f'/nodes/{self.node_id}', body)
        self.note(self.senlin.wait(answer['started']))

    def live(self, *creation, deletion):
        """Do with a node what Senlin does with nodes of all types."""
        # Out of its cluster, and into it.
        for name in 'del_nodes', 'add_nodes':
            moved = {'nodes': [self.node_id]}
            self.note(self.senlin.act(self.cluster_id, name, **moved))
        self.region.servers.clear()
        self.region.stacks.clear()
        self.run_on_node('check')
        self.recreate()
        self.recreate()
        for call in creation:
            self.region.failures[call] = 'Out of order'
            self.recreate()
            self.region.failures.clear()
            self.recreate()
        for failures in {deletion: 'Out of order'}, {}:
            self.region.failures.update(failures)
            self.note(self.senlin.delete(f'/nodes/{self.node_id}'))
            self.region.failures.clear()
        return self.notes

    def live_as_server(self):
        self.update(name='renamed')
        self.run_on_node('recover', operation='REBOOT')
        self.update(user_data='new')
        self.run_on_node('check')
        # Senlin's own profile of stacks fails without an operation.
        self.run_on_node('recover')
        return self.live(
            'server_create', 'floatingip_create', deletion='server_delete'
        )

    def live_as_stack(self):
        self.update(timeout=7)
        self.recreate()
        return self.live('stack_create', deletion='stack_delete')

    def compare(self, kind, properties, live):
        """Check that lives in two regions leave the same behind."""
        self.begin(f'os.{kind}', properties, ONE)
        in_tree = live()
        policy = self.region_policy((THREE,))
        self.begin(f'senlin_plugins.{kind}', properties, THREE, policy)
        self.assertEqual(in_tree, live())

    def test_the_same_is_left_of_a_server(self):
        self.compare('nova.server', SERVER, self.live_as_server)

    def test_the_same_is_left_of_a_stack(self):
        self.compare('heat.stack', STACK, self.live_as_stack)

# SPDX-License-Identifier: Apache-2.0

"""The profiles leave behind what Senlin's own profiles leave.

Senlin's own nodes are in the default region, and ours in another one.
"""

import json
import re

import ddt

from testing.senlin import engine
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, THREE

OURS = {
    'os.nova.server': 'senlin_plugins.nova.server',
    'os.heat.stack': 'senlin_plugins.heat.stack',
}
SPECS = {
    'os.nova.server': {
        'flavor': 'small',
        'image': 'cirros',
        'networks': [{'network': 'front', 'floating_network': 'out'}],
    },
    'os.heat.stack': {'template': {'heat_template_version': '2021-04-16'}},
}
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


def check(test):
    return test.senlin.act_node(test.node_id, 'check')


def lose(test):
    """Take away what the node is made of."""
    test.region.servers.clear()
    test.region.stacks.clear()


def delete(test):
    return test.senlin.delete(f'/nodes/{test.node_id}')


def recovering(**inputs):
    return lambda test: test.senlin.act_node(test.node_id, 'recover', **inputs)


def updating(**changes):
    """Return the step that gives a node another profile."""

    def update(test):
        spec = {**SPECS[test.kind], **changes}
        profile = test.senlin.profile(test.type_name, **spec)
        body = {'node': {'profile_id': profile}}
        answer = test.senlin.call('PATCH', f'/nodes/{test.node_id}', body)
        return test.senlin.wait(answer['started'])

    return update


def moving(name):
    """Return the step that moves a node out of its cluster, or into it."""
    return lambda test: test.senlin.act(
        test.cluster_id, name, nodes=[test.node_id]
    )


def failing(call, step):
    """Return a step during which a call to the cloud fails."""

    def run_during_failure(test):
        test.region.failures[call] = 'Out of order'
        action = step(test)
        test.region.failures.clear()
        return action

    return run_during_failure


RECREATE = recovering(operation='RECREATE')
#: The steps of all nodes, of servers, and of stacks.
STEPS = [
    moving('del_nodes'),
    moving('add_nodes'),
    lose,
    check,
    RECREATE,
    RECREATE,
    recovering(),
]
SERVER_STEPS = [
    updating(name='renamed'),
    recovering(operation='REBOOT'),
    updating(user_data='new'),
    check,
    recovering(operation='REBUILD', operation_params={'image': 'new'}),
    recovering(),
]
STACK_STEPS = [updating(timeout=7), RECREATE]
#: The calls that create a node, and those that delete it.
SERVER_CALLS = (
    'server_create',
    'wait_for_server',
    'server_get',
    'port on front',
    'floatingip_create',
)
STACK_CALLS = 'stack_create', 'wait_for_stack', 'stack_get'


@ddt.ddt
class Compared(base.TestCase):
    maxDiff = None

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

    def trace(self, kind, type_name, region, policies, steps):
        """Return what each step of a node's life leaves behind."""
        self.kind = kind
        self.type_name = type_name
        self.region = self.cloud.regions[region]
        profile = self.senlin.profile(type_name, **SPECS[kind])
        self.cluster_id = self.cluster(*policies, profile=profile)
        self.node_id = self.add_node(self.cluster_id, profile)
        traces = [self.look()]
        made = self.held(self.cluster_id)
        for step in steps:
            action = step(self) or {}
            self.wait_until_free(self.cluster_id)
            after = self.held(self.cluster_id)
            reason = VARYING.sub('*', action.get('status_reason', ''))
            traces.append((after == made, reason, self.look()))
            made = after
        return traces

    @ddt.data(
        ('os.nova.server', STEPS + SERVER_STEPS, SERVER_CALLS),
        ('os.heat.stack', STEPS + STACK_STEPS, STACK_CALLS),
    )
    @ddt.unpack
    def test_the_same_is_left_of_a_node(self, kind, steps, calls):
        steps = list(steps)
        for call in calls:
            steps += [failing(call, RECREATE), RECREATE]
        call = calls[0].replace('create', 'delete')
        steps += [failing(call, delete), delete]
        policy = self.region_policy((THREE,))
        self.assertEqual(
            self.trace(kind, kind, ONE, (), steps),
            self.trace(kind, OURS[kind], THREE, (policy,), steps),
        )

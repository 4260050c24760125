# SPDX-License-Identifier: Apache-2.0

"""The profiles leave behind what Senlin's own profiles leave."""

import json
import re

import ddt
from senlin.common import consts, context
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models
from senlin.engine import node as node_mod

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
#: Columns that differ from node to node.
OWN = {'id', 'name', 'cluster_id', 'profile_id', 'physical_id'}
#: Times of which only the presence is compared.
TIMES = {'init_at', 'created_at', 'updated_at'}
#: Ids, regions and the random ends of the names of stacks.
VARYING = re.compile(
    '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'
    r'|Region(One|Three)|(?<=node-)\w{8}(-\w{8})?'
)


def recovering(operation=None, **params):
    """Return the step that recovers a node."""
    inputs = {}
    if operation:
        inputs = {'operation': operation, 'operation_params': params}
    return lambda test: test.senlin.act_node(test.node_id, 'recover', **inputs)


def updating(**changes):
    """Return the step that gives a node another profile."""

    def update(test):
        spec = {**test.spec, **changes}
        body = {'profile_id': test.senlin.profile(test.type_name, **spec)}
        path = f'/nodes/{test.node_id}'
        answer = test.senlin.call('PATCH', path, {'node': body})
        return test.senlin.wait(answer['started'])

    return update


def failing(call, step):
    """Return a step during which a call to the cloud fails."""

    def run_during_failure(test):
        test.region.failures[call] = 'Out of order'
        outcome = step(test)
        test.region.failures.clear()
        return outcome

    return run_during_failure


def check(test):
    """Check a node."""
    return test.senlin.act_node(test.node_id, 'check')


def poll(test):
    """Ask as the health manager does."""
    return test.node().do_healthcheck(
        context.get_admin_context(), consts.NODE_STATUS_POLLING
    )


def break_down(test):
    """Let what the node is made of go wrong."""
    test.made().status = 'ERROR'


def lose(test):
    """Take away what the node is made of."""
    for things in (test.region.servers, test.region.stacks):
        things.pop(test.row()['physical_id'], None)


def move(name):
    """Return the step that moves a node out of its cluster, or into it."""
    return lambda test: test.senlin.act(
        test.cluster_id, name, nodes=[test.node_id]
    )


def snapshot(test):
    """Run an operation that Senlin's API does not offer."""
    admin = context.get_admin_context()
    test.node().do_operation(admin, operation='snapshot')


def delete(test):
    """Delete a node."""
    return test.senlin.delete(f'/nodes/{test.node_id}')


RECREATE = recovering('RECREATE')


def failing_in(*calls):
    """Return steps that recreate a node, while each of some calls fails."""
    steps = []
    for call in calls:
        steps += [failing(call, RECREATE), RECREATE]
    return steps


#: What happens to a server, and then to a stack.
SERVERS = {
    'recovered in each way': [
        recovering(),
        recovering('REBOOT'),
        recovering('REBUILD', image='new'),
        snapshot,
        break_down,
        check,
        recovering('REBUILD'),
        lose,
        recovering('REBUILD'),
    ],
    'gone, recreated and updated': [
        lose,
        check,
        RECREATE,
        RECREATE,
        updating(name='renamed'),
        RECREATE,
        updating(user_data='new'),
        check,
        recovering(),
    ],
    'polled': [
        poll,
        failing('server_get', poll),
        break_down,
        poll,
        lose,
        poll,
    ],
    'moved and deleted late': [
        move('del_nodes'),
        move('add_nodes'),
        failing('server_delete', delete),
        delete,
    ],
    'created in vain': failing_in(
        'server_create',
        'wait_for_server',
        'server_get',
        'port on front',
        'floatingip_create',
    ),
}
STACKS = {
    'gone, recreated and updated': [
        lose,
        check,
        recovering(),
        RECREATE,
        updating(timeout=7),
        RECREATE,
    ],
    'moved and deleted late': [
        move('del_nodes'),
        move('add_nodes'),
        failing('stack_delete', delete),
        delete,
    ],
    'created in vain': failing_in(
        'stack_create', 'wait_for_stack', 'stack_get'
    ),
}


@ddt.ddt
class Compared(base.TestCase):
    """What an operation leaves is the same.

    Senlin's own nodes are in the default region. Ours are where a policy has
    placed them: whatever went to another region would differ.
    """

    maxDiff = None

    def node(self):
        """Return the node as the engine's own threads load it."""
        return node_mod.Node.load(
            context.get_admin_context(), node_id=self.node_id
        )

    def row(self):
        """Return the row of the node."""
        with db_api.session_for_read() as session:
            node = session.get(models.Node, self.node_id)
            if not node:
                return {}
            columns = models.Node.__table__.columns
            return {
                column.name: getattr(node, column.name) for column in columns
            }

    def made(self):
        """Return what the node is made of, if its region has it."""
        things = {**self.region.servers, **self.region.stacks}
        return things.get(self.row().get('physical_id'))

    def left_after(self, kind, ours, steps):
        """Return what each step of a node's life leaves behind."""
        self.spec = SPECS[kind]
        self.type_name, region, policies = kind, ONE, ()
        if ours:
            self.type_name, region = OURS[kind], THREE
            policies = (self.region_policy((THREE,)),)
        profile = self.senlin.profile(self.type_name, **self.spec)
        self.cluster_id = self.cluster(*policies, profile=profile)
        self.node_id = self.add_node(self.cluster_id, profile)
        self.region = self.cloud.regions[region]
        traces = [self.look()]
        for step in steps:
            before = self.row()['physical_id']
            outcome = step(self)
            self.wait_until_free(self.cluster_id)
            same = self.row().get('physical_id') == before
            if isinstance(outcome, dict):
                outcome = outcome['status'], outcome['status_reason']
            traces.append((same, outcome, self.look()))
        texts = [json.dumps(trace, sort_keys=True) for trace in traces]
        return [VARYING.sub('*', text) for text in texts]

    def look(self):
        """Return the row of the node and what it is made of.

        Without what must differ.
        """
        row, made = self.row(), self.made()
        if not row:
            return {}
        placement = dict(row['data'].get('placement') or {})
        placement.pop('region_name', None)
        row['data'] = {**row['data'], 'placement': placement}
        row['ports'] = len(self.region.ports), len(self.region.floating)
        if made:
            shown = self.shown(f'{self.node_id}?show_details=True')
            row['made'] = vars(made), shown['details']
        for name in OWN:
            row.pop(name)
        for name in TIMES:
            row[name] = bool(row[name])
        return row

    def assert_the_same(self, kind, steps):
        """Compare what is left of a node of each profile after some steps."""
        self.assertEqual(
            self.left_after(kind, False, steps),
            self.left_after(kind, True, steps),
        )

    @ddt.data(*SERVERS)
    def test_the_same_is_left_of_a_server(self, life):
        self.assert_the_same('os.nova.server', SERVERS[life])

    @ddt.data(*STACKS)
    def test_the_same_is_left_of_a_stack(self, life):
        self.assert_the_same('os.heat.stack', STACKS[life])

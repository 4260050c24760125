# SPDX-License-Identifier: Apache-2.0

"""The profiles beside Senlin's own: what an operation leaves is the same."""

import json
import re
import types
from unittest import mock

import ddt
from senlin.common import consts, context
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models
from senlin.engine import node as node_mod

from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, THREE, TWO

TEMPLATE = {'heat_template_version': '2021-04-16'}
#: Type -> a spec, and what can be changed in it later.
SPECS = {
    'os.nova.server': (
        {'flavor': 'small', 'image': 'cirros', 'networks': []},
        {'name': 'renamed'},
    ),
    'os.heat.stack': ({'template': TEMPLATE}, {'timeout': 7}),
}
#: Columns that differ from node to node.
OWN = {'id', 'name', 'cluster_id', 'profile_id', 'physical_id'}
#: Times of which only the presence is compared.
TIMES = {'init_at', 'created_at', 'updated_at'}
UUID = re.compile('[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')

SERVER_CALLS = ('server_create', 'wait_for_server', 'server_get')
STACK_CALLS = ('stack_create', 'wait_for_stack', 'stack_get')


def recovering(operation=None, **params):
    """Return the step that recovers a node."""
    how = {'operation': operation, 'operation_params': params}
    how = how if operation else {}

    def recover(test, node_id, changed):
        return test.senlin.act_node(node_id, 'recover', **how)

    return recover


def check(test, node_id, changed):
    """Check a node."""
    return test.senlin.act_node(node_id, 'check')


def lose(test, node_id, changed):
    """Take away what the node is made of."""
    for region in test.cloud.regions.values():
        region.servers.pop(test.row(node_id)['physical_id'], None)
        region.stacks.pop(test.row(node_id)['physical_id'], None)


def update(test, node_id, changed):
    """Give a node another profile."""
    answer = test.senlin.call(
        'PATCH', f'/nodes/{node_id}', {'node': {'profile_id': changed}}
    )
    return test.senlin.wait(answer['started'])


def leave(test, node_id, changed):
    """Take a node out of its cluster."""
    test.left = test.row(node_id)['cluster_id']
    return test.senlin.act(test.left, 'del_nodes', nodes=[node_id])


def join(test, node_id, changed):
    """Put the node back."""
    return test.senlin.act(test.left, 'add_nodes', nodes=[node_id])


def snapshot(test, node_id, changed):
    """Run an operation that Senlin's API does not offer."""
    admin = context.get_admin_context()
    node = node_mod.Node.load(admin, node_id=node_id, project_safe=False)
    node.do_operation(admin, operation='snapshot')


def failing(call, step):
    """Return a step during which a call to the cloud fails."""

    def fail(test, node_id, changed):
        failures = test.cloud.regions[ONE].failures
        failures[call] = 'Out of order'
        action = step(test, node_id, changed)
        failures.clear()
        return action

    return fail


def delete(test, node_id, changed):
    """Delete a node."""
    return test.senlin.delete(f'/nodes/{node_id}')


RECREATE = recovering('RECREATE')
BOTH = {
    'is checked and recreated twice': (check, RECREATE, RECREATE),
    'is gone and recreated': (lose, check, RECREATE),
    'is updated and recreated': (update, RECREATE),
    'leaves, joins and is deleted': (leave, join, delete),
}
SERVERS = {
    'is recovered in the other ways': (
        recovering(),
        recovering('REBOOT'),
        recovering('REBUILD', image='new'),
        snapshot,
    ),
    'is gone and rebuilt': (lose, recovering('REBUILD')),
}
LIVES = {
    f'{kind} that {what}': (kind, steps)
    for kind, own, calls in (
        ('os.nova.server', SERVERS, SERVER_CALLS),
        ('os.heat.stack', {}, STACK_CALLS),
    )
    for what, steps in {
        **BOTH,
        **own,
        **{f'fails in {c}': (failing(c, RECREATE), RECREATE) for c in calls},
    }.items()
}


@ddt.ddt
class Compared(base.TestCase):
    maxDiff = None

    def row(self, node_id):
        """Return the row of a node."""
        with db_api.session_for_read() as session:
            query = session.query(models.Node).filter_by(id=node_id)
            return {
                column.name: getattr(node, column.name)
                for node in query
                for column in models.Node.__table__.columns
            }

    def make(self, type_name, spec, change):
        """Return a cluster, its node, and another profile for the node."""
        profile = self.senlin.profile(type_name, **spec)
        changed = self.senlin.profile(type_name, **spec, **change)
        cluster = self.cluster(profile=profile)
        return cluster, self.add_node(cluster, profile), changed

    def left_after(self, steps, cluster, node_id, changed):
        """Return what each step of a node's life leaves behind."""
        found = [self.look(node_id)]
        for step in steps:
            before = self.row(node_id)['physical_id']
            action = step(self, node_id, changed)
            self.wait_until_free(cluster)
            now = self.row(node_id)
            same = now and now['physical_id'] == before
            outcome = action and (action['status'], action['status_reason'])
            found.append((same, outcome, self.look(node_id)))
        texts = [json.dumps(step, sort_keys=True) for step in found]
        return [UUID.sub('ID', text) for text in texts]

    def look(self, node_id):
        """Return the row of a node without what must differ."""
        row = self.row(node_id)
        placement = dict((row.get('data') or {}).get('placement') or {})
        placement.pop('region_name', None)
        data = {**(row.get('data') or {}), 'placement': placement}
        return {
            name: bool(value) if name in TIMES else value
            for name, value in {**row, 'data': data}.items()
            if name not in OWN
        }

    @ddt.data(*LIVES)
    def test_the_same_is_left_of_an(self, life):
        kind, steps = LIVES[life]
        made = self.built(
            lambda: {
                (name, own): self.make(
                    name.replace('os', 'senlin_plugins', own), *spec
                )
                for name, spec in SPECS.items()
                for own in (0, 1)
            }
        )
        self.assertEqual(
            self.left_after(steps, *made[kind, 0]),
            self.left_after(steps, *made[kind, 1]),
        )


class Died(BaseException):
    """An engine is killed."""


class LoadBalancing(base.TestCase):
    """Senlin's load-balancing policy, with our policies and profile."""

    def setUp(self):
        super().setUp()
        self.cluster_id = self.built(self.build)

    def build(self):
        """Return a cluster of two nodes behind a load balancer."""
        lb = {
            'pool': {'subnet': 'private', 'protocol_port': 80},
            'vip': {'subnet': 'public', 'protocol_port': 80},
        }
        cluster = self.cluster(
            self.region_policy((TWO,), (THREE,)),
            self.senlin.policy('senlin.policy.loadbalance', lb, '1.3'),
            self.deletion_policy('1.1'),
        )
        self.act(cluster, 'scale_out', count=2)
        return cluster

    def assert_members(self, count):
        """Check that each server of the cluster is a member, once."""
        nodes = self.senlin.nodes(self.cluster_id)
        self.assertEqual(count, len(nodes))
        (pool,) = (
            members
            for members in self.cloud.pools.values()
            if {n['data'].get('lb_member') for n in nodes} & members.keys()
        )
        self.assertEqual(
            {n['data']['lb_member']: n['physical_id'] for n in nodes}, pool
        )

    def recover(self, node, **how):
        """Recover a node as the health manager does."""
        self.act_node(node['id'], 'recover', **how)

    def test_each_server_is_in_the_pool_once(self):
        self.act(self.cluster_id, 'scale_out', count=2)
        self.assert_members(4)
        nodes = self.senlin.nodes(self.cluster_id)
        for operation in (
            consts.RECOVER_RECREATE,
            consts.RECOVER_REBOOT,
            consts.RECOVER_RECREATE,
        ):
            self.recover(nodes[0], operation=operation)
            self.assert_members(4)
        self.act(self.cluster_id, 'scale_in')
        self.assert_members(3)
        self.act(
            self.cluster_id,
            'resize',
            adjustment_type='EXACT_CAPACITY',
            number=5,
        )
        self.assert_members(5)
        node = self.senlin.nodes(self.cluster_id)[0]
        self.assert_done(self.senlin.delete(f'/nodes/{node["id"]}'))
        self.assert_members(4)

    def test_an_engine_that_dies_while_a_server_is_recreated(self):
        node = self.senlin.nodes(self.cluster_id)[0]
        compute = self.cloud.driver.compute
        admin = context.get_admin_context()
        action = types.SimpleNamespace(inputs={'operation': 'RECREATE'})
        # As if it were killed after Nova has answered.
        with (
            mock.patch.object(compute, 'wait_for_server', side_effect=Died),
            self.assertRaises(Died),
        ):
            node_mod.Node.load(admin, node_id=node['id']).do_recover(
                admin, action
            )
        self.recover(node, check=True)
        self.assert_members(2)

    def test_a_recovery_of_the_cluster_is_made_up_for_by_one_of_the_node(self):
        node = self.senlin.nodes(self.cluster_id)[0]
        del self.cloud.regions[base.region_of(node)].servers[
            node['physical_id']
        ]
        # Senlin asks no policy about the nodes that this recovers.
        self.act(self.cluster_id, 'recover', check=True)
        self.recover(node, check=True)
        self.assert_members(2)


class Deletion(base.TestCase):
    """Senlin's deletion policy with our region policy."""

    def attach_deletion(self, cluster_id):
        """Attach Senlin's own deletion policy."""
        policy = self.senlin.policy('senlin.policy.deletion', {})
        self.attach(cluster_id, policy)

    def test_it_finds_nodes_that_joined(self):
        cluster_id = self.spread((ONE,), (TWO,))
        self.attach_deletion(cluster_id)
        other = self.spread((TWO,))
        self.act(other, 'scale_out')
        (held,) = self.senlin.nodes(other)
        server = held['physical_id']
        self.abandon(held['id'])
        node = self.senlin.adopt(
            server, context={'region_name': TWO}, networks=[]
        )
        self.act(cluster_id, 'add_nodes', nodes=[node['id']])
        self.assertEqual([node['id']], self.ids(cluster_id, TWO))
        data = self.act(cluster_id, 'scale_in')
        self.assertEqual([node['id']], data['deletion']['candidates'])
        self.assertIsNone(self.cloud.region_of_server(server))

    def test_it_finds_nodes_of_a_cluster_with_plans_only(self):
        self.set_option('unaware_profile', 'plan_only')
        profile = self.senlin.profile('os.nova.server')
        cluster_id = self.cluster(profile=profile, size=1)
        policy = self.region_policy((TWO,), (ONE,))
        self.attach(cluster_id, policy)
        self.assert_nodes(cluster_id, **{ONE: 1})
        self.act(cluster_id, 'scale_out', count=2)
        self.attach_deletion(cluster_id)
        data = self.act(cluster_id, 'scale_in', count=3)
        self.assertEqual({ONE: 3}, data['deletion']['regions'])
        self.assertEqual(0, self.cloud.servers_of(cluster_id)[ONE])

    def test_a_cluster_whose_nodes_have_no_region_is_refused(self):
        self.set_option('unaware_profile', 'plan_only')
        profile = self.senlin.profile('os.nova.server')
        cluster_id = self.cluster(profile=profile, size=1)
        policy = self.region_policy((TWO,))
        self.set_option('default_region_name', '', None)
        self.assert_not_attached('has no region', cluster_id, policy)

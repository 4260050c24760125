# SPDX-License-Identifier: Apache-2.0

"""Nothing is deleted that another node holds, whoever asks for it."""

import ddt
import eventlet
from senlin.common import context
from senlin.objects import node as node_objects

from testing.senlin import engine
from tests.functional.senlin_plugins import failing_regions
from tests.functional.senlin_plugins.base import ONE, TWO

SERVER = 'senlin_plugins.nova.server'
STACK = 'senlin_plugins.heat.stack'
TEMPLATE = {'heat_template_version': '2021-04-16'}
#: Type of a profile -> what Senlin calls a thing of it, and its spec.
KINDS = {
    SERVER: ('server', {'flavor': 'small', 'networks': []}),
    STACK: ('stack', {'template': TEMPLATE}),
}


class TestCase(failing_regions.TestCase):
    """Clusters of servers or of stacks in one region."""

    def make_cluster(self, type_name, version='1.1'):
        """Create a cluster with two nodes and return its id."""
        self.kind, spec = KINDS[type_name]
        self.type_name = type_name
        profile = self.senlin.profile(type_name, **spec)
        # The other region only keeps this one from being most of them.
        policy = self.policy((TWO,), (ONE, 0), version=version)
        cluster = self.cluster(policy, profile=profile)
        self.act(cluster, 'scale_out', count=2)
        return cluster

    @property
    def things(self):
        """The servers or stacks of the region."""
        return getattr(self.cloud.regions[TWO], f'{self.kind}s')

    def adopt(self, identity, region=TWO):
        """Adopt something and return the id of its node."""
        spec = {} if self.kind == 'stack' else {'networks': []}
        body = {
            'type': f'{self.type_name}-1.0',
            'identity': identity,
            'name': 'foundling',
            'overrides': {'context': {'region_name': region}, **spec},
        }
        return self.senlin.call('POST', '/nodes/adopt', body)['node']['id']

    def lose_answer(self, cluster):
        """Create a node that knows nothing of what was made for it.

        :returns: the node in ERROR, and the id of what was made.
        """
        before = {*self.things}
        failures = self.cloud.regions[TWO].failures
        failures[f'{self.kind}_created'] = 'the answer is lost'
        self.senlin.act(cluster, 'scale_out')
        self.settle(cluster)
        failures.clear()
        (lost,) = {*self.things} - before
        (node,) = (
            node['id']
            for node in self.senlin.nodes(cluster)
            if not node['physical_id']
        )
        return node, lost

    def hold(self, node, identity, region=TWO):
        """Let a node hold something under a name, as Senlin lets it."""
        data = self.shown(node)['data']
        data['placement'] = {'region_name': region}
        values = {'physical_id': identity, 'data': data}
        node_objects.Node.update(context.get_admin_context(), node, values)

    def assert_is_held(self, node, identity):
        """Check that a node has what it was given, and that it is there."""
        self.act_node(node, 'check')
        self.assertEqual('ACTIVE', self.shown(node)['status'])
        self.assertEqual(identity, self.shown(node)['physical_id'])


@ddt.ddt
class LostAnswer(TestCase):
    """A user adopts what was made for a node that does not know of it."""

    @ddt.data(*KINDS)
    def test_the_node_is_deleted(self, type_name):
        cluster = self.make_cluster(type_name)
        node, lost = self.lose_answer(cluster)
        adopted = self.adopt(lost)
        self.assert_done(self.senlin.delete(f'/nodes/{node}'))
        self.assert_is_held(adopted, lost)
        self.assert_done(self.senlin.delete(f'/nodes/{adopted}'))
        self.assertNotIn(lost, self.things)

    @ddt.data(*KINDS)
    def test_the_cluster_is_recovered(self, type_name):
        cluster = self.make_cluster(type_name)
        node, lost = self.lose_answer(cluster)
        adopted = self.adopt(lost)
        self.act(cluster, 'recover')
        self.assert_is_held(adopted, lost)
        self.assertNotEqual(lost, self.shown(node)['physical_id'])
        self.assertEqual(4, len(self.things))
        self.assert_done(self.senlin.delete(f'/clusters/{cluster}'))
        self.assertEqual([lost], [*self.things])
        self.assert_is_held(adopted, lost)

    @ddt.data(*KINDS)
    def test_without_a_policy(self, type_name):
        cluster = self.make_cluster(type_name)
        node, lost = self.lose_answer(cluster)
        self.detach(cluster)
        adopted = self.adopt(lost)
        self.assert_done(self.senlin.delete(f'/nodes/{node}'))
        self.assert_is_held(adopted, lost)

    def test_its_ports_stay_with_the_server(self):
        self.kind, self.type_name = 'server', SERVER
        networks = [{'network': 'front', 'floating_network': 'out'}]
        profile = self.senlin.profile(flavor='small', networks=networks)
        cluster = self.cluster(self.policy((TWO,)), profile=profile)
        self.act(cluster, 'scale_out')
        ((node, server),) = self.held(cluster).items()
        self.hold(node, None)
        adopted = self.adopt(server)
        self.act_node(node, 'recover')
        self.assert_done(self.senlin.delete(f'/nodes/{node}'))
        self.assert_is_held(adopted, server)
        self.assertEqual(1, len(self.cloud.regions[TWO].ports))
        self.assertEqual(1, len(self.cloud.regions[TWO].floating))

    @ddt.data(*KINDS)
    def test_of_two_lost_answers_both_are_found(self, type_name):
        cluster = self.make_cluster(type_name)
        node, lost = self.lose_answer(cluster)
        # The region is away while the node gets another one.
        self.detach(cluster)
        failures = self.cloud.regions[TWO].failures
        failures[f'{self.kind}s'] = 'away'
        failures[f'{self.kind}_created'] = 'the answer is lost'
        self.senlin.act_node(node, 'recover')
        failures.clear()
        self.assertEqual(4, len(self.things))
        self.assert_done(self.senlin.delete(f'/nodes/{node}'))
        self.assertEqual({*self.held(cluster).values()}, {*self.things})


@ddt.ddt
class Adoption(TestCase):
    def assert_refused(self, code, words, identity, region=TWO):
        """Check that something cannot be adopted, and why."""
        before = len(self.senlin.call('GET', '/nodes')['nodes'])
        with self.assertRaisesRegex(engine.ApiError, words) as caught:
            self.adopt(identity, region)
        self.assertEqual(code, caught.exception.code)
        after = len(self.senlin.call('GET', '/nodes')['nodes'])
        self.assertEqual(before, after)

    @ddt.data(*KINDS)
    def test_what_a_node_has_is_in_use(self, type_name):
        cluster = self.make_cluster(type_name)
        held, other = self.held(cluster).values()
        words = f"The {self.kind} '{held}' .*a node has it already"
        self.assert_refused(409, words, held)
        self.assertEqual({held, other}, {*self.things})

    def test_a_server_has_no_name_for_nova(self):
        cluster = self.make_cluster(SERVER)
        (server, *_) = self.held(cluster).values()
        name = self.things[server].name
        self.assert_refused(500, '404: .* is not in', name)

    def test_a_stack_is_adopted_by_its_id_only(self):
        cluster = self.make_cluster(STACK)
        node, held = next(iter(self.held(cluster).items()))
        name = self.things[held].name
        for identity in (held, name, f'{name}/{held}'):
            words = f"The stack '{held}' .*a node has it already"
            self.assert_refused(409, words, identity)
        self.abandon(node)
        for identity in (name, f'{name}/{held}'):
            words = f'The id of this stack is {held}: adopt it by its id'
            self.assert_refused(400, words, identity)
        self.assert_is_held(self.adopt(held), held)

    def test_a_stack_that_a_node_holds_by_its_name(self):
        cluster = self.make_cluster(STACK)
        node, held = next(iter(self.held(cluster).items()))
        name = self.things[held].name
        # As Senlin's own profile adopts it.
        self.hold(node, name)
        self.assert_refused(409, 'a node has it already', held)
        self.assert_refused(409, 'a node has it already', name)
        # A second stack with the name, in another region, is another one.
        twin = self.twin(held)
        self.assert_refused(400, f'stack is {twin}', name, ONE)
        adopted = self.adopt(twin, ONE)
        self.assert_done(self.senlin.delete(f'/nodes/{adopted}'))
        self.assertNotIn(twin, self.cloud.regions[ONE].stacks)
        self.assert_is_held(node, name)

    def twin(self, stack):
        """Create a stack of the same name in another region."""
        client = self.cloud.driver.orchestration({'region_name': ONE})
        thing = self.things[stack].to_dict()
        name, template = thing['name'], thing['template']
        twin = client.stack_create(
            stack_name=name, template=template, parameters={}
        )
        self.cloud.regions[ONE].stacks[twin.id].environment = {}
        self.cloud.regions[ONE].stacks[twin.id].files = {}
        self.cloud.regions[ONE].stacks[twin.id].timeout_mins = None
        return twin.id

    @ddt.data(*KINDS)
    def test_three_at_once_and_the_last_one_deletes(self, type_name):
        cluster = self.make_cluster(type_name)
        node, thing = next(iter(self.held(cluster).items()))
        self.abandon(node)
        threads = [eventlet.spawn(self.adopt, thing) for _ in range(3)]
        adopted = [thread.wait() for thread in threads]
        for node in adopted[:2]:
            self.assert_done(self.senlin.delete(f'/nodes/{node}'))
            self.assertIn(thing, self.things)
            self.assert_is_held(adopted[2], thing)
        self.assert_done(self.senlin.delete(f'/nodes/{adopted[2]}'))
        self.assertNotIn(thing, self.things)

    @ddt.data(*KINDS)
    def test_all_holders_are_deleted_at_once(self, type_name):
        cluster = self.make_cluster(type_name)
        node, thing = next(iter(self.held(cluster).items()))
        self.abandon(node)
        threads = [eventlet.spawn(self.adopt, thing) for _ in range(3)]
        started = [
            self.senlin.call('DELETE', f'/nodes/{thread.wait()}')['started']
            for thread in threads
        ]
        for action in started:
            self.assert_done(self.senlin.wait(action))
        self.assertNotIn(thing, self.things)

    @ddt.data(*KINDS)
    def test_one_of_two_holders_is_recovered(self, type_name):
        cluster = self.make_cluster(type_name)
        node, thing = next(iter(self.held(cluster).items()))
        self.abandon(node)
        threads = [eventlet.spawn(self.adopt, thing) for _ in range(2)]
        first, second = [thread.wait() for thread in threads]
        self.act_node(first, 'recover')
        self.assert_is_held(second, thing)
        self.assertNotEqual(thing, self.shown(first)['physical_id'])


class LeftBehind(TestCase):
    def test_a_stack_stays_while_heat_cannot_tell_who_holds_it(self):
        cluster = self.make_cluster(STACK)
        node, stack = next(iter(self.held(cluster).items()))
        self.cloud.regions[TWO].failures['stack_get'] = 'Out of order'
        action = self.senlin.delete(f'/nodes/{node}')
        self.assertEqual('FAILED', action['status'])
        self.assertIn(stack, self.things)
        self.assertIn('Out of order', self.shown(node)['status_reason'])

    def test_a_stack_that_a_node_holds_by_its_name_stays(self):
        cluster = self.make_cluster(STACK)
        self.attach(cluster, self.deletion_policy())
        node, stack = next(iter(self.held(cluster).items()))
        calls = 'probe orchestration', 'stack_get', 'stack_delete', 'stacks'
        self.fall_silent(TWO, calls)
        self.check(cluster)
        self.check(cluster)
        self.assert_done(self.senlin.delete(f'/nodes/{node}'))
        self.assertEqual(1, len(self.servers_left(cluster)))
        self.cloud.heal()
        self.hold(self.spare(), self.things[stack].name)
        self.act(cluster, 'check')
        self.assert_nothing_noted(cluster)
        self.assertIn(stack, self.things)

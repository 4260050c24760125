# SPDX-License-Identifier: Apache-2.0

"""Version 1.1 of the region policy on the real engine: recoveries."""

from unittest import mock

from senlin_plugins.cluster import left_behind
from senlin_plugins.regions import health, shared_look
from testing.senlin import driver
from tests.functional.senlin_plugins import base, failing_regions
from tests.functional.senlin_plugins.base import ONE, THREE, TWO


class Recovering(failing_regions.TestCase):
    def setUp(self):
        super().setUp()
        self.cluster_id = self.built(self.build)
        self.lost = self.ids(self.cluster_id, TWO)

    def build(self):
        """Return a cluster whose second region is out."""
        cluster = self.spread_out(4, (ONE,), (TWO,), networks=['net'])
        self.go_out(
            TWO, cluster, calls=[*failing_regions.CALLS, 'probe network']
        )
        return cluster

    def test_nodes_move_and_what_they_leave_goes_later(self):
        cluster = self.cluster_id
        alone, other = self.lost
        self.act_node(alone, 'recover')
        self.assertEqual([other], self.ids(cluster, TWO))
        data = self.act(cluster, 'recover', check=True)
        self.assertEqual({other: ONE}, data['moves'])
        self.assertEqual('compute', data['region_placement'][TWO]['service'])
        self.assert_nodes(cluster, **{ONE: 4})
        self.assertEqual(
            {ONE: 4, TWO: 2, THREE: 0}, self.cloud.servers_of(cluster)
        )
        self.assertEqual({TWO: 'out'}, self.region_states(cluster))
        left = self.servers_left(cluster)
        self.assertEqual({TWO}, {entry.region for entry in left})
        servers = self.cloud.regions[TWO].servers
        self.assertEqual({entry.server for entry in left}, {*servers})
        # A scaling meanwhile.
        self.act(cluster, 'scale_out', count=2)
        self.assert_nodes(cluster, **{ONE: 6})
        self.cloud.heal()
        # Any action of the cluster's policy will do.
        self.act_node(alone, 'check')
        self.assert_nothing_noted(cluster)
        self.assert_servers(cluster, **{ONE: 6})
        self.assert_gone(cluster)

    def test_a_move_that_creates_nothing_loses_nothing(self):
        for call in ('server_create', 'server_get'):
            self.cloud.regions[ONE].failures[call] = 'Nova is on fire'
        self.assertIsNone(self.fail_to_move('Nova is on fire'))
        self.assert_moves_later()

    def test_a_move_that_creates_a_broken_server_loses_nothing(self):
        region = self.cloud.regions[ONE]
        region.failures['wait_for_server'] = 'The server is in ERROR.'
        region.failures['server_delete'] = 'Nova is on fire'
        broken = self.fail_to_move('The server is in ERROR.')
        region.servers[broken].status = 'ERROR'
        self.assert_moves_later()
        self.assertNotIn(broken, region.servers)

    def fail_to_move(self, reason):
        """Let a node fail to move; return the id of the server it then has."""
        node = self.lost[0]
        old = self.held(self.cluster_id)[node]
        action = self.senlin.act_node(node, 'recover')
        self.assertEqual('FAILED', action['status'])
        shown = self.shown(node)
        self.assertEqual('ERROR', shown['status'])
        self.assertIn(reason, shown['status_reason'])
        left = self.servers_left(self.cluster_id)
        self.assertEqual([old], [entry.server for entry in left])
        return shown['physical_id']

    def assert_moves_later(self):
        """Check that the next recovery of the node moves it."""
        self.cloud.regions[ONE].failures.clear()
        self.act_node(self.lost[0], 'recover')
        self.assert_forgotten(self.cluster_id, **{ONE: 3, TWO: 1})

    def test_a_node_that_has_left_its_cluster_takes_its_server_along(self):
        keeping = self.deletion_policy(destroy_after_deletion=False)
        self.attach(self.cluster_id, keeping)
        # A node can leave only if its server can be told.
        self.cloud.heal()
        self.fall_silent(TWO, ['probe compute', 'server_delete'])
        self.act(self.cluster_id, 'del_nodes', nodes=self.lost)
        path = f'/nodes/{self.lost[0]}'
        # Nobody leaves a server behind that no cluster would remember.
        self.assertEqual('FAILED', self.senlin.delete(path)['status'])
        self.cloud.heal()
        for node in self.lost:
            self.assert_done(self.senlin.delete(f'/nodes/{node}'))
        self.assert_servers(self.cluster_id, **{ONE: 2})

    def test_a_server_that_its_node_kept_is_not_replaced(self):
        cluster = self.cluster_id
        before = self.held(cluster)
        self.cloud.heal()
        self.cloud.keystone_failure = 'busy'
        action = self.senlin.act(cluster, 'recover', check=True)
        self.assertEqual('FAILED', action['status'])
        self.cloud.keystone_failure = ''
        # As the page says; there is no check.
        self.act(cluster, 'recover')
        self.assertEqual(before, self.held(cluster))
        self.assert_nodes(cluster, **{ONE: 2, TWO: 2})
        self.assert_nothing_noted(cluster)
        # A node that is well is replaced if somebody wants it.
        node = next(iter(before))
        self.act_node(node, 'recover')
        after = self.held(cluster)
        self.assertNotEqual(before.pop(node), after.pop(node))
        self.assertEqual(before, after)

    def test_an_adopted_server_is_not_deleted(self):
        held = self.held(self.cluster_id)
        adopted, other = (held[node] for node in self.lost)
        self.act(self.cluster_id, 'recover')
        self.cloud.heal()
        self.senlin.adopt(adopted, context={'region_name': TWO})
        self.act(self.cluster_id, 'check')
        self.assert_nothing_noted(self.cluster_id)
        self.assertEqual({adopted}, {*self.cloud.regions[TWO].servers}, other)

    def test_a_region_that_no_policy_names_is_looked_at(self):
        cluster = self.cluster_id
        self.detach(cluster)
        self.attach(cluster, self.policy((ONE,), (THREE,)))
        self.act(cluster, 'recover')
        self.assert_nodes(cluster, **{ONE: 2, THREE: 2})
        self.assert_forgotten(cluster, **{ONE: 2, THREE: 2})

    def test_a_drained_region_gets_no_node_back(self):
        self.cloud.heal()
        drained = f'{{"{TWO}": {{"weight": 0, "cap": 0}}}}'
        self.update(
            f'/clusters/{self.cluster_id}',
            metadata={'region_placement': drained},
        )
        self.act(self.cluster_id, 'recover')
        servers = self.cloud.regions[TWO].servers
        del servers[next(iter(servers))]
        self.act(self.cluster_id, 'recover', check=True)
        self.assert_nodes(self.cluster_id, **{ONE: 3, TWO: 1})

    def test_a_cluster_is_not_deleted_before_what_it_has_left_behind(self):
        cluster = self.cluster_id
        held = self.held(cluster)
        deletion = self.deletion_policy()
        self.attach(cluster, deletion)
        first, second = self.lost
        self.assert_done(self.senlin.delete(f'/nodes/{first}'))
        self.act(cluster, 'del_nodes', nodes=[second])
        self.assert_nodes(cluster, **{ONE: 2})
        self.assertEqual(
            {held[first], held[second]},
            {entry.server for entry in self.servers_left(cluster)},
        )
        action = self.senlin.delete(f'/clusters/{cluster}')
        reason = action['data']['reason']
        self.assert_failed(reason, action)
        self.assertIn('2 server(s) cannot be deleted now', reason)
        self.assertIn('openstack cluster region forget', reason)
        # Nor without a policy.
        self.act(cluster, 'policy_detach', policy_id=deletion)
        self.detach(cluster)
        with mock.patch.object(left_behind, 'LIMIT', 0.2):
            action = self.senlin.delete(f'/clusters/{cluster}')
        self.assertEqual('FAILED', action['status'])
        self.assertEqual(2, len(self.servers_left(cluster)))
        self.cloud.heal()
        self.assert_gone(cluster)

    def test_as_many_nodes_move_as_there_is_room_for(self):
        cluster = self.cluster_id
        self.detach(cluster)
        self.attach(cluster, self.policy((ONE, 100, 3), (TWO,)))
        action = self.senlin.act(cluster, 'recover')
        # The first node that fails ends the action; it goes on for a while.
        self.settle(cluster)
        action = self.senlin.action(action['id'])
        self.assertEqual('FAILED', action['status'])
        (stuck,) = action['data']['stuck']
        self.assertEqual(1, len(action['data']['moves']))
        self.assertIn(
            f'1 node(s) have no place: {stuck}.', action['data']['reason']
        )
        self.assertEqual([stuck], self.ids(cluster, TWO))
        self.cloud.heal()
        self.act(cluster, 'recover')
        self.assert_nodes(cluster, **{ONE: 3, TWO: 1})
        self.assert_nothing_noted(cluster)
        self.assert_servers(cluster, **{ONE: 3, TWO: 1})


class Lasting(failing_regions.TestCase):
    """Silence must last."""

    def setUp(self):
        super().setUp()
        self.set_option('region_out_after', 300)
        self.cluster_id = self.built(
            lambda: self.spread_out(4, (ONE,), (TWO,), (THREE, 0))
        )
        self.before = self.held(self.cluster_id)

    def assert_unmoved(self):
        """Check that each node has its server."""
        self.assertEqual(self.before, self.held(self.cluster_id))

    def recover(self, **arguments):
        """Recover the cluster, and return the action at its very end."""
        action = self.senlin.act(self.cluster_id, 'recover', **arguments)
        self.settle(self.cluster_id)
        return self.senlin.action(action['id'])

    def test_nothing_moves_before_the_time(self):
        self.fall_silent(TWO)
        for seconds in (0, 1, 299, 300):
            with self.at(seconds):
                action = self.recover(check=True)
                self.assertEqual('FAILED', action['status'])
                self.assertIn('is silent since', action['data']['reason'])
                self.assertIn('counts as out if', action['data']['reason'])
        self.assert_unmoved()
        self.assertEqual([], self.servers_left(self.cluster_id))
        with self.at(301):
            self.assertEqual('SUCCEEDED', self.recover()['status'])
        self.assert_nodes(self.cluster_id, **{ONE: 4})

    def test_a_recovery_that_cannot_look_replaces_nothing(self):
        self.fall_silent(TWO)
        for seconds in (0, 301, 320):
            with self.at(seconds):
                self.check(self.cluster_id)
        self.assertEqual({TWO: 'out'}, self.region_states(self.cluster_id))
        self.cloud.heal()
        self.cloud.keystone_failure = 'Service Unavailable'
        with self.at(350):
            action = self.recover(check=True)
            self.assert_failed(
                'The policy check failed: Service Unavailable', action
            )
        self.assert_unmoved()
        self.cloud.keystone_failure = ''
        with self.at(360):
            self.assertEqual('SUCCEEDED', self.recover(check=True)['status'])
        self.assert_unmoved()
        self.assert_nothing_noted(self.cluster_id)

    def test_clocks_of_engines_do_not_count(self):
        self.fall_silent(TWO)
        for hours in (1, -1, 1, 1, -1, -1):
            with self.clock_ahead(hours * 3600):
                self.check(self.cluster_id)
        states = self.region_states(self.cluster_id)
        self.assertEqual({TWO: 'silent'}, states)
        since = self.notes(self.cluster_id).states[TWO].since
        self.assertLess(base.now(-60, self.began), since)
        self.assertLess(since, base.now(600, self.began))
        self.assert_unmoved()

    def test_a_blip_in_the_middle_of_a_recovery_replaces_no_server(self):
        # Nova is away while the nodes are checked, and answers otherwise.
        for on in (1, 2):
            fault = driver.Fault('blip', on=on)
            self.cloud.regions[TWO].failures['server_get'] = fault
            self.recover(check=True)
            self.assert_unmoved()
        self.cloud.heal()
        self.act(self.cluster_id, 'recover')
        self.assert_unmoved()
        self.assert_nodes(self.cluster_id, **{ONE: 2, TWO: 2})

    def test_most_regions_are_silent(self):
        for name in (ONE, TWO):
            self.fall_silent(name)
        for seconds in (0, 300, 600):
            with self.at(seconds):
                action = self.recover(check=True)
        self.assertIn('more than half of the regions', str(action['data']))
        self.assert_unmoved()
        self.assertEqual(
            {ONE: 'held', TWO: 'held'}, self.region_states(self.cluster_id)
        )
        # An operator knows better.
        self.assertIn(
            'If it is out, run: openstack cluster region set --out '
            f'{self.cluster_id} {TWO}.',
            action['data']['reason'],
        )
        self.declare(self.cluster_id, TWO)
        self.recover()
        self.assertEqual(2, len(self.ids(self.cluster_id, THREE)))

    def test_what_is_declared_out_stays_as_long_as_that_is_said(self):
        self.declare(self.cluster_id, TWO)
        self.recover(check=True)
        self.act(self.cluster_id, 'check')
        self.assert_nodes(self.cluster_id, **{ONE: 4})
        self.assertEqual(2, len(self.servers_left(self.cluster_id)))
        self.assertEqual(2, self.cloud.servers_of(self.cluster_id)[TWO])
        self.update(f'/clusters/{self.cluster_id}', metadata={})
        self.assert_forgotten(self.cluster_id, **{ONE: 4})

    def test_a_region_that_is_given_up_is_none_of_the_silent_ones(self):
        self.declare(self.cluster_id, ONE)
        for name in (ONE, TWO):
            self.fall_silent(name)
        for seconds in (0, 300, 600):
            with self.at(seconds):
                self.recover(check=True)
        states = self.region_states(self.cluster_id)
        self.assertEqual('out', states[TWO])
        self.assertEqual(4, len(self.ids(self.cluster_id, THREE)))


class AtOnce(failing_regions.TestCase):
    def start(self, node):
        """Start to recover a node and return the action's id."""
        path = f'/nodes/{node}/actions'
        return self.senlin.call('POST', path, {'recover': {}})['action']

    def test_nodes_that_are_recovered_at_once_do_not_go_to_one_region(self):
        regions = (ONE, 100, 5), (TWO, 300), (THREE,)
        cluster = self.spread_out(10, *regions)
        self.assert_nodes(cluster, **{ONE: 2, TWO: 6, THREE: 2})
        self.go_out(TWO, cluster)
        with self.assertLogs('senlin_plugins', 'WARNING') as logs:
            started = [self.start(node) for node in self.ids(cluster, TWO)]
            for action in started:
                self.assert_done(self.senlin.wait(action))
        self.assert_nodes(cluster, **{ONE: 5, THREE: 5})
        (line,) = (line for line in logs.output if 'does not answer' in line)
        self.assertIn(f"Region '{TWO}' of cluster {cluster} is out", line)
        # None of the notes that all of them wrote is lost.
        self.assertEqual(6, len(self.servers_left(cluster)))
        self.assert_forgotten(cluster, **{ONE: 5, THREE: 5})

    def test_twenty_recoveries_at_once_need_two_looks(self):
        cluster = self.spread_out(20, (ONE,), (TWO, 0))
        ask, look = shared_look.share, health.look
        questions, looks = [], []

        def note_question(*args):
            questions.append(args)
            return ask(*args)

        def look_when_all_have_asked(*args):
            looks.append(args)
            self.wait_until(lambda: len(questions) == 20)
            return look(*args)

        self.patch(shared_look, 'share', note_question)
        self.patch(health, 'look', look_when_all_have_asked)
        started = [self.start(node) for node in self.ids(cluster, ONE)]
        for action in started:
            self.assert_done(self.senlin.wait(action))
        self.assertEqual(20, len(questions))
        self.assertLessEqual(len(looks), 2)

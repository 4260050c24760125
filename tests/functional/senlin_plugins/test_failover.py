# SPDX-License-Identifier: Apache-2.0

"""Version 1.1 of the region policy on the real engine: regions fail."""

import contextlib
import datetime
from unittest import mock

from senlin.common import consts, context
from senlin.engine import node as engine_node
from senlin.objects import node as node_objects

from senlin_plugins.cluster import (
    cluster_row,
    left_behind,
    region_watcher,
)
from senlin_plugins.planning import region_state
from senlin_plugins.policies import region_failover
from senlin_plugins.regions import endpoints, health, shared_look
from testing.senlin import driver
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, THREE, TWO

#: What fails in a region that is out.
CALLS = (
    'probe compute',
    'servers',
    'server_create',
    'server_get',
    'server_delete',
    'server_update',
)
QUOTA = 'Quota exceeded for instances: Requested 1, but already used 2 of 2'


class TestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.began = datetime.datetime.now(datetime.UTC)
        # A region is out at the second look that finds it silent.
        self.set_option('region_out_after', 0)
        self.patch(endpoints, 'PAUSES', (0, 0))
        self.patch(left_behind, 'PAUSE', 0.05)

    def policy(self, *regions, version='1.1', **properties):
        """Create a region policy that knows of regions that fail."""
        return self.region_policy(*regions, version=version, **properties)

    def spread_out(self, count, *regions, networks=(), **properties):
        """Create a cluster with so many nodes and return its id."""
        profile = self.senlin.profile(
            flavor='small', networks=[{'network': name} for name in networks]
        )
        policy = self.policy(*regions, **properties)
        cluster = self.cluster(policy, profile=profile)
        self.act(cluster, 'scale_out', count=count)
        return cluster

    def fall_silent(self, name, calls=CALLS):
        """Let a region fall silent."""
        failures = self.cloud.regions[name].failures
        failures.update(dict.fromkeys(calls, f'{name} is dead'))

    def go_out(self, name, cluster, calls=CALLS):
        """Let a region go out, which a cluster notices."""
        self.fall_silent(name, calls)
        self.check(cluster)
        self.assertEqual({name: 'silent'}, self.region_states(cluster))

    def check(self, cluster):
        """Check a cluster, whatever comes of it, and let it clear up."""
        self.senlin.act(cluster, 'check')
        self.settle(cluster)

    def settle(self, cluster):
        """Wait until nothing goes on, also not behind the actions."""
        self.wait_until_free(cluster)
        self.wait_until(lambda: cluster not in left_behind.at_work)

    @contextlib.contextmanager
    def at(self, seconds):
        """Let it be some seconds later."""
        with mock.patch.object(
            cluster_row,
            'read_clock',
            lambda time: base.now(seconds, self.began),
        ):
            yield

    @contextlib.contextmanager
    def clock_ahead(self, seconds):
        """Let the clock of this engine be ahead, or behind."""
        time_of = region_state.show_time
        shift = datetime.timedelta(seconds=seconds)
        with mock.patch.object(
            health,
            'now',
            lambda: time_of(datetime.datetime.now(datetime.UTC) + shift),
        ):
            yield

    def declare(self, cluster, name):
        """Declare a region out."""
        declared = f'{{"{name}": {{"out": true}}}}'
        self.update(
            f'/clusters/{cluster}', metadata={'region_placement': declared}
        )

    def notes(self, cluster):
        """Return what the cluster's data note, as the API shows them."""
        self.wait_until(lambda: cluster not in left_behind.at_work)
        shown = self.senlin.call('GET', f'/clusters/{cluster}')['cluster']
        return region_state.read(shown['data'])

    def region_states(self, cluster):
        """Return region name -> its state, without regions that are well."""
        states = self.notes(cluster).in_force((), base.now())
        return {name: state.state for name, state in states.items()}

    def servers_left(self, cluster):
        """Return the entries of the servers that are left behind."""
        return list(self.notes(cluster).left)

    def assert_nothing_noted(self, cluster):
        """Check that all regions are well, and nothing is left behind."""
        self.assertEqual({}, self.region_states(cluster))
        self.assertEqual([], self.servers_left(cluster))

    def assert_forgotten(self, cluster, **counts):
        """Let all regions come back: nothing is left behind."""
        self.cloud.heal()
        self.act(cluster, 'check')
        self.assert_nothing_noted(cluster)
        self.assert_servers(cluster, **counts)


class Knowing(TestCase):
    def test_version_1_0_asks_nobody(self):
        cluster = self.cluster(self.policy((ONE,), (TWO,), version='1.0'))
        self.fall_silent(TWO, ['probe compute'])
        data = self.act(cluster, 'scale_out', count=2)
        self.assertEqual({ONE: 1, TWO: 1}, data['creation']['regions'])
        self.assertEqual([], self.cloud.probes)

    def test_all_are_asked_once_in_an_action(self):
        profile = self.senlin.profile()
        policy = self.policy((ONE,), (TWO,))
        cluster = self.cluster(policy, profile=profile)
        self.act(cluster, 'scale_out', count=2)
        node = self.ids(cluster)[0]
        for act in (
            lambda: self.senlin.act_node(node, 'recover'),
            lambda: self.senlin.act(cluster, 'recover', check_capacity=True),
            lambda: self.senlin.act(cluster, 'scale_in'),
            lambda: self.senlin.wait(
                self.senlin.start_node(cluster, profile)[0]
            ),
        ):
            self.cloud.lookups.clear()
            self.cloud.probes.clear()
            self.assert_done(act())
            self.assertEqual([[ONE, TWO]], self.cloud.lookups)
            probes = [(ONE, 'compute'), (TWO, 'compute')]
            self.assertEqual(probes, sorted(self.cloud.probes))

    def test_health_checks_look_at_most_every_15_seconds(self):
        cluster = self.spread_out(2, (ONE,), (TWO,))
        admin = context.get_admin_context()
        nodes = [
            engine_node.Node.load(admin, node_id)
            for node_id in self.ids(cluster)
        ]
        looks = {}
        # The last time is as if the clock of the database was set back.
        for seconds in (0, 14, 16, 30, 32, -3600):
            self.cloud.probes.clear()
            with self.at(seconds):
                for node in nodes:
                    self.assertTrue(
                        node.do_healthcheck(admin, consts.NODE_STATUS_POLLING)
                    )
            looks[seconds] = len(self.cloud.probes) / 2
        self.assertEqual({0: 1, 14: 0, 16: 1, 30: 0, 32: 1, -3600: 1}, looks)

    def test_a_node_relies_on_no_state_older_than_a_minute(self):
        cluster = self.spread_out(2, (ONE,), (TWO,))
        self.go_out(TWO, cluster)
        self.cloud.heal()
        (node_id,) = self.ids(cluster, TWO)
        admin = context.get_admin_context()
        node = node_objects.Node.get(admin, node_id)
        states = {}
        for seconds in (50, 70):
            with self.at(seconds):
                policy, row = region_watcher.find(node)
                states[seconds] = policy.current(row, TWO).state_of(node)
        self.assertEqual('silent', states[50].state)
        self.assertIsNone(states[70])

    def test_a_change_is_told_once(self):
        cluster = self.spread_out(2, (ONE,), (TWO,))
        self.fall_silent(TWO)
        for words in ('is silent since', 'is out since', ''):
            with self.assertLogs('senlin_plugins', 'INFO') as logs:
                data = self.senlin.act(cluster, 'check')['data']
                region_failover.LOG.info('the end')
                self.settle(cluster)
            lines = [line for line in logs.output if 'is dead' not in line]
            count = 2 if words else 1
            self.assertEqual(count, len(lines), lines)
            self.assertIn(words, lines[0])
            state = data['region_placement'][TWO]
            self.assertEqual('no answer', state['cause'])
        self.cloud.heal()
        with self.assertLogs('senlin_plugins', 'INFO') as logs:
            self.act(cluster, 'recover')
        self.assertIn(f"Region '{TWO}' is used again", str(logs.output))
        self.assert_nothing_noted(cluster)

    def test_metadata_that_make_no_sense_are_told(self):
        cluster = self.cluster(self.policy((ONE,), (TWO,)))
        # What would be a line of its own in the log.
        metadata = {'region_placement': '{"x\\nERROR forged": {}}'}
        self.update(f'/clusters/{cluster}', metadata=metadata)
        with self.assertLogs('senlin_plugins', 'WARNING') as logs:
            data = self.act(cluster, 'scale_out', count=2)
        (line,) = (o for o in logs.output if 'takes its own weights' in o)
        self.assertNotIn('\n', line)
        self.assertEqual({ONE: 1, TWO: 1}, data['creation']['regions'])

    def test_even_grows_in_the_other_regions_with_a_warning(self):
        cluster = self.spread_out(2, (ONE,), (TWO,), strategy='even')
        self.go_out(TWO, cluster)
        with self.assertLogs('senlin_plugins', 'WARNING') as logs:
            data = self.act(cluster, 'scale_out')
        self.assertEqual({ONE: 1}, data['creation']['regions'])
        warnings = [line for line in logs.output if "strategy 'even'" in line]
        self.assertEqual(1, len(warnings), logs.output)


class Full(TestCase):
    def setUp(self):
        super().setUp()
        self.cluster_id = self.built(
            lambda: self.spread_out(2, (ONE,), (TWO,))
        )
        self.failures = self.cloud.regions[TWO].failures

    def grow(self, count):
        """Scale out, which fails because a region is full."""
        action = self.senlin.act(self.cluster_id, 'scale_out', count=count)
        self.assertEqual('FAILED', action['status'])
        self.settle(self.cluster_id)

    def test_a_full_region_gets_what_it_can_hold(self):
        cluster = self.cluster_id
        self.failures['server_create'] = driver.Fault(QUOTA, on=2)
        self.grow(6)
        data = self.act(cluster, 'recover')
        self.assertEqual([ONE], list(data['moves'].values()))
        self.assert_nodes(cluster, **{ONE: 5, TWO: 3})
        self.act(cluster, 'scale_out')
        self.assert_nodes(cluster, **{ONE: 6, TWO: 3})
        self.assertEqual({TWO: 'full'}, self.region_states(cluster))
        self.assertEqual([], self.servers_left(cluster))
        # No more than its share is taken from it.
        self.act(cluster, 'scale_in', count=3)
        self.assert_nodes(cluster, **{ONE: 3, TWO: 3})
        # After a while the region is tried again.
        with self.at(700):
            self.act(cluster, 'scale_out', count=2)
        self.assert_nodes(cluster, **{ONE: 4, TWO: 4})

    def test_nothing_is_lost_in_a_region_whose_hosts_are_full(self):
        cluster = self.cluster_id
        self.failures['wait_for_server'] = 'The server is in ERROR.'
        self.failures['fault'] = 'No valid host was found.'
        self.failures['server_delete'] = 'Nova is on fire'
        self.grow(2)
        (node,) = (
            node
            for node in self.senlin.nodes(cluster)
            if node['status'] == 'ERROR'
        )
        self.assertIn('ERROR. No valid host was found.', node['status_reason'])
        broken = self.cloud.regions[TWO].servers[node['physical_id']]
        broken.status = 'ERROR'
        self.act(cluster, 'recover')
        self.assert_nodes(cluster, **{ONE: 3, TWO: 1})
        self.failures.clear()
        self.act(cluster, 'check')
        self.assertEqual({TWO: 'full'}, self.region_states(cluster))
        self.assertEqual([], self.servers_left(cluster))
        self.assert_servers(cluster, **{ONE: 3, TWO: 1})


class Recovering(TestCase):
    def setUp(self):
        super().setUp()
        self.cluster_id = self.built(self.build)
        self.lost = self.ids(self.cluster_id, TWO)

    def build(self):
        """Return a cluster whose second region is out."""
        cluster = self.spread_out(4, (ONE,), (TWO,), networks=['net'])
        self.go_out(TWO, cluster, calls=[*CALLS, 'probe network'])
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


class Lasting(TestCase):
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


class AtOnce(TestCase):
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


class LeavingBehind(TestCase):
    def clear_while(self, change):
        """Clear up what hangs at its deletion, and change something then.

        :returns: the cluster, and the ids of what was left behind.
        """
        cluster = self.spread_out(4, (ONE,), (TWO,))
        self.go_out(TWO, cluster)
        self.act(cluster, 'recover')
        left = [entry.server for entry in self.servers_left(cluster)]
        self.cloud.heal()
        failures = self.cloud.regions[TWO].failures
        fault = failures['server_delete'] = driver.Fault('not yet')
        self.senlin.act(cluster, 'check')
        self.wait_until(lambda: fault.calls >= 2)
        change(cluster, left)
        self.patch(left_behind, 'PAUSE', 0.3)
        failures.clear()
        self.settle(cluster)
        return cluster, left

    def test_what_is_forgotten_while_clearing_runs_stays(self):
        def forget(cluster, left):
            self.update(
                f'/clusters/{cluster}', metadata={'region_forget': left[0]}
            )

        cluster, left = self.clear_while(forget)
        self.assertEqual([], self.servers_left(cluster))
        self.assertEqual(left[:1], [*self.cloud.regions[TWO].servers])

    def test_what_is_declared_out_while_clearing_runs_stays(self):
        cluster, left = self.clear_while(
            lambda cluster, _: self.declare(cluster, TWO)
        )
        self.assertEqual(2, len(self.servers_left(cluster)))
        self.assertEqual({*left}, {*self.cloud.regions[TWO].servers})

    def test_a_lost_server_is_found_after_a_change_of_the_profile(self):
        specs = (
            {'flavor': 'small', 'networks': [], 'name': name}
            for name in ('old', 'new')
        )
        old, new = (self.senlin.profile(**spec) for spec in specs)
        cluster = self.cluster(self.policy((ONE, 1), (TWO,)), profile=old)
        failures = self.cloud.regions[TWO].failures
        failures['server_created'] = 'the answer is lost'
        self.senlin.act(cluster, 'scale_out')
        self.settle(cluster)
        failures.clear()
        self.declare(cluster, TWO)
        self.act(cluster, 'recover')
        self.assertEqual(1, self.cloud.servers_of(cluster)[TWO])
        self.update(f'/clusters/{cluster}', profile_id=new, profile_only=True)
        self.update(f'/clusters/{cluster}', metadata={})
        self.assert_forgotten(cluster, **{ONE: 1})

    def test_an_engine_dies_while_a_node_gets_another_server(self):
        profile = self.senlin.profile()
        cluster = self.cluster(self.policy((ONE,)), profile=profile)
        self.act(cluster, 'scale_out', count=2)
        failures = self.cloud.regions[ONE].failures
        for node in self.ids(cluster):
            fault = failures['server_created'] = driver.Fault(dies=True)
            self.senlin.call('POST', f'/nodes/{node}/actions', {'recover': {}})
            self.wait_until(lambda fault=fault: fault.calls)
            failures.clear()
            self.senlin.die()
            self.settle(cluster)
        # Nobody has heard of the new servers. No check goes before.
        self.act(cluster, 'scale_in')
        self.act(cluster, 'recover')
        (server,) = self.cloud.regions[ONE].servers
        self.assertEqual([server], [*self.held(cluster).values()])

    def test_nothing_is_lost_in_a_region_whose_network_is_out(self):
        cluster = self.spread_out(4, (ONE,), (TWO,), networks=['net'])
        first, second = self.ids(cluster, TWO)
        self.go_out(TWO, cluster, calls=['probe network'])
        self.assert_done(self.senlin.act_node(first, 'recover'))
        self.assert_nodes(cluster, **{ONE: 3, TWO: 1})
        # Here servers can be deleted, and the other node needs its own.
        self.act(cluster, 'recover', check=True)
        self.assertEqual([], self.servers_left(cluster))
        self.assert_servers(cluster, **{ONE: 3, TWO: 1})
        self.assert_done(self.senlin.act_node(second, 'recover'))
        self.assert_nodes(cluster, **{ONE: 4})
        self.assert_gone(cluster)

    def test_a_server_of_which_nobody_knows_is_found_later(self):
        cluster = self.spread_out(1, (TWO,))
        failures = self.cloud.regions[TWO].failures
        failures['server_created'] = 'the answer is lost'
        failures['servers'] = failures['server_delete'] = 'Nova is on fire'
        action = self.senlin.act(cluster, 'scale_out')
        self.assertEqual('FAILED', action['status'])
        self.settle(cluster)
        self.assertEqual(2, self.cloud.servers_of(cluster)[TWO])
        (failed,) = (
            node['id']
            for node in self.senlin.nodes(cluster)
            if not node['physical_id']
        )
        self.assert_done(self.senlin.delete(f'/nodes/{failed}'))
        (left,) = self.servers_left(cluster)
        self.assertEqual((failed, None), (left.node, left.server))
        self.assert_forgotten(cluster, **{TWO: 1})

    def test_stacks_are_found_again(self):
        profile = self.senlin.profile(
            'senlin_plugins.heat.stack',
            template={'heat_template_version': '2021-04-16'},
        )
        cluster = self.cluster(self.policy((ONE,), (TWO,)), profile=profile)
        self.act(cluster, 'scale_out', count=2)
        two = self.cloud.regions[TWO]
        (lost,) = two.stacks
        calls = ('probe orchestration', 'stack_get', 'stacks', 'stack_delete')
        # An in-place recovery that fails keeps the id.
        two.failures['stack_get'] = two.failures['stack_delete'] = 'dead'
        (node,) = self.ids(cluster, TWO)
        action = self.senlin.act_node(node, 'recover')
        self.assertEqual('FAILED', action['status'])
        self.assertEqual(lost, self.shown(node)['physical_id'])
        # Even a stack of which only the cloud knows is found.
        node_objects.Node.update(
            context.get_admin_context(), node, {'physical_id': None}
        )
        self.go_out(TWO, cluster, calls=calls)
        self.act(cluster, 'recover')
        self.assert_nodes(cluster, **{ONE: 2})
        (left,) = self.servers_left(cluster)
        self.assertIsNone(left.server)
        self.cloud.heal()
        self.act(cluster, 'check')
        self.assert_nothing_noted(cluster)
        self.assertEqual({}, two.stacks)
        self.assertEqual(2, len(self.cloud.regions[ONE].stacks))

    def test_no_action_waits_for_what_is_left_behind(self):
        cluster = self.spread_out(6, (ONE,), (TWO,))
        self.go_out(TWO, cluster)
        self.act(cluster, 'recover')
        self.assertEqual(3, len(self.servers_left(cluster)))
        self.cloud.heal()
        # The API answers, and deletions hang.
        hole = driver.Fault('too late', hangs=True)
        self.cloud.regions[TWO].failures['server_delete'] = hole
        self.act(cluster, 'scale_out', count=2)
        self.assertGreater(hole.waiting, 0)
        self.assert_forgotten(cluster, **{ONE: 6, TWO: 2})

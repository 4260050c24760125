# SPDX-License-Identifier: Apache-2.0

"""Version 1.1 of the region policy on the real engine: states of regions."""

from senlin.common import consts, context
from senlin.engine import node as engine_node
from senlin.objects import node as node_objects

from senlin_plugins.cluster import region_watcher
from senlin_plugins.policies import region_failover
from testing.senlin import driver
from tests.functional.senlin_plugins import failing_regions
from tests.functional.senlin_plugins.base import ONE, TWO


class Knowing(failing_regions.TestCase):
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
        with self.at(0):
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


class Full(failing_regions.TestCase):
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
        self.failures['server_create'] = driver.Fault(
            failing_regions.QUOTA, on=2
        )
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

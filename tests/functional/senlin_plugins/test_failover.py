# SPDX-License-Identifier: Apache-2.0

"""Version 1.1 of the region policy on the real engine: regions fail."""

import collections
from unittest import mock

import ddt
import eventlet
from senlin.engine import senlin_lock

from senlin_plugins.planning import failing
from senlin_plugins.policies import probing
from testing.senlin import driver
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, THREE, TWO

#: What fails in a region that is out.
CALLS = (
    *('probe compute', 'servers', 'server_create', 'server_get'),
    *('server_delete', 'server_update'),
)
QUOTA = 'Quota exceeded for instances: Requested 1, but already used 2 of 2'


class TestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.remember(0)

    def remember(self, seconds):
        """Let an answer be trusted for so long, until the test ends."""
        patch = mock.patch.object(probing, 'REMEMBERED', seconds)
        patch.start()
        self.addCleanup(patch.stop)

    def policy(self, *regions, version='1.1', **properties):
        """Create a region policy from (name, weight, cap) tuples."""
        keys = ('name', 'weight', 'cap')
        spec = [dict(zip(keys, r, strict=False)) for r in regions]
        return self.senlin.policy(
            base.REGION_POLICY, {'regions': spec, **properties}, version
        )

    def spread_out(self, count, *regions, networks=(), **properties):
        """Create a cluster with so many nodes and return its id."""
        profile = self.senlin.profile(
            flavor='small', networks=[{'network': name} for name in networks]
        )
        policy = self.policy(*regions, **properties)
        cluster = self.cluster(policy, profile=profile)
        self.act(cluster, 'scale_out', count=count)
        return cluster

    def go_out(self, name, calls=CALLS):
        """Let a region go out."""
        failures = self.cloud.regions[name].failures
        failures.update(dict.fromkeys(calls, f'{name} is dead'))

    def come_back(self, name):
        """Let a region come back."""
        self.cloud.regions[name].failures.clear()

    def known(self, cluster):
        """Return what the API shows of the regions, and of what is left."""
        shown = self.senlin.call('GET', f'/clusters/{cluster}')['cluster']
        data = shown['data']
        states = failing.read_states(data)
        return (
            {name: state['state'] for name, state in states.items()},
            failing.read_left(data),
        )

    def assert_nodes(self, cluster, **wanted):
        """Check that all nodes are active, and in which regions they are."""
        nodes = self.senlin.nodes(cluster)
        self.assertEqual(
            wanted, collections.Counter(map(base.region_of, nodes))
        )
        self.assertEqual({'ACTIVE'}, {node['status'] for node in nodes})


@ddt.ddt
class Knowing(TestCase):
    def test_version_1_0_asks_nobody(self):
        cluster = self.cluster(self.policy((ONE,), (TWO,), version='1.0'))
        self.go_out(TWO, ['probe compute'])
        data = self.act(cluster, 'scale_out', count=2)
        self.assertEqual({ONE: 1, TWO: 1}, data['creation']['regions'])
        self.assertEqual([], self.cloud.probes)

    def test_each_service_of_the_profile_is_asked_once_in_a_while(self):
        self.remember(1e9)
        cluster = self.spread_out(2, (ONE,), (TWO,))
        asked = [(ONE, 'compute'), (TWO, 'compute')]
        self.assertEqual(asked, sorted(self.cloud.probes))
        self.act(cluster, 'scale_out')
        self.assertEqual(asked, sorted(self.cloud.probes))

    def test_keystone_is_asked_once_in_an_action(self):
        profile = self.senlin.profile()
        policy = self.policy((ONE,), (TWO,))
        cluster = self.cluster(policy, profile=profile)
        self.act(cluster, 'scale_out', count=2)
        node = self.senlin.nodes(cluster)[0]['id']
        for act in (
            lambda: self.senlin.act_node(node, 'recover'),
            lambda: self.senlin.act(cluster, 'recover', check_capacity=True),
            lambda: self.senlin.act(cluster, 'scale_in'),
            lambda: self.senlin.wait(
                self.senlin.start_node(cluster, profile)[0]
            ),
        ):
            del self.cloud.lookups[:]
            self.assert_done(act())
            self.assertEqual([[ONE, TWO]], self.cloud.lookups)

    def test_a_single_missed_answer_moves_nothing(self):
        cluster = self.spread_out(2, (ONE,), (TWO,))
        late = driver.Fault('too late', on=1)
        self.cloud.regions[TWO].failures['probe compute'] = late
        data = self.act(cluster, 'recover', check=True)
        self.assertEqual(2, late.calls)
        self.assertNotIn('moves', data)
        self.assertEqual(({}, []), self.known(cluster))
        self.assert_nodes(cluster, **{ONE: 1, TWO: 1})

    def test_what_one_engine_knows_another_does_not_forget(self):
        cluster = self.spread_out(2, (ONE,), (TWO,))
        self.go_out(TWO)
        self.senlin.act(cluster, 'check')
        self.wait_until_free(cluster)
        # As in an engine that had an answer a moment before the outage.
        self.remember(1e9)
        self.come_back(TWO)
        self.spread_out(2, (ONE,), (TWO,))
        self.cloud.regions[TWO].failures['probe compute'] = 'dead'
        self.senlin.act(cluster, 'check')
        self.wait_until_free(cluster)
        self.assertEqual({TWO: 'out'}, self.known(cluster)[0])

    def test_a_change_is_told_once(self):
        cluster = self.spread_out(2, (ONE,), (TWO,))
        self.go_out(TWO)
        for told in (self.assertLogs, self.assertNoLogs):
            with told('senlin_plugins', 'INFO') as logs:
                data = self.senlin.act(cluster, 'check')['data']
            state = data['region_placement'][TWO]
            self.assertEqual('compute does not answer', state['why'])
            self.wait_until_free(cluster)
            if told == self.assertLogs:
                (line,) = logs.output
                self.assertIn(' is out: compute does not answer', line)
        self.assertEqual({TWO: 'out'}, self.known(cluster)[0])
        self.come_back(TWO)
        with self.assertLogs('senlin_plugins', 'INFO') as logs:
            self.act(cluster, 'check')
        self.assertIn(f"Region '{TWO}' is used again", str(logs.output))
        self.assertEqual(({}, []), self.known(cluster))

    @ddt.data(
        *('{"a', '[]', '{"Nowhere": {"cap": 1}}', '{"%s": {"cap": -7}}'),
        # Longer numbers stop an engine for seconds.
        '{"%s": {"weight": ' + '9' * 4299 + '}}',
        '[' * 100_000,
        # What would be a line of its own in the log.
        '{"x\\nERROR forged": {}}',
    )
    def test_metadata_that_make_no_sense_are_told(self, value):
        value = value.replace('%s', TWO)
        cluster = self.cluster(
            self.policy((ONE,), (TWO,)), metadata={'region_placement': value}
        )
        with self.assertLogs('senlin_plugins', 'WARNING') as logs:
            data = self.act(cluster, 'scale_out', count=2)
        (line,) = (o for o in logs.output if 'takes its own weights' in o)
        self.assertNotIn('\n', line)
        self.assertEqual({ONE: 1, TWO: 1}, data['creation']['regions'])

    def test_weights_and_caps_are_changed_in_the_metadata(self):
        cluster = self.spread_out(2, (ONE,), (TWO,))
        drained = f'{{"{TWO}": {{"weight": 0, "cap": 0}}}}'
        self.update(
            f'/clusters/{cluster}', metadata={'region_placement': drained}
        )
        self.act(cluster, 'scale_out', count=2)
        self.assert_nodes(cluster, **{ONE: 3, TWO: 1})
        self.act(cluster, 'scale_in')
        self.assert_nodes(cluster, **{ONE: 3})


class Growing(TestCase):
    def test_balanced_grows_elsewhere_and_says_what_is_owed(self):
        cluster = self.spread_out(2, (ONE,), (TWO,), (THREE,))
        self.assert_nodes(cluster, **{ONE: 1, THREE: 1})
        self.go_out(TWO)
        data = self.act(cluster, 'scale_out', count=4)
        self.assertEqual({ONE: 2, THREE: 2}, data['creation']['regions'])
        self.assertEqual({TWO: 2}, data['creation']['owed'])
        self.assert_nodes(cluster, **{ONE: 3, THREE: 3})

    def test_even_refuses(self):
        cluster = self.spread_out(2, (ONE,), (TWO,), strategy='even')
        self.go_out(TWO)
        self.assert_failed(
            f"Region '{TWO}' is out: compute does not answer, and the "
            "strategy 'even' adds no nodes meanwhile.",
            self.senlin.act(cluster, 'scale_out'),
        )

    def test_a_full_region_gets_what_it_can_hold(self):
        cluster = self.spread_out(2, (ONE,), (TWO,))
        self.cloud.regions[TWO].failures['server_create'] = driver.Fault(
            QUOTA, on=2
        )
        self.assertEqual(
            'FAILED',
            self.senlin.act(cluster, 'scale_out', count=6)['status'],
        )
        self.wait_until_free(cluster)
        data = self.act(cluster, 'recover')
        self.assertEqual([ONE], list(data['moves'].values()))
        self.assert_nodes(cluster, **{ONE: 5, TWO: 3})
        self.assertEqual(({TWO: 'full'}, []), self.known(cluster))
        self.act(cluster, 'scale_out')
        self.assert_nodes(cluster, **{ONE: 6, TWO: 3})
        # After a while the region is tried again.
        self.set_option('full_time', 0)
        self.act(cluster, 'scale_out')
        self.assert_nodes(cluster, **{ONE: 6, TWO: 4})

    def test_a_region_whose_hosts_are_full(self):
        cluster = self.spread_out(2, (ONE,), (TWO,))
        failures = self.cloud.regions[TWO].failures
        failures['wait_for_server'] = 'The server is in ERROR.'
        failures['fault'] = 'No valid host was found.'
        action = self.senlin.act(cluster, 'scale_out', count=2)
        self.assertEqual('FAILED', action['status'])
        self.wait_until_free(cluster)
        (node,) = (
            node
            for node in self.senlin.nodes(cluster)
            if node['status'] == 'ERROR'
        )
        self.assertIn('ERROR. No valid host was found.', node['status_reason'])
        self.act(cluster, 'recover')
        self.assert_nodes(cluster, **{ONE: 3, TWO: 1})


class Recovering(TestCase):
    def setUp(self):
        super().setUp()
        self.cluster_id = self.spread_out(4, (ONE,), (TWO,))
        self.go_out(TWO)

    def test_nodes_move_and_what_they_leave_goes_later(self):
        data = self.act(self.cluster_id, 'recover', check=True)
        self.assertEqual([ONE] * 2, list(data['moves'].values()))
        self.assert_nodes(self.cluster_id, **{ONE: 4})
        self.assertEqual(
            {ONE: 4, TWO: 2, THREE: 0},
            self.cloud.servers_of(self.cluster_id),
        )
        states, left = self.known(self.cluster_id)
        self.assertEqual({TWO: 'out'}, states)
        self.assertEqual({TWO}, {entry.region for entry in left})
        servers = self.cloud.regions[TWO].servers
        self.assertEqual(2, len({e.server for e in left} & set(servers)))
        # A scaling meanwhile.
        self.act(self.cluster_id, 'scale_out', count=2)
        self.assert_nodes(self.cluster_id, **{ONE: 6})
        self.come_back(TWO)
        self.act(self.cluster_id, 'check')
        self.assert_servers(self.cluster_id, **{ONE: 6})
        self.assertEqual(({}, []), self.known(self.cluster_id))
        self.assert_gone(self.cluster_id)

    def test_a_node_moves_alone(self):
        nodes = self.senlin.nodes(self.cluster_id)
        lost = [node for node in nodes if base.region_of(node) == TWO]
        for node in lost:
            action = self.senlin.act_node(node['id'], 'recover')
            self.assert_done(action)
            self.assertEqual({node['id']: ONE}, action['data']['moves'])
        self.assert_nodes(self.cluster_id, **{ONE: 4})
        self.assertEqual(2, len(self.known(self.cluster_id)[1]))
        self.come_back(TWO)
        self.act(self.cluster_id, 'check')
        self.assert_servers(self.cluster_id, **{ONE: 4})

    def test_a_policy_that_is_detached_moves_nothing(self):
        self.senlin.act(self.cluster_id, 'check')
        self.wait_until_free(self.cluster_id)
        attached = self.senlin.call(
            'GET', f'/clusters/{self.cluster_id}/policies'
        )
        (binding,) = attached['cluster_policies']
        self.act(
            self.cluster_id, 'policy_detach', policy_id=binding['policy_id']
        )
        self.come_back(TWO)
        self.act(self.cluster_id, 'recover')
        self.assert_nodes(self.cluster_id, **{ONE: 2, TWO: 2})
        self.assert_servers(self.cluster_id, **{ONE: 2, TWO: 2})

    def test_a_server_that_its_node_kept_is_not_deleted(self):
        action = self.senlin.act(self.cluster_id, 'check')
        self.assertEqual('FAILED', action['status'])
        self.wait_until_free(self.cluster_id)
        self.assertEqual(2, len(self.known(self.cluster_id)[1]))
        self.come_back(TWO)
        self.act(self.cluster_id, 'recover', check=True)
        self.assert_nodes(self.cluster_id, **{ONE: 2, TWO: 2})
        self.assert_servers(self.cluster_id, **{ONE: 2, TWO: 2})
        self.assertEqual(({}, []), self.known(self.cluster_id))

    def test_nodes_go_although_their_region_is_out(self):
        deletion = self.senlin.policy(base.DELETION_POLICY, {})
        self.assert_done(self.senlin.attach(self.cluster_id, deletion))
        nodes = self.senlin.nodes(self.cluster_id)
        first, second = (n for n in nodes if base.region_of(n) == TWO)
        self.assert_done(self.senlin.delete(f'/nodes/{first["id"]}'))
        self.act(self.cluster_id, 'del_nodes', nodes=[second['id']])
        self.assert_nodes(self.cluster_id, **{ONE: 2})
        self.assertEqual(
            {first['physical_id'], second['physical_id']},
            {entry.server for entry in self.known(self.cluster_id)[1]},
        )
        action = self.senlin.delete(f'/clusters/{self.cluster_id}')
        self.assert_failed(
            "2 server(s) of the cluster in region 'RegionTwo' cannot be "
            'deleted now: delete the cluster when they can be.',
            action,
        )
        self.come_back(TWO)
        self.assert_gone(self.cluster_id)

    def test_a_recovery_without_room_says_so_and_loses_nothing(self):
        policy = self.policy((ONE, 100, 2), (TWO,))
        self.come_back(TWO)
        cluster = self.cluster(policy)
        self.act(cluster, 'scale_out', count=4)
        self.go_out(TWO)
        action = self.senlin.act(cluster, 'recover', check=True)
        # The first node that fails ends the action; it goes on for a while.
        self.wait_until_free(cluster)
        shown = self.senlin.call('GET', f'/actions/{action["id"]}')['action']
        self.assertEqual('FAILED', shown['status'])
        self.assertEqual(
            'There is no feasible plan to handle all nodes.',
            shown['data']['creation']['reason'],
        )
        self.come_back(TWO)
        self.act(cluster, 'recover', check=True)
        self.assert_nodes(cluster, **{ONE: 2, TWO: 2})
        self.assert_servers(cluster, **{ONE: 2, TWO: 2})


class AtOnce(TestCase):
    def start(self, node):
        """Start to recover a node and return the action's id."""
        path = f'/nodes/{node}/actions'
        return self.senlin.call('POST', path, {'recover': {}})['action']

    def lost(self, cluster):
        """Return the ids of the nodes in the second region."""
        return [
            node['id']
            for node in self.senlin.nodes(cluster)
            if base.region_of(node) == TWO
        ]

    def test_nodes_that_are_recovered_at_once_do_not_go_to_one_region(self):
        regions = (ONE, 100, 5), (TWO, 300), (THREE,)
        cluster = self.spread_out(10, *regions)
        self.assert_nodes(cluster, **{ONE: 2, TWO: 6, THREE: 2})
        self.go_out(TWO)
        with self.assertLogs('senlin_plugins', 'WARNING') as logs:
            started = [self.start(node) for node in self.lost(cluster)]
            for action in started:
                self.assert_done(self.senlin.wait(action))
        self.assert_nodes(cluster, **{ONE: 5, THREE: 5})
        (line,) = (line for line in logs.output if 'does not answer' in line)
        self.assertIn(f"Region '{TWO}' of cluster {cluster} is out", line)
        self.come_back(TWO)
        self.act(cluster, 'check')
        self.assert_servers(cluster, **{ONE: 5, THREE: 5})

    def test_the_place_of_a_node_that_moves_is_taken(self):
        cluster = self.spread_out(5, (ONE, 100, 4), (TWO,), (THREE, 50))
        self.assert_nodes(cluster, **{ONE: 2, TWO: 2, THREE: 1})
        self.go_out(TWO)
        first, _ = self.lost(cluster)
        planned, others = eventlet.Event(), eventlet.Event()
        acquire = senlin_lock.node_lock_acquire

        def acquire_late(context, node, *args):
            if node == first:
                planned.send()
                others.wait()
            return acquire(context, node, *args)

        with mock.patch.object(senlin_lock, 'node_lock_acquire', acquire_late):
            action = self.start(first)
            planned.wait()
            shown = self.senlin.call('GET', f'/clusters/{cluster}')['cluster']
            for _ in range(3):
                creation, _ = self.senlin.start_node(
                    cluster, shown['profile_id']
                )
                self.assert_done(self.senlin.wait(creation))
            others.send()
            self.assert_done(self.senlin.wait(action))
        self.assert_nodes(cluster, **{ONE: 4, TWO: 1, THREE: 3})


class LeavingBehind(TestCase):
    def test_nothing_is_lost_in_a_region_of_which_nothing_answers(self):
        cluster = self.spread_out(4, (ONE,), (TWO,), networks=['net'])
        self.go_out(TWO, [*CALLS, 'probe network'])
        data = self.act(cluster, 'recover', check=True)
        state = data['region_placement'][TWO]
        self.assertEqual('compute does not answer', state['why'])
        self.assert_nodes(cluster, **{ONE: 4})
        self.assertEqual(2, len(self.known(cluster)[1]))
        self.come_back(TWO)
        self.act(cluster, 'check')
        self.assert_servers(cluster, **{ONE: 4})

    def test_nothing_is_lost_in_a_region_whose_network_is_out(self):
        cluster = self.spread_out(4, (ONE,), (TWO,), networks=['net'])
        first, second = (
            node['id']
            for node in self.senlin.nodes(cluster)
            if base.region_of(node) == TWO
        )
        self.go_out(TWO, ['probe network'])
        self.assert_done(self.senlin.act_node(first, 'recover'))
        self.assert_nodes(cluster, **{ONE: 3, TWO: 1})
        # Here servers can be deleted, and the other node needs its own.
        self.act(cluster, 'check')
        self.assert_servers(cluster, **{ONE: 3, TWO: 1})
        self.assert_done(self.senlin.act_node(second, 'recover'))
        self.assert_nodes(cluster, **{ONE: 4})
        self.assert_gone(cluster)

    def test_nothing_is_lost_in_a_region_that_is_full(self):
        cluster = self.spread_out(2, (ONE,), (TWO,))
        failures = self.cloud.regions[TWO].failures
        failures['wait_for_server'] = 'No valid host was found.'
        failures['server_delete'] = 'Nova is on fire'
        action = self.senlin.act(cluster, 'scale_out', count=2)
        self.assertEqual('FAILED', action['status'])
        self.wait_until_free(cluster)
        self.act(cluster, 'recover')
        self.assert_nodes(cluster, **{ONE: 3, TWO: 1})
        failures.clear()
        self.act(cluster, 'check')
        self.assert_servers(cluster, **{ONE: 3, TWO: 1})

    def test_a_server_that_was_made_later_is_not_left_behind(self):
        cluster = self.spread_out(1, (TWO,))
        failures = self.cloud.regions[TWO].failures
        failures['server_create'] = 'Nova is on fire'
        action = self.senlin.act(cluster, 'scale_out')
        self.assertEqual('FAILED', action['status'])
        self.wait_until_free(cluster)
        self.go_out(TWO)
        self.senlin.act(cluster, 'check')
        self.wait_until_free(cluster)
        self.assertIn(None, [e.server for e in self.known(cluster)[1]])
        self.come_back(TWO)
        (failed,) = (
            node['id']
            for node in self.senlin.nodes(cluster)
            if not node['physical_id']
        )
        self.assert_done(self.senlin.act_node(failed, 'recover'))
        self.act(cluster, 'check')
        self.assert_servers(cluster, **{TWO: 2})


class Shrinking(TestCase):
    def test_balanced_takes_the_shares(self):
        cluster = self.spread_out(4, (ONE,), (TWO,))
        self.go_out(TWO)
        self.act(cluster, 'scale_in', count=2)
        self.assert_nodes(cluster, **{ONE: 1, TWO: 1})
        self.come_back(TWO)
        self.act(cluster, 'check')
        self.assert_servers(cluster, **{ONE: 1, TWO: 1})

    def test_failover_takes_what_is_out_first(self):
        cluster = self.spread_out(4, (ONE,), (TWO,), strategy='failover')
        self.go_out(TWO)
        self.act(cluster, 'scale_in', count=3)
        self.assert_nodes(cluster, **{ONE: 1})

    def test_failover_takes_no_more_than_its_share_from_what_is_full(self):
        cluster = self.spread_out(6, (ONE,), (TWO,), strategy='failover')
        self.cloud.regions[TWO].failures['server_create'] = QUOTA
        action = self.senlin.act(cluster, 'scale_out', count=2)
        self.assertEqual('FAILED', action['status'])
        self.wait_until_free(cluster)
        self.act(cluster, 'recover')
        self.assertEqual(({TWO: 'full'}, []), self.known(cluster))
        self.assert_nodes(cluster, **{ONE: 5, TWO: 3})
        self.act(cluster, 'scale_in', count=4)
        self.assert_nodes(cluster, **{ONE: 2, TWO: 2})


class Attaching(TestCase):
    def test_one_region_policy_of_any_version(self):
        cluster = self.cluster(self.policy((ONE,), version='1.0'))
        action = self.senlin.attach(cluster, self.policy((ONE,)))
        self.assertEqual('FAILED', action['status'])
        self.assertIn('detach it first', action['status_reason'])

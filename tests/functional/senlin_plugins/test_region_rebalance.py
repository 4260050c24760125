# SPDX-License-Identifier: Apache-2.0

"""``openstack cluster region rebalance`` on a running Senlin."""

import io
import os
import pty
import signal
from unittest import mock

from senlin.common import context
from senlin.objects import node as node_objects

from openstack_commands.clusters import clusters
from senlin_plugins import conf
from tests.functional.senlin_plugins import test_region_commands
from tests.functional.senlin_plugins.base import ONE, THREE, TWO


class RebalanceTest(test_region_commands.TestCase):
    """Moving nodes, never unasked."""

    def setUp(self):
        super().setUp()
        self.cluster_id = self.built(self.build)
        self.command = ('rebalance', self.cluster_id, '--yes')

    def build(self):
        """Return a cluster with all four nodes in one of two regions."""
        cluster = self.spread((ONE,))
        self.act(cluster, 'scale_out', count=4)
        self.detach(cluster)
        self.attach(cluster, self.region_policy((ONE,), (TWO,)))
        return cluster

    def meanwhile(self, happen):
        """Let something happen when the command has scaled once."""
        scale, left = clusters.scale, [happen]

        def scale_and_more(*arguments):
            scale(*arguments)
            if left:
                left.pop()()

        self.patch(clusters, 'scale', scale_and_more)

    def test_new_nodes_stand_before_old_ones_go(self):
        cluster = self.cluster_id
        planned = self.run_region('rebalance', cluster, '--dry-run')
        self.assertEqual([], self.changes())
        self.assertEqual(2, len(planned))
        before = {*self.ids(cluster)}
        del self.cloud.calls[:]
        rows = self.run_region(*self.command, '--max-surge', '3')
        self.assertEqual(
            [
                {
                    'Step': 1,
                    'Add': {TWO: 2},
                    'Remove': {ONE: 2},
                    'Distribution': {ONE: 2, TWO: 2},
                }
            ],
            rows,
        )
        self.assert_nodes(cluster, **{ONE: 2, TWO: 2})
        self.assertEqual(2, len(before & {*self.ids(cluster)}))
        self.assertEqual({}, self.metadata(cluster))
        self.assertIn('[##########----------] 2/4 remove', self.remarks)
        changes = [
            (region, method)
            for region, method in self.cloud.calls
            if method in ('server_created', 'server_delete')
        ]
        creations = [(TWO, 'server_created')] * 2
        deletions = [(ONE, 'server_delete')] * 2
        self.assertEqual(creations + deletions, changes)
        self.assertEqual([], self.run_region(*self.command))
        self.assertIn('No move makes', self.remarks)

    def test_nothing_moves_unasked(self):
        command = 'rebalance', self.cluster_id
        with mock.patch('sys.stdin', io.StringIO()):
            result = self.shell(*command)
        self.assertEqual((1, ''), (result.status, result.output))
        *_, first, second, last = result.error.splitlines()
        self.assertEqual('Step 1: add RegionTwo=1, remove RegionOne=1', first)
        self.assertEqual('Step 2: add RegionTwo=1, remove RegionOne=1', second)
        self.assertIn('say --yes', last)
        terminal, stdin = pty.openpty()
        self.addCleanup(os.close, terminal)
        os.write(terminal, b'n\n')
        with open(stdin) as keyboard, mock.patch('sys.stdin', keyboard):
            result = self.shell(*command)
        self.assertEqual((1, ''), (result.status, result.output))
        self.assertIn('Go on? [y/N]', result.error)
        self.assertIn('Nothing has begun', result.error)
        for option in ('--max-surge', '--size'):
            self.assert_fails(f"'{option}' is 'x'", *self.command, option, 'x')
        words = '--size 2 is 2 away from the 4 nodes'
        self.assert_fails(words, *self.command, '--size', '2')
        self.assertEqual([], self.changes())
        self.assert_nodes(self.cluster_id, **{ONE: 4})

    def test_a_run_that_stops_is_taken_up_again(self):
        cluster = self.cluster_id
        failures = self.cloud.regions[TWO].failures
        failures['server_create'] = 'Quota exceeded'
        again = 'run the command again with --size 4'
        self.assert_fails(again, *self.command)
        nodes = self.senlin.nodes(cluster)
        self.assertEqual(5, len(nodes))
        (broken,) = (n['id'] for n in nodes if n['status'] == 'ERROR')
        # A healthy node must not go for a broken one.
        for status in ('WARNING', 'ERROR'):
            node_objects.Node.update(
                context.get_admin_context(), broken, {'status': status}
            )
            self.assert_fails(f'({status})', *self.command)
        failures.clear()
        self.act(cluster, 'recover')
        rows = self.run_region(
            *self.command, '--max-surge', '2', '--size', '4'
        )
        self.assertEqual(
            [({}, {ONE: 1}), ({TWO: 1}, {ONE: 1})],
            [(row['Add'], row['Remove']) for row in rows],
        )
        self.assert_nodes(cluster, **{ONE: 2, TWO: 2})

    def test_what_somebody_else_adds_meanwhile_stays(self):
        self.meanwhile(lambda: self.act(self.cluster_id, 'scale_out', count=3))
        self.run_region(*self.command)
        self.assertIn('8 nodes instead of 5', self.remarks)
        self.assert_nodes(self.cluster_id, **{ONE: 4, TWO: 3})
        self.assertEqual({}, self.metadata(self.cluster_id))

    def test_a_region_that_dies_before_the_shrink_costs_no_healthy_node(self):
        failures = self.cloud.regions[TWO].failures
        self.meanwhile(lambda: failures.update(server_get='dead'))
        self.assert_fails(
            'No node is removed', *self.command, '--max-surge', '2'
        )
        self.assertEqual(
            {ONE: 4, TWO: 2, THREE: 0}, self.cloud.servers_of(self.cluster_id)
        )

    def test_a_region_that_cannot_be_emptied_is_told(self):
        self.detach(self.cluster_id)
        policy = self.region_policy((ONE, 0, 0), (TWO, 100, 2))
        self.attach(self.cluster_id, policy)
        words = 'RegionOne keeps 2 node(s), more than its cap of 0'
        for _ in range(2):
            self.assert_fails(words, *self.command, '--max-surge', '9')
        self.assert_nodes(self.cluster_id, **{ONE: 2, TWO: 2})

    def test_ctrl_c_ends_with_a_sentence(self):
        hook = {'type': 'zaqar', 'timeout': 3600, 'params': {'queue': 'queue'}}
        policy = self.deletion_policy('1.1', hooks=hook)
        self.attach(self.cluster_id, policy)
        process = self.start_shell(*self.command)
        self.wait_until(lambda: self.cloud.queues['queue'])
        process.process.send_signal(signal.SIGINT)
        done = process.finish('its end after SIGINT')
        self.assertEqual((1, ''), (done.returncode, done.stdout))
        last = done.stderr.splitlines()[-1]
        self.assertIn('Interrupted. What Senlin', last)
        self.assertIn('--size 4', last)
        self.assertNotIn('Traceback', done.stderr)
        # The deletion goes on as Senlin does it: it waits for its hook.
        self.assert_fails('already locked', *self.command)

    def test_the_size_limit_limits_the_surge(self):
        self.act(self.cluster_id, 'resize', max_size=4)
        options = (*self.command, '--max-surge', '9')
        self.assert_fails('max_size of the cluster is 4', *options)
        self.assertEqual([], self.changes())
        self.act(self.cluster_id, 'resize', max_size=5)
        self.run_region(*options)
        self.assert_nodes(self.cluster_id, **{ONE: 2, TWO: 2})

    def test_a_cooldown_ends_the_run_with_one_line(self):
        adjustment = {'cooldown': 3600}
        policy = self.senlin.policy(
            'senlin.policy.scaling',
            {'event': 'CLUSTER_SCALE_OUT', 'adjustment': adjustment},
        )
        self.attach(self.cluster_id, policy)
        self.assert_fails('cooldown', *self.command)

    def test_a_run_that_moves_nothing_ends(self):
        admin = context.get_admin_context()

        def put_all_nodes_into_one_region():
            for node_id in self.ids(self.cluster_id, TWO):
                data = {'placement': {'region_name': ONE}}
                node_objects.Node.update(admin, node_id, {'data': data})
                server = self.shown(node_id)['physical_id']
                servers = self.cloud.regions[TWO].servers
                self.cloud.regions[ONE].servers[server] = servers.pop(server)

        self.meanwhile(put_all_nodes_into_one_region)
        self.assert_fails('no nearer', *self.command)
        # One node more, a check, and one node less.
        self.assertEqual(3, len(self.changes()))
        self.assert_nodes(self.cluster_id, **{ONE: 4})

    def test_what_plans_do_not_decide_is_not_touched(self):
        in_tree = self.senlin.policy(
            'senlin.policy.region_placement', {'regions': [{'name': TWO}]}
        )
        profile = self.senlin.profile('os.nova.server')
        cluster = self.cluster(in_tree, profile=profile, size=1)
        self.assert_fails("Senlin's own", 'rebalance', cluster, '--yes')
        self.set_option('unaware_profile', conf.PLAN_ONLY)
        policy = self.region_policy((TWO,))
        cluster = self.cluster(policy, profile=profile, size=1)
        self.assert_fails('not from this', 'rebalance', cluster, '--yes')
        self.assertEqual([], self.changes())

# SPDX-License-Identifier: Apache-2.0

"""``openstack cluster region rebalance`` on a running Senlin."""

import contextlib
import io
import os
import pty
import signal
from unittest import mock

import ddt
from senlin.common import context
from senlin.objects import node as node_objects

from senlin_plugins import conf
from senlin_plugins.commands import clusters
from tests.functional.senlin_plugins import test_region_commands
from tests.functional.senlin_plugins.base import ONE, THREE, TWO


@ddt.ddt
class RebalanceTest(test_region_commands.TestCase):
    """Moving nodes, never unasked."""

    def crowd(self, count, *policies, **attrs):
        """Create a cluster with all nodes in one of two regions."""
        first = self.region_policy((ONE,))
        cluster = self.cluster(first, *policies, **attrs)
        self.act(cluster, 'scale_out', count=count)
        self.act(cluster, 'policy_detach', policy_id=first)
        self.attach(cluster, self.region_policy((ONE,), (TWO,)))
        return cluster

    def test_new_nodes_stand_before_old_ones_go(self):
        cluster = self.crowd(5)
        planned = self.run_region('rebalance', cluster, '--dry-run')
        self.assertEqual([], self.changes())
        self.assertEqual(2, len(planned))
        before = {node['id'] for node in self.senlin.nodes(cluster)}
        rows = self.run_region(
            'rebalance', cluster, '--yes', '--max-surge', '2'
        )
        self.assertEqual(
            [
                {
                    'Step': 1,
                    'Add': {TWO: 2},
                    'Remove': {ONE: 2},
                    'Distribution': {ONE: 3, TWO: 2},
                }
            ],
            rows,
        )
        self.assert_nodes(cluster, **{ONE: 3, TWO: 2})
        after = {node['id'] for node in self.senlin.nodes(cluster)}
        self.assertEqual(3, len(before & after))
        self.assertEqual({}, self.metadata(cluster))
        self.assertIn('[##########----------] 2/4 remove', self.said)
        actions = self.senlin.call('GET', f'/actions?target={cluster}')
        scalings = [
            action['action']
            for action in sorted(
                actions['actions'], key=lambda action: action['created_at']
            )
            if 'SCALE' in action['action']
        ]
        self.assertEqual('CLUSTER_SCALE_IN', scalings[-1])
        self.assertEqual([], self.run_region('rebalance', cluster, '--yes'))
        self.assertIn('No move makes', self.said)

    def test_nothing_moves_unasked(self):
        cluster = self.crowd(2)
        with mock.patch('sys.stdin', io.StringIO()):
            result = self.shell('rebalance', cluster)
        self.assertEqual((1, ''), (result.status, result.output))
        *_, shown, last = result.error.splitlines()
        self.assertEqual('Step 1: add RegionTwo=1, remove RegionOne=1', shown)
        self.assertIn('say --yes', last)
        terminal, stdin = pty.openpty()
        self.addCleanup(os.close, terminal)
        os.write(terminal, b'n\n')
        with open(stdin) as keyboard, mock.patch('sys.stdin', keyboard):
            result = self.shell('rebalance', cluster)
        self.assertEqual((1, ''), (result.status, result.output))
        self.assertIn('Go on? [y/N]', result.error)
        self.assertIn('Nothing has begun', result.error)
        for option in ('--max-surge', '--size'):
            self.assert_fails(
                f"'{option}' is 'x'",
                *('rebalance', cluster, '--yes', option, 'x'),
            )
        self.assertEqual([], self.changes())
        self.assert_nodes(cluster, **{ONE: 2})

    def test_a_run_that_stops_is_taken_up_again(self):
        cluster = self.crowd(4)
        create = self.cloud.regions[TWO].failures
        create['server_create'] = 'Quota exceeded'
        self.assert_fails(
            'run the command again with --size 4',
            *('rebalance', cluster, '--yes'),
        )
        nodes = self.senlin.nodes(cluster)
        self.assertEqual(5, len(nodes))
        (broken,) = (n['id'] for n in nodes if n['status'] == 'ERROR')
        # A healthy node must not go for a broken one.
        for status in ('WARNING', 'ERROR'):
            node_objects.Node.update(
                context.get_admin_context(), broken, {'status': status}
            )
            self.assert_fails(f'({status})', 'rebalance', cluster, '--yes')
        create.clear()
        self.act(cluster, 'recover')
        rows = self.run_region(
            *('rebalance', cluster, '--yes', '--max-surge', '2'),
            *('--size', '4'),
        )
        self.assertEqual(
            [({}, {ONE: 1}), ({TWO: 1}, {ONE: 1})],
            [(row['Add'], row['Remove']) for row in rows],
        )
        self.assert_nodes(cluster, **{ONE: 2, TWO: 2})

    def test_what_somebody_else_adds_meanwhile_stays(self):
        cluster = self.crowd(4)
        scale = clusters.scale

        def scale_both(*arguments):
            """Scale as the command does, and once as somebody else does."""
            scale(*arguments)
            with contextlib.suppress(StopIteration):
                self.act(cluster, 'scale_out', count=next(others))

        others = iter([3])
        with mock.patch.object(clusters, 'scale', scale_both):
            self.run_region('rebalance', cluster, '--yes')
        self.assertIn('8 nodes instead of 5', self.said)
        self.assert_nodes(cluster, **{ONE: 4, TWO: 3})
        self.assertEqual({}, self.metadata(cluster))

    def test_a_region_that_dies_before_the_shrink_costs_no_healthy_node(self):
        cluster = self.crowd(6)
        scale = clusters.scale

        def scale_and_die(*arguments):
            """Scale as the command does, and let the new region die."""
            scale(*arguments)
            self.cloud.regions[TWO].failures['server_get'] = 'dead'

        with mock.patch.object(clusters, 'scale', scale_and_die):
            self.assert_fails(
                'No node is removed',
                *('rebalance', cluster, '--yes', '--max-surge', '3'),
            )
        self.assertEqual(
            {ONE: 6, TWO: 3, THREE: 0}, self.cloud.servers_of(cluster)
        )

    def test_a_region_that_cannot_be_emptied_is_told(self):
        cluster = self.crowd(3)
        self.detach(cluster)
        self.attach(cluster, self.region_policy((ONE, 0, 0), (TWO, 100, 2)))
        words = 'RegionOne keeps 1 node(s), more than its cap of 0'
        for _ in range(2):
            self.assert_fails(
                words, 'rebalance', cluster, '--yes', '--max-surge', '9'
            )
        self.assert_nodes(cluster, **{ONE: 1, TWO: 2})

    def test_ctrl_c_ends_with_a_sentence(self):
        cluster = self.crowd(4)
        hook = {'type': 'zaqar', 'timeout': 3600, 'params': {'queue': 'queue'}}
        self.attach(cluster, self.deletion_policy('1.1', hooks=hook))
        process = self.start_shell('rebalance', cluster, '--yes')
        self.wait_until(lambda: self.cloud.queues['queue'])
        process.send_signal(signal.SIGINT)
        output, error = process.communicate()
        self.assertEqual((1, ''), (process.returncode, output))
        last = error.splitlines()[-1]
        self.assertIn('Interrupted. What Senlin', last)
        self.assertIn('--size 4', last)
        self.assertNotIn('Traceback', error)
        # The deletion goes on as Senlin does it: it waits for its hook.
        self.assert_fails('already locked', 'rebalance', cluster, '--yes')

    @ddt.data(
        ({'max_size': 2}, 'max_size of the cluster is 2'),
        ({'max_size': 3}, ''),
    )
    @ddt.unpack
    def test_the_size_limit_limits_the_surge(self, attrs, words):
        cluster = self.crowd(2, **attrs)
        options = ('rebalance', cluster, '--yes', '--max-surge', '9')
        if words:
            self.assert_fails(words, *options)
            self.assertEqual([], self.changes())
        else:
            self.run_region(*options)
            self.assert_nodes(cluster, **{ONE: 1, TWO: 1})

    def test_a_cooldown_ends_the_run_with_one_line(self):
        scaling = self.senlin.policy(
            'senlin.policy.scaling',
            {'event': 'CLUSTER_SCALE_OUT', 'adjustment': {'cooldown': 3600}},
        )
        cluster = self.crowd(2, scaling)
        self.assert_fails('cooldown', 'rebalance', cluster, '--yes')

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

# SPDX-License-Identifier: Apache-2.0

"""What is left when a cloud fails: never a server that no node knows.

Each test looks at the action, at the nodes' data and at where the clouds
hold the servers, and ends by scaling the cluster again and deleting it.
"""

import ddt
from oslo_config import cfg
from senlin import objects
from senlin.common import context

from testing.senlin.driver import Fault
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, THREE, TWO

#: What Senlin answers for the whole action; each node has the details.
NOT_CREATED = 'Failed in creating nodes'
NOT_DELETED = 'Failed in deleting nodes'


class FaultCase(base.TestCase):
    """What must hold after each fault."""

    def break_region(self, region, method, **fault):
        """Let calls to a region go wrong from now on."""
        self.cloud.regions[region].failures[method] = Fault(**fault)

    def mend(self):
        """Let every region answer again."""
        for region in self.cloud.regions.values():
            region.failures.clear()

    def fail_action(self, cluster, name, reason, running=0, **arguments):
        """Run an action that must fail; return it after its real end.

        A failed child fails its parent at once; the parent lets go of the
        cluster, and gives its own reason, when it notices.

        :param running: how many of its children cannot end.
        """
        action = self.senlin.act(cluster, name, **arguments)
        self.assertEqual('FAILED', action['status'])
        self.wait_until_free(cluster, running)

        def noticed():
            now = self.senlin.action(action['id'])
            return now['status_reason'] != 'Action execution failed'

        self.wait_until(noticed)
        action = self.senlin.action(action['id'])
        self.assertIn(reason, action['status_reason'])
        return action

    def states(self, cluster):
        """Return (region, status) of each node, sorted."""
        return sorted(
            (base.region_of(node), node['status'])
            for node in self.senlin.nodes(cluster)
        )

    def assert_no_orphans(self, cluster):
        """Check that each server has its node, in the region it names."""
        known = {
            node['physical_id']: base.region_of(node)
            for node in self.senlin.nodes(cluster)
        }
        for region in self.cloud.regions.values():
            for server in region.servers.values():
                if server.metadata.get('cluster_id') == cluster:
                    self.assertEqual(region.name, known.get(server.id))

    def assert_usable(self, cluster, size, **wanted):
        """Check that the cluster heals, scales and goes without a trace.

        :param wanted: where they are to be then.
        """
        self.wait_until_free(cluster)
        if {state for _, state in self.states(cluster)} - {'ACTIVE'}:
            self.act(cluster, 'recover')
        missing = size - len(self.senlin.nodes(cluster))
        self.act(cluster, 'scale_out', count=missing)
        self.assertEqual(
            [(region, 'ACTIVE') for region, _ in self.states(cluster)],
            self.states(cluster),
        )
        self.assert_servers(cluster, **wanted)
        self.assert_gone(cluster)


class FailingRegion(FaultCase):
    def test_every_call_fails(self):
        cluster = self.spread((ONE,), (TWO,))
        for method in ('server_create', 'server_get', 'wait_for_server'):
            self.break_region(TWO, method, message='Nova is on fire')
        action = self.fail_action(cluster, 'scale_out', NOT_CREATED, count=4)
        self.assertEqual(
            {ONE: 2, TWO: 2}, action['data']['creation']['regions']
        )
        self.assertEqual(
            [(ONE, 'ACTIVE')] * 2 + [(TWO, 'ERROR')] * 2, self.states(cluster)
        )
        for node in self.senlin.nodes(cluster):
            if node['status'] == 'ERROR':
                self.assertIn('Nova is on fire', node['status_reason'])
                self.assertIsNone(node['physical_id'])
        self.assert_no_orphans(cluster)
        # The plan counts a bad node where it would have been, and a bad one
        # goes first.
        self.mend()
        self.act(cluster, 'scale_in')
        self.assertEqual(
            [(ONE, 'ACTIVE')] * 2 + [(TWO, 'ERROR')], self.states(cluster)
        )
        self.assert_usable(cluster, 6, **{ONE: 3, TWO: 3})

    def test_a_server_that_cannot_be_removed_either_stays_known(self):
        cluster = self.spread((THREE,))
        self.break_region(THREE, 'wait_for_server', message='No answer')
        self.break_region(THREE, 'server_delete', message='No answer')
        self.fail_action(cluster, 'scale_out', NOT_CREATED)
        self.assertEqual([(THREE, 'ERROR')], self.states(cluster))
        self.assert_servers(cluster, **{THREE: 1})
        self.mend()
        self.assert_usable(cluster, 2, **{THREE: 2})

    def test_a_server_whose_creation_got_no_answer_is_found(self):
        cluster = self.spread((TWO,))
        self.break_region(TWO, 'server_created', message='Gateway time-out')
        self.fail_action(cluster, 'scale_out', NOT_CREATED, count=2)
        for node in self.senlin.nodes(cluster):
            self.assertIn('Gateway time-out', node['status_reason'])
            self.assertIsNone(node['physical_id'])
        self.assertEqual(2, self.cloud.servers_of(cluster)[TWO])
        self.mend()
        # Recreated or deleted with its node, none of them is left behind.
        self.assert_usable(cluster, 3, **{TWO: 3})

    def test_a_node_whose_region_is_gone_can_be_deleted(self):
        cluster = self.spread((TWO,))
        self.break_region(TWO, 'server_create', message='Nova is on fire')
        self.fail_action(cluster, 'scale_out', NOT_CREATED)
        # Not even a client can be had for it.
        region = self.cloud.regions.pop(TWO)
        self.addCleanup(self.cloud.regions.__setitem__, TWO, region)
        self.assert_gone(cluster)

    def test_a_node_that_cannot_be_deleted_stays_and_says_so(self):
        cluster = self.spread((ONE,), (TWO,))
        self.act(cluster, 'scale_out', count=4)
        self.break_region(TWO, 'server_delete', message='Nova is on fire')
        action = self.fail_action(cluster, 'scale_in', NOT_DELETED, count=2)
        self.assertEqual(
            {ONE: 1, TWO: 1}, action['data']['deletion']['regions']
        )
        self.assert_servers(cluster, **{ONE: 1, TWO: 2})
        (bad,) = [
            node
            for node in self.senlin.nodes(cluster)
            if node['status'] == 'ERROR'
        ]
        self.assertIn('Nova is on fire', bad['status_reason'])
        self.mend()
        self.assert_usable(cluster, 4, **{ONE: 2, TWO: 2})

    def test_a_stack_that_never_gets_ready_is_deleted(self):
        profile = self.senlin.profile(
            'senlin_plugins.heat.stack',
            template={'heat_template_version': '2021-04-16'},
        )
        cluster = self.cluster(self.region_policy((TWO,)), profile=profile)
        self.break_region(TWO, 'wait_for_stack', message='CREATE_FAILED')
        self.fail_action(cluster, 'scale_out', NOT_CREATED)
        (node,) = self.senlin.nodes(cluster)
        self.assertIn('CREATE_FAILED', node['status_reason'])
        self.assertFalse(self.cloud.regions[TWO].stacks)
        self.assert_done(self.senlin.delete(f'/clusters/{cluster}'))


class HangingRegion(FaultCase):
    def test_a_server_that_is_not_ready_in_time_is_removed(self):
        self.set_option('default_nova_timeout', 1, None)
        cluster = self.spread((ONE,), (TWO,))
        self.break_region(
            TWO, 'wait_for_server', message='Timed out', hangs=True
        )
        self.fail_action(cluster, 'scale_out', NOT_CREATED, count=2)
        self.assertEqual(
            [(ONE, 'ACTIVE'), (TWO, 'ERROR')], self.states(cluster)
        )
        self.assertEqual(
            {ONE: 1, TWO: 0, THREE: 0}, self.cloud.servers_of(cluster)
        )
        self.assert_no_orphans(cluster)
        self.mend()
        self.assert_usable(cluster, 4, **{ONE: 2, TWO: 2})

    def time_out_while_creating(self):
        """Return a cluster whose scale-out ended before Nova answered."""
        cluster = self.spread((ONE,), (TWO,))
        self.break_region(TWO, 'server_create', hangs=True)
        # For this action only: what follows may take as long as any does.
        self.set_timeout(cluster, 1)
        self.fail_action(cluster, 'scale_out', NOT_CREATED, running=1, count=2)
        self.set_timeout(cluster, cfg.CONF.default_action_timeout)
        self.assertEqual(
            [(ONE, 'ACTIVE'), (TWO, 'CREATING')], self.states(cluster)
        )
        self.assert_no_orphans(cluster)
        return cluster

    def set_timeout(self, cluster, seconds):
        """Set for how long an action on a cluster may run."""
        objects.Cluster.update(
            context.get_admin_context(), cluster, {'timeout': seconds}
        )

    def test_an_answer_after_the_actions_end_is_not_lost(self):
        cluster = self.time_out_while_creating()
        self.mend()
        self.wait_until_free(cluster)
        self.assert_servers(cluster, **{ONE: 1, TWO: 1})
        self.assert_usable(cluster, 4, **{ONE: 2, TWO: 2})

    def test_an_answer_after_the_nodes_end_leaves_no_server(self):
        cluster = self.time_out_while_creating()
        self.assert_done(self.senlin.delete(f'/clusters/{cluster}'))
        created = self.cloud.regions[TWO].failures['server_create']
        self.mend()
        # No other thread runs between the answer and the server.
        self.wait_until(
            lambda: (
                not created.waiting
                and not any(self.cloud.servers_of(cluster).values())
            )
        )


@ddt.ddt
class KeystoneDown(FaultCase):
    REASON = 'The policy check failed: Keystone is down'

    @ddt.data(
        ('scale_out', {'count': 2}, {ONE: 2, TWO: 2}),
        ('resize', {'adjustment_type': 'EXACT_CAPACITY', 'number': 0}, {}),
    )
    @ddt.unpack
    def test_nothing_changes_until_it_is_back(self, name, arguments, wanted):
        cluster = self.spread((ONE,), (TWO,))
        self.act(cluster, 'scale_out', count=2)
        nodes = self.senlin.nodes(cluster)
        self.cloud.keystone_failure = 'Keystone is down'
        action = self.senlin.act(cluster, name, **arguments)
        self.assert_failed(self.REASON, action)
        self.wait_until_free(cluster)
        self.assertEqual(nodes, self.senlin.nodes(cluster))
        self.assert_servers(cluster, **{ONE: 1, TWO: 1})
        self.cloud.keystone_failure = ''
        self.act(cluster, name, **arguments)
        self.assert_servers(cluster, **wanted)

    def test_a_new_node_is_created_by_nobody(self):
        cluster = self.spread((TWO,))
        profile = self.senlin.profile()
        self.cloud.keystone_failure = 'Keystone is down'
        action, node = self.senlin.start_node(cluster, profile)
        self.assert_failed(self.REASON, self.senlin.wait(action))
        # In the cluster, a recovery would create it in some region.
        self.assertEqual([], self.states(cluster))
        shown = self.shown(node)
        self.assertEqual('ERROR', shown['status'])
        self.assertIn(self.REASON, shown['status_reason'])
        self.assertEqual(0, sum(self.cloud.servers_of(cluster).values()))
        self.cloud.keystone_failure = ''
        self.assert_done(self.senlin.delete(f'/nodes/{node}'))
        self.assert_usable(cluster, 2, **{TWO: 2})

# SPDX-License-Identifier: Apache-2.0

"""What nodes leave behind in a region that fails, on the real engine."""

from senlin.common import context
from senlin.objects import node as node_objects

from senlin_plugins.cluster import left_behind
from testing.senlin import driver
from tests.functional.senlin_plugins import failing_regions
from tests.functional.senlin_plugins.base import ONE, TWO


class LeavingBehind(failing_regions.TestCase):
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

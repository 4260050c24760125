# SPDX-License-Identifier: Apache-2.0

"""A region dies: what each action on a cluster does then."""

from senlin_plugins import regions
from tests.functional.senlin_plugins import base, gateway
from tests.functional.senlin_plugins.base import ONE, THREE, TWO

NO_PLAN = 'There is no feasible plan to handle all nodes.'
#: What fails in a region that is dead.
CALLS = (
    'probe compute',
    'server_create',
    'server_get',
    'server_delete',
    'server_update',
)


class TestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.patch(regions, 'PAUSES', (0, 0))

    def die(self, name):
        """Let a region die."""
        failures = self.cloud.regions[name].failures
        failures.update(dict.fromkeys(CALLS, f'{name} is dead'))


class Silent(TestCase):
    """A region whose Nova does not answer."""

    def setUp(self):
        super().setUp()
        self.cluster_id = self.built(self.build)
        self.die(TWO)

    def build(self):
        """Return a cluster with two nodes in each of two regions."""
        cluster = self.cluster(
            self.region_policy((ONE,), (TWO,)), profile=self.senlin.profile()
        )
        self.act(cluster, 'scale_out', count=4)
        return cluster

    def test_growth_avoids_it(self):
        with self.assertLogs('senlin_plugins', 'WARNING') as logs:
            data = self.act(self.cluster_id, 'scale_out', count=2)
        self.assertEqual({ONE: 2}, data['creation']['regions'])
        self.assertIn(
            f"Region '{TWO}' is not used: compute does not answer.",
            str(logs.output),
        )
        node = self.add_node(self.cluster_id, self.senlin.profile())
        self.assertEqual(ONE, base.region_of(self.shown(node)))

    def test_all_regions_dead_is_no_plan(self):
        self.die(ONE)
        for name in ('scale_out', 'scale_in'):
            action = self.senlin.act(self.cluster_id, name)
            self.assert_failed('No region is found usable.', action)

    def test_a_scale_in_takes_nodes_elsewhere_or_fails(self):
        data = self.act(self.cluster_id, 'scale_in', count=2)
        self.assertEqual({ONE: 2}, data['deletion']['regions'])
        action = self.senlin.act(self.cluster_id, 'scale_in')
        self.assert_failed(NO_PLAN, action)
        self.assert_servers(self.cluster_id, **{TWO: 2})

    def test_senlin_deletes_no_node_there_until_it_answers(self):
        node = self.ids(self.cluster_id, TWO)[0]
        action = self.senlin.delete(f'/nodes/{node}')
        self.assertEqual('FAILED', action['status'])
        self.assertEqual('ERROR', self.shown(node)['status'])
        self.cloud.heal()
        self.assert_done(self.senlin.delete(f'/nodes/{node}'))
        self.assert_servers(self.cluster_id, **{ONE: 2, TWO: 1})
        self.assertEqual(1, len(self.cloud.regions[TWO].servers))

    def test_a_recovery_with_check_keeps_them_when_it_answers(self):
        before = self.held(self.cluster_id)
        self.senlin.act(self.cluster_id, 'check')
        self.wait_until_free(self.cluster_id)
        self.cloud.heal()
        self.act(self.cluster_id, 'recover', check=True)
        self.assert_nodes(self.cluster_id, **{ONE: 2, TWO: 2})
        self.assertEqual(before, self.held(self.cluster_id))

    def test_senlin_forgets_servers_that_it_recovers_too_early(self):
        here = self.ids(self.cluster_id, TWO)
        self.senlin.act(self.cluster_id, 'recover', check=True)
        self.wait_until_free(self.cluster_id)
        servers = self.held(self.cluster_id)
        self.assertEqual({None}, {servers[node] for node in here})
        self.cloud.heal()
        self.act(self.cluster_id, 'recover', check=True)
        self.assertEqual(
            {ONE: 2, TWO: 4, THREE: 0}, self.cloud.servers_of(self.cluster_id)
        )

    def test_a_scale_in_asks_only_the_service_that_deletes(self):
        self.cloud.heal()
        self.cloud.probes.clear()
        self.act(self.cluster_id, 'scale_in')
        asked = {(ONE, 'compute'), (TWO, 'compute')}
        self.assertEqual(asked, {*self.cloud.probes})


class Strays(TestCase):
    """A region that the policy does not name, and nobody reaches."""

    def test_its_nodes_stay_until_it_answers(self):
        cluster = self.cluster(self.region_policy((THREE,), (ONE,)))
        self.act(cluster, 'scale_out', count=4)
        self.detach(cluster)
        self.attach(cluster, self.region_policy((ONE,), (TWO,)))
        self.die(THREE)
        data = self.act(cluster, 'scale_in')
        self.assertEqual({ONE: 1}, data['deletion']['regions'])
        action = self.senlin.act(cluster, 'scale_in', count=2)
        self.assert_failed(NO_PLAN, action)
        self.cloud.heal()
        self.act(cluster, 'scale_in', count=2)
        self.assert_servers(cluster, **{ONE: 1})


class Plan(gateway.ShellTestCase):
    def test_nodes_in_a_region_that_keystone_does_not_know_stay(self):
        cluster = self.spread((ONE,), (TWO,))
        self.act(cluster, 'scale_out', count=4)
        self.cloud.keystone_regions.discard(TWO)
        plan = self.run_region('plan', '--cluster', cluster, '--count=-2')
        changes = {row['region']: row['change'] for row in plan['regions']}
        self.assertEqual({ONE: -2, TWO: 0}, changes)
        result = self.shell('plan', '--cluster', cluster, '--count=-3')
        self.assertIn(NO_PLAN.rstrip('.'), result.error)

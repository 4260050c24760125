# SPDX-License-Identifier: Apache-2.0

"""A region dies: what each action on a cluster does then."""

from senlin_plugins import regions
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import (
    NO_PLAN,
    NO_REGION,
    ONE,
    THREE,
    TWO,
)

#: What fails in a region that is dead.
CALLS = (
    'probe compute',
    'server_create',
    'server_get',
    'server_delete',
    'server_update',
)


class Silent(base.TestCase):
    """A region whose Nova does not answer."""

    def setUp(self):
        super().setUp()
        self.patch(regions, 'PAUSES', (0, 0))
        self.cluster_id = self.spread((ONE,), (TWO,))
        self.act(self.cluster_id, 'scale_out', count=4)
        self.die(TWO)

    def die(self, name):
        """Let a region die."""
        failures = self.cloud.regions[name].failures
        failures.update(dict.fromkeys(CALLS, f'{name} is dead'))

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
            self.assert_failed(NO_REGION, action)

    def test_a_scale_in_takes_nodes_elsewhere_or_fails(self):
        data = self.act(self.cluster_id, 'scale_in', count=2)
        self.assertEqual({ONE: 2}, data['deletion']['regions'])
        action = self.senlin.act(self.cluster_id, 'scale_in')
        self.assert_failed(NO_PLAN, action)
        self.assert_servers(self.cluster_id, **{TWO: 2})

    def test_a_region_outside_the_spec_keeps_its_nodes(self):
        self.cloud.heal()
        self.detach(self.cluster_id)
        self.attach(self.cluster_id, self.region_policy((ONE,), (THREE,)))
        self.die(TWO)
        data = self.act(self.cluster_id, 'scale_in')
        self.assertEqual({ONE: 1}, data['deletion']['regions'])
        self.cloud.heal()
        self.cloud.probes.clear()
        self.act(self.cluster_id, 'scale_in', count=2)
        self.assert_servers(self.cluster_id, **{ONE: 1})
        # Only the service that deletes is asked.
        services = {service for _, service in self.cloud.probes}
        self.assertEqual({'compute'}, services)

    def test_senlin_deletes_no_node_there_until_it_answers(self):
        node = self.ids(self.cluster_id, TWO)[0]
        action = self.senlin.delete(f'/nodes/{node}')
        self.assertEqual('FAILED', action['status'])
        self.assertEqual('ERROR', self.shown(node)['status'])
        self.cloud.heal()
        self.assert_done(self.senlin.delete(f'/nodes/{node}'))
        self.assert_servers(self.cluster_id, **{ONE: 2, TWO: 1})

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

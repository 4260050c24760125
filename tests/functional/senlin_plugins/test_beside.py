# SPDX-License-Identifier: Apache-2.0

"""The region policy beside what else Senlin does with a cluster."""

import functools

from oslo_config import cfg
from senlin.common import consts
from senlin.health_manager import service

from testing.senlin import engine
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import (
    NO_REGION,
    ONE,
    THREE,
    TWO,
)


@functools.cache
def start_health_manager():
    """Start the service that polls nodes, once per process."""
    engine.boot()
    service.HealthManagerService(
        cfg.CONF.host, consts.HEALTH_MANAGER_TOPIC
    ).start()


class Health(base.TestCase):
    """A cluster that a health manager polls."""

    @classmethod
    def setUpClass(cls):
        # It runs as long as this process, like the rest of Senlin.
        start_health_manager()
        super().setUpClass()

    def setUp(self):
        super().setUp()
        for option, seconds in (
            ('health_check_interval_min', 1),
            # How long the health manager may take to answer.
            ('engine_life_check_timeout', 60),
        ):
            self.set_option(option, seconds, None)
        self.cluster_id = self.spread((TWO,), (THREE,))

    def attach_health(self):
        """Attach a health policy that looks once in a second."""
        detection = {
            'interval': 1,
            # Seconds after a change of a node.
            'node_update_timeout': 1,
            'detection_modes': [{'type': 'NODE_STATUS_POLLING'}],
        }
        recovery = {'actions': [{'name': 'RECREATE'}]}
        health = self.senlin.policy(
            'senlin.policy.health',
            {'detection': detection, 'recovery': recovery},
            '1.1',
        )
        self.attach(self.cluster_id, health)
        # The polling must not go on behind the test.
        self.addCleanup(
            self.act, self.cluster_id, 'policy_detach', policy_id=health
        )

    def test_a_lost_server_comes_back_in_its_region(self):
        self.act(self.cluster_id, 'scale_out', count=4)
        self.attach_health()
        # Senlin stops polling for an action that shrinks a cluster, and goes
        # on after it. An action that is refused must not stop it.
        self.cloud.keystone_regions = {ONE}
        action = self.senlin.act(self.cluster_id, 'scale_in')
        self.assert_failed(NO_REGION, action)
        self.cloud.keystone_regions = {ONE, TWO, THREE}
        node = self.senlin.nodes(self.cluster_id)[0]
        region = base.region_of(node)
        del self.cloud.regions[region].servers[node['physical_id']]
        self.wait_until(
            lambda: self.cloud.servers_of(self.cluster_id)[region] == 2
        )
        self.wait_until_free(self.cluster_id)
        self.assert_servers(self.cluster_id, **{TWO: 2, THREE: 2})


class Bindings(base.TestCase):
    def test_a_policy_that_is_attached_again_counts_what_came_meanwhile(self):
        # Made before there was a policy.
        cluster = self.cluster(size=1)
        regions = self.region_policy((ONE, 100, 2), (TWO,))
        self.attach(cluster, regions)
        self.act(cluster, 'scale_out', count=4)
        self.assert_servers(cluster, **{ONE: 2, TWO: 3})
        self.detach(cluster)
        # Nodes stay where they are, without the policy as well.
        node = self.ids(cluster, TWO)[0]
        self.act_node(node, 'recover', operation='RECREATE')
        self.act(cluster, 'scale_out')
        self.assert_servers(cluster, **{ONE: 3, TWO: 3})
        # A disabled policy plans nothing.
        binding = {'policy_id': regions, 'enabled': False}
        self.act(cluster, 'policy_attach', **binding)
        self.assertNotIn('placement', self.act(cluster, 'scale_out'))
        self.act(cluster, 'policy_update', policy_id=regions, enabled=True)
        data = self.act(cluster, 'scale_in', count=3)
        self.assertEqual({ONE: 2, TWO: 1}, data['deletion']['regions'])

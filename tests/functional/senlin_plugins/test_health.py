# SPDX-License-Identifier: Apache-2.0

"""Senlin's health policy and health manager, beside the region policy."""

from senlin.common import consts
from senlin.health_manager import service

from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, TWO

EVENTS = 'LIFECYCLE_EVENTS'
POLLING = 'NODE_STATUS_POLLING'
HEALTH = 'senlin.policy.health'
UNHEARD = "Senlin does not listen to events for this package's profiles"


class HealthTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.set_option('health_check_interval_min', 1, None)
        manager = service.HealthManagerService(
            'health', consts.HEALTH_MANAGER_TOPIC
        )
        manager.start()
        self.addCleanup(manager.stop)

    def health_policy(self, mode, action):
        detection = {
            'interval': 1,
            'node_update_timeout': 1,
            'detection_modes': [{'type': mode}],
        }
        recovery = {'actions': [{'name': action}]}
        properties = {'detection': detection, 'recovery': recovery}
        return self.senlin.policy(HEALTH, properties, '1.2')

    def test_polling_heals_a_node_in_its_region(self):
        cluster = self.spread((ONE,), (TWO,), count=2)
        self.attach(cluster, self.health_policy(POLLING, 'RECREATE'))
        self.cloud.regions[TWO].servers.clear()
        self.wait_until(lambda: self.cloud.servers_of(cluster)[TWO])
        self.wait_until_free(cluster)
        self.assert_servers(cluster, **{ONE: 1, TWO: 1})
        self.detach(cluster, HEALTH)

    def test_a_policy_that_would_hear_nothing_is_refused(self):
        events = self.health_policy(EVENTS, 'REBOOT')
        regions = self.region_policy((ONE,), (TWO,))
        cluster = self.cluster(regions)
        self.assert_not_attached(UNHEARD, cluster, events)
        # Senlin allows the reboot, as for its own profile of servers.
        self.attach(cluster, self.health_policy(POLLING, 'REBOOT'))
        self.detach(cluster, HEALTH)
        # In the other order.
        cluster = self.cluster(events)
        self.assert_not_attached(UNHEARD, cluster, regions)
        self.detach(cluster, HEALTH)

# SPDX-License-Identifier: Apache-2.0

"""A region dies: its Nova does not answer."""

import eventlet
from keystoneauth1 import exceptions as keystone_exc

from senlin_plugins import endpoints
from testing.senlin import stub_cloud
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import (
    NO_PLAN,
    NO_REGION,
    ONE,
    THREE,
    TWO,
)


class Silent(base.TestCase):
    def setUp(self):
        super().setUp()
        self.patch(endpoints, 'PAUSE', 0)
        self.cluster_id = self.spread((ONE,), (TWO,), count=4)
        self.die(TWO)

    def die(self, name):
        failures = self.cloud.regions[name].failures
        failures.update(dict.fromkeys(base.DEAD, f'{name} is dead'))

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
        self.die(ONE)
        action = self.senlin.act(self.cluster_id, 'scale_out')
        self.assert_failed(NO_REGION, action)

    def test_a_scale_in_takes_nodes_elsewhere_or_fails(self):
        data = self.act(self.cluster_id, 'scale_in', count=2)
        self.assertEqual({ONE: 2}, data['deletion']['regions'])
        action = self.senlin.act(self.cluster_id, 'scale_in')
        self.assert_failed(NO_PLAN, action)
        self.assert_servers(self.cluster_id, **{TWO: 2})

    def test_more_nodes_than_there_are_never_leave(self):
        self.cloud.heal()
        action = self.senlin.act(self.cluster_id, 'scale_in', count=10)
        self.assert_failed(NO_PLAN, action)
        self.assert_servers(self.cluster_id, **{ONE: 2, TWO: 2})
        # Without the policy, Senlin deletes them all.
        self.detach(self.cluster_id)
        self.act(self.cluster_id, 'scale_in', count=10)
        self.assert_servers(self.cluster_id)

    def test_a_region_outside_the_spec_keeps_its_nodes(self):
        self.cloud.heal()
        self.detach(self.cluster_id)
        self.attach(self.cluster_id, self.region_policy((ONE,), (THREE,)))
        self.die(TWO)
        data = self.act(self.cluster_id, 'scale_in')
        self.assertEqual({ONE: 1}, data['deletion']['regions'])


class Asked(base.TestCase):
    def count_requests(self, seconds):
        """Let all services fail, and return how often the policy asks one.

        :param seconds: how long a service takes to fail.
        """
        asked = []

        def fail(identity, url, **kwargs):
            asked.append(url)
            eventlet.sleep(seconds)
            raise keystone_exc.ConnectFailure(f'{url} does not answer')

        cluster = self.spread((TWO,))
        self.patch(stub_cloud.Identity, 'get', fail)
        action = self.senlin.act(cluster, 'scale_out')
        self.assert_failed(NO_REGION, action)
        return len(asked)

    def test_a_service_that_fails_at_once_is_asked_again(self):
        self.assertEqual(2, self.count_requests(0))

    def test_a_service_that_is_silent_is_asked_once(self):
        self.assertEqual(1, self.count_requests(3))

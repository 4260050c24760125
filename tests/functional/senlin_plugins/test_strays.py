# SPDX-License-Identifier: Apache-2.0

"""Nodes in a region that the policy does not name, and nobody reaches."""

import ddt

from tests.functional.senlin_plugins import failing_regions, gateway
from tests.functional.senlin_plugins.base import ONE, THREE, TWO

VERSIONS = ('1.0', '1.1')


class TestCase(failing_regions.TestCase):
    def setUp(self):
        super().setUp()
        self.set_option('region_out_after', 300)

    def stray(self, version):
        """Return a cluster with two nodes in each of two other regions."""
        cluster = self.cluster(self.policy((THREE,), (ONE,), version=version))
        self.act(cluster, 'scale_out', count=4)
        self.detach(cluster)
        self.attach(cluster, self.policy((ONE,), (TWO,), version=version))
        return cluster

    def vanish(self):
        """Let a region be unknown to everybody."""
        self.cloud.keystone_regions.discard(THREE)
        failures = self.cloud.regions[THREE].failures
        failures.update(dict.fromkeys(failing_regions.CALLS, 'gone'))

    def come_back(self):
        """Let the region be as before."""
        self.cloud.keystone_regions.add(THREE)
        self.cloud.heal()


@ddt.ddt
class Strays(TestCase):
    @ddt.data(*VERSIONS)
    def test_they_stay_while_nobody_reaches_them(self, version):
        cluster = self.stray(version)
        self.vanish()
        data = self.act(cluster, 'scale_in')
        self.assertEqual({ONE: 1}, data['deletion']['regions'])
        action = self.senlin.act(cluster, 'scale_in', count=2)
        reason = 'There is no feasible plan to handle all nodes.'
        self.assert_failed(reason, action)
        self.come_back()
        self.act(cluster, 'scale_in', count=2)
        self.assert_nodes(cluster, **{ONE: 1})
        self.assert_servers(cluster, **{ONE: 1})

    def test_they_leave_first_when_their_region_is_out(self):
        cluster = self.stray('1.1')
        self.vanish()
        for seconds in (0, 301):
            with self.at(seconds):
                self.check(cluster)
        with self.at(320):
            data = self.act(cluster, 'scale_in', count=2)
        self.assertEqual({THREE: 2}, data['deletion']['regions'])
        self.assert_nodes(cluster, **{ONE: 2})
        self.come_back()
        self.act(cluster, 'check')
        self.settle(cluster)
        self.assert_servers(cluster, **{ONE: 2})


@ddt.ddt
class Plan(gateway.ShellTestCase, TestCase):
    @ddt.unpack
    @ddt.data(
        ('1.0', 'out of reach: left as it is'),
        ('1.1', 'Keystone does not know it'),
    )
    def test_it_shows_that_they_stay(self, version, why):
        cluster = self.stray(version)
        self.vanish()
        self.check(cluster)
        rows = self.run_region('plan', '--cluster', cluster, '--count=-1')
        row_of = {row['Region']: row for row in rows}
        self.assertEqual(-1, row_of[ONE]['Change'])
        stray = row_of[THREE]
        self.assertEqual(0, stray['Change'])
        self.assertIn(why, stray['Why'])
        self.assertIn('left as it is', stray['Why'])
        result = self.shell('plan', '--cluster', cluster, '--count=-3')
        self.assertIn('There is no feasible plan', result.error)

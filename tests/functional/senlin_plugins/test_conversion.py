# SPDX-License-Identifier: Apache-2.0

"""The way into this package, and out: servers stay up."""

import sqlalchemy
from senlin.db.sqlalchemy import api as db_api
from senlin.objects import cluster_lock

from senlin_plugins import conversion
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, TWO

IN_TREE = 'os.nova.server'
AWARE = 'senlin_plugins.nova.server'


class Way(base.TestCase):
    def convert(self, *arguments):
        """Convert a profile and return what the command says."""
        with db_api.session_for_write() as session:
            return conversion.convert_profile(session, *arguments)

    def assert_not_converted(self, words, *arguments):
        """Check that a profile cannot be converted, and why."""
        with self.assertRaisesRegex(ValueError, words):
            self.convert(*arguments)

    def users(self):
        """Return what needs this package."""
        with db_api.session_for_read() as session:
            rows = session.execute(sqlalchemy.text(conversion.STATEMENT))
            return [
                (use.kind, use.id, use.package_types)
                for use in conversion.collect_uses(rows)
                if use.package_types
            ]

    def test_in_and_back(self):
        profile = self.senlin.profile(IN_TREE)
        cluster = self.cluster(profile=profile, size=3)
        before = self.held(cluster)
        self.assertEqual([], self.users())
        report = self.convert(profile, False, False)
        self.assertIn(f'(3 nodes; clusters: cluster): {IN_TREE} -> ', report)
        self.assertIn('Nothing has changed', report)
        policy = self.region_policy((ONE,), (TWO,))
        words = f"of type '{IN_TREE}-1.0' creates all nodes in one region"
        self.assert_not_attached(words, cluster, policy)
        self.assertIn('Done.', self.convert(profile, False, True))
        self.act(cluster, 'check')
        self.attach(cluster, policy)
        self.assertEqual(before, self.held(cluster))
        self.assert_servers(cluster, **{ONE: 3})
        self.act(cluster, 'scale_out', count=3)
        self.assert_servers(cluster, **{ONE: 3, TWO: 3})
        kinds = f'{AWARE}-1.0, {base.REGION_POLICY}-1.0'
        self.assertEqual([('cluster', cluster, kinds)], self.users())
        # Out again.
        back = profile, True, True
        self.assert_not_converted('3 node.s. are not in RegionOne', *back)
        for node in self.ids(cluster, TWO):
            self.assert_done(self.senlin.delete(f'/nodes/{node}'))
        self.assert_not_converted('is attached to cluster', *back)
        self.act(cluster, 'policy_detach', policy_id=policy)
        self.assertIn('Done.', self.convert(*back))
        self.assertEqual([], self.users())
        self.act(cluster, 'recover', check=True)
        self.assertEqual(before, self.held(cluster))
        self.act(cluster, 'scale_out')
        self.assertEqual(4, self.cloud.servers_of(cluster)[ONE])

    def test_what_is_not_ready_stays(self):
        profile = self.senlin.profile(IN_TREE)
        cluster = self.cluster(profile=profile, size=1)
        self.assert_not_converted('0 profiles are', 'nobody', False, True)
        self.assert_not_converted(
            f"is '{IN_TREE}': it must be one of {AWARE}", profile, True, True
        )
        cluster_lock.ClusterLock.acquire(cluster, 'something', -1)
        self.assert_not_converted('under way', profile, False, True)
        cluster_lock.ClusterLock.release(cluster, 'something', -1)
        self.set_option('default_region_name', '', None)
        self.assert_not_converted('is not set', profile, False, True)

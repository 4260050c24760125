# SPDX-License-Identifier: Apache-2.0

"""What is not ready stays; the page shows the way in, and out."""

from senlin.db.sqlalchemy import api as db_api
from senlin.objects import cluster_lock

from senlin_plugins import conversion
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, TWO

IN_TREE = 'os.nova.server'
AWARE = 'senlin_plugins.nova.server'


class Refused(base.TestCase):
    def setUp(self):
        super().setUp()
        self.profile = self.senlin.profile(IN_TREE)
        self.cluster_id = self.cluster(profile=self.profile, size=1)

    def convert(self, *arguments):
        """Convert a profile and return what the command says."""
        with db_api.session_for_write() as session:
            return conversion.convert_profile(session, *arguments)

    def assert_not_converted(self, words, *arguments):
        """Check that a profile cannot be converted, and why."""
        with self.assertRaisesRegex(ValueError, words):
            self.convert(*arguments)

    def test_on_the_way_in(self):
        policy = self.region_policy((ONE,))
        words = f"of type '{IN_TREE}-1.0' creates all nodes in one region"
        self.assert_not_attached(words, self.cluster_id, policy)
        self.assert_not_converted('0 profiles are', 'nobody', False, True)
        arguments = self.profile, False, True
        cluster_lock.ClusterLock.acquire(self.cluster_id, 'something', -1)
        self.assert_not_converted('under way', *arguments)
        cluster_lock.ClusterLock.release(self.cluster_id, 'something', -1)
        self.set_option('default_region_name', '', None)
        self.assert_not_converted('is not set', *arguments)

    def test_on_the_way_out(self):
        back = self.profile, True, True
        words = f"is '{IN_TREE}': it must be one of {AWARE}"
        self.assert_not_converted(words, *back)
        self.convert(self.profile, False, True)
        self.attach(self.cluster_id, self.region_policy((ONE,), (TWO,)))
        self.act(self.cluster_id, 'scale_out')
        self.assert_not_converted('1 node.s. are not in RegionOne', *back)
        (node,) = self.ids(self.cluster_id, TWO)
        self.assert_done(self.senlin.delete(f'/nodes/{node}'))
        self.assert_not_converted('is attached to cluster', *back)

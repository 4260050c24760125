# SPDX-License-Identifier: Apache-2.0

"""Numbers of the page ``senlin``, from the Senlin that is there."""

import json

# The first import patches the process for eventlet.
import senlin.cmd  # noqa: F401
from senlin.api.middleware import fault

from senlin_plugins import deletion_policy
from tests import numbers
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, TWO


class NumbersTest(numbers.NumbersCase):
    def test_the_deletion_policy(self):
        versions = len(deletion_policy.DeletionPolicy.VERSIONS)
        self.assert_told('versions of the deletion policy', (versions,) * 2)
        schema = deletion_policy.DeletionPolicy.properties_schema
        self.assert_told('grace_period', schema['grace_period'].default)

    def test_the_status_of_a_conflict(self):
        error = fault.FaultWrapper.error_map['ActionConflict']
        self.assert_told('conflict', error.code)


class ShrinkTest(base.TestCase):
    def test_the_regions_keep_their_proportions(self):
        regions = (ONE, 100), (TWO, 200)
        cluster = self.spread(*regions, count=6)
        before = self.cloud.servers_of(cluster)
        self.act(cluster, 'scale_in', count=3)
        after = self.cloud.servers_of(cluster)
        self.assertEqual(before, {name: 2 * after[name] for name in after})
        self.assert_page_says(
            'README',
            'When the cluster shrinks, the region placement policy of this '
            'package keeps the proportions of the regions',
        )


class DeletionTest(base.TestCase):
    def test_whether_nodes_are_destroyed(self):
        #: The value in YAML, by whether nodes are left.
        values = {}
        for value in True, False:
            policy = self.deletion_policy(destroy_after_deletion=value)
            cluster = self.cluster(policy, size=1)
            self.act(cluster, 'scale_in')
            nodes = self.senlin.call('GET', '/nodes')['nodes']
            values[bool(nodes)] = json.dumps(value)
        self.assert_page_says(
            'senlin',
            f'``{values[False]}``: destroy the nodes; ``{values[True]}``: '
            'keep them outside the cluster',
        )

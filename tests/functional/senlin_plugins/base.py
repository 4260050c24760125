# SPDX-License-Identifier: Apache-2.0

"""A running Senlin for the tests: the very engine that the demo shows."""

import collections
import unittest
from unittest import mock

import eventlet
from oslo_config import cfg
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models
from senlin.objects import cluster_lock

from senlin_plugins import conf
from testing.senlin import engine

REGION_POLICY = 'senlin_plugins.policy.region_placement'
DELETION_POLICY = 'senlin_plugins.policy.deletion'

ONE, TWO, THREE = engine.REGIONS

NO_REGION = 'No region is found usable.'
NO_PLAN = 'There is no feasible plan to handle all nodes.'
#: The reason if Keystone or Zaqar fails. It shows no text of the error.
UNEXPECTED = (
    'The policy check failed (InternalError): see the log of senlin-engine.'
)
#: An entry of a block device mapping: its id is of one region.
VOLUME = {
    'uuid': 'a volume',
    'source_type': 'volume',
    'destination_type': 'volume',
    'volume_size': 1,
}
LOAD_BALANCER = {
    'pool': {'subnet': 'private', 'protocol_port': 80},
    'vip': {'subnet': 'public', 'protocol_port': 80},
}
#: What fails in a region that is dead.
DEAD = ('probe compute', 'server_create', 'server_get', 'server_delete')
#: The inputs of a resize to a size.
EXACTLY = {'adjustment_type': 'EXACT_CAPACITY'}


class TestCase(unittest.TestCase):
    """Clusters on the embedded engine, which each test finds empty."""

    def setUp(self):
        super().setUp()
        self.senlin = engine.boot()
        self.cloud = self.senlin.cloud
        # The first here is the last to be done.
        self.addCleanup(self.senlin.reset)

    def set_option(self, name, value, group=conf.GROUP.name):
        """Set an option, by default of this package, until the test ends."""
        cfg.CONF.set_override(name, value, group)
        self.addCleanup(cfg.CONF.clear_override, name, group)

    def patch(self, thing, name, value):
        self.enterContext(mock.patch.object(thing, name, value))

    def region_policy(self, *regions):
        """Create a region policy from (name, weight, cap) tuples."""
        keys = ('name', 'weight', 'cap')
        entries = [dict(zip(keys, r, strict=False)) for r in regions]
        return self.senlin.policy(REGION_POLICY, {'regions': entries})

    def deletion_policy(self, version='1.0', **properties):
        return self.senlin.policy(DELETION_POLICY, properties, version)

    def load_balancing_policy(self):
        return self.senlin.policy(
            'senlin.policy.loadbalance', LOAD_BALANCER, '1.3'
        )

    def cluster(self, *policies, profile=None, size=0):
        profile = profile or self.senlin.profile()
        cluster_id = self.senlin.cluster(profile, size)
        for policy in policies:
            self.attach(cluster_id, policy)
        return cluster_id

    def spread(self, *regions, profile=None, count=0):
        """Create a cluster with a region policy and return its id.

        :param count: how many nodes the policy then places.
        """
        policy = self.region_policy(*regions)
        cluster_id = self.cluster(policy, profile=profile)
        if count:
            self.act(cluster_id, 'scale_out', count=count)
        return cluster_id

    def attach(self, cluster_id, policy_id):
        self.assert_done(self.senlin.attach(cluster_id, policy_id))

    def detach(self, cluster_id, policy_type=''):
        """Detach the only policy of a cluster, or the only one of a type."""
        path = f'/clusters/{cluster_id}/policies'
        (policy_id,) = (
            binding['policy_id']
            for binding in self.senlin.call('GET', path)['cluster_policies']
            if binding['policy_type'].startswith(policy_type)
        )
        self.act(cluster_id, 'policy_detach', policy_id=policy_id)

    def assert_not_attached(self, reason, cluster_id, policy_id):
        action = self.senlin.attach(cluster_id, policy_id)
        self.assertEqual('FAILED', action['status'])
        self.assertIn(reason, action['status_reason'])

    def act(self, cluster_id, name, **arguments):
        """Run an action on a cluster that must succeed; return its data."""
        action = self.senlin.act(cluster_id, name, **arguments)
        self.assert_done(action)
        return action['data']

    def act_node(self, node_id, name, **arguments):
        self.assert_done(self.senlin.act_node(node_id, name, **arguments))

    def add_node(self, cluster_id, profile):
        action, node_id = self.senlin.start_node(cluster_id, profile)
        self.assert_done(self.senlin.wait(action))
        return node_id

    def create_nodes(self, cluster_id, profile, count):
        """Create nodes at one moment, and return their actions."""
        started = [
            self.senlin.start_node(cluster_id, profile) for _ in range(count)
        ]
        return [self.senlin.wait(action) for action, _ in started]

    def ways(self, cluster_id, count):
        """Return the actions that remove so many nodes."""
        ids = self.ids(cluster_id)
        return (
            ('scale_in', {'count': count}),
            ('resize', EXACTLY | {'number': len(ids) - count}),
            ('del_nodes', {'nodes': ids[:count]}),
        )

    def shown(self, node_id):
        """Return a node as the API shows it."""
        return self.senlin.call('GET', f'/nodes/{node_id}')['node']

    def ids(self, cluster_id, region=None):
        """Return the ids of the nodes, or of those in a region."""
        nodes = self.senlin.nodes(cluster_id)
        return [n['id'] for n in nodes if region in (None, region_of(n))]

    def held(self, cluster_id):
        """Return node id -> id of its server."""
        nodes = self.senlin.nodes(cluster_id)
        return {node['id']: node['physical_id'] for node in nodes}

    def oldest(self, cluster_id, **plan):
        """Return the ids of the oldest nodes in each region of a plan."""
        by_age = self.senlin.by_age(cluster_id)
        oldest = []
        for region, count in sorted(plan.items()):
            there = self.ids(cluster_id, region)
            oldest += [node for node in by_age if node in there][:count]
        return oldest

    def wait_until_free(self, cluster_id):
        """Wait until nothing runs on a cluster any more.

        A failed child fails its parent at once, while both of them, and the
        other children, go on for a while.
        """

        def free():
            with db_api.session_for_read() as session:
                actions = session.query(models.Action)
                of_cluster = actions.filter_by(cluster_id=cluster_id)
                left = models.Action.status.not_in(engine.ENDS)
                if of_cluster.filter(left).count():
                    return False
            return not cluster_lock.ClusterLock.is_locked(cluster_id)

        self.wait_until(free)

    def wait_until(self, holds):
        with eventlet.Timeout(engine.PATIENCE):
            while not holds():
                eventlet.sleep(engine.PAUSE)

    def assert_done(self, action):
        """Fail with the action's own reason unless it succeeded."""
        self.assertEqual(
            'SUCCEEDED', action['status'], action['status_reason']
        )

    def assert_failed(self, reason, action):
        """Check that an action failed with a reason, stored in its data."""
        self.assertEqual('FAILED', action['status'])
        self.assertIn(reason, action['status_reason'])
        self.assertEqual('ERROR', action['data']['status'])
        self.assertEqual(reason, action['data']['reason'])

    def assert_capacity(self, cluster_id, size):
        shown = self.senlin.call('GET', f'/clusters/{cluster_id}')['cluster']
        self.assertEqual(size, shown['desired_capacity'])

    def assert_nodes(self, cluster_id, **counts):
        """Check that all nodes are active, and in which regions they are."""
        nodes = self.senlin.nodes(cluster_id)
        self.assertEqual(counts, collections.Counter(map(region_of, nodes)))
        self.assertEqual({'ACTIVE'}, {node['status'] for node in nodes})

    def assert_servers(self, cluster_id, **counts):
        """Check where the servers are, in the clouds and in the nodes' data.

        :param counts: region name -> number; regions not named have none.
        """
        everywhere = dict.fromkeys(self.cloud.regions, 0) | counts
        self.assertEqual(everywhere, self.cloud.servers_of(cluster_id))
        for node in self.senlin.nodes(cluster_id):
            self.assertIsNotNone(node['physical_id'], node['status_reason'])
            self.assertEqual(
                self.cloud.region_of_server(node['physical_id']),
                region_of(node),
            )


def region_of(node):
    """Return the region that a node's data names."""
    return node['data'].get('placement', {}).get('region_name')

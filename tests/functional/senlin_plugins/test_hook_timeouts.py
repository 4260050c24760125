# SPDX-License-Identifier: Apache-2.0

"""A hook, a grace period and the timeout of the cluster that waits for them.

If the cluster's timeout ended the action first, Senlin would keep the nodes'
NODE_DELETE waiting, with a desired capacity that is lowered already.
"""

import random

import ddt
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models

import tests
from testing.senlin import stub_cloud
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.clock import Clock

#: How many random clusters shrink.
RUNS = 20 if tests.ALL else 4
SIZE = 6


class HookCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = Clock(self)

    def hook_policy(self, timeout, **properties):
        hook = {'params': {'queue': 'farewell'}, 'timeout': timeout}
        return self.deletion_policy('1.1', hooks=hook, **properties)

    def limit_time(self, cluster_id, seconds):
        body = {'cluster': {'timeout': seconds}}
        answer = self.senlin.call('PATCH', f'/clusters/{cluster_id}', body)
        self.assert_done(self.senlin.wait(answer['started']))

    def assert_whole(self, cluster_id, size):
        """Check that each node has its server, and that none is waiting."""
        self.wait_until_free(cluster_id)
        self.assert_capacity(cluster_id, size)
        held = self.held(cluster_id)
        self.assertEqual(size, len(held))
        servers = set()
        for region in self.cloud.regions.values():
            servers.update(region.servers)
        self.assertEqual(servers, {*held.values()})
        for pool in self.cloud.pools.values():
            self.assertEqual(servers, {*pool.values()})
        with db_api.session_for_read() as session:
            deletions = session.query(models.Action.status)
            deletions = deletions.filter_by(action='NODE_DELETE')
            self.assertLessEqual({*deletions}, {('SUCCEEDED',)})


@ddt.ddt
class Refused(HookCase):
    @ddt.data(False, True)
    def test_at_each_decision(self, balanced):
        cluster = self.cluster(size=SIZE)
        if balanced:
            self.attach(cluster, self.load_balancing_policy())
        before = self.held(cluster)
        for grace, hook, limit in (
            (0, 9, 6),
            (4, 4, 6),
            (1800, 1800, 3600),
            # Senlin looks every three seconds.
            (0, 4, 6),
        ):
            # The cluster's timeout changes after the policy was attached.
            self.limit_time(cluster, 7200)
            self.attach(cluster, self.hook_policy(hook, grace_period=grace))
            self.limit_time(cluster, limit)
            for name, arguments in self.ways(cluster, 2):
                with self.subTest(name, grace=grace, hook=hook, limit=limit):
                    action = self.senlin.act(cluster, name, **arguments)
                    self.assertEqual('FAILED', action['status'])
                    reason = action['status_reason']
                    for number in (grace, hook, limit):
                        self.assertIn(f"'{number}'", reason)
                    self.assert_whole(cluster, SIZE)
            self.assertEqual(before, self.held(cluster))
            self.detach(cluster, base.DELETION_POLICY)

    def test_when_the_policy_is_attached(self):
        cluster = self.cluster()
        self.limit_time(cluster, 60)
        reason = "Set the timeout of the cluster to '65' or more."
        policy = self.hook_policy(50, grace_period=10)
        self.assert_not_attached(reason, cluster, policy)
        self.limit_time(cluster, 65)
        self.attach(cluster, policy)


class Derived(HookCase):
    def test_a_deletion_with_a_hook_is_decided_once(self):
        cluster = self.cluster(self.hook_policy(5), size=2)
        data = self.act(cluster, 'scale_in', count=2)
        self.assertEqual(2, data['deletion']['count'])
        path = '/actions?action=NODE_DELETE'
        derived = self.senlin.call('GET', path)['actions']
        self.assertEqual(2, len(derived))
        for action in derived:
            self.assertNotIn('deletion', action['data'])
        self.assert_whole(cluster, 0)


class Many(HookCase):
    def setUp(self):
        super().setUp()
        post = stub_cloud.Queue.message_post

        def post_slowly(queue, name, message):
            post(queue, name, message)
            self.clock.passed += 100

        self.patch(stub_cloud.Queue, 'message_post', post_slowly)

    def test_the_last_node_has_less_time(self):
        cluster = self.cluster(self.hook_policy(250), size=3)
        self.act(cluster, 'scale_in', count=3)
        self.assertEqual(3, len(self.cloud.queues['farewell']))
        # The last message took Senlin until the end of the timeout.
        self.assertLess(self.clock.passed, 300 + 250)
        self.assert_whole(cluster, 0)

    def test_all_messages_must_be_sent_in_time(self):
        cluster = self.cluster(self.hook_policy(250), size=3)
        self.limit_time(cluster, 260)
        action = self.senlin.act(cluster, 'scale_in', count=3)
        self.assertEqual('FAILED', action['status'])
        self.assert_capacity(cluster, 0)
        self.assertEqual(3, len(self.ids(cluster)))
        path = '/actions?action=NODE_DELETE'
        statuses = set()
        for deletion in self.senlin.call('GET', path)['actions']:
            statuses.add(deletion['status'])
        self.assertEqual({'WAITING_LIFECYCLE_COMPLETION'}, statuses)


class Near(HookCase):
    def test_random_timeouts_lose_no_server(self):
        for seed in range(RUNS):
            draw = random.Random(seed)  # noqa: S311 - no secret
            with self.subTest(seed=seed):
                self.shrink(draw)
                self.senlin.reset()

    def shrink(self, draw):
        """Remove two nodes, if the policy does not refuse it."""
        grace, hook = draw.randrange(20), draw.randrange(20)
        policies = [self.hook_policy(hook, grace_period=grace)]
        if draw.random() < 0.5:
            policies.append(self.load_balancing_policy())
        cluster = self.cluster(*policies, size=4)
        self.limit_time(cluster, max(1, grace + hook + draw.randint(-3, 12)))
        name, arguments = draw.choice(self.ways(cluster, 2))
        action = self.senlin.act(cluster, name, **arguments)
        size = 2 if action['status'] == 'SUCCEEDED' else 4
        self.assert_whole(cluster, size)

# SPDX-License-Identifier: Apache-2.0

"""A grace period, a hook, Nova, and the timeout of the cluster for them all.

If the timeout of the cluster ended the action first, the deletions of the
nodes would go on, or would wait for ever. But the desired capacity is lowered
already, so a recovery would delete other nodes, too.
"""

import random

import ddt
import eventlet
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models

import tests
from testing.senlin import engine
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.clock import Clock

#: How many random clusters shrink.
RUNS = 20 if tests.ALL else 7
SIZE = 6
#: The seconds that Nova needs to delete a server, and Senlin's limit for it.
NOVA = 12
#: The shortest timeout of a cluster whose policy waits for one second.
NEEDED = 1 + NOVA + 5


class TimeoutCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.set_option('default_nova_timeout', NOVA, None)
        self.clock = Clock(self, NOVA)

    def hook_policy(self, timeout, **properties):
        hook = {'params': {'queue': 'farewell'}, 'timeout': timeout}
        return self.deletion_policy('1.1', hooks=hook, **properties)

    def update(self, cluster_id, **values):
        body = {'cluster': values}
        answer = self.senlin.call('PATCH', f'/clusters/{cluster_id}', body)
        self.assert_done(self.senlin.wait(answer['started']))

    def recover(self, cluster_id):
        """Recover a cluster as soon as Senlin accepts the request."""
        while True:
            try:
                recovery = {'check_capacity': True}
                return self.senlin.act(cluster_id, 'recover', **recovery)
            except engine.ApiError as exc:
                self.assertEqual(409, exc.code)
                eventlet.sleep(engine.PAUSE)

    def assert_whole(self, cluster_id, size):
        """Check that each node has its server, and that none is waiting."""
        # Nova deletes what it has begun to delete.
        self.clock.passed += NOVA
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
class Refused(TimeoutCase):
    @ddt.data(False, True)
    def test_at_each_decision(self, balanced):
        cluster = self.cluster(size=SIZE)
        if balanced:
            self.attach(cluster, self.load_balancing_policy())
        before = self.held(cluster)
        for grace, hook, limit in (
            (9, None, 6),
            (9, None, 9 + NOVA + 4),
            (0, 9, 6),
            (0, 9, 9 + NOVA + 4),
            (1800, 1800, 3600),
        ):
            # The cluster's timeout changes after the policy was attached.
            self.update(cluster, timeout=7200)
            policy = self.deletion_policy(grace_period=grace)
            if hook is not None:
                policy = self.hook_policy(hook, grace_period=grace)
            self.attach(cluster, policy)
            self.update(cluster, timeout=limit)
            for name, arguments in self.ways(cluster, 2):
                with self.subTest(name, grace=grace, hook=hook, limit=limit):
                    action = self.senlin.act(cluster, name, **arguments)
                    self.assertEqual('FAILED', action['status'])
                    reason = action['status_reason']
                    for number in (grace, hook or 0, NOVA, limit):
                        self.assertIn(f"'{number}'", reason)
                    self.assert_whole(cluster, SIZE)
            self.assertEqual(before, self.held(cluster))
            self.detach(cluster, base.DELETION_POLICY)

    def test_when_the_policy_is_attached(self):
        for policy in (
            self.deletion_policy(grace_period=1),
            self.hook_policy(1),
        ):
            cluster = self.cluster()
            self.update(cluster, timeout=NEEDED - 1)
            reason = f"Set the timeout of the cluster to '{NEEDED}' or more."
            self.assert_not_attached(reason, cluster, policy)
            self.update(cluster, timeout=NEEDED)
            self.attach(cluster, policy)

    def test_nodes_that_are_stopped_first_need_twice_the_time(self):
        cluster = self.cluster()
        self.update(
            cluster,
            timeout=NEEDED,
            config={'cluster.stop_node_before_delete': True},
        )
        reason = f"the timeout of the cluster to '{NEEDED + NOVA}' or more."
        policy = self.deletion_policy(grace_period=1)
        self.assert_not_attached(reason, cluster, policy)

    def test_a_policy_that_does_not_wait_adds_no_limit(self):
        cluster = self.cluster()
        self.update(cluster, timeout=6)
        self.attach(cluster, self.deletion_policy())


class Derived(TimeoutCase):
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


class Near(TimeoutCase):
    def test_random_timeouts_lose_no_server(self):
        for seed in range(RUNS):
            draw = random.Random(seed)  # noqa: S311 - no secret
            with self.subTest(seed=seed):
                self.shrink(draw)
            self.senlin.reset()

    def shrink(self, draw):
        """Remove two nodes, and recover the cluster meanwhile."""
        grace, hook = draw.randint(1, 20), draw.randrange(20)
        if draw.random() < 0.5:
            hook = 0
            policies = [self.deletion_policy(grace_period=grace)]
        else:
            policies = [self.hook_policy(hook, grace_period=grace)]
        if draw.random() < 0.5:
            policies.append(self.load_balancing_policy())
        cluster = self.cluster(*policies, size=SIZE)
        # Around the limit, and around what the policy alone waits.
        limit = grace + hook + 5 + draw.choice((0, NOVA))
        self.update(cluster, timeout=limit + draw.randint(-3, 12))
        name, arguments = draw.choice(self.ways(cluster, 2))
        action = self.senlin.start(cluster, name, **arguments)
        self.recover(cluster)
        ended = self.senlin.wait(action)
        size = SIZE - 2 if ended['status'] == 'SUCCEEDED' else SIZE
        self.assert_whole(cluster, size)

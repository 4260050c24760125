# SPDX-License-Identifier: Apache-2.0

"""The limits of a cluster's size: Senlin's, the policies' and the command's.

The rule stands in this package, too, because the command runs without Senlin.
"""

import itertools
import random
import uuid

from oslo_config import cfg
from oslo_utils import timeutils
from senlin.common import consts, scaleutils
from senlin.common import context as senlin_context
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models
from senlin.engine import cluster as cluster_mod
from senlin.engine.actions import base as actions
from senlin.policies import base as policies

import tests
from senlin_plugins.planning.limits import Limits
from testing.senlin import engine
from tests.functional.senlin_plugins import base, gateway
from tests.functional.senlin_plugins.base import ONE, THREE, TWO

#: How many random clusters are compared.
CASES = 500 if tests.ALL else 25
SIZES = (0, 1, 2, 3, 4, 1000, 1001, 10**30)


class Compared(base.TestCase):
    def test_the_rule_is_that_of_senlin(self):
        for least, most in itertools.product((0, 2, 3), (-1, 0, 2, 3)):
            limits = Limits(least, most, cfg.CONF.max_nodes_per_cluster)
            row = cluster_mod.Cluster(
                *('cluster', 0, 'profile'), min_size=least, max_size=most
            )
            for size in SIZES:
                senlin = scaleutils.check_size_params(row, size, strict=True)
                ours = limits.describe_violation(size)
                self.assertEqual(senlin or '', ours)


class Planned(gateway.ShellTestCase):
    def plan(self, cluster_id, count):
        """Return the plan of the command, or the reason that it prints."""
        option = '--scale-out' if count > 0 else '--scale-in'
        result = self.shell(
            *('cluster', 'region', 'plan', '--cluster', cluster_id),
            *(option, str(abs(count)), '--default-region', ONE, '-f', 'json'),
        )
        if result.status:
            return result.error
        changes = self.changes(result)
        return {region: abs(change) for region, change in changes.items()}

    def set_limits(self, cluster_id, **values):
        with db_api.session_for_write() as session:
            session.get(models.Cluster, cluster_id).update(values)

    def test_the_command_refuses_what_the_policy_refuses(self):
        cluster_id = self.spread((ONE,), (TWO,), count=4)
        self.set_limits(cluster_id, min_size=3, max_size=5)
        for count in (-2, 3):
            # As a webhook does it: the API would refuse some of them.
            ended = self.senlin.run(
                cluster_id, _action(count), count=abs(count)
            )
            self.assertEqual('FAILED', ended['status'])
            reason = ended['data']['reason']
            self.assertIn('The target capacity', reason)
            self.assertIn(reason, self.plan(cluster_id, count))

    def test_the_command_plans_what_the_policy_plans(self):
        for seed in range(CASES):
            draw = random.Random(seed)  # noqa: S311 - no secret
            with self.subTest(seed=seed):
                cluster_id, policy_id = self.build(draw)
                count = draw.choice((-1, 1)) * draw.randint(1, 9)
                planned = self.plan(cluster_id, count)
                decided = self.decide(cluster_id, policy_id, count)
                if isinstance(decided, str):
                    self.assertIn(decided, planned)
                else:
                    self.assertEqual(decided, planned)
            # Senlin allows a project 100 clusters.
            self.senlin.reset()

    def build(self, draw):
        """Store a random cluster, and return its id and that of its policy."""
        names = draw.sample((ONE, TWO, THREE), draw.randint(1, 3))
        policy_id = self.region_policy(
            *((n, draw.randrange(4), draw.randint(-1, 4)) for n in names)
        )
        profile = self.senlin.profile()
        cluster_id = self.cluster(policy_id, profile=profile)
        size = draw.randrange(9)
        self.set_limits(
            cluster_id,
            min_size=draw.choice((0, draw.randint(0, size))),
            max_size=draw.choice((-1, draw.randint(size, 12))),
        )
        with db_api.session_for_write() as session:
            for index in range(size):
                region = draw.choice((ONE, TWO, THREE, None))
                placement = {'region_name': region} if region else {}
                session.add(
                    models.Node(
                        id=str(uuid.uuid4()),
                        name=f'node-{index}',
                        profile_id=profile,
                        cluster_id=cluster_id,
                        index=index,
                        status=draw.choice(('ACTIVE', 'ERROR', 'INIT')),
                        data={'placement': placement},
                        init_at=timeutils.utcnow(),
                        created_at=draw.choice((None, timeutils.utcnow())),
                        user=engine.USER,
                        project=engine.PROJECT,
                    )
                )
        return cluster_id, policy_id

    def decide(self, cluster_id, policy_id, count):
        """Return the plan of the real policy, or the reason of its refusal."""
        context = senlin_context.RequestContext(
            user_id=engine.USER, project_id=engine.PROJECT, is_admin=True
        )
        action_id = actions.Action.create(
            context,
            cluster_id,
            _action(count),
            force=True,
            cluster_id=cluster_id,
            inputs={'count': abs(count)},
        )
        action = actions.Action.load(context, action_id)
        policies.Policy.load(context, policy_id).pre_op(cluster_id, action)
        if action.data['status'] == policies.CHECK_ERROR:
            return action.data['reason']
        field = 'creation' if count > 0 else 'deletion'
        return action.data[field]['regions']


def _action(count):
    return consts.CLUSTER_SCALE_OUT if count > 0 else consts.CLUSTER_SCALE_IN

# SPDX-License-Identifier: Apache-2.0

"""What the policies ask the database for, in clusters of each size."""

import ddt
import eventlet
import sqlalchemy
from senlin import objects
from senlin.common import consts, context
from senlin.db.sqlalchemy import api as db_api
from senlin.engine.actions import base as actions
from senlin.policies import base as policy_base

from testing.senlin import engine
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE

ACTIONS = (
    consts.CLUSTER_SCALE_OUT,
    consts.CLUSTER_SCALE_IN,
    consts.NODE_DELETE,
)


@ddt.ddt
class Statements(base.TestCase):
    def count(self, name, cluster, policy_ids):
        """Return how many statements the policies send for an action."""
        target = cluster
        if name == consts.NODE_DELETE:
            target = self.ids(cluster)[0]
        admin = context.RequestContext(
            user_id=engine.USER, project_id=engine.PROJECT, is_admin=True
        )
        action_id = actions.Action.create(
            admin,
            target,
            name,
            force=True,
            cluster_id=cluster,
            cause=consts.CAUSE_RPC,
        )
        action = actions.Action.load(admin, action_id=action_id)
        policies = [policy_base.Policy.load(admin, id_) for id_ in policy_ids]
        statements = []
        thread = eventlet.getcurrent()

        def note(connection, cursor, statement, *rest):
            # Senlin's services tell now and then that they are alive.
            ours = eventlet.getcurrent() is thread
            # SQLite's own, and how oslo.db looks whether it is there.
            if ours and statement not in ('BEGIN', 'SELECT 1'):
                statements.append(statement)

        database = db_api.get_engine()
        sqlalchemy.event.listen(database, 'before_cursor_execute', note)
        try:
            for policy in policies:
                if policy.need_check('BEFORE', action):
                    policy.pre_op(cluster, action)
                    self.assertEqual('OK', action.data['status'], action.data)
        finally:
            sqlalchemy.event.remove(database, 'before_cursor_execute', note)
        return len(statements)

    @ddt.data(True, False)
    def test_they_do_not_grow_with_the_cluster(self, recorded):
        counts = []
        for size in (2, 6):
            policy_ids = self.region_policy((ONE,)), self.deletion_policy()
            cluster = self.cluster(*policy_ids)
            self.act(cluster, 'scale_out', count=size)
            if not recorded:
                # The regions are read from the profiles.
                admin = context.get_admin_context()
                for node in self.ids(cluster):
                    objects.Node.update(admin, node, {'data': {}})
            counts.append(
                {
                    name: self.count(name, cluster, policy_ids)
                    for name in ACTIONS
                }
            )
        self.assertEqual(counts[0], counts[1])

# SPDX-License-Identifier: Apache-2.0

"""What the policies ask the database for, in clusters of each size."""

import uuid

import ddt
import eventlet
import sqlalchemy
from senlin.common import consts, context
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models
from senlin.engine.actions import base as actions
from senlin.objects import cluster_policy as binding_objects
from senlin.policies import base as policy_base

from testing.senlin import engine
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, TWO

SIZES = 20, 50
OWNER = {'user': engine.USER, 'project': engine.PROJECT}
#: The most statements for each action.
MOST = {
    consts.CLUSTER_SCALE_OUT: 3,
    consts.CLUSTER_SCALE_IN: 5,
    consts.NODE_DELETE: 4,
    consts.NODE_CREATE: 9,
}


@ddt.ddt
class Statements(base.TestCase):
    def fill(self, size, recorded):
        """Create a cluster with both policies and many nodes.

        The clouds know nothing of the nodes, and no policy asks them.

        :param recorded: whether the data of the nodes name a region. If not,
            each node has a profile of its own that names it.
        """
        cluster = self.cluster(
            self.region_policy((ONE,), (TWO,)), self.deletion_policy()
        )
        placement = {'placement': {'region_name': ONE}}
        with db_api.session_for_write() as session:
            row = session.get(models.Cluster, cluster)
            original = session.get(models.Profile, row.profile_id)
            for number in range(size):
                profile = original
                if not recorded:
                    profile = models.Profile(
                        id=str(uuid.uuid4()),
                        type=original.type,
                        spec=original.spec,
                        context={'region_name': ONE},
                        created_at=original.created_at,
                        **OWNER,
                    )
                    session.add(profile)
                    session.flush()
                node = models.Node(
                    id=str(uuid.uuid4()),
                    name='n',
                    profile_id=profile.id,
                    cluster_id=cluster,
                    physical_id=str(uuid.uuid4()),
                    index=number,
                    status='ACTIVE',
                    data=placement if recorded else {},
                    dependents={},
                    init_at=original.created_at,
                    created_at=original.created_at,
                    **OWNER,
                )
                session.add(node)
        return cluster

    def make_waiting(self, cluster):
        """Let a node wait for its NODE_CREATE and return its id."""
        with db_api.session_for_write() as session:
            row = session.get(models.Cluster, cluster)
            nodes = session.query(models.Node)
            node = nodes.filter_by(cluster_id=cluster, index=0).one()
            node.status = 'INIT'
            node.data = {}
            node.profile_id = row.profile_id
            node.physical_id = None
            return node.id

    def count(self, name, target, cluster):
        """Return how many statements the policies send for an action."""
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
        bindings = binding_objects.ClusterPolicy.get_all(
            admin, cluster, sort='priority'
        )
        policies = [
            policy_base.Policy.load(admin, binding.policy_id)
            for binding in bindings
        ]
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
        most = dict(MOST)
        if not recorded:
            # The regions of the profiles are read, and those of the nodes
            # written.
            most[consts.CLUSTER_SCALE_OUT] += 1
            most[consts.CLUSTER_SCALE_IN] += 2
        for size in SIZES:
            cluster = self.fill(size, recorded)
            for name, number in most.items():
                target = cluster
                if name.startswith('NODE'):
                    target = self.make_waiting(cluster)
                count = self.count(name, target, cluster)
                self.assertLessEqual(count, number, (name, size))

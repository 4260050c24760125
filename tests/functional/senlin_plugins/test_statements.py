# SPDX-License-Identifier: Apache-2.0

"""What a policy asks the database for, in clusters of each size."""

import os
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

SIZES = [int(size) for size in os.environ.get('OPP_NODES', '20,50').split(',')]
#: Where the region of a node is written.
KINDS = RECORDED, ADOPTED, UNRECORDED = 'recorded', 'adopted', 'unrecorded'


class TestCase(base.TestCase):
    def fill(self, size, kind):
        """Create a cluster with both policies and many nodes.

        The clouds know nothing of the nodes, and no policy asks them.
        """
        cluster = self.cluster(
            self.region_policy((ONE,), (TWO,)), self.deletion_policy()
        )
        shown = self.senlin.call('GET', f'/clusters/{cluster}')['cluster']
        owner = {'user': engine.USER, 'project': engine.PROJECT}
        nodes, profiles = [], []
        with db_api.session_for_write() as session:
            original = session.get(models.Profile, shown['profile_id'])
            for number in range(size):
                profile = original.id
                if kind != RECORDED:
                    profile = str(uuid.uuid4())
                    profiles.append(
                        {
                            'id': profile,
                            'name': 'p',
                            'type': original.type,
                            'spec': original.spec,
                            'context': {'region_name': ONE},
                            'created_at': original.created_at,
                            **owner,
                        }
                    )
                data = {}
                if kind != UNRECORDED:
                    data = {'placement': {'region_name': ONE}}
                nodes.append(
                    {
                        'id': str(uuid.uuid4()),
                        'name': 'n',
                        'profile_id': profile,
                        'cluster_id': cluster,
                        'physical_id': str(uuid.uuid4()),
                        'index': number,
                        'role': '',
                        'status': 'ACTIVE',
                        'data': data,
                        'meta_data': {},
                        'dependents': {},
                        'init_at': original.created_at,
                        'created_at': original.created_at,
                        **owner,
                    }
                )
            session.bulk_insert_mappings(models.Profile, profiles)
            session.bulk_insert_mappings(models.Node, nodes)
        return cluster

    def prepare(self, name, target, cluster):
        """Return an action, and the policies that it asks."""
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
        policies = [
            policy_base.Policy.load(admin, binding.policy_id)
            for binding in binding_objects.ClusterPolicy.get_all(
                admin, cluster, sort='priority'
            )
        ]
        return action, [
            policy
            for policy in policies
            if policy.need_check('BEFORE', action)
        ]

    def count(self, name, target, cluster):
        """Return how many statements the policies send for an action."""
        action, policies = self.prepare(name, target, cluster)
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
                policy.pre_op(cluster, action)
                self.assertEqual('OK', action.data['status'], action.data)
        finally:
            sqlalchemy.event.remove(database, 'before_cursor_execute', note)
        return len(statements)


@ddt.ddt
class Statements(TestCase):
    @ddt.data(*KINDS)
    def test_they_do_not_grow_with_the_cluster(self, kind):
        most = {
            consts.CLUSTER_SCALE_OUT: 3,
            consts.CLUSTER_SCALE_IN: 5,
            consts.NODE_DELETE: 4,
            consts.NODE_CREATE: 9,
        }
        if kind == UNRECORDED:
            # The regions of the profiles are read, and those of the nodes
            # written.
            most[consts.CLUSTER_SCALE_OUT] += 1
            most[consts.CLUSTER_SCALE_IN] += 2
        self.set_option('max_nodes_per_cluster', 2 * max(SIZES), None)
        counts = []
        for size in SIZES:
            cluster = self.fill(size, kind)
            statements = {}
            for name in most:
                target = cluster
                if name.startswith('NODE'):
                    target = self.make_waiting(cluster)
                statements[name] = self.count(name, target, cluster)
            counts.append(statements)
        first, *larger = counts
        for statements in larger:
            self.assertEqual(first, statements)
        for name, number in first.items():
            self.assertLessEqual(number, most[name], name)

    def make_waiting(self, cluster):
        """Let a node wait for its NODE_CREATE and return its id."""
        with db_api.session_for_write() as session:
            shown = session.get(models.Cluster, cluster)
            (node,) = session.query(models.Node).filter_by(
                cluster_id=cluster, index=0
            )
            node.status = 'INIT'
            node.data = {}
            node.profile_id = shown.profile_id
            node.physical_id = None
            return node.id

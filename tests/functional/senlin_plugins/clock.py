# SPDX-License-Identifier: Apache-2.0

"""A clock for Senlin's actions that moves on only while they sleep.

So an hour passes at once, and the load of the machine does not matter.
"""

import time
import types

import eventlet
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models
from senlin.engine import service
from senlin.engine.actions import base as actions
from senlin.engine.actions import cluster_action

from senlin_plugins import deletion_policy
from testing.senlin import engine, stub_cloud

#: The statuses of actions that go on by themselves.
BUSY = ('READY', 'RUNNING')


class Clock:
    """The clock of a test.

    :param case: the test, during which Senlin reads this clock.
    :param deletion: the seconds that Nova needs to delete a server.
    """

    def __init__(self, case, deletion):
        self.started = time.time()
        self.passed = 0.0
        #: When Nova will have deleted each server.
        self.ends = []
        case.patch(service, 'wallclock', self.time)
        case.patch(actions, 'wallclock', self.time)
        module = types.SimpleNamespace(time=self.time)
        case.patch(deletion_policy, 'time', module)
        case.patch(cluster_action.ClusterAction, '_sleep', self.sleeper())

        def delete(compute, server, timeout=None):
            end = self.passed + deletion
            self.ends.append(end)
            while self.passed < end:
                eventlet.sleep(engine.PAUSE)

        case.patch(stub_cloud.Compute, 'wait_for_server_delete', delete)

    def time(self):
        return self.started + self.passed

    def sleeper(self):
        def sleep(action, period):
            """Let the nodes' actions go on until they wait for Nova."""
            self.passed += period
            eventlet.sleep(engine.PAUSE)
            while count_busy_nodes() > self.count_deletions():
                eventlet.sleep(engine.PAUSE)

        return sleep

    def count_deletions(self):
        """Return how many servers Nova is deleting."""
        return sum(end > self.passed for end in self.ends)


def count_busy_nodes():
    action = models.Action
    with db_api.session_for_read() as session:
        query = session.query(action.id).filter(
            action.action.startswith('NODE_'), action.status.in_(BUSY)
        )
        return query.count()

# SPDX-License-Identifier: Apache-2.0

"""The engine is killed while it creates servers, and started again.

Engine and conductor run in a process of their own, which ends as by SIGKILL
at a chosen moment of a creation in RegionTwo. What outlives it is what
outlives a real one: Senlin's database and the clouds' servers.
"""

import collections
import json
import os
import pathlib
import signal
import sqlite3
import tempfile
import unittest

import ddt
from eventlet import patcher

from testing.senlin import driver, engine
from tests import processes
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, TWO

#: Runs in a process of its own: no engine has started there yet.
PROGRAM = f"""
import os, sys
from {__name__} import live_twice
live_twice(sys.argv[1], int(sys.argv[2]))
# The engine's green threads would go on.
sys.stdout.flush()
os._exit(0)
"""


def live_twice(moment, call):
    """Print what a second engine finds after each step.

    :param moment: the call to RegionTwo in which the first engine is killed.
    :param call: which of these calls, counted from 1.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        child = os.fork()
        if not child:
            live(folder, moment, call)
            os._exit(1)
        _, status = patcher.original('os').waitpid(child, 0)
        if status != signal.SIGKILL:
            raise RuntimeError('the first engine was not killed')
        # Minutes pass. With a short periodic_interval instead, a slow engine
        # would count itself among the dead.
        database = sqlite3.connect(folder / 'senlin.sqlite')
        # The seconds, too: SQLAlchemy 1.4 reads no time without them.
        long_ago = ('2000-01-01 00:00:00',)
        database.execute('UPDATE service SET updated_at = ?', long_ago)
        database.commit()
        database.close()
        live_on(folder)


def live(folder, moment, call):
    """Scale out by 4 and do not live to see it."""
    senlin = engine.boot(state=folder)
    regions = [{'name': name} for name in (ONE, TWO)]
    policy = senlin.policy(base.REGION_POLICY, {'regions': regions})
    cluster = senlin.cluster(senlin.profile())
    senlin.attach(cluster, policy)
    (folder / 'cluster').write_text(cluster)
    senlin.cloud.regions[TWO].failures[moment] = driver.Fault(
        kills=True, on=call
    )
    senlin.act(cluster, 'scale_out', count=4)


def live_on(folder):
    """Start on what is left."""
    senlin = engine.boot(state=folder)
    cluster = (folder / 'cluster').read_text()

    def actions(name):
        listed = senlin.call('GET', '/actions?limit=1000')['actions']
        return [action for action in listed if action['action'] == name]

    def look(step, action):
        nodes = {
            node['id']: [
                node['status'],
                node['physical_id'],
                base.region_of(node),
            ]
            for node in senlin.call('GET', '/nodes')['nodes']
        }
        servers = {
            server.id: [region.name, server.metadata['cluster_node_id']]
            for region in senlin.cloud.regions.values()
            for server in region.servers.values()
        }
        found = {
            'nodes': nodes,
            'servers': servers,
            'status': action['status'],
            'reasons': [a['status_reason'] for a in actions('NODE_CREATE')],
        }
        print(json.dumps([step, found]))

    (scaling,) = actions('CLUSTER_SCALE_OUT')
    ended = senlin.wait(scaling['id'])
    # The new engine fails what the dead one was doing one after the other.
    for action in actions('NODE_CREATE'):
        if action['status'] == 'RUNNING':
            senlin.wait(action['id'])
    look('restart', ended)
    # What was ready when the engine died is taken up with the next action.
    look('recover', senlin.act(cluster, 'recover'))
    look('scale_out', senlin.act(cluster, 'scale_out', count=2))
    look('scale_in', senlin.act(cluster, 'scale_in', count=2))
    look('delete', senlin.delete(f'/clusters/{cluster}'))


@ddt.ddt
class KilledEngine(unittest.TestCase):
    def assert_consistent(self, found):
        """Check that each server has its node, in the region it names."""
        for server, (region, node) in found['servers'].items():
            _, physical_id, named = found['nodes'][node]
            self.assertEqual((server, region), (physical_id, named))

    def assert_done(self, found, each):
        """Check that all is well, with so many servers in each region."""
        self.assertEqual('SUCCEEDED', found['status'])
        self.assert_consistent(found)
        self.assertEqual(
            {ONE: each, TWO: each},
            collections.Counter(r for r, _ in found['servers'].values()),
        )
        self.assertEqual(
            ['ACTIVE'] * 2 * each,
            [status for status, _, _ in found['nodes'].values()],
        )

    @ddt.data(
        ('server_created', 1), ('server_create', 1), ('wait_for_server', 2)
    )
    @ddt.unpack
    def test_nothing_is_lost_and_the_cluster_heals(self, moment, call):
        lines = processes.run_python(PROGRAM, moment, str(call))
        steps = dict(map(json.loads, lines))
        found = steps['restart']
        self.assertEqual('FAILED', found['status'])
        self.assertIn('Engine failure', found['reasons'])
        self.assertIn(
            'CREATING', [status for status, _, _ in found['nodes'].values()]
        )
        if moment == 'server_created':
            # Nobody heard of this server. It goes with its node.
            (unheard,) = (
                server
                for server, (_, node) in found['servers'].items()
                if found['nodes'][node][1] is None
            )
            self.assertNotIn(unheard, steps['recover']['servers'])
        else:
            self.assert_consistent(found)
        self.assert_done(steps['recover'], 2)
        self.assert_done(steps['scale_out'], 3)
        self.assert_done(steps['scale_in'], 2)
        self.assertEqual(
            ('SUCCEEDED', {}, {}),
            tuple(steps['delete'][k] for k in ('status', 'nodes', 'servers')),
        )

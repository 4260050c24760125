# SPDX-License-Identifier: Apache-2.0

"""The engine is killed while it creates a server, and started again.

Engine and conductor run in a process of their own, which ends as by SIGKILL
when RegionTwo has created a server of which nobody has heard. What outlives
it is what outlives a real one: Senlin's database and the clouds' servers.
"""

import json
import os
import pathlib
import signal
import sqlite3
import tempfile
import unittest

from eventlet import patcher

from testing.senlin import driver, engine
from tests import processes
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, TWO

#: Runs in a process of its own: no engine has started there yet.
PROGRAM = f"""
import os, sys
from {__name__} import live_twice
live_twice()
# The engine's green threads would go on.
sys.stdout.flush()
os._exit(0)
"""


def live_twice():
    """Print what a second engine finds after each step."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        child = os.fork()
        if not child:
            live(folder)
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


def live(folder):
    """Scale out by 4 and do not live to see it."""
    senlin = engine.boot(state=folder)
    regions = [{'name': name} for name in (ONE, TWO)]
    policy = senlin.policy(base.REGION_POLICY, {'regions': regions})
    cluster = senlin.cluster(senlin.profile())
    senlin.attach(cluster, policy)
    failures = senlin.cloud.regions[TWO].failures
    failures['server_created'] = driver.Fault(kills=True)
    senlin.act(cluster, 'scale_out', count=4)


def live_on(folder):
    """Start on what is left."""
    senlin = engine.boot(state=folder)
    (cluster,) = senlin.call('GET', '/clusters')['clusters']

    def actions(name):
        listed = senlin.call('GET', '/actions?limit=1000')['actions']
        return [action for action in listed if action['action'] == name]

    def look(action):
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
        print(json.dumps([nodes, servers, action['status']]))

    (scaling,) = actions('CLUSTER_SCALE_OUT')
    ended = senlin.wait(scaling['id'])
    # The new engine fails what the dead one was doing one after the other.
    for action in actions('NODE_CREATE'):
        if action['status'] == 'RUNNING':
            senlin.wait(action['id'])
    look(ended)
    # What was ready when the engine died is taken up with the next action.
    look(senlin.act(cluster['id'], 'recover'))
    look(senlin.delete(f'/clusters/{cluster["id"]}'))


class KilledEngine(unittest.TestCase):
    def test_nothing_is_lost_and_the_cluster_heals(self):
        killed, healed, gone = map(json.loads, processes.run_python(PROGRAM))
        nodes, servers, status = killed
        self.assertEqual('FAILED', status)
        self.assertIn('CREATING', [state for state, _, _ in nodes.values()])
        # Nobody heard of this server. It goes with its node.
        (unheard,) = (
            server
            for server, (_, node) in servers.items()
            if nodes[node][1] is None
        )
        nodes, servers, status = healed
        self.assertEqual('SUCCEEDED', status)
        self.assertNotIn(unheard, servers)
        # Each server has its node, in the region it names.
        self.assertEqual(
            sorted(
                ['ACTIVE', server, region]
                for server, (region, _) in servers.items()
            ),
            sorted(nodes.values()),
        )
        self.assertEqual(
            [ONE, ONE, TWO, TWO], sorted(r for r, _ in servers.values())
        )
        self.assertEqual([{}, {}, 'SUCCEEDED'], gone)

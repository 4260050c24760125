# SPDX-License-Identifier: Apache-2.0

"""The engine is killed while it creates servers, and started again.

The engine and the conductor run in a process of their own, which ends as by
SIGKILL at a chosen moment of a creation in RegionTwo. What outlives
it is what outlives a real one: Senlin's database and the clouds' servers.
"""

import collections
import json
import signal
import subprocess
import sys
import tempfile
import unittest

import ddt

from tests import processes

#: Scales out by 4 and does not live to see it.
LIFE = """
import pathlib, sys
from testing.senlin import driver, engine

folder, moment, call = sys.argv[1:]
engine.CONFIG += '[DEFAULT]\\nperiodic_interval = 1\\n'
senlin = engine.boot(f'{folder}/first.log', pathlib.Path(folder))
policy = senlin.policy(
    'senlin_plugins.policy.region_placement',
    {'regions': [{'name': 'RegionOne'}, {'name': 'RegionTwo'}]},
)
cluster = senlin.cluster(senlin.profile())
senlin.attach(cluster, policy)
(pathlib.Path(folder) / 'cluster').write_text(cluster)
senlin.cloud.regions['RegionTwo'].failures[moment] = driver.Fault(
    kills=True, on=int(call)
)
senlin.act(cluster, 'scale_out', count=4)
"""

#: Starts on what is left, and prints what it finds after each step.
AFTERLIFE = """
import json, os, pathlib, sys
from testing.senlin import engine

folder = sys.argv[1]
engine.CONFIG += '[DEFAULT]\\nperiodic_interval = 1\\n'
senlin = engine.boot(f'{folder}/second.log', pathlib.Path(folder))
cluster = (pathlib.Path(folder) / 'cluster').read_text()


def actions(name):
    listed = senlin.call('GET', '/actions?limit=1000')['actions']
    return [action for action in listed if action['action'] == name]


def look(step, action):
    nodes = {
        node['id']: [
            node['status'],
            node['physical_id'],
            node['data']['placement']['region_name'],
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
        'reasons': sorted(
            {other['status_reason'] for other in actions('NODE_CREATE')}
        ),
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
sys.stdout.flush()
os._exit(0)
"""


@ddt.ddt
class KilledEngine(unittest.TestCase):
    def live_twice(self, moment, call):
        """Kill an engine at a moment, start it again, and return the steps."""
        with tempfile.TemporaryDirectory() as folder:
            first = subprocess.run(
                [sys.executable, '-W', 'ignore', '-c', LIFE]
                + [folder, moment, str(call)],
                cwd=processes.ROOT,
                capture_output=True,
                text=True,
            )
            self.assertEqual(-signal.SIGKILL, first.returncode, first.stderr)
            lines = processes.run_python(AFTERLIFE, folder)
        return dict(json.loads(line) for line in lines)

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
            {'RegionOne': each, 'RegionTwo': each},
            collections.Counter(r for r, _ in found['servers'].values()),
        )
        self.assertEqual(
            ['ACTIVE'] * 2 * each,
            [status for status, _, _ in found['nodes'].values()],
        )

    def test_a_server_that_nobody_heard_of_goes_with_its_node(self):
        steps = self.live_twice('server_created', 1)
        found = steps['restart']
        self.assertEqual('FAILED', found['status'])
        (unheard,) = [
            server
            for server, (_, node) in found['servers'].items()
            if found['nodes'][node][1] is None
        ]
        self.assertNotIn(unheard, steps['recover']['servers'])
        self.assert_done(steps['recover'], 2)
        self.assert_done(steps['scale_out'], 3)
        self.assertEqual({}, steps['delete']['servers'])

    @ddt.data(('server_create', 1), ('wait_for_server', 2))
    @ddt.unpack
    def test_nothing_is_lost_and_the_cluster_heals(self, moment, call):
        steps = self.live_twice(moment, call)
        found = steps['restart']
        self.assertEqual('FAILED', found['status'])
        self.assertIn('Engine failure', found['reasons'])
        self.assertIn(
            'CREATING', [status for status, _, _ in found['nodes'].values()]
        )
        self.assert_consistent(found)
        self.assert_done(steps['recover'], 2)
        self.assert_done(steps['scale_out'], 3)
        self.assert_done(steps['scale_in'], 2)
        self.assertEqual(
            ('SUCCEEDED', {}, {}),
            tuple(steps['delete'][k] for k in ('status', 'nodes', 'servers')),
        )

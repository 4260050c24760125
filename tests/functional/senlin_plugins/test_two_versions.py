# SPDX-License-Identifier: Apache-2.0

"""Engines of two versions take turns on one database.

The older one is that of :data:`OLDER`, from the history. Each turn is a
process of its own: two engines at a time would lock each other out of
SQLite. What passes from one to the other is what a rolling change passes:
the database and the clouds' servers.
"""

import json
import subprocess
import sys
import tempfile
import unittest

from tests import processes
from tests.functional.senlin_plugins.base import ONE, REGION_POLICY, TWO
from tests.functional.senlin_plugins.test_failover import CALLS

#: The last version that kept what it knew of regions in another form.
OLDER = 'e7360746e8c9a5385d587d1a3259ca9566d3b8b7'
PACKAGES = ('senlin_plugins', 'os_placement_plugins', 'testing')

#: One turn: boots on a folder, acts while regions are dead or not, and prints
#: what is there after each such phase. Both versions run it.
TURN = """
import json, os, pathlib, sys, time
from testing.senlin import engine
from oslo_config import cfg

folder, calls = pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])
senlin = engine.boot(state=folder)
if 'region_out_after' in cfg.CONF.senlin_plugins:
    cfg.CONF.set_override('region_out_after', 0, 'senlin_plugins')
known = folder / 'cluster'
if not known.exists():
    spec = {'regions': [{'name': 'RegionOne'}, {'name': 'RegionTwo'}]}
    known.write_text(senlin.cluster(senlin.profile()))
    senlin.attach(known.read_text(), senlin.policy('POLICY', spec, '1.1'))
cluster = known.read_text()
for dead, acts in json.loads(sys.argv[3]):
    failures = senlin.cloud.regions['RegionTwo'].failures
    failures.clear()
    failures.update(dict.fromkeys(calls if dead else (), 'is dead'))
    ended = [senlin.act(cluster, name, **how)['status'] for name, how in acts]
    # The older one clears up within its actions.
    while getattr(senlin, 'is_busy', bool)():
        time.sleep(0.1)
    data = senlin.call('GET', '/clusters/' + cluster)['cluster']['data']
    print(json.dumps({
        'ended': ended,
        'left': [
            entry['server']
            for entry in data.get('region_placement', {}).get('servers', ())
        ],
        'nodes': [
            [node['physical_id'], node['data']['placement']['region_name']]
            for node in senlin.nodes(cluster)
        ],
        'servers': {
            server: region.name
            for region in senlin.cloud.regions.values()
            for server in region.servers
        },
    }), flush=True)
os._exit(0)
""".replace('POLICY', REGION_POLICY)

GROW, SHRINK = ('scale_out', {'count': 2}), ('scale_in', {'count': 1})
LOOK, RECOVER = ('check', {}), ('recover', {})
#: Whether the second region is dead, and what is done meanwhile.
WELL = False, [GROW]
DIES = True, [LOOK, LOOK, RECOVER]
DEAD = True, [LOOK, GROW, SHRINK]
BACK = False, [LOOK, LOOK]


class TwoVersions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        git = ['git', '-C', processes.ROOT, 'archive', OLDER, *PACKAGES]
        archive = subprocess.run(git, capture_output=True)
        if archive.returncode:
            self.skipTest('needs the history of the repository')
        tar = ['tar', '-x', '-C', self.folder]
        subprocess.run(tar, input=archive.stdout, check=True)

    def turn(self, code, *phases):
        """Let one engine act, and check that no server is lost or shared."""
        command = [sys.executable, '-W', 'ignore', '-c', TURN, self.folder]
        command += json.dumps(CALLS), json.dumps(phases)
        done = subprocess.run(command, cwd=code, capture_output=True)
        self.assertEqual(0, done.returncode, done.stderr.decode())
        for phase, line in zip(phases, done.stdout.splitlines(), strict=True):
            found = json.loads(line)
            nodes, servers = dict(found['nodes']), found['servers']
            self.assertEqual(len(nodes), len(found['nodes']))
            self.assertLessEqual(nodes.items(), servers.items())
            self.assertLessEqual({*servers}, {*nodes, *found['left']})
            if phase is WELL:
                self.assertEqual({ONE, TWO}, {*servers.values()})
            elif phase is BACK:
                self.assertEqual((nodes, []), (servers, found['left']))
                self.assertEqual({'SUCCEEDED'}, {*found['ended']})
            else:
                self.assertEqual({ONE}, {*nodes.values()})
                self.assertTrue(found['left'])

    def test_nothing_is_lost(self):
        old, new = self.folder, processes.ROOT
        self.turn(old, WELL)
        # One moves nodes, the other goes on with what that has noted.
        self.turn(new, WELL, DIES)
        self.turn(old, DEAD, BACK)
        self.turn(new, WELL)
        self.turn(old, DIES)
        self.turn(new, DEAD, BACK)

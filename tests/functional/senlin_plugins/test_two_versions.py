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

#: One turn: boots on a folder, carries out actions and prints what is there.
#: Both versions run it.
TURN = """
import json, os, pathlib, sys, time
from testing.senlin import engine
from oslo_config import cfg

folder, acts, dead = pathlib.Path(sys.argv[1]), *map(json.loads, sys.argv[2:])
senlin = engine.boot(state=folder)
if 'region_out_after' in cfg.CONF.senlin_plugins:
    cfg.CONF.set_override('region_out_after', 0, 'senlin_plugins')
for region, calls in dead.items():
    failures = senlin.cloud.regions[region].failures
    failures.update(dict.fromkeys(calls, 'is dead'))
known = folder / 'cluster'
if not known.exists():
    spec = {'regions': [{'name': 'RegionOne'}, {'name': 'RegionTwo'}]}
    known.write_text(senlin.cluster(senlin.profile()))
    senlin.attach(known.read_text(), senlin.policy('POLICY', spec, '1.1'))
cluster = known.read_text()
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
    'servers': [
        [server, region.name]
        for region in senlin.cloud.regions.values()
        for server in region.servers
    ],
}), flush=True)
os._exit(0)
""".replace('POLICY', REGION_POLICY)


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

    def turn(self, code, *acts, dead=()):
        """Let one engine act, and check that no server is lost or shared.

        :returns: server -> region of what nodes have, and of what there is;
            what is left behind; and how the actions ended.
        """
        command = [sys.executable, '-W', 'ignore', '-c', TURN, self.folder]
        command += json.dumps(acts), json.dumps(dict.fromkeys(dead, CALLS))
        done = subprocess.run(command, cwd=code, capture_output=True)
        self.assertEqual(0, done.returncode, done.stderr.decode())
        found = json.loads(done.stdout)
        nodes, servers = dict(found['nodes']), dict(found['servers'])
        self.assertEqual(len(nodes), len(found['nodes']))
        self.assertLessEqual(nodes.items(), servers.items())
        self.assertLessEqual({*servers}, {*nodes, *found['left']})
        return nodes, servers, found['left'], {*found['ended']}

    def test_nothing_is_lost(self):
        old, new = self.folder, processes.ROOT
        grow, shrink = ('scale_out', {'count': 2}), ('scale_in', {'count': 1})
        look, recover = ('check', {}), ('recover', {})
        for first, second in ((old, new), (new, old)):
            self.turn(first, grow)
            _, servers, *_ = self.turn(second, grow)
            self.assertEqual({ONE, TWO}, {*servers.values()})
            # One moves nodes, the other goes on with what that has noted.
            nodes, _, left, _ = self.turn(
                first, look, look, recover, dead=[TWO]
            )
            self.assertEqual({ONE}, {*nodes.values()})
            self.assertTrue(left)
            nodes, *_ = self.turn(second, look, grow, shrink, dead=[TWO])
            self.assertEqual({ONE}, {*nodes.values()})
            # The region is back.
            nodes, servers, left, ended = self.turn(second, look, look)
            self.assertEqual((nodes, []), (servers, left))
            self.assertEqual({'SUCCEEDED'}, ended)

# SPDX-License-Identifier: Apache-2.0

"""Engines take turns on one database: one is killed, one is older.

Each turn is a process of its own: two engines at a time would lock each other
out of SQLite. What passes from one to the other is what outlives a real one:
Senlin's database and the clouds' servers.
"""

import collections
import contextlib
import json
import pathlib
import signal
import sqlite3
import sys
import tarfile
import tempfile
import unittest

from testing import subprocesses
from tests import processes
from tests.functional.senlin_plugins.base import ONE, REGION_POLICY, TWO
from tests.functional.senlin_plugins.failing_regions import CALLS

#: The last version that kept what it knew of regions in another form.
OLDER = 'e7360746e8c9a5385d587d1a3259ca9566d3b8b7'
PACKAGES = ('senlin_plugins', 'os_placement_plugins', 'testing')

#: One turn: boots on a folder, acts while calls to a region fail or kill the
#: process, and prints what is there after each such phase. Both versions run
#: it.
TURN = """
import json, os, pathlib, sys, time
from testing.senlin import driver, engine
from oslo_config import cfg

folder = pathlib.Path(sys.argv[1])
senlin = engine.boot(state=folder)
if 'region_out_after' in cfg.CONF.senlin_plugins:
    cfg.CONF.set_override('region_out_after', 0, 'senlin_plugins')
known = folder / 'cluster'
if not known.exists():
    spec = {'regions': [{'name': 'RegionOne'}, {'name': 'RegionTwo'}]}
    known.write_text(senlin.cluster(senlin.profile()))
    policy = senlin.policy('POLICY', spec, sys.argv[2])
    senlin.attach(known.read_text(), policy)
cluster = known.read_text()
# The new engine fails what a dead one was doing, one after the other.
for action in senlin.call('GET', '/actions?limit=1000')['actions']:
    if action['status'] in ('RUNNING', 'WAITING'):
        senlin.wait(action['id'])
for faults, acts in json.loads(sys.argv[3]):
    failures = senlin.cloud.regions['RegionTwo'].failures
    failures.clear()
    for call, message in faults.items():
        failures[call] = message or driver.Fault(kills=True)
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
        'statuses': [node['status'] for node in senlin.nodes(cluster)],
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
#: How the second region fails, and what is done meanwhile.
SILENT = dict.fromkeys(CALLS, 'is dead')
WELL = {}, [GROW]
DIES = SILENT, [LOOK, LOOK, RECOVER]
DEAD = SILENT, [LOOK, GROW, SHRINK]
BACK = {}, [LOOK, LOOK]


class Turns(unittest.TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def turn(self, code, *phases, version='1.1', status=0):
        """Let an engine act, and return what it finds after each phase.

        :param code: the folder with the code of the engine.
        :param version: that of the policy.
        :param status: how the process ends.
        """
        database = self.folder / 'senlin.sqlite'
        if database.exists():
            # Minutes pass. With a short periodic_interval instead, a slow
            # engine would count itself among the dead.
            with contextlib.closing(sqlite3.connect(database)) as connection:
                # The seconds, too: SQLAlchemy 1.4 reads no time without them.
                connection.execute(
                    "UPDATE service SET updated_at = '2000-01-01 00:00:00'"
                )
                connection.commit()
        done = subprocesses.run(
            f'an engine of {code}',
            [sys.executable, '-W', 'ignore', '-c', TURN, self.folder]
            + [version, json.dumps(phases)],
            cwd=code,
        )
        self.assertEqual(status, done.returncode, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_an_engine_is_killed_while_it_creates_a_server(self):
        new, old_policy = processes.ROOT, {'version': '1.0'}
        kills = {'server_created': None}, [GROW]
        self.turn(new, kills, **old_policy, status=-signal.SIGKILL)
        # What was ready when the engine died is taken up with the next action.
        killed, healed = self.turn(
            new, ({}, []), ({}, [RECOVER, GROW]), **old_policy
        )
        self.assertIn('CREATING', killed['statuses'])
        # Nobody heard of this server. It goes with its node.
        heard = {server for server, _ in killed['nodes']}
        (unheard,) = killed['servers'].keys() - heard
        self.assertNotIn(unheard, healed['servers'])
        self.assertEqual(['SUCCEEDED'] * 2, healed['ended'])
        self.assertEqual(['ACTIVE'] * 4, healed['statuses'])
        self.assertEqual(dict(healed['nodes']), healed['servers'])
        count = collections.Counter(healed['servers'].values())
        self.assertEqual({ONE: 2, TWO: 2}, count)

    def check_turn(self, code, *phases):
        """Let an engine act, and check that no server is lost or shared."""
        reports = self.turn(code, *phases)
        for phase, report in zip(phases, reports, strict=True):
            nodes, servers = dict(report['nodes']), report['servers']
            left = report['left']
            self.assertEqual(len(nodes), len(report['nodes']))
            self.assertLessEqual(nodes.items(), servers.items())
            self.assertLessEqual({*servers}, {*nodes, *left})
            if phase is WELL:
                self.assertEqual({ONE, TWO}, {*servers.values()})
            elif phase is BACK:
                self.assertEqual(nodes, servers)
                self.assertEqual([], left)
                self.assertEqual({'SUCCEEDED'}, {*report['ended']})
            else:
                self.assertEqual({ONE}, {*nodes.values()})
                self.assertTrue(left)

    def test_engines_of_two_versions(self):
        archive = self.folder / 'older.tar'
        git = ['git', '-C', processes.ROOT, 'archive', '--output', archive]
        done = subprocesses.run('git archive', [*git, OLDER, *PACKAGES])
        if done.returncode:
            self.skipTest('needs the history of the repository')
        with tarfile.open(archive) as older:
            older.extractall(self.folder, filter='data')
        old, new = self.folder, processes.ROOT
        self.check_turn(new, WELL)
        # One moves nodes, the other goes on with what that has noted.
        self.check_turn(old, DIES)
        self.check_turn(new, DEAD, BACK, WELL, DIES)
        self.check_turn(old, DEAD, BACK)

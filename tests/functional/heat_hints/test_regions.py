# SPDX-License-Identifier: Apache-2.0

"""A group over regions without Senlin: two real Heats, and the page's files.

Each region has an engine and an API of its own, and a stub cloud. The script
is run as it stands there, and calls the real ``openstack``.
"""

import contextlib
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from testing import subprocesses
from testing.heat import loopback
from tests import console, processes, threads

FILES = console.PAGES / 'examples' / 'regions'
ONE, TWO = REGIONS = ('RegionOne', 'RegionTwo')


#: Has ``openstack`` look more often whether a stack is there: it would wait
#: for five seconds each time.
SLEEP = """
import time

sleep = time.sleep
time.sleep = lambda seconds: sleep(min(seconds, 0.2))
"""


class TwoRegionsTest(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        pathlib.Path(self.folder, 'sitecustomize.py').write_text(SLEEP)
        self.clouds, self.heats, urls = {}, {}, {}
        for region in REGIONS:
            cloud = self.enterContext(contextlib.closing(loopback.Cloud()))
            cloud.region, cloud.heats = region, urls
            self.clouds[region] = cloud
            heat = subprocesses.Child(
                f'the Heat of {region}',
                [sys.executable, '-W', 'ignore', '-m', 'testing.heat.region']
                + [cloud.url, region, self.folder],
                cwd=processes.ROOT,
                stdin=subprocess.PIPE,
            )
            self.heats[region] = heat
            self.addCleanup(heat.finish)
        for region, heat in self.heats.items():
            urls[region] = heat.read_line('the URL of its API').strip()
            if not urls[region]:
                self.fail(f'{region}: {heat.finish().stderr}')

    def run_here(self, *command):
        """Run a program in the folder of the page's files."""
        scripts = pathlib.Path(sys.executable).parent
        return subprocesses.run(
            ' '.join(command),
            command,
            cwd=FILES,
            env={
                'PATH': f'{scripts}:/usr/bin:/bin',
                'HOME': self.folder,
                'PYTHONPATH': self.folder,
                'OS_AUTH_URL': f'{self.clouds[ONE].url}/identity/v3',
                'OS_USERNAME': 'demo',
                'OS_PASSWORD': 'demo',
                'OS_PROJECT_ID': 'project',
                'OS_USER_DOMAIN_ID': 'default',
                'OS_REGION_NAME': ONE,
                'OS_IDENTITY_API_VERSION': '3',
                'PYTHONWARNINGS': 'ignore',
            },
        )

    def scale(self, *words):
        return self.run_here(sys.executable, 'scale_regions.py', 'web', *words)

    def assert_sizes(self, *sizes):
        """Fail unless the regions have so many servers, with these names."""
        names = {}
        for region, size in zip(REGIONS, sizes, strict=True):
            names[region] = [f'web-{number}' for number in range(size)]
        self.assertEqual(
            names,
            {region: cloud.things() for region, cloud in self.clouds.items()},
        )

    def test_grow_with_a_full_region_and_meet_a_dead_region(self):
        made = self.run_here(
            'openstack',
            'stack',
            'create',
            '--wait',
            'web',
            '-t',
            'regions.yaml',
            '--parameter',
            'sizes={"RegionOne": 2, "RegionTwo": 1}',
        )
        self.assertEqual(0, made.returncode, made.stderr)
        self.assert_sizes(2, 1)
        self.clouds[TWO].room = 2
        # Without the limit, the regions would get 4 and 2 of them.
        done = self.scale('+6')
        self.assertEqual(0, done.returncode, done.stderr)
        self.assert_sizes(8, 1)
        self.heats[TWO].finish()
        done = self.scale('-5')
        self.assertEqual(1, done.returncode)
        self.assertIn('at region "RegionTwo"', done.stderr)
        self.assert_sizes(8, 1)
        # A template without this region is obeyed, although it fails.
        shutil.copy(FILES / 'group.yaml', self.folder)
        text, cut, _ = (
            (FILES / 'regions.yaml').read_text().partition(f'  {TWO}:\n')
        )
        self.assertTrue(cut)
        pathlib.Path(self.folder, 'one.yaml').write_text(text)
        done = self.run_here(
            'openstack',
            'stack',
            'update',
            '--wait',
            'web',
            '-t',
            f'{self.folder}/one.yaml',
            '--parameter',
            'sizes={"RegionOne": 4}',
        )
        self.assertEqual(1, done.returncode, done.stdout)
        # The stack fails at once, and RegionOne shrinks after that.
        threads.wait_until(
            lambda: len(self.clouds[ONE].things()) <= 4,
            'RegionOne has four servers',
        )
        self.assert_sizes(4, 1)

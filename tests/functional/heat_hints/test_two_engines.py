# SPDX-License-Identifier: Apache-2.0

"""Engines of two releases that share a database.

One engine works after the other, so that it is certain which engine creates
which server. Each has a message bus of its own.
"""

import contextlib
import pathlib
import sys
import tempfile
import unittest

from testing import subprocesses
from testing.heat import loopback, process, stack_hints
from testing.heat.templates import autoscaling, server, stack

#: The environments of tox with the newest and with the oldest Heat.
ENVIRONMENTS = 'functional-2026.2', 'functional-2024.1'
PYTHONS = [
    pathlib.Path(sys.prefix).with_name(name) / 'bin' / 'python'
    for name in ENVIRONMENTS
]


def has_heat(python: pathlib.Path) -> bool:
    """Tell whether an environment is there, with all that Heat needs."""
    if not python.exists():
        return False
    program = 'import heat.cmd.engine'
    done = subprocesses.run(python, '-W', 'ignore', '-c', program)
    return done.returncode == 0


class TestTwoReleases(unittest.TestCase):
    """The newest Heat makes the tables, as an upgrade does first."""

    def test_each_release_creates_servers_in_stacks_of_the_other(self):
        if not all(map(has_heat, PYTHONS)):
            self.skipTest(f'it needs {" and ".join(ENVIRONMENTS)} of tox')
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        cloud = self.enterContext(contextlib.closing(loopback.Cloud()))
        newest, oldest = (
            self.enterContext(contextlib.closing(process.Launcher(path)))
            for path in PYTHONS
        )
        scenario = {
            'cloud': cloud.url,
            'settings': {'heat_hints': {'enabled': 'true'}},
        }
        grown = {'name': 'grown', 'project': 'p1'}
        created = {**grown, **stack('grown', autoscaling(1, server()))}
        sizes = []
        for size, launcher in enumerate((newest, oldest, newest), start=1):
            grown['steps'] = [('signal', ('out', size))]
            scenario['stacks'] = [created if size == 1 else grown]
            (report,) = launcher.run(scenario, folder / 'heat.log')
            scenario['database'] = str(folder / 'heat.sqlite')
            self.assertRegex(report['status'], '_COMPLETE$', report)
            sizes.append(len(cloud.requests))
            resources = {r['server']: r for r in report['resources']}
            for request in cloud.requests:
                expected = stack_hints.expected(
                    report['root'], resources[request.id]
                )
                self.assertEqual(expected, request.hints)
        self.assertEqual([1, 2, 3], sizes)

# SPDX-License-Identifier: Apache-2.0

"""Engines that share a database: without the package, or of two releases.

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
from testing.heat.templates import (
    autoscaling,
    group,
    server,
    stack,
    template,
    texts,
)
from tests.functional.heat_hints import base

INNER = {'inner.yaml': template(group=group(1, server()))}
LARGER = {'inner.yaml': template(group=group(2, server()))}


def nesting(**resources):
    """Return a template with a nested stack."""
    return template(nested={'type': 'inner.yaml'}, **resources)


class TestPackageOnOneEngine(base.ScenarioCase):
    """The first and the last engine do not have the package enabled."""

    options = {'enabled': 'false'}
    stacks = (
        stack('root', nesting(first=server()), files=INNER),
        stack('grown', autoscaling(1, server())),
    )
    restarts = (
        (
            {'enabled': 'true'},
            (
                {
                    'name': 'root',
                    'steps': [
                        (
                            'update',
                            nesting(first=server(), second=server()),
                            {'files': texts(LARGER)},
                        )
                    ],
                },
                {'name': 'grown', 'steps': [('signal', ('out', 2))]},
            ),
        ),
        (
            {'enabled': 'false'},
            ({'name': 'grown', 'steps': [('signal', ('out', 3))]},),
        ),
    )

    def test_a_server_has_the_hints_of_the_engine_that_creates_it(self):
        resources = {}
        for name, stacks in self.outcome.stacks.items():
            for listed in stacks['resources']:
                resources[listed['server']] = (name, listed)
        kinds = []
        for request in self.outcome.sent:
            kinds.append(request.hints is not None)
            if request.hints is not None:
                expected = self.outcome.expected_hints(*resources[request.id])
                self.assertEqual(expected, request.hints)
        # Three servers, then a member of the group in the nested stack, one
        # server, and a member of the autoscaling group, then one more.
        self.assertEqual([False] * 3 + [True] * 3 + [False], kinds)


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
    command = [str(python), '-W', 'ignore', '-c', 'import heat.cmd.engine']
    return subprocesses.run('an import', command).returncode == 0


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

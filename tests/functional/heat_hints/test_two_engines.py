# SPDX-License-Identifier: Apache-2.0

"""Engines that share a database, with and without the package.

One engine works after the other, so that it is certain which engine creates
which server. Each has a message bus of its own.
"""

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

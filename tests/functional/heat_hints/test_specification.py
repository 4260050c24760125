# SPDX-License-Identifier: Apache-2.0

"""Each server of random stacks has the hints that the specification asks for.

The stacks are nested, grouped and updated, in two projects, with both engines
of Heat.
"""

import base64
import random

import tests
from testing.heat import stack_hints
from tests.functional.heat_hints import base, shapes

SEED = 20261127
#: How many stacks there are. With two engines and two releases of Heat, 26
#: stacks are about 520 servers.
STACKS = 26 if tests.ALL else 2
CLAIMING = shapes.CLAIMING.encode()
DEEP = {'max_nested_stack_depth': str(2 * shapes.DEPTH)}


class _Random:
    settings = {'DEFAULT': DEEP}
    stacks = tuple(shapes.stacks(random.Random(SEED), STACKS))

    def test_each_server_is_told_as_the_specification_says(self):
        #: What Heat's RPC API tells of each server, by the id Nova gave.
        told = {}
        for report in self.outcome.stacks.values():
            for status, reason in report['steps']:
                self.assertRegex(status, '_COMPLETE$', (report, reason))
            for listing in report['history']:
                for resource in listing['resources']:
                    told[resource['server']] = listing['root'], resource
        depths = set()
        for request in self.outcome.sent:
            root, resource = told[request.id]
            depths.add(len(resource['path']) - 1)
            expected = stack_hints.expected(root, resource)
            user_data = request.data['server'].get('user_data', '')
            if base64.b64decode(user_data) == CLAIMING:
                expected['tier'] = shapes.CLAIMED['tier']
            self.assertEqual(expected, request.hints)
        self.assertGreaterEqual(max(depths), shapes.DEPTH)


class TestConvergence(_Random, base.ScenarioCase):
    """Heat's engine of today."""


class TestWithoutConvergence(_Random, base.ScenarioCase):
    """``convergence_engine = false``."""

    settings = {'DEFAULT': {**DEEP, 'convergence_engine': 'false'}}

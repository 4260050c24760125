# SPDX-License-Identifier: Apache-2.0

"""Each server of random stacks has the hints that the specification asks for.

The stacks are nested, grouped and updated, in two projects, with both engines
of Heat.
"""

import base64
import random

import tests
from tests.functional.heat_hints import base, shapes, specification

SEED = 20261127
#: How many stacks there are. With two engines and two releases of Heat, 26
#: stacks are about 520 servers.
STACKS = 26 if tests.ALL else 5
CLAIMING = specification.CLAIMING.encode()
DEEP = {'max_nested_stack_depth': str(2 * shapes.DEPTH)}


class _Random:
    settings = {'DEFAULT': DEEP}
    stacks = tuple(shapes.stacks(random.Random(SEED), STACKS))

    def test_each_server_is_told_as_the_specification_says(self):
        reports = self.outcome.stacks.values()
        for report in reports:
            for status, reason in report['steps']:
                self.assertRegex(status, '_COMPLETE$', (report, reason))
        servers = specification.facts(r['history'] for r in reports)
        depths = set()
        for request in self.outcome.sent:
            server = servers[request.id]
            depths.add(len(server['path']) - 1)
            user_data = request.data['server'].get('user_data', '')
            claims = base64.b64decode(user_data) == CLAIMING
            faults = specification.find_faults(
                request.hints, server, claims=claims
            )
            self.assertEqual([], faults, (request, server))
        self.assertGreaterEqual(max(depths), shapes.DEPTH)


class TestConvergence(_Random, base.ScenarioCase):
    """Heat's engine of today."""


class TestWithoutConvergence(_Random, base.ScenarioCase):
    """``convergence_engine = false``."""

    settings = {'DEFAULT': {**DEEP, 'convergence_engine': 'false'}}

# SPDX-License-Identifier: Apache-2.0

"""A large stack comes to the same end with and without the package."""

import collections
import json

import tests
from testing.heat.templates import group, server, stack, template
from tests.functional.heat_hints import base

#: How many servers the stack has, in groups of 25.
SERVERS = 2_000 if tests.ALL else 50
SIZE = 25


class TestLargeStack(base.ScenarioCase):
    convergence = False
    settings = {'DEFAULT': {'max_resources_per_stack': '-1'}}
    # Heat's default user data has a random boundary: RAW has none.
    stacks = (
        stack(
            'root',
            template(
                **{
                    f'group{number}': group(
                        SIZE, server(name='web', user_data_format='RAW')
                    )
                    for number in range(SERVERS // SIZE)
                }
            ),
        ),
    )

    def requests(self, outcome: base.Outcome) -> collections.Counter[str]:
        """Count the requests of each kind, without their hints."""
        kinds: collections.Counter[str] = collections.Counter()
        for request in outcome.sent:
            data = {**request.data, request.key: None}
            kinds[json.dumps(data, sort_keys=True)] += 1
        return kinds

    def test_the_same_servers_are_created_without_the_package(self) -> None:
        without = self.run_scenario({'enabled': 'false'})
        for outcome in (self.outcome, without):
            self.assertEqual(['CREATE_COMPLETE'], outcome.statuses('root'))
        self.assertEqual(SERVERS, len(self.outcome.sent))
        self.assertEqual(self.requests(without), self.requests(self.outcome))
        self.assertTrue(all(request.hints for request in self.outcome.sent))
        self.assertFalse(any(request.hints for request in without.sent))

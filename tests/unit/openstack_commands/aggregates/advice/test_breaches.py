# SPDX-License-Identifier: Apache-2.0

"""What is wrong with running servers, as text."""

import unittest

import ddt

from openstack_commands.aggregates.advice import breaches, inventory

_PROBLEMS = ('refused', 'broken', 'spread')


def _breach(problem: str, noun: str) -> breaches.Breach:
    """Return a problem of three servers, of which one has no host."""
    hosts = {'a': 'h2', 'b': '', 'c': 'h1', 'd': 'h2'}
    servers = [
        inventory.Server(name, f'id of {name}', host, None)
        for name, host in hosts.items()
    ]
    return breaches.Breach(problem, noun, 'n', servers, 'why')


@ddt.ddt
class BreachTest(unittest.TestCase):
    def test_servers_are_told_with_ids_and_hosts(self) -> None:
        breach = _breach('spread', 'stack')
        self.assertEqual(['a (h2)', 'b', 'c (h1)', 'd (h2)'], breach.places)
        self.assertEqual(
            ['id of a', 'id of b', 'id of c', 'id of d'], breach.server_ids
        )
        self.assertEqual(['h1', 'h2'], breach.hosts)
        self.assertEqual('', breach.id)

    @ddt.data(
        ('refused', 'flavor', ['refused']),
        ('broken', 'server', ['broken']),
        # A hard policy that does not hold is bad spread, too.
        ('broken', 'server group', ['broken', 'spread']),
        ('spread', 'server group', ['spread']),
        ('spread', 'stack', ['spread']),
        ('unknown', 'server', []),
    )
    @ddt.unpack
    def test_a_problem_fails_those_who_look_for_it(
        self, problem: str, noun: str, failing_problems: list[str]
    ) -> None:
        breach = _breach(problem, noun)
        self.assertEqual(failing_problems, [*filter(breach.fails, _PROBLEMS)])

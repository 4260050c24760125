# SPDX-License-Identifier: Apache-2.0

"""The check that each recorded request passes, on hints that Nova refuses."""

import json
import unittest

import ddt

from demo.heat import cloud as loopback
from tests.functional.heat_hints import nova_side


def request(hints):
    body = json.dumps({'server': {'name': 'one'}, nova_side.HINTS: hints})
    return loopback.Request('project', 'server', body.encode())


@ddt.ddt
class TestCheck(unittest.TestCase):
    @ddt.data(
        # Pass nova-api's schema, but not RequestSpec.
        {'heat_stack_id': None},
        {'heat_path_in_stack': [[None, 'root'], ['resource', 'stack']]},
        {'rack': {'row': '7'}},
        # Is stored, but not as it was sent.
        {'rack': 7},
        # Does not pass the schema.
        {'group': 'no-uuid'},
        ['rack'],
    )
    def test_what_nova_cannot_store_is_seen(self, hints):
        with self.assertRaises(AssertionError):
            nova_side.check(request(hints))

    @ddt.data({}, {'rack': 'r7'}, {'zone': ['a', 'b'], 'odd': 'ü, "x"'})
    def test_what_nova_stores_passes(self, hints):
        nova_side.check(request(hints))

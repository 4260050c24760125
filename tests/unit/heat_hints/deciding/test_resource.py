# SPDX-License-Identifier: Apache-2.0

"""What a provider is told of a resource, if the hook says no more."""

import dataclasses
import unittest

from heat_hints.deciding.resource import CREATE, Sibling
from tests.unit.heat_hints import requests


def secret():
    """Return the parameters of a stack."""
    return {'password': 'sesame'}


class RequestTest(unittest.TestCase):
    def test_a_resource_is_new_and_its_stack_tells_nothing(self):
        request = requests.REQUEST
        self.assertEqual(CREATE, request.action)
        self.assertEqual({}, request.parameters())
        self.assertEqual((), request.siblings())
        self.assertEqual((), request.siblings(2))

    def test_what_is_only_looked_up_is_in_no_log_and_in_no_comparison(self):
        for name in ('parameters', 'siblings'):
            request = dataclasses.replace(requests.REQUEST, **{name: secret})
            self.assertNotIn(f'{name}=', repr(request))
            self.assertEqual(requests.REQUEST, request)


class SiblingTest(unittest.TestCase):
    def test_a_resource_numbers_no_members_unless_it_is_said(self):
        sibling = Sibling(
            name='db',
            resource_type='OS::Nova::Server',
            path=(),
            index=None,
            flavor=None,
            group=None,
            requires=frozenset(),
        )
        self.assertIs(False, sibling.numbers_members)

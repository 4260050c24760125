# SPDX-License-Identifier: Apache-2.0

import unittest

import ddt

from nova_filters.advice import resource_types

REGISTRY = {
    'My::Server': 'OS::Nova::Server',
    'Our::Server': 'My::Server',
    'Old::*': 'OS::*',
    'Any::*': 'OS::Heat::None',
    'Ring::A': 'Ring::B',
    'Ring::B': 'Ring::A',
    'OS::Nova::Server': 'OS::Nova::Server',
    'Odd::Server': 7,
    'resources': {'db': {'OS::Heat::None': 'OS::Nova::Server'}, 'x': None},
}


@ddt.ddt
class TestStandsFor(unittest.TestCase):
    @ddt.data(
        ('OS::Nova::Server', 'web', 'OS::Nova::Server'),
        ('My::Server', 'web', 'OS::Nova::Server'),
        ('Our::Server', 'web', 'OS::Nova::Server'),
        ('Old::Nova::Server', 'web', 'OS::Nova::Server'),
        ('Any::Server', 'web', 'OS::Heat::None'),
        # For the resources of this name only.
        ('Any::Server', 'db', 'OS::Nova::Server'),
        ('Odd::Server', 'x', 'Odd::Server'),
        ('Ring::A', 'web', 'Ring::B'),
    )
    @ddt.unpack
    def test_the_environment_says_what_an_alias_is(self, alias, name, wanted):
        self.assertEqual(
            wanted, resource_types.stands_for(REGISTRY, alias, name)
        )

    @ddt.data(None, [], {}, {'resources': []})
    def test_without_a_registry_a_type_is_itself(self, registry):
        self.assertEqual(
            'My::Server',
            resource_types.stands_for(registry, 'My::Server', 'web'),
        )

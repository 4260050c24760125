# SPDX-License-Identifier: Apache-2.0

import dataclasses
import unittest

import ddt

from heat_hints.deciding import mapping
from os_placement_plugins.stack_hints import PathStep
from tests.unit.heat_hints import requests

#: The types whose resources get hints.
TYPES = ('OS::Nova::Server', 'OS::Cinder::Volume')


@ddt.ddt
class TestParse(unittest.TestCase):
    def test_an_empty_list_has_no_rules(self):
        self.assertEqual((), mapping.parse([], TYPES))

    def test_patterns_that_are_left_out_match_everything(self):
        (rule,) = mapping.parse([{'hints': {'rack': '7'}}], TYPES)
        self.assertEqual({'rack': '7'}, rule.hints)
        self.assertTrue(rule.matches(requests.REQUEST))

    def test_a_rule_says_yes_or_no(self):
        for name, matches in (('pro*', True), ('pri*', False)):
            entry = {'hints': {'a': 'b'}, 'project': name}
            (rule,) = mapping.parse([entry], TYPES)
            self.assertIs(matches, rule.matches(requests.REQUEST))

    @ddt.data(
        ([7], 'with the keys project, stack, resource, type, hints'),
        (
            [{'stak': 'w'}],
            'entry 1 has the key "stak"; the keys are project, stack, '
            'resource, type, hints',
        ),
        (None, 'the file is empty'),
        ('', 'the file is empty'),
        ({}, 'must hold a list'),
        ({'hints': {}}, 'must hold a list'),
        (['text'], 'entry 1 is a str'),
        ([{'hints': {'a': 'b'}}, {'stack': 'web'}], 'entry 2 has no "hints"'),
        ([{'hints': ['a']}], 'entry 1 has no "hints"'),
        ([{'hints': {'a': 'b'}, 'stak': 'w'}], 'the key "stak"'),
        ([{'hints': {'a': 'b'}, 'stack': ['7']}], 'write one pattern'),
        ([{'hints': {'heat_stack_id': 'x'}}], '"heat_stack_id"'),
        ([{'hints': {'heat_signature': 'x'}}], '"heat_signature"'),
        ([{'hints': {'': 'x'}}], 'the hint ""'),
        ([{'hints': {'a': {'b': 'c'}}}], 'the hint "a" a value'),
        ([{'hints': {'a': [['b']]}}], 'the hint "a" a value'),
        ([{'hints': {'a': ''}}], 'the hint "a" a value'),
        ([{'hints': {'a': []}}], 'the hint "a" a value'),
        ([None], 'entry 1 is a NoneType'),
    )
    @ddt.unpack
    def test_what_cannot_be_used_is_named(self, data, message):
        with self.assertRaises(mapping.MappingError) as caught:
            mapping.parse(data, TYPES)
        self.assertIn(message, str(caught.exception))

    @ddt.data('project', 'stack', 'resource', 'type')
    def test_an_empty_pattern_is_named(self, key):
        message = f'has an empty {key}'
        for pattern in ('', ' '):
            with self.assertRaisesRegex(mapping.MappingError, message):
                mapping.parse([{'hints': {'a': 'b'}, key: pattern}], TYPES)


@ddt.ddt
class TestTypes(unittest.TestCase):
    def parse(self, kind):
        return mapping.parse([{'hints': {'a': 'b'}, 'type': kind}], TYPES)

    @ddt.data(
        'os::nova::server',
        'OS::Nova::Sever',
        'OS::Neutron::*',
        'os::*',
        'AWS::EC2::Instance',
        'OS::Nova::Server ',
        'OS::',
    )
    def test_a_type_of_heat_that_gets_no_hints_is_named(self, kind):
        with self.assertRaises(mapping.MappingError) as caught:
            self.parse(kind)
        self.assertEqual(
            f'entry 1 has the type "{kind}", but no resource of such a type '
            'gets hints; [heat_hints] resource_types has OS::Nova::Server, '
            'OS::Cinder::Volume',
            str(caught.exception),
        )

    @ddt.data(
        'OS::Nova::Server',
        'OS::*',
        'OS::Cinder::V*',
        '*',
        '*::Server',
        # They may be aliases.
        'My::Server',
        'my::*',
        'Nova::Server',
        'OSX::Server',
    )
    def test_a_type_that_gets_hints_or_may_be_an_alias_is_used(self, kind):
        self.assertEqual(1, len(self.parse(kind)))


@ddt.ddt
class TestLookup(unittest.TestCase):
    RULES = mapping.parse(
        [
            {'project': 'p1', 'hints': {'rack': 'p1'}},
            {'stack': 'web?', 'resource': 'db?', 'hints': {'rack': 'db'}},
            {'stack': 'web[0-9]', 'hints': {'tier': ['a', 'b']}},
            {'type': 'OS::Cinder::*', 'hints': {'kind': 'disk'}},
            {'type': 'My::Server', 'hints': {'kind': 'mine'}},
        ],
        TYPES,
    )

    @ddt.data(
        ('p1', ['other'], 'x', {'rack': 'p1'}),
        ('p2', ['web1'], 'db1', {'rack': 'db', 'tier': ['a', 'b']}),
        # The first rule that matches wins.
        ('p1', ['web1'], 'db1', {'rack': 'p1', 'tier': ['a', 'b']}),
        # A stack above counts.
        ('p2', ['web1', 'inner'], 'x', {'tier': ['a', 'b']}),
        ('p2', ['inner', 'web1'], 'db1', {'rack': 'db', 'tier': ['a', 'b']}),
        ('p2', ['Web1'], 'db1', {}),
        ('p2', ['web1'], 'db', {'tier': ['a', 'b']}),
    )
    @ddt.unpack
    def test_the_rules_that_match_give_their_hints(
        self, project, stacks, resource, hints
    ):
        request = dataclasses.replace(
            requests.REQUEST,
            project_id=project,
            path=tuple(PathStep(None, stack) for stack in stacks),
            resource_name=resource,
        )
        self.assertEqual(hints, mapping.lookup(self.RULES, request))

    @ddt.data(
        ('OS::Nova::Server', None, {}),
        ('OS::Cinder::Volume', None, {'kind': 'disk'}),
        ('OS::Nova::Server', 'My::Server', {'kind': 'mine'}),
        ('OS::Cinder::Volume', 'My::Disk', {'kind': 'disk'}),
    )
    @ddt.unpack
    def test_a_rule_names_a_type_or_its_alias(self, kind, alias, hints):
        request = dataclasses.replace(
            requests.REQUEST, resource_type=kind, alias=alias
        )
        self.assertEqual(hints, mapping.lookup(self.RULES, request))

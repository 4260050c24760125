# SPDX-License-Identifier: Apache-2.0

"""Specs as files and options give them."""

import json
import unittest

import ddt

from senlin_plugins.planning import region_spec, values
from senlin_plugins.planning.apportionment import Region
from senlin_plugins.planning.region_spec import Override, Spec

TYPE = 'senlin_plugins.policy.region_placement'


def spec_of(*regions, **fields):
    """Return the spec of a policy.

    :param fields: further fields, or other values of these.
    """
    return {
        'type': TYPE,
        'version': '1.0',
        'properties': {'regions': list(regions)},
        **fields,
    }


@ddt.ddt
class RegionSpecTest(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        ({'name': 'a'}, Region('a', 100, -1)),
        ({'name': 'a', 'weight': 0, 'cap': 0}, Region('a', 0, 0)),
        ({'name': 'a', 'weight': '3', 'cap': '-1'}, Region('a', 3, -1)),
        (
            {'name': 'a', 'weight': 10**6, 'cap': 10**6},
            Region('a', 10**6, 10**6),
        ),
        # YAML reads such a name as a number.
        ({'name': 1}, Region('1', 100, -1)),
    )
    def test_a_region_has_the_defaults_of_the_policy(self, item, region):
        self.assertEqual((region,), region_spec.read(spec_of(item)).regions)

    def test_version_1_0_neither_follows_metadata_nor_refuses_to_grow(self):
        self.assertEqual(
            Spec(
                (Region('a'),),
                follows=False,
                effective=True,
            ),
            region_spec.read(spec_of({'name': 'a'})),
        )

    @ddt.data({}, {'strategy': 'balanced'}, {'strategy': 'even'})
    def test_version_1_1_follows_metadata_whatever_its_strategy(self, more):
        properties = {'regions': [{'name': 'a'}], **more}
        spec = spec_of(version='1.1', properties=properties)
        self.assertEqual(
            Spec((Region('a'),), follows=True, effective=True),
            region_spec.read(spec),
        )

    def test_the_plans_of_senlins_own_policy_take_no_effect(self):
        spec = spec_of({'name': 'a'}, type='senlin.policy.region_placement')
        read = region_spec.read(spec)
        self.assertIs(False, read.effective)
        self.assertIs(False, read.follows)
        with self.assertRaisesRegex(
            values.WrongValue, "'version' is '1.1': it must be 1.0 or 1.1"
        ):
            region_spec.read({**spec, 'version': '1.1'})

    def test_regions_alone_are_a_spec_that_takes_effect(self):
        self.assertEqual(
            Spec((), follows=False, effective=True),
            Spec(()),
        )

    @ddt.data(
        {'version': 1.0},
        {'type': 'senlin.policy.region_placement'},
        {'description': 'of the web servers'},
    )
    def test_other_ways_to_write_a_spec_are_understood(self, fields):
        spec = spec_of({'name': 'a'}, **fields)
        self.assertEqual((Region('a'),), region_spec.read(spec).regions)

    @ddt.unpack
    @ddt.data(
        (None, 'The spec is not a mapping'),
        ('text', 'The spec is not a mapping'),
        ({}, "'type' is 'None': it must be " + TYPE),
        (spec_of(type='senlin.policy.deletion'), "'type' is 'senlin.policy."),
        (spec_of(version=2), "'version' is '2': it must be 1.0"),
        (spec_of(description=None), "'description' is empty"),
        (spec_of(properties=None), "'properties' is not a mapping"),
        (spec_of(regions=[]), "'regions' is not known in the spec"),
        (spec_of(properties={}), "'regions' must be a list"),
        (spec_of(properties={'regions': {}}), "'regions' must be a list"),
        (
            spec_of(properties={'regions': [], 'zones': []}),
            "'zones' is not known in 'properties': it may have regions.",
        ),
        (spec_of(), "'regions' is empty"),
        (spec_of('a'), "The region 'a' is not a mapping"),
        (spec_of({}), "'name' of a region is missing"),
        (spec_of({'name': None}), "'name' of a region is missing"),
        (spec_of({'name': ''}), "'name' of a region is empty"),
        (
            spec_of({'name': 'a', 'wieght': 1}),
            "'wieght' is not known in region 'a': it may have name, weight, "
            'cap.',
        ),
        (
            spec_of({'name': 'a', 'weight': -1}),
            "'weight' of region 'a' is '-1': it must be from 0 to",
        ),
        (
            spec_of({'name': 'a', 'cap': -2}),
            "'cap' of region 'a' is '-2': it must be from 0 to 1000000, or -1 "
            'for no cap.',
        ),
        (spec_of({'name': 'a', 'cap': 10**6 + 1}), "'a' is '1000001': it mu"),
        (
            spec_of({'name': 'a', 'weight': 10**4298}),
            "is '10000000000000000000': it must be from 0 to 1000000.",
        ),
        (spec_of({'name': 'a', 'cap': 1.5}), "is '1.5': it must be a whole"),
        (spec_of({'name': 'a', 'cap': True}), "is 'True': it must be a whole"),
        (spec_of({'name': 'a', 'cap': None}), "is 'None': it must be a whole"),
        (spec_of({'name': 'a', 'cap': 'x'}), "is 'x': it must be a whole"),
        (spec_of({'name': 'a', 'cap': []}), "is '[]': it must be a whole"),
        *(
            (
                spec_of(version='1.1', properties={'strategy': strategy}),
                f"'strategy' is '{strategy}': it must be one of balanced",
            )
            for strategy in ('odd', 7, None)
        ),
        (
            spec_of(properties={'strategy': 'even'}),
            "'strategy' is not known in 'properties'",
        ),
        (spec_of({'name': 'a'}, {'name': 'a'}), "is 'a' 2 times"),
    )
    def test_a_wrong_spec_is_refused_with_what_is_accepted(self, spec, text):
        with self.assertRaises(values.WrongValue) as caught:
            region_spec.read(spec)
        self.assertIn(text, str(caught.exception))

    @ddt.unpack
    @ddt.data(
        ('a', Region('a')),
        ('a:300', Region('a', 300)),
        ('a:300:5', Region('a', 300, 5)),
        ('a::5', Region('a', 100, 5)),
        ('a:0:-1', Region('a', 0, -1)),
    )
    def test_an_option_names_a_region(self, text, region):
        self.assertEqual((region,), region_spec.read_options([text]))

    @ddt.unpack
    @ddt.data(
        ('a:1:2:3', 'write NAME, NAME:WEIGHT or NAME:WEIGHT:CAP'),
        ('a:many', "'weight' of region 'a' is 'many'"),
    )
    def test_a_wrong_option_is_refused(self, text, message):
        with self.assertRaises(values.WrongValue) as caught:
            region_spec.read_options([text])
        self.assertIn(message, str(caught.exception))

    def test_options_name_several_regions(self):
        self.assertEqual(
            (Region('a'), Region('b', 1, 2)),
            region_spec.read_options(['a', 'b:1:2']),
        )


@ddt.ddt
class OverrideTest(unittest.TestCase):
    REGIONS = (Region('a', 100, 5), Region('b'))

    @ddt.data(
        None,
        {},
        {'other': '{"a": {"weight": 1}}'},
        {'region_placement': None},
        {'region_placement': {}},
        {'region_placement': '{}'},
        {'region_placement': {'a': {}}},
    )
    def test_without_a_change_the_regions_of_the_policy_are_in_force(
        self, metadata
    ):
        self.assertEqual(
            Override(self.REGIONS, declared=frozenset(), problem=''),
            region_spec.override(self.REGIONS, metadata),
        )

    def test_the_owner_of_a_cluster_changes_some_numbers(self):
        changes = {
            'a': {'weight': 7, 'out': True},
            'b': {'cap': '3', 'out': False},
        }
        regions = (Region('a', 7, 5), Region('b', 100, 3))
        for value in (changes, json.dumps(changes)):
            metadata = {'region_placement': value}
            self.assertEqual(changes, region_spec.read_metadata(metadata))
            self.assertEqual(
                Override(regions, frozenset({'a'}), problem=''),
                region_spec.override(self.REGIONS, metadata),
            )

    @ddt.unpack
    @ddt.data(
        ('{"a', "' of the cluster's metadata is not JSON: "),
        ('', "' of the cluster's metadata is not JSON: "),
        (7, 'must map names of regions to "weight", "cap" and "out".'),
        ('[]', 'must map names of regions to "weight", "cap" and "out".'),
        ({'a': 1}, 'must map names of regions to "weight", "cap" and "out".'),
        ({'a': {'out': 1}}, "'out' of 'a' in 'region_placement' of the"),
        ({'a': {'size': 1}}, 'it may have weight, cap, out.'),
        ({'c': {}}, 'it may have a, b.'),
        ({'a': {'cap': -2}}, "'cap' of region 'a' is '-2'"),
    )
    def test_a_problem_says_what_would_count(self, value, problem):
        metadata = {'region_placement': value}
        override = region_spec.override(self.REGIONS, metadata)
        self.assertIn(problem, override.problem)
        self.assertEqual(
            (self.REGIONS, frozenset()), (override.regions, override.declared)
        )

    @ddt.unpack
    @ddt.data(
        (None, set()),
        ({}, set()),
        ({'region_forget': None}, set()),
        ({'region_forget': ' '}, set()),
        ({'region_forget': 'id-1  id-2'}, {'id-1', 'id-2'}),
        ({'region_forget': 7}, {'7'}),
    )
    def test_ids_with_spaces_between_them_are_forgotten(self, metadata, ids):
        self.assertEqual(ids, region_spec.forgotten(metadata))

    @ddt.data(
        '{"a',
        '[]',
        '{"a": "x"}',
        '{"Nowhere": {"cap": 1}}',
        '{"a": {"cap": -7}}',
        '{"a": {"out": 1}}',
        # Longer numbers stop an engine for seconds.
        f'{{"a": {{"weight": {"9" * 4299}}}}}',
        '[' * 100_000,
    )
    def test_metadata_that_make_no_sense_do_not_count(self, value):
        regions = (Region('a'),)
        override = region_spec.override(regions, {'region_placement': value})
        self.assertEqual(regions, override.regions)
        self.assertEqual(set(), {*override.declared})
        self.assertTrue(override.problem)


class Declared(unittest.TestCase):
    def test_what_is_declared_out(self):
        key = region_spec.METADATA_KEY
        changes = '{"A": {"out": true}, "B": {"out": false}, "C": {"out": 1}}'
        self.assertEqual({'A'}, region_spec.declared({key: changes}))
        for metadata in (None, {}, {key: '{'}, {key: '{"A": 5}'}):
            self.assertEqual(set(), region_spec.declared(metadata))

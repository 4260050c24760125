# SPDX-License-Identifier: Apache-2.0

import unittest

import ddt

from nova_filters.matching import exempt_keys

MECHANISMS = ('force_metadata_check', 'prefer_metadata_check')


def problems(
    patterns: list[str], defaults: list[str], levels: list[str]
) -> list[str]:
    """Return the problems if both mechanisms are in use."""
    return exempt_keys.problems(patterns, defaults, levels, MECHANISMS)


@ddt.ddt
class ProblemsTest(unittest.TestCase):
    @ddt.data(
        ('aggregate_instance_extra_specs:a*', 'matches nothing: write it wi'),
        ('"b*', 'a quotation mark, which counts as a part of the key: remove'),
        ('[b*', 'a bracket without its pair, which stands for itself: write'),
        ('?*', 'matches every key'),
        ('*?', 'matches every key'),
        ('[!x]*', 'matches every key'),
        ('rack zone', 'is one pattern: separate patterns by commas'),
        ('rack;zone', 'is one pattern: separate patterns by commas'),
    )
    @ddt.unpack
    def test_a_pattern_that_cannot_be_meant_is_told(
        self, pattern: str, words: str
    ) -> None:
        (sentence,) = problems(['a', pattern], ['a'], [])
        self.assertIn(pattern, sentence)
        self.assertIn(words, sentence)

    def test_what_is_switched_off_is_told_by_its_name(self) -> None:
        (sentence,) = exempt_keys.problems(['*'], [], [], ['one (two)'])
        self.assertIn('has an effect through one (two): name', sentence)

    def test_the_line_for_an_empty_list_names_the_place_only(self) -> None:
        (sentence,) = problems([], ['a'], ['rack', 'host'])
        self.assertIn('write "exempt_metadata_keys = rack"', sentence)

    def test_sound_patterns_are_no_problem(self) -> None:
        for patterns in (['a', 'b*'], ['[ab]*'], ['a*'], []):
            sentences = problems(patterns, ['a'], ['host'])
            self.assertEqual([], sentences, patterns)

    def test_the_default_keys_that_the_list_drops_are_told(self) -> None:
        defaults = ['zone', 'tenant*', 'type']
        (sentence,) = problems(['rack', 't*'], defaults, ['rack'])
        self.assertIn('so zone are missing', sentence)
        self.assertIn(
            'write "exempt_metadata_keys = zone,tenant*,type,rack,t*"',
            sentence,
        )
        (sentence,) = problems(['rack'], defaults, [])
        self.assertIn('so zone, tenant*, type are missing', sentence)

    def test_a_kind_of_place_that_aggregates_demand_is_told(self) -> None:
        levels = ['row', 'rack', 'host', 'zone']
        (sentence,) = problems(['zone', 'a'], ['zone'], levels)
        self.assertIn('stack_spread_over has "row, rack", which', sentence)
        self.assertIn('"exempt_metadata_keys = zone,a,row,rack"', sentence)

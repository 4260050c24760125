# SPDX-License-Identifier: Apache-2.0

import unittest

import ddt

from nova_filters.advice import exempt_keys


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
        self, pattern: str, told: str
    ) -> None:
        (found,) = exempt_keys.problems(['a', pattern], ['a'], [])
        self.assertIn(pattern, found)
        self.assertIn(told, found)

    def test_the_line_for_an_empty_list_names_the_place_only(self) -> None:
        (found,) = exempt_keys.problems([], ['a'], ['rack', 'host'])
        self.assertIn('write "exempt_metadata_keys = rack"', found)

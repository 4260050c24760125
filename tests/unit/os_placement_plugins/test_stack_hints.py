# SPDX-License-Identifier: Apache-2.0

"""The values of the hints that Heat sends."""

import unittest

from os_placement_plugins import stack_hints
from os_placement_plugins.stack_hints import PathStep


class PathTest(unittest.TestCase):
    def test_a_step_is_its_stack_and_the_resource_that_created_it(self):
        path = [PathStep(None, 'root'), PathStep('a,b', 'child')]
        self.assertEqual(['root', 'a,b,child'], stack_hints.write_path(path))
        self.assertEqual([], stack_hints.write_path([]))


class IdTest(unittest.TestCase):
    def test_an_id_is_read_wrapped_and_unwrapped(self):
        for value in ('id', ['id'], ('id',)):
            self.assertEqual('id', stack_hints.read_id(value))

    def test_an_id_has_64_characters_at_most(self):
        self.assertEqual('n' * 64, stack_hints.read_id('n' * 64))
        self.assertIsNone(stack_hints.read_id('n' * 65))

    def test_a_hint_that_is_not_one_text_is_absent(self):
        for value in ([], [''], '', ['a', 'b'], [7], None, 7, {'a': 'b'}):
            self.assertIsNone(stack_hints.read_id(value))

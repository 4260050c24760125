# SPDX-License-Identifier: Apache-2.0

import json
import re
import unittest

import ddt
import hypothesis
from hypothesis import strategies

from heat_hints import hints, signature
from tests import signing

KEY = signing.KEY
HINTS = {
    name: value
    for name, value in signing.EXAMPLE.items()
    if name != hints.SIGNATURE
}
SIGNATURE = signing.EXAMPLE[hints.SIGNATURE]

VALUES = strategies.text() | strategies.lists(strategies.text())
NAMES = strategies.text() | strategies.sampled_from(hints.RESERVED)


@ddt.ddt
class TestSign(unittest.TestCase):
    def test_the_vector_that_the_reader_in_nova_knows_too(self):
        self.assertEqual(
            b'["p1",[["heat_path_in_stack",["root","res,stack"]],'
            b'["heat_resource_uuid",["u"]],["heat_root_stack_id",["r"]]]]',
            signature.message('p1', HINTS),
        )
        self.assertEqual(SIGNATURE, signature.sign(KEY, 'p1', HINTS))

    @ddt.data(
        {'heat_root_stack_id': ['r']},
        {'heat_resource_uuid': 'u'},
        {'other': 'changed'},
        {hints.SIGNATURE: 'what was there before'},
    )
    def test_what_does_not_count_changes_nothing(self, change):
        self.assertEqual(
            SIGNATURE, signature.sign(KEY, 'p1', {**HINTS, **change})
        )

    @ddt.data(
        {'heat_root_stack_id': 's'},
        {'heat_root_stack_id': ['r', 'r']},
        {'heat_root_stack_id': []},
        {'heat_path_in_stack': ['root,res', 'stack']},
        {'heat_path_in_stack': ['res,stack', 'root']},
        {'heat_of_a_provider': 'new'},
        {'heat_': ''},
    )
    def test_any_other_change_of_a_hint_of_heat_is_seen(self, change):
        self.assertNotEqual(
            SIGNATURE, signature.sign(KEY, 'p1', {**HINTS, **change})
        )

    def test_another_project_or_key_gives_another_signature(self):
        self.assertNotEqual(SIGNATURE, signature.sign(KEY, 'p2', HINTS))
        self.assertNotEqual(SIGNATURE, signature.sign(KEY, None, HINTS))
        self.assertNotEqual(SIGNATURE, signature.sign(KEY + '.', 'p1', HINTS))

    @hypothesis.given(
        strategies.text(),
        strategies.none() | strategies.text(),
        strategies.dictionaries(NAMES, VALUES),
    )
    def test_anything_that_can_be_sent_can_be_signed(
        self, key, project, given
    ):
        hypothesis.assume(signature.is_usable(key * 32))
        found = signature.sign(key * 32, project, given)
        self.assertRegex(found, re.compile('^[0-9a-f]{64}$'))
        # Nova stores JSON, lists only, in an order of its own.
        stored = {
            name: [value] if isinstance(value, str) else value
            for name, value in reversed(list(given.items()))
        }
        self.assertEqual(
            found,
            signature.sign(key * 32, project, json.loads(json.dumps(stored))),
        )


@ddt.ddt
class TestKeys(unittest.TestCase):
    def test_blanks_around_a_key_and_empty_entries_do_not_count(self):
        self.assertEqual(
            ('a key', 'b'), signature.read_keys([' a key\t', '', ' ', 'b'])
        )

    @ddt.data(
        ('x' * 31, False),
        ('x' * 32, True),
        ('ü' * 32, True),
        ('x' * 32 + '\udcff', False),
        ('', False),
    )
    @ddt.unpack
    def test_a_key_has_32_characters_that_can_be_written(self, key, usable):
        self.assertEqual(usable, signature.is_usable(key))

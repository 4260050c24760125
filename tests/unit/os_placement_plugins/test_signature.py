# SPDX-License-Identifier: Apache-2.0

"""What heat-engine signs, nova-scheduler believes, and nothing else."""

import json
import unittest

import ddt
import hypothesis
from hypothesis import strategies

from os_placement_plugins import signature, stack_hints
from tests import signing

KEY = signing.KEY
KEYS = signature.Keys([KEY])
OTHER = signature.Keys([signing.OTHER_KEY])
NO_KEYS = signature.Keys()
HINTS = {
    name: value
    for name, value in signing.EXAMPLE.items()
    if name != stack_hints.SIGNATURE
}
SIGNATURE = signing.EXAMPLE[stack_hints.SIGNATURE]
KEY_ID = SIGNATURE.split(':')[1]
OTHER_KEY_ID = OTHER.sign(HINTS, 'p1').split(':')[1]

VALUES = strategies.text() | strategies.lists(strategies.text())
NAMES = strategies.text() | strategies.sampled_from(stack_hints.RESERVED)
#: What Unicode forbids, and JSON can write.
SURROGATES = strategies.characters(categories=('Cs',), min_codepoint=0xDC00)
READ_NAMES = strategies.sampled_from([*stack_hints.RESERVED, 'heat_x'])
ANYTHING = strategies.recursive(
    strategies.none()
    | strategies.booleans()
    | strategies.integers()
    | strategies.floats()
    | strategies.text()
    | strategies.text(SURROGATES),
    lambda inner: (
        strategies.lists(inner, max_size=3)
        | strategies.dictionaries(strategies.text(), inner, max_size=3)
    ),
    max_leaves=8,
)


def stored(hints):
    """Return hints as Nova stores them: lists only, in its own order."""
    lists = {
        name: [value] if isinstance(value, str) else value
        for name, value in reversed(list(hints.items()))
    }
    return json.loads(json.dumps(lists))


@ddt.ddt
class SignatureTest(unittest.TestCase):
    def signed(self, hints, project='p1'):
        """Tell whether hints are believed, as sent and as stored."""
        is_signed = KEYS.signed(hints, project)
        self.assertEqual(is_signed, KEYS.signed(stored(hints), project))
        return is_signed

    def test_the_vector_of_the_contract(self):
        self.assertEqual(
            b'["1","%b","p1","u",[["heat_path_in_stack",["root","res,stack"]],'
            b'["heat_resource_uuid",["u"]],["heat_root_stack_id",["r"]]]]'
            % KEY_ID.encode(),
            signature.message(HINTS, 'p1', KEY_ID),
        )
        self.assertEqual(SIGNATURE, KEYS.sign(HINTS, 'p1'))

    @ddt.data(
        ({'heat_root_stack_id': ['r']}, True),
        ({'heat_resource_uuid': 'u'}, True),
        ({'other': 'changed'}, True),
        ({7: 'no name'}, True),
        ({'heat_root_stack_id': 's'}, False),
        ({'heat_root_stack_id': ['r', 'r']}, False),
        ({'heat_root_stack_id': []}, False),
        ({'heat_path_in_stack': ['root,res', 'stack']}, False),
        ({'heat_path_in_stack': ['res,stack', 'root']}, False),
        ({'heat_resource_uuid': 'v'}, False),
        ({'heat_': ''}, False),
    )
    @ddt.unpack
    def test_a_change_of_a_hint_of_heat_is_seen(self, change, same):
        hints = {**signing.EXAMPLE, **change}
        self.assertEqual(same, KEYS.sign(hints, 'p1') == SIGNATURE)
        self.assertEqual(same, self.signed(hints))

    @ddt.data(
        (HINTS, None),
        ({**HINTS, 'heat_x': 1}, 'p1'),
        ({**HINTS, 'heat_resource_uuid': ''}, 'p1'),
        ({**HINTS, 'heat_resource_uuid': ['u', 'u']}, 'p1'),
        ({'heat_root_stack_id': 'r'}, 'p1'),
    )
    @ddt.unpack
    def test_what_nova_could_not_check_is_not_signed(self, hints, project):
        with self.assertRaises(ValueError):
            KEYS.sign(hints, project)

    @hypothesis.given(
        strategies.text(min_size=32),
        strategies.text(),
        strategies.dictionaries(NAMES, VALUES),
    )
    def test_the_first_key_signs_and_any_is_believed(
        self, key, project, texts
    ):
        hypothesis.assume(len(key.strip()) >= signature.MIN_KEY_LENGTH)
        texts['heat_resource_uuid'] = 'u'
        made = signature.Keys([key, KEY]).sign(texts, project)
        self.assertRegex(made, r'\A1:[0-9a-f]{8}:[0-9a-f]{64}\Z')
        hints = stored({**texts, stack_hints.SIGNATURE: made})
        keys = signature.Keys([KEY, f' {key}'])
        self.assertTrue(keys.signed(hints, project))
        self.assertTrue(keys.signed(signing.EXAMPLE, 'p1'))
        self.assertFalse(keys.signed(hints, f'{project}x'))
        self.assertFalse(KEYS.signed(hints, project))

    def test_without_keys_nothing_is_believed(self):
        self.assertFalse(signature.Keys().signed(signing.EXAMPLE, 'p1'))

    def test_hints_without_uuid_or_signature_are_not_believed(self):
        for name in ('heat_resource_uuid', stack_hints.SIGNATURE):
            forged = {k: v for k, v in signing.EXAMPLE.items() if k != name}
            self.assertFalse(self.signed(forged), forged)

    def test_another_signature_is_not_believed(self):
        for wrong in (
            SIGNATURE.upper(),
            SIGNATURE.replace('1:', '2:', 1),
            SIGNATURE.rpartition(':')[2],
            SIGNATURE.replace(KEY_ID, OTHER_KEY_ID),
            SIGNATURE[:-1],
            f'{SIGNATURE} ',
            [SIGNATURE, SIGNATURE],
            '',
            '\u0663' * 64,
            '\udc80',
        ):
            forged = {**HINTS, stack_hints.SIGNATURE: wrong}
            self.assertFalse(self.signed(forged), wrong)

    def test_the_signature_is_good_in_its_own_project_only(self):
        for project in ('p2', '', None, 1, ['p1']):
            self.assertFalse(self.signed(signing.EXAMPLE, project))


class ReadTest(unittest.TestCase):
    @hypothesis.given(strategies.dictionaries(READ_NAMES, ANYTHING), ANYTHING)
    @hypothesis.example({'heat_signature': '\udc00'}, 'p1')
    @hypothesis.example({'heat_x': [[]], **signing.EXAMPLE}, 'p1')
    def test_whatever_a_tenant_sends_is_read(self, hints, project):
        for sent in (hints, project):
            self.assertIsNone(KEYS.read_root_stack_id(sent, project))
        root = NO_KEYS.read_root_stack_id(hints, project)
        self.assertIsInstance(root, str | None)

    def test_with_keys_a_signed_hint_is_believed(self):
        read = KEYS.read_root_stack_id
        self.assertEqual('r', read(signing.EXAMPLE, 'p1'))
        self.assertIsNone(read(signing.EXAMPLE, 'p2'))
        self.assertIsNone(read({**signing.EXAMPLE, 'heat_x': 'y'}, 'p1'))

    def test_without_keys_every_hint_is_believed(self):
        hints = {**signing.EXAMPLE, 'heat_signature': 'forged'}
        self.assertEqual('r', NO_KEYS.read_root_stack_id(hints, 'p1'))
        self.assertEqual('r', NO_KEYS.read_root_stack_id(hints, None))


@ddt.ddt
class KeysTest(unittest.TestCase):
    def test_a_key_has_32_characters(self):
        for key in ('x' * 32, '\xfc' * 32, f' {"x" * 32}\t'):
            self.assertEqual(1, len(signature.Keys([key])))

    @ddt.data(
        (f'{"x" * 31} ', 'fewer than 32'),
        ('', 'fewer than 32'),
        ('x' * 32 + '\udcff', 'not UTF-8'),
    )
    @ddt.unpack
    def test_another_key_is_told_by_its_number(self, key, reason):
        with self.assertRaisesRegex(ValueError, reason) as caught:
            signature.Keys([KEY, key])
        text = str(caught.exception)
        self.assertIn('number 2', text)
        self.assertNotIn('xxx', text)

    def test_the_keys_are_in_no_text(self):
        self.assertNotIn(KEY, f'{KEYS!r} {KEYS!s}')
        self.assertFalse(hasattr(KEYS, '__dict__'))

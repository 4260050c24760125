# SPDX-License-Identifier: Apache-2.0

import dataclasses
import itertools
import json
import unittest

import ddt
import hypothesis
from hypothesis import strategies as st

from heat_hints import hints
from os_placement_plugins import signature, stack_hints
from tests.unit.heat_hints import requests

ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.frozensets(st.text()),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner)
        | st.dictionaries(st.text() | st.integers(), inner)
    ),
    max_leaves=8,
)
NAMES = st.text() | st.sampled_from(
    (*stack_hints.RESERVED, 'heat_', 'heat_tier', 'group', '_nova_check_type')
)
HINTS = st.dictionaries(NAMES, ANYTHING, max_size=6)
#: Names that Nova acts on.
OF_NOVA = (
    'group',
    'same_host',
    'different_host',
    'query',
    '_nova_',
    '_nova_check_type',
    '_nova_\n',
    'build_near_host_ip',
    'cidr',
)


def storable(value: object) -> bool:
    """Tell whether Nova can store a hint's value."""
    if type(value) is str:
        return True
    return type(value) is list and all(type(item) is str for item in value)


class Endless(dict):
    """A provider's answer may look up its hints as they are read."""

    def items(self):
        return ((str(number), '') for number in itertools.count())


class OddName(str):
    """A name that gives itself another one."""

    def __str__(self):
        return 'another'


class TestIdentifiers(unittest.TestCase):
    def identifiers(self, **changes):
        request = dataclasses.replace(requests.REQUEST, **changes)
        return hints.identifiers(request, stack_hints.PATH_LIST)

    def test_a_resource_gets_the_six_hints_of_the_specification(self):
        expected = {
            'heat_root_stack_id': 'id-root',
            'heat_stack_id': 'id-inner',
            # The specification says "id of the parent stack" here: a slip,
            # its own name says what is meant.
            'heat_stack_name': 'web-inner-abc',
            'heat_path_in_stack': ['web', 'inner,web-inner-abc'],
            'heat_resource_name': 'db',
            'heat_resource_uuid': 'uuid-db',
        }
        self.assertEqual(expected, self.identifiers())
        del expected['heat_root_stack_id'], expected['heat_path_in_stack']
        self.assertEqual(expected, self.identifiers(root_stack_id=None))


@ddt.ddt
class TestAccept(unittest.TestCase):
    @ddt.data(
        *((name, hints.REASON_RESERVED) for name in stack_hints.RESERVED),
        ('taken', hints.REASON_TAKEN),
        ('', hints.REASON_NAME),
        *((name, hints.REASON_NOVA) for name in OF_NOVA),
        *((name, None) for name in ('tier', 'grouping', 'cidrs', 'my_group')),
    )
    @ddt.unpack
    def test_a_name_is_sent_or_refused(self, name, reason):
        sent, refused = hints.accept({name: 1, 'b': [2]}, {'taken': ''})
        self.assertEqual(['2'], sent.pop('b'))
        self.assertEqual({} if reason else {name: '1'}, sent)
        self.assertEqual({name: reason} if reason else {}, refused)

    def test_a_string_of_another_class_counts_as_its_text(self):
        sent, refused = hints.accept(
            {
                OddName('heat_rack'): OddName('r7'),
                OddName('heat_stack_id'): 'forged',
                OddName('group'): 'x',
            },
            {},
        )
        self.assertEqual({'heat_rack': 'r7'}, sent)
        self.assertEqual(
            {
                'heat_stack_id': hints.REASON_RESERVED,
                'group': hints.REASON_NOVA,
            },
            refused,
        )
        texts = [*sent, *sent.values(), *refused]
        self.assertEqual({str}, {type(text) for text in texts})

    @ddt.data(
        ('text', 'text'),
        ('', ''),
        (7, '7'),
        (0, '0'),
        (1.5, '1.5'),
        (True, 'True'),
        (['a', 1, 'b'], ['a', '1', 'b']),
        (('a', 'b'), ['a', 'b']),
        ([], []),
    )
    @ddt.unpack
    def test_a_value_becomes_what_nova_can_store(self, value, stored):
        self.assertEqual(
            ({'hint': stored}, {}), hints.accept({'hint': value}, {})
        )

    @ddt.data(
        str,
        [str],
        object(),
        b'bytes',
        {'a': 'b'},
        {'a'},
        [['a']],
        ['a', None],
        [{'a': 'b'}],
        1j,
    )
    def test_another_value_is_refused(self, value):
        self.assertEqual(
            ({'b': 'c'}, {'a': hints.REASON_VALUE}),
            hints.accept({'a': value, 'b': 'c'}, {}),
        )

    @ddt.data(['a'], 'a', 7, object())
    def test_an_answer_that_is_no_mapping_is_told(self, answer):
        with self.assertRaisesRegex(hints.AnswerError, 'must be a mapping'):
            hints.accept(answer, {})

    def test_a_server_gets_64_hints_of_all_providers(self):
        offer = {f'hint{n}': n for n in range(hints.MAX_HINTS)}
        sent, _ = hints.accept(offer, {})
        self.assertEqual(hints.MAX_HINTS, len(sent))
        with self.assertRaisesRegex(hints.AnswerError, 'more than 64 hints'):
            hints.accept({**offer, 'more': 1}, {})
        with self.assertRaisesRegex(hints.AnswerError, '65 .*more than 64$'):
            hints.accept({'more': 1}, sent)
        # What is refused by its name does not count.
        self.assertEqual({}, hints.accept({'hint0': 1}, sent)[0])

    def test_an_answer_without_an_end_is_not_read_to_its_end(self):
        with self.assertRaisesRegex(hints.AnswerError, 'more than 64 hints'):
            hints.accept(Endless(), {})

    @ddt.data('x', 'ü', '\n')
    def test_a_server_gets_16_kib_of_all_providers(self, character):
        width = len(json.dumps(character)) - 2
        # Around the value: {"a": "..."}
        room = (hints.MAX_BYTES - 9) // width
        offer = {'a': character * room}
        sent, _ = hints.accept(offer, {})
        self.assertEqual(offer, sent)
        with self.assertRaisesRegex(hints.AnswerError, 'more than 16384$'):
            hints.accept({'a': character * (room + 1)}, {})
        with self.assertRaisesRegex(hints.AnswerError, 'more than 16384$'):
            hints.accept({'b': [1]}, sent)

    def test_a_name_that_is_no_text_is_refused_and_none_is_no_hint(self):
        self.assertEqual(
            ({}, {'7': hints.REASON_NAME}),
            hints.accept({7: 'a', 'a': None}, {}),
        )


@ddt.ddt
class TestDropReserved(unittest.TestCase):
    TEMPLATE = {
        'heat_stack_id': 'x',
        'heat_signature': 'x',
        'heat_tier': 'x',
        'heat': 1,
    }

    @ddt.data((False, {'heat': 1, 'heat_tier': 'x'}), (True, {'heat': 1}))
    @ddt.unpack
    def test_reserved_names_and_with_a_key_the_prefix_go(self, signing, left):
        self.assertEqual(
            left,
            hints.drop_reserved(self.TEMPLATE, self.TEMPLATE, signing=signing),
        )

    def test_another_plug_in_may_set_the_prefix(self):
        returned = {**self.TEMPLATE, 'heat_rack': 'x', OddName('tier'): 'x'}
        left = hints.drop_reserved(returned, self.TEMPLATE, signing=True)
        self.assertEqual({'heat': 1, 'heat_rack': 'x', 'tier': 'x'}, left)
        self.assertEqual({str}, {type(name) for name in left})

    def test_no_value_is_changed(self):
        template = {
            'group': None,
            'same_host': ['a', None],
            'heat_mine': None,
            'tier': 1,
            'shape': {'a': [None, 1.5]},
            7: 'a number',
        }
        left = hints.drop_reserved(template, template, signing=False)
        self.assertEqual(template, left)


class TestAnything(unittest.TestCase):
    @hypothesis.given(HINTS, HINTS, HINTS, st.booleans())
    def test_no_reserved_name_is_left(self, template, other, offer, signing):
        # Another plug-in of Heat may add hints to a template's.
        user = hints.drop_reserved(
            {**template, **other}, template, signing=signing
        )
        provided, refused = hints.accept(offer, {})
        self.assertTrue(all(map(storable, provided.values())))
        nulls = {name for name, value in offer.items() if value is None}
        self.assertEqual(set(offer), {*provided, *refused} | nulls)
        for name in {*user, *provided}:
            self.assertNotIn(name, stack_hints.RESERVED)
        if signing:
            for name in user.keys() & template.keys():
                self.assertFalse(name.startswith(signature.PREFIX))

# SPDX-License-Identifier: Apache-2.0

import dataclasses
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


class TestIdentifiers(unittest.TestCase):
    def identifiers(self, **changes):
        request = dataclasses.replace(requests.REQUEST, **changes)
        return hints.identifiers(request)

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
            hints.drop_reserved(self.TEMPLATE, signing=signing),
        )

    def test_no_value_is_changed(self):
        template = {
            'group': None,
            'same_host': ['a', None],
            'heat_mine': None,
            'tier': 1,
            'shape': {'a': [None, 1.5]},
        }
        left = hints.drop_reserved(template, signing=False)
        self.assertEqual(template, left)


class TestAnything(unittest.TestCase):
    @hypothesis.given(HINTS, HINTS, st.booleans())
    def test_no_reserved_name_is_left(self, template, offer, signing):
        user = hints.drop_reserved(template, signing=signing)
        provided, refused = hints.accept(offer, {})
        self.assertTrue(all(map(storable, provided.values())))
        nulls = {name for name, value in offer.items() if value is None}
        self.assertEqual(set(offer), {*provided, *refused} | nulls)
        for name in {*user, *provided}:
            self.assertNotIn(name, stack_hints.RESERVED)
        if signing:
            for name in user:
                self.assertFalse(name.startswith(signature.PREFIX))

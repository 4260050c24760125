# SPDX-License-Identifier: Apache-2.0

import dataclasses
import itertools
import json
import unittest
from collections.abc import Mapping

import ddt
import hypothesis
from hypothesis import strategies as st

from heat_hints.deciding import hints
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
IDENTIFIERS = {'heat_stack_id': 'heat', 'heat_resource_uuid': 'heat'}


def storable(value: object) -> bool:
    """Tell whether Nova can store a hint's value."""
    if type(value) is str:
        return True
    return type(value) is list and all(type(item) is str for item in value)


class Endless(Mapping):
    """A provider's answer may look up its hints as they are read."""

    def __iter__(self):
        return map(str, itertools.count())

    def __getitem__(self, name):
        return name

    def __len__(self):
        return 1


class TestIdentifiers(unittest.TestCase):
    def identifiers(self, names=stack_hints.NAMES, **changes):
        request = dataclasses.replace(requests.REQUEST, **changes)
        return hints.identifiers(request, names, stack_hints.PATH_LIST)

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
        self.assertEqual(
            {'heat_stack_id': 'id-inner'}, self.identifiers(['heat_stack_id'])
        )
        del expected['heat_root_stack_id'], expected['heat_path_in_stack']
        self.assertEqual(expected, self.identifiers(root_stack_id=None))


@ddt.ddt
class TestAccept(unittest.TestCase):
    @ddt.data(
        *((name, hints.REASON_RESERVED) for name in stack_hints.RESERVED),
        ('taken', hints.REASON_TAKEN),
        ('', hints.REASON_NAME),
        *((name, None) for name in ('tier', 'grouping', 'cidrs', 'my_group')),
    )
    @ddt.unpack
    def test_a_name_is_sent_or_refused(self, name, reason):
        sent, refused = hints.accept({name: 1, 'b': [2]}, {'taken': ''})
        self.assertEqual(['2'], sent.pop('b'))
        self.assertEqual({} if reason else {name: '1'}, sent)
        self.assertEqual({name: reason} if reason else {}, refused)

    @ddt.data(
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
    def test_a_name_that_nova_acts_on_needs_leave(self, name):
        self.assertEqual(
            ({}, {name: hints.REASON_NOVA}), hints.accept({name: 'x'}, {})
        )
        self.assertEqual(
            ({name: 'x'}, {}), hints.accept({name: 'x'}, {}, [name])
        )

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

    def test_none_is_no_hint(self):
        self.assertEqual(({}, {}), hints.accept({'a': None}, {}))

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

    def test_a_name_that_is_no_text_is_refused(self):
        self.assertEqual(
            ({}, {'7': hints.REASON_NAME}), hints.accept({7: 'a'}, {})
        )


class TestUserHints(unittest.TestCase):
    def test_a_reserved_name_is_the_users_only_if_the_template_has_it(self):
        unreserved = {'group': '5', 'heat_tier': 'x'}
        # What another plug-in gives counts, with a key too.
        stock = {'heat_stack_id': 'x', 'heat_signature': 'x', **unreserved}
        for template, user_hints in (
            ((), unreserved),
            (('group',), unreserved),
            (('heat_stack_id',), {**unreserved, 'heat_stack_id': 'x'}),
        ):
            self.assertEqual(user_hints, hints.user_hints(stock, template))

    def test_no_value_is_changed(self):
        template = {
            'group': None,
            'same_host': ['a', None],
            'heat_mine': None,
            'tier': 1,
            'shape': {'a': [None, 1.5]},
        }
        self.assertEqual(template, hints.user_hints(template, template))


class TestMerge(unittest.TestCase):
    IDENTIFIERS = {'heat_stack_id': 'heat'}
    CLAIMED = {
        'heat_stack_id': 'user',
        'heat_stack_name': 'user',
        'heat_signature': 'user',
    }

    def test_who_comes_first(self):
        user = {**self.CLAIMED, 'group': 'user'}
        provided = {'group': 'provider', 'rack': 'provider'}
        unreserved = {'group': 'user', 'rack': 'provider'}
        for mode, expected in (
            (hints.USER_OVERRIDE, {**self.IDENTIFIERS, **unreserved}),
            (hints.USER_KEEP, {**self.CLAIMED, **unreserved}),
        ):
            merged = hints.merge(self.IDENTIFIERS, user, provided, mode)
            self.assertEqual(expected, merged)


@ddt.ddt
class TestClaimed(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        ([], True, set()),
        (['group', 'heat', 7], True, set()),
        (['heat_stack_id', 'heat_tier'], False, {'heat_stack_id'}),
        (['heat_stack_id', 'heat_tier'], True, {'heat_stack_id', 'heat_tier'}),
        (['heat_signature', 'a'], False, {'heat_signature'}),
    )
    def test_reserved_names_and_with_a_key_the_prefix(
        self, template, signing, names
    ):
        self.assertEqual(names, hints.claimed(template, signing=signing))


@ddt.ddt
class TestAllowed(unittest.TestCase):
    TEMPLATE = {'heat_stack_id': 'x', 'heat_signature': 's', 'heat': 1}

    @ddt.data(
        ('override', False, {'heat': 1, 'heat_tier': 'x'}),
        ('override', True, {'heat': 1}),
        ('keep', False, {**TEMPLATE, 'heat_tier': 'x'}),
    )
    @ddt.unpack
    def test_reserved_names_and_with_a_key_the_prefix_go(
        self, mode, signing, allowed
    ):
        template = {**self.TEMPLATE, 'heat_tier': 'x'}
        sent = hints.allowed(template, template, mode, signing=signing)
        self.assertEqual(allowed, sent)

    def test_what_nobody_forbids_stays_as_it_is(self):
        for template in (None, {}, {'tier': [None]}):
            sent = hints.allowed(
                template, template or {}, 'override', signing=True
            )
            self.assertIs(template, sent)


@ddt.ddt
class TestScope(unittest.TestCase):
    @ddt.data(
        # With metadata that say true, nothing, or false.
        (hints.SCOPE_ALL, [True, True, True]),
        (hints.SCOPE_OPT_IN, [True, False, False]),
        (hints.SCOPE_OPT_OUT, [True, True, False]),
    )
    @ddt.unpack
    def test_the_metadata_decides_as_the_scope_says(self, scope, in_scope):
        flags = (True, None, False)
        self.assertEqual(
            in_scope, [hints.in_scope(scope, flag) for flag in flags]
        )


class TestAnything(unittest.TestCase):
    @hypothesis.given(HINTS, HINTS, HINTS, st.booleans())
    def test_no_reserved_name_is_sent_but_heats_own(
        self, template, other, offer, signing
    ):
        mode = hints.USER_OVERRIDE
        # Another plug-in of Heat may add hints to a template's.
        stock = hints.allowed(
            {**template, **other}, template, mode, signing=signing
        )
        user = hints.user_hints(stock or {}, template)
        provided, refused = hints.accept(offer, {})
        self.assertTrue(all(map(storable, provided.values())))
        nulls = {name for name, value in offer.items() if value is None}
        self.assertEqual(set(offer), {*provided, *refused} | nulls)
        merged = hints.merge(IDENTIFIERS, user, provided, mode)
        for sent, identifiers in ((merged, IDENTIFIERS), (stock or {}, {})):
            for name in sent.keys() & template.keys():
                if name in stack_hints.RESERVED:
                    self.assertEqual(identifiers.get(name), sent[name])
                elif signing and name not in provided:
                    self.assertFalse(name.startswith(signature.PREFIX))

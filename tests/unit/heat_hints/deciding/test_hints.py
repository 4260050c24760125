# SPDX-License-Identifier: Apache-2.0

import dataclasses
import unittest

import ddt
import hypothesis
from hypothesis import strategies as st

from heat_hints.deciding import hints
from os_placement_plugins import stack_hints
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


def storable(value: object) -> bool:
    """Tell whether Nova can store a hint's value."""
    if type(value) is str:
        return True
    return type(value) is list and all(type(item) is str for item in value)


class TestOwnHints(unittest.TestCase):
    def own(self, names=stack_hints.NAMES, **changes):
        request = dataclasses.replace(requests.REQUEST, **changes)
        return hints.own_hints(request, names, stack_hints.PATH_LIST)

    def test_a_resource_gets_the_six_hints_of_the_specification(self):
        self.assertEqual(
            {
                'heat_root_stack_id': 'id-root',
                'heat_stack_id': 'id-inner',
                # The specification says "id of the parent stack" here: a
                # slip, its own name says what is meant.
                'heat_stack_name': 'web-inner-abc',
                'heat_path_in_stack': ['web', 'inner,web-inner-abc'],
                'heat_resource_name': 'db',
                'heat_resource_uuid': 'uuid-db',
            },
            self.own(),
        )

    def test_only_the_chosen_hints_are_built(self):
        self.assertEqual(
            {'heat_stack_id': 'id-inner'}, self.own(['heat_stack_id'])
        )

    def test_an_unknown_root_stack_leaves_out_root_and_path_only(self):
        self.assertEqual(
            set(stack_hints.NAMES)
            - {'heat_root_stack_id', 'heat_path_in_stack'},
            set(self.own(root_stack_id=None)),
        )


@ddt.ddt
class TestSanitise(unittest.TestCase):
    @ddt.data(
        ('text', 'text'),
        ('', ''),
        (7, '7'),
        (0, '0'),
        (1.5, '1.5'),
        (True, 'True'),
        (b'bytes', 'bytes'),
        (['a', 1, None, 'b'], ['a', '1', 'b']),
        (('a', 'b'), ['a', 'b']),
        ({'b', 'a'}, ['a', 'b']),
        ([], []),
        ({'b': 1, 'a': [None]}, '{"a":[null],"b":1}'),
        ([['a', 1], {'b': 2}], ['["a",1]', '{"b":2}']),
    )
    @ddt.unpack
    def test_a_value_becomes_what_nova_can_store(self, given, wanted):
        self.assertEqual({'hint': wanted}, hints.sanitise({'hint': given}))

    @hypothesis.given(st.dictionaries(st.text(), ANYTHING))
    def test_whatever_comes_in_can_be_stored_and_then_stays(self, given):
        clean = hints.sanitise(given)
        self.assertEqual(
            {name for name, value in given.items() if value is not None},
            set(clean),
        )
        self.assertEqual(
            [], [value for value in clean.values() if not storable(value)]
        )
        self.assertEqual(clean, hints.sanitise(clean))

    def test_the_callers_mapping_is_not_changed(self):
        given = {'hint': [1, None]}
        hints.sanitise(given)
        self.assertEqual({'hint': [1, None]}, given)


@ddt.ddt
class TestAccept(unittest.TestCase):
    def test_a_providers_values_are_made_storable(self):
        self.assertEqual(
            ({'a': '1', 'b': ['2']}, {}), hints.accept({'a': 1, 'b': [2]}, ())
        )

    @ddt.data(*stack_hints.RESERVED)
    def test_a_reserved_name_is_refused(self, name):
        self.assertEqual(
            ({}, {name: hints.REASON_RESERVED}), hints.accept({name: 'x'}, ())
        )

    def test_a_name_that_an_earlier_provider_set_is_refused(self):
        self.assertEqual(
            ({'b': 'b'}, {'a': hints.REASON_TAKEN}),
            hints.accept({'a': 'second', 'b': 'b'}, {'a': 'first'}),
        )

    @ddt.data(
        *('group', 'same_host', 'different_host', 'query', '_nova_'),
        *('_nova_check_type', '_nova_\n', 'build_near_host_ip', 'cidr'),
    )
    def test_a_name_that_nova_acts_on_needs_leave(self, name):
        self.assertEqual(
            ({}, {name: hints.REASON_NOVA}), hints.accept({name: 'x'}, ())
        )
        self.assertEqual(
            ({name: 'x'}, {}), hints.accept({name: 'x'}, (), [name])
        )

    @ddt.data('grouping', 'cidrs', 'my_group')
    def test_a_name_that_only_looks_like_one_of_novas_is_sent(self, name):
        self.assertEqual(({name: 'x'}, {}), hints.accept({name: 'x'}, ()))

    def test_a_function_is_refused(self):
        for value in (str, ['x', str], {'x': [{'y': str}]}):
            self.assertEqual(
                ({}, {'a': hints.REASON_FUNCTION}),
                hints.accept({'a': value}, ()),
            )

    def test_a_name_that_is_no_text_is_refused(self):
        self.assertEqual(
            ({}, dict.fromkeys(['7', ''], hints.REASON_NAME)),
            hints.accept({7: 'a', '': 'b'}, ()),
        )


class TestUserHints(unittest.TestCase):
    STOCK = {
        **{'heat_stack_id': 'x', 'heat_signature': 'x'},
        **{'heat_tier': 'x', 'group': 5},
    }

    def user(self, *template):
        return hints.user_hints(self.STOCK, template)

    def test_a_reserved_name_is_the_users_only_if_the_template_has_it(self):
        others = {'group': '5', 'heat_tier': 'x'}
        self.assertEqual(others, self.user())
        self.assertEqual(
            {**others, 'heat_stack_id': 'x'}, self.user('heat_stack_id')
        )

    def test_what_another_plugin_gives_counts_with_a_key_too(self):
        self.assertEqual({'group': '5', 'heat_tier': 'x'}, self.user('group'))

    def test_a_null_of_another_name_stays_for_nova_to_refuse(self):
        given = {'group': None, 'same_host': ['a', None], 'heat_tier': None}
        self.assertEqual(
            {'group': None, 'same_host': ['a', None]},
            hints.user_hints(given, given),
        )


@ddt.ddt
class TestMerge(unittest.TestCase):
    OWN = {'heat_stack_id': 'own'}
    USER = {
        'heat_stack_id': 'user',
        'heat_stack_name': 'user',
        'heat_signature': 'user',
        'group': 'user',
    }
    PROVIDED = {'group': 'provider', 'rack': 'provider'}

    def test_override_is_own_before_user_before_provider(self):
        self.assertEqual(
            {'heat_stack_id': 'own', 'group': 'user', 'rack': 'provider'},
            hints.merge(
                self.OWN, self.USER, self.PROVIDED, hints.USER_OVERRIDE
            ),
        )

    def test_keep_is_user_before_own_before_provider(self):
        self.assertEqual(
            {
                'heat_stack_id': 'user',
                'heat_stack_name': 'user',
                'heat_signature': 'user',
                'group': 'user',
                'rack': 'provider',
            },
            hints.merge(self.OWN, self.USER, self.PROVIDED, hints.USER_KEEP),
        )

    def test_the_provider_may_win_over_the_template(self):
        self.assertEqual(
            {'heat_stack_id': 'own', 'group': 'provider', 'rack': 'provider'},
            hints.merge(
                *(self.OWN, self.USER, self.PROVIDED),
                *(hints.USER_OVERRIDE, hints.FIRST_PROVIDER),
            ),
        )


class TestWhyRefused(unittest.TestCase):
    def test_the_hints_and_the_resource_are_named_in_quotes(self):
        self.assertIn(
            'hints "heat_stack_id", "heat_stack_name" of resource "one" are',
            hints.why_refused(['heat_stack_name', 'heat_stack_id'], 'one'),
        )

    def test_no_names_are_no_reason(self):
        self.assertIsNone(hints.why_refused((), 'one'))

    def test_the_text_is_one_short_line(self):
        names = [f'heat_\n{"x" * 1000}{n}' for n in range(1000)]
        text = hints.why_refused(names, 'one\n' * 1000)
        self.assertNotIn('\n', text)
        self.assertLess(len(text), 700)


class TestClaimed(unittest.TestCase):
    def test_with_a_key_the_prefix_is_reserved(self):
        reserved = {'heat_stack_id', 'heat_signature'}
        names = ('heat_tier', *reserved, 'group', 'heat')
        for signing, wanted in (
            (False, reserved),
            (True, {*reserved, 'heat_tier'}),
        ):
            self.assertEqual(wanted, hints.claimed(names, signing=signing))


@ddt.ddt
class TestAllowed(unittest.TestCase):
    GIVEN = {'heat_stack_id': 'x', 'heat_signature': 's', 'tier': 1}

    @ddt.data(
        ('override', False, {'tier': 1}),
        ('reject', True, {'tier': 1}),
        ('keep', False, GIVEN),
    )
    @ddt.unpack
    def test_a_resource_out_of_scope_sends(self, mode, signing, wanted):
        sent = hints.allowed(self.GIVEN, self.GIVEN, mode, signing=signing)
        self.assertEqual(wanted, sent)

    def test_with_a_key_nothing_of_the_prefix_is_sent(self):
        given = {'heat_tier': 'x', 'tier': 'y'}
        for signing, wanted in ((False, given), (True, {'tier': 'y'})):
            self.assertEqual(
                wanted,
                hints.allowed(given, given, 'override', signing=signing),
            )

    def test_what_nobody_forbids_stays_as_it_is(self):
        for given in (None, {}, {'tier': [None]}):
            sent = hints.allowed(given, given or {}, 'reject', signing=True)
            self.assertIs(given, sent)


@ddt.ddt
class TestScope(unittest.TestCase):
    @ddt.data(
        (hints.SCOPE_ALL, None, True),
        (hints.SCOPE_ALL, False, True),
        (hints.SCOPE_OPT_IN, True, True),
        (hints.SCOPE_OPT_IN, None, False),
        (hints.SCOPE_OPT_IN, False, False),
        (hints.SCOPE_OPT_OUT, True, True),
        (hints.SCOPE_OPT_OUT, None, True),
        (hints.SCOPE_OPT_OUT, False, False),
    )
    @ddt.unpack
    def test_the_metadata_decides_as_the_scope_says(self, scope, flag, sent):
        self.assertIs(sent, hints.in_scope(scope, flag))

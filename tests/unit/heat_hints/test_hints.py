# SPDX-License-Identifier: Apache-2.0

import unittest

import ddt
import hypothesis
from hypothesis import strategies as st

from heat_hints import hints

RESOURCE = hints.Resource(
    type='OS::Nova::Server',
    name='db',
    uuid='uuid-db',
    project_id='project',
    stack_id='id-inner',
    stack_name='root-inner-abc',
)
PATH = (
    hints.PathStep(None, 'root'),
    hints.PathStep('inner', 'root-inner-abc'),
)
LINEAGE = hints.Lineage('id-root', PATH)

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
    def test_a_resource_gets_the_six_hints_of_the_specification(self):
        self.assertEqual(
            {
                'heat_root_stack_id': 'id-root',
                'heat_stack_id': 'id-inner',
                # The specification says "id of the parent stack" here: a
                # slip, its own name says what is meant.
                'heat_stack_name': 'root-inner-abc',
                'heat_path_in_stack': ['root', 'inner,root-inner-abc'],
                'heat_resource_name': 'db',
                'heat_resource_uuid': 'uuid-db',
            },
            hints.own_hints(RESOURCE, LINEAGE),
        )

    def test_only_the_chosen_hints_are_built(self):
        self.assertEqual(
            {'heat_stack_id': 'id-inner'},
            hints.own_hints(RESOURCE, LINEAGE, names=['heat_stack_id']),
        )

    def test_an_unknown_lineage_leaves_out_root_and_path_only(self):
        self.assertEqual(
            set(hints.NAMES) - {'heat_root_stack_id', 'heat_path_in_stack'},
            set(hints.own_hints(RESOURCE, None)),
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
        accepted, refused = hints.accept('one', {'a': 1, 'b': [2]}, ())
        self.assertEqual(({'a': '1', 'b': ['2']}, ()), (accepted, refused))

    @ddt.data(*hints.RESERVED)
    def test_a_reserved_name_is_refused(self, name):
        accepted, refused = hints.accept('one', {name: 'x'}, ())
        self.assertEqual({}, accepted)
        self.assertEqual(
            (hints.Refusal('one', name, hints.REASON_RESERVED),), refused
        )

    def test_a_name_that_an_earlier_provider_set_is_refused(self):
        accepted, refused = hints.accept(
            'two', {'a': 'second', 'b': 'b'}, {'a': 'first'}
        )
        self.assertEqual({'b': 'b'}, accepted)
        self.assertEqual(
            (hints.Refusal('two', 'a', hints.REASON_TAKEN),), refused
        )

    def test_a_name_that_is_no_text_is_refused(self):
        accepted, refused = hints.accept('one', {7: 'a', '': 'b'}, ())
        self.assertEqual({}, accepted)
        self.assertEqual(
            [hints.REASON_NAME] * 2, [refusal.reason for refusal in refused]
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

    @ddt.data(*hints.USER_MODES)
    def test_the_templates_values_are_made_storable(self, mode):
        merged = hints.merge({}, {'group': 5, 'none': None}, {}, mode)
        self.assertEqual({'group': '5'}, merged)

    def test_reject_names_the_reserved_hints_in_quotes(self):
        with self.assertRaises(hints.ReservedHintError) as caught:
            hints.check_user_hints(self.USER, hints.USER_REJECT)
        self.assertIn(
            '"heat_signature", "heat_stack_id", "heat_stack_name"',
            str(caught.exception),
        )

    def test_reject_accepts_a_templates_other_hints(self):
        self.assertIsNone(
            hints.check_user_hints({'group': 'a'}, hints.USER_REJECT)
        )

    @ddt.data(hints.USER_OVERRIDE, hints.USER_KEEP)
    def test_other_modes_accept_reserved_hints(self, mode):
        self.assertIsNone(hints.check_user_hints(self.USER, mode))


@ddt.ddt
class TestIsOwnWord(unittest.TestCase):
    OWN = {'heat_stack_id': 'own', 'heat_path_in_stack': ['root']}

    @ddt.data(
        ({}, True),
        ({'group': 'user', 'heat_of_a_provider': 'x'}, True),
        ({'heat_stack_id': 'user'}, False),
        ({'heat_path_in_stack': 'root'}, False),
        # An identifier that Heat does not send is not its word either.
        ({'heat_root_stack_id': 'user'}, False),
    )
    @ddt.unpack
    def test_only_what_heat_says_itself_is_its_word(self, others, own_word):
        self.assertIs(
            own_word, hints.is_own_word({**self.OWN, **others}, self.OWN)
        )


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

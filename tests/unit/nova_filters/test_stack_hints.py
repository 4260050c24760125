# SPDX-License-Identifier: Apache-2.0

"""What scheduler hints tell about a server's stack."""

import json
import unittest

import ddt
from hypothesis import given
from hypothesis import strategies as st

from nova_filters import stack_hints
from tests import signing

_KEY, _OTHER_KEY = signing.KEY, signing.OTHER_KEY
_SIGNED = signing.EXAMPLE

_ANYTHING = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(),
        # What Unicode forbids, JSON can write; a pair of them is one letter.
        st.text(st.characters(categories=('Cs',), min_codepoint=0xDC00)),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(), inner, max_size=3),
    ),
    max_leaves=8,
)


def path(*pairs: tuple[str | None, str]) -> tuple[stack_hints.Step, ...]:
    """Return a path of (resource, stack) steps."""
    return tuple(stack_hints.Step(*pair) for pair in pairs)


@ddt.ddt
class PathTest(unittest.TestCase):
    """Both formats, in all the shapes that Nova gives them."""

    @ddt.data(
        # the list format, whole and unwrapped
        (['root'], path((None, 'root'))),
        ('root', path((None, 'root'))),
        (['root', 'res,child'], path((None, 'root'), ('res', 'child'))),
        (
            ['root', 'a,b,child', 'c,leaf'],
            path((None, 'root'), ('a,b', 'child'), ('c', 'leaf')),
        ),
        # the JSON format, as sent and as Nova's database holds it
        ('[[null, "root"]]', path((None, 'root'))),
        (['[[null, "root"]]'], path((None, 'root'))),
        (
            '[[null, "root"], ["a,b", "child"]]',
            path((None, 'root'), ('a,b', 'child')),
        ),
        # a stack that is named like JSON
        ('[root', path((None, '[root'))),
        ('["root"]', path((None, '["root"]'))),
        ('[[1, "root"]]', path((None, '[[1, "root"]]'))),
        # what tells nothing
        ([], ()),
        (None, ()),
        (7, ()),
        (['root', 'no comma'], ()),
        (['root', None], ()),
        ([['root']], ()),
    )
    @ddt.unpack
    def test_path_is_read(self, value, wanted) -> None:
        self.assertEqual(wanted, stack_hints.read_path(value))

    @given(
        st.lists(
            st.tuples(
                st.text(min_size=1),
                st.text(alphabet='abcXYZ09_.-', min_size=1),
            ),
            min_size=1,
            max_size=5,
        )
    )
    def test_both_formats_tell_the_same(self, pairs) -> None:
        first = pairs[0][1]
        listed = [first, *(f'{r},{s}' for r, s in pairs[1:])]
        encoded = json.dumps([[None, first], *map(list, pairs[1:])])
        wanted = path((None, first), *pairs[1:])
        self.assertEqual(wanted, stack_hints.read_path(listed))
        self.assertEqual(wanted, stack_hints.read_path(encoded))


class ReadTest(unittest.TestCase):
    """The hints of a request, and those of a database row."""

    HINTS = {
        'heat_root_stack_id': ['root-id'],
        'heat_stack_id': ['stack-id'],
        'heat_stack_name': ['child'],
        'heat_path_in_stack': ['root', 'res,child'],
        'heat_resource_name': ['server'],
        'heat_resource_uuid': ['uuid'],
        'group': ['other'],
    }
    WANTED = stack_hints.StackHints(
        root_stack_id='root-id',
        stack_id='stack-id',
        stack_name='child',
        path=path((None, 'root'), ('res', 'child')),
        resource_name='server',
        resource_uuid='uuid',
    )

    def test_hints_are_read_wrapped_and_unwrapped(self) -> None:
        self.assertEqual(self.WANTED, stack_hints.read(self.HINTS))
        unwrapped = {
            key: value[0] if len(value) == 1 else value
            for key, value in self.HINTS.items()
        }
        self.assertEqual(self.WANTED, stack_hints.read(unwrapped))

    def test_a_stored_request_is_read(self) -> None:
        text = json.dumps(
            {'nova_object.data': {'scheduler_hints': self.HINTS}}
        )
        self.assertEqual(self.WANTED, stack_hints.read_stored(text))

    def test_no_hints_tell_nothing(self) -> None:
        nothing = stack_hints.StackHints()
        for hints in (None, {}, {'group': ['x']}, []):
            self.assertEqual(nothing, stack_hints.read(hints))
        for text in (None, '', '{', '[]', '{"nova_object.data": null}', 1):
            self.assertEqual(nothing, stack_hints.read_stored(text))

    def test_an_id_that_is_too_long_is_none(self) -> None:
        for length, wanted in ((64, 64), (65, None), (100_000, None)):
            read = stack_hints.read({'heat_root_stack_id': ['r' * length]})
            found = read.root_stack_id
            self.assertEqual(wanted, None if found is None else len(found))

    @given(
        st.dictionaries(
            st.sampled_from([*HINTS, 'heat_signature', 'heat_x']), _ANYTHING
        ),
        _ANYTHING,
    )
    def test_whatever_a_tenant_sends_is_read(self, hints, project) -> None:
        read = stack_hints.read(hints, project)
        self.assertIsInstance(read.path, tuple)
        self.assertIsInstance(read.root_stack_id, str | None)
        stored = json.dumps(
            {
                'nova_object.data': {
                    'scheduler_hints': hints,
                    'project_id': project,
                }
            }
        )
        self.assertEqual(read, stack_hints.read_stored(stored))
        keys = stack_hints.Keys([_KEY])
        nothing = stack_hints.StackHints()
        self.assertEqual(nothing, stack_hints.read(hints, project, keys))
        self.assertEqual(nothing, stack_hints.read_stored(stored, keys))

    @given(_ANYTHING)
    def test_whatever_is_no_hints_is_read(self, anything) -> None:
        keys = stack_hints.Keys([_KEY])
        nothing = stack_hints.StackHints()
        self.assertEqual(nothing, stack_hints.read(anything, None, keys))
        for text in (
            json.dumps(anything),
            json.dumps({'nova_object.data': anything}),
            json.dumps({'nova_object.data': {'scheduler_hints': anything}}),
        ):
            self.assertEqual(nothing, stack_hints.read_stored(text, keys))

    @given(st.one_of(st.text(), st.binary()))
    def test_whatever_text_is_stored_is_read(self, text) -> None:
        self.assertEqual(
            stack_hints.StackHints(), stack_hints.read_stored(text)
        )


_HINT_VALUES = st.one_of(st.text(), st.lists(st.text(), max_size=3))


class SignatureTest(unittest.TestCase):
    """What Heat signed is believed, and nothing else."""

    def setUp(self) -> None:
        super().setUp()
        self.keys = stack_hints.Keys([_KEY])

    def root(self, hints, project='p1', keys=None) -> str | None:
        """Return the root stack that hints tell, by both ways to read."""
        keys = self.keys if keys is None else keys
        read = stack_hints.read(hints, project, keys).root_stack_id
        # As Nova stores them.
        wrapped = {
            name: value if isinstance(value, list) else [value]
            for name, value in hints.items()
        }
        data = {'scheduler_hints': wrapped, 'project_id': project}
        text = json.dumps({'nova_object.data': data})
        stored = stack_hints.read_stored(text, keys).root_stack_id
        self.assertEqual(read, stored)
        return read

    def test_the_contracts_example_is_believed(self) -> None:
        self.assertEqual('r', self.root(_SIGNED))

    def test_lists_of_one_and_bare_strings_are_the_same(self) -> None:
        unwrapped = {**_SIGNED, 'heat_resource_uuid': 'u'}
        self.assertEqual('r', self.root(unwrapped))

    def test_hints_of_others_are_not_covered(self) -> None:
        self.assertEqual('r', self.root({**_SIGNED, 'other': 'y', 'b': 'c'}))

    def test_a_change_to_any_covered_hint_is_not_believed(self) -> None:
        for forged in (
            {**_SIGNED, 'heat_root_stack_id': 's'},
            {**_SIGNED, 'heat_resource_uuid': ['v']},
            {**_SIGNED, 'heat_path_in_stack': ['root', 'res', 'stack']},
            {**_SIGNED, 'heat_more': 'x'},
            {k: v for k, v in _SIGNED.items() if k != 'heat_resource_uuid'},
            {k: v for k, v in _SIGNED.items() if k != 'heat_signature'},
        ):
            self.assertIsNone(self.root(forged), forged)

    def test_another_signature_is_not_believed(self) -> None:
        right = _SIGNED['heat_signature']
        for wrong in (
            right.upper(),
            right[:-1],
            f'{right} ',
            [right, right],
            '',
            '\u0663' * 64,
            '\udc80',
            signing.signature(_SIGNED, 'p1', _OTHER_KEY),
            signing.signature(_SIGNED, 'p2'),
        ):
            forged = {**_SIGNED, 'heat_signature': wrong}
            self.assertIsNone(self.root(forged), wrong)

    def test_the_signature_is_good_in_its_own_project_only(self) -> None:
        for project in ('p2', '', None, 1, ['p1']):
            self.assertIsNone(self.root(_SIGNED, project))

    def test_any_of_the_keys_may_have_signed(self) -> None:
        for keys, wanted in (
            ([_OTHER_KEY, _KEY], 'r'),
            ([_KEY, _OTHER_KEY], 'r'),
            ([_OTHER_KEY], None),
            ([], None),
        ):
            found = self.root(_SIGNED, keys=stack_hints.Keys(keys))
            self.assertEqual(wanted, found)

    def test_without_keys_every_hint_is_believed(self) -> None:
        for hints in (_SIGNED, {**_SIGNED, 'heat_signature': 'forged'}):
            read = stack_hints.read(hints, 'p1', None)
            self.assertEqual('r', read.root_stack_id)

    @given(
        st.dictionaries(
            st.text(min_size=1).map(lambda name: f'heat_{name}'), _HINT_VALUES
        ),
        st.text(),
        st.text(min_size=32),
    )
    def test_whatever_is_signed_is_believed(self, hints, project, key) -> None:
        hints['heat_root_stack_id'] = 'root'
        hints['heat_signature'] = signing.signature(hints, project, key)
        keys = stack_hints.Keys([_OTHER_KEY, key])
        self.assertEqual('root', self.root(hints, project, keys))
        self.assertIsNone(self.root(hints, f'{project}x', keys))

    def test_the_keys_are_in_no_text(self) -> None:
        self.assertNotIn(_KEY, f'{self.keys!r} {self.keys!s}')
        self.assertFalse(hasattr(self.keys, '__dict__'))


@ddt.ddt
class KeysTest(unittest.TestCase):
    """The option, as an operator may write it."""

    @ddt.data(
        ([], None, ()),
        (['', ' '], None, ()),
        ([_KEY], 1, ()),
        ([f' {_KEY}\t', '', _OTHER_KEY], 2, ()),
        (['short', _KEY], 1, (1,)),
        ([_KEY, '', 'x' * 31], 1, (2,)),
        # Fails closed: keys were wanted, so nothing unsigned is believed.
        (['short'], 0, (1,)),
    )
    @ddt.unpack
    def test_the_usable_keys_are_taken(self, option, wanted, short) -> None:
        keys, found = stack_hints.read_keys(option)
        self.assertEqual(wanted, None if keys is None else len(keys))
        self.assertEqual(short, found)

    def test_blanks_around_a_key_are_no_part_of_it(self) -> None:
        keys, _ = stack_hints.read_keys([f'  {_KEY} '])
        self.assertTrue(keys.signed(_SIGNED, 'p1'))

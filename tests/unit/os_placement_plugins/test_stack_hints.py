# SPDX-License-Identifier: Apache-2.0

"""What scheduler hints tell about a server's stack."""

import unittest

import ddt
from hypothesis import given
from hypothesis import strategies as st

from os_placement_plugins import signature, stack_hints
from tests import signing

_KEYS = signature.Keys([signing.KEY])
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

_STEPS = st.builds(stack_hints.PathStep, st.text(), st.text())
_PATHS = st.builds(
    lambda root, below: (stack_hints.PathStep(None, root), *below),
    st.text(),
    st.lists(_STEPS),
)
#: No stack with a comma, and no root stack that looks like JSON.
_PLAIN = st.text(st.characters(exclude_characters=',['))
_PLAIN_PATHS = st.builds(
    lambda root, below: (stack_hints.PathStep(None, root), *below),
    _PLAIN,
    st.lists(st.builds(stack_hints.PathStep, st.text(), _PLAIN)),
)


def path(*pairs: tuple[str | None, str]) -> tuple[stack_hints.PathStep, ...]:
    """Return a path of (resource, stack) steps."""
    return tuple(stack_hints.PathStep(*pair) for pair in pairs)


@ddt.ddt
class PathTest(unittest.TestCase):
    """Both formats, in all the shapes that Nova gives them."""

    @ddt.data(
        # what write_path() writes, and a resource with a comma
        (
            ['root', 'a,b,child', 'c,leaf'],
            path((None, 'root'), ('a,b', 'child'), ('c', 'leaf')),
        ),
        (
            '[[null, "root"], ["a,b", "child"]]',
            path((None, 'root'), ('a,b', 'child')),
        ),
        # a stack that is named like JSON
        ('[root', path((None, '[root'))),
        ('["root"]', path((None, '["root"]'))),
        ('[[1, "root"]]', path((None, '[[1, "root"]]'))),
        # Only what begins as a JSON list is JSON.
        (' [[null, "x"]]', path((None, ' [[null, "x"]]'))),
        (
            ['[[null, "x"]]', 'res,child'],
            path((None, '[[null, "x"]]'), ('res', 'child')),
        ),
        # what tells nothing
        ('[]', ()),
        ([], ()),
        (None, ()),
        (7, ()),
        (['root', 'no comma'], ()),
        (['root', None], ()),
        ([['root']], ()),
    )
    @ddt.unpack
    def test_path_is_read(self, value, path) -> None:
        self.assertEqual(path, stack_hints.read_path(value))

    def test_json_writes_the_tuples_of_the_specification(self) -> None:
        self.assertEqual(
            '[[null,"root"],["res","child"]]',
            stack_hints.write_path(
                path((None, 'root'), ('res', 'child')), stack_hints.PATH_JSON
            ),
        )
        self.assertEqual(
            '[[null,"büro"]]',
            stack_hints.write_path(
                path((None, 'büro')), stack_hints.PATH_JSON
            ),
        )

    @given(_PATHS)
    def test_json_is_read_back_whatever_the_names_are(self, steps) -> None:
        text = stack_hints.write_path(steps, stack_hints.PATH_JSON)
        self.assertIs(str, type(text))
        for value in (text, [text]):
            self.assertEqual(steps, stack_hints.read_path(value))

    @given(_PLAIN_PATHS)
    def test_a_list_is_read_back_if_no_stack_has_a_comma(self, steps) -> None:
        value = stack_hints.write_path(steps, stack_hints.PATH_LIST)
        self.assertIs(list, type(value))
        # As Nova hands over a list of one.
        for sent in (value, value[0] if len(value) == 1 else value):
            self.assertEqual(steps, stack_hints.read_path(sent))


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

    def test_an_id_that_is_too_long_is_none(self) -> None:
        for length, is_read in ((64, True), (65, False), (100_000, False)):
            root = 'r' * length
            read = stack_hints.read({'heat_root_stack_id': [root]})
            root_stack_id = root if is_read else None
            self.assertEqual(root_stack_id, read.root_stack_id)

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
        nothing = stack_hints.StackHints()
        for sent in (hints, project):
            self.assertEqual(nothing, stack_hints.read(sent, project, _KEYS))

    def test_a_hint_that_is_not_one_text_is_absent(self) -> None:
        for value in ([], [''], '', ['a', 'b'], [7], None, 7, {'a': 'b'}):
            read = stack_hints.read(dict.fromkeys(self.HINTS, value))
            self.assertIsNone(read.stack_id)
            self.assertIsNone(read.stack_name)
            self.assertIsNone(read.resource_name)

    def test_a_name_may_be_longer_than_an_id(self) -> None:
        read = stack_hints.read(dict.fromkeys(self.HINTS, 'n' * 255))
        self.assertEqual('n' * 255, read.stack_name)
        self.assertEqual('n' * 255, read.resource_name)
        self.assertIsNone(read.resource_uuid)

    def test_the_project_is_told_if_it_is_a_text(self) -> None:
        for project, project_id in (('p1', 'p1'), (None, None), ('', None)):
            read = stack_hints.read(self.HINTS, project)
            self.assertEqual(project_id, read.project_id)


class Request(dict):
    """A request for a server, which tells what is set, as Nova's does."""

    def __getattr__(self, name: str) -> object:
        return self[name]


class RequestTest(unittest.TestCase):
    """What a filter or a weigher gets."""

    def test_the_hints_of_a_request_are_those_of_its_project(self) -> None:
        request = Request(scheduler_hints=_SIGNED, project_id='p1')
        read = stack_hints.read_request(request, _KEYS)
        self.assertEqual(('r', 'p1'), (read.root_stack_id, read.project_id))
        stranger = Request(scheduler_hints=_SIGNED, project_id='p2')
        read = stack_hints.read_request(stranger, _KEYS)
        self.assertEqual(stack_hints.StackHints(), read)

    def test_a_request_without_hints_tells_nothing(self) -> None:
        for request in (
            Request(),
            Request(project_id='p1'),
            Request(project_id='p1', scheduler_hints=None),
        ):
            read = stack_hints.read_request(request)
            self.assertEqual(stack_hints.StackHints(), read)

    def test_a_request_without_a_project_has_hints_all_the_same(self) -> None:
        request = Request(scheduler_hints=_SIGNED)
        read = stack_hints.read_request(request)
        self.assertEqual(('r', None), (read.root_stack_id, read.project_id))


class SignatureTest(unittest.TestCase):
    """With keys, only hints that one of them signed tell anything."""

    def test_without_keys_every_hint_is_believed(self) -> None:
        hints = {**_SIGNED, 'heat_signature': 'forged'}
        for keys in (None, signature.Keys()):
            read = stack_hints.read(hints, 'p1', keys)
            self.assertEqual('r', read.root_stack_id)

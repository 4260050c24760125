# SPDX-License-Identifier: Apache-2.0

"""What scheduler hints tell about a server's stack."""

import unittest

import ddt
from hypothesis import example, given
from hypothesis import strategies as st

from os_placement_plugins import signature, stack_hints
from os_placement_plugins.stack_hints import PathStep
from tests import signing

KEYS = signature.Keys([signing.KEY])
#: What Unicode forbids, and JSON can write.
SURROGATES = st.characters(categories=('Cs',), min_codepoint=0xDC00)
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.text(SURROGATES),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=8,
)
#: No stack with a comma, and no root stack that looks like JSON.
PLAIN = st.text(st.characters(exclude_characters=',['))

HINTS = {
    'heat_root_stack_id': ['root-id'],
    'heat_stack_id': ['stack-id'],
    'heat_stack_name': ['child'],
    'heat_path_in_stack': ['root', 'res,child'],
    'heat_resource_name': ['server'],
    'heat_resource_uuid': ['uuid'],
    'group': ['other'],
}
NAMES = st.sampled_from([*HINTS, 'heat_signature', 'heat_x'])


def steps(name):
    """Return a strategy for the steps below a root."""
    return st.lists(st.builds(PathStep, st.text(), name))


@ddt.ddt
class PathTest(unittest.TestCase):
    @ddt.data(
        # What write_path() writes, and a resource with a comma.
        (
            ['root', 'a,b,child', 'c,leaf'],
            [(None, 'root'), ('a,b', 'child'), ('c', 'leaf')],
        ),
        (
            '[[null, "root"], ["a,b", "child"]]',
            [(None, 'root'), ('a,b', 'child')],
        ),
        # A stack that is named like JSON.
        ('[root', [(None, '[root')]),
        ('["root"]', [(None, '["root"]')]),
        ('[[1, "root"]]', [(None, '[[1, "root"]]')]),
        # Only what begins as a JSON list is JSON.
        (' [[null, "x"]]', [(None, ' [[null, "x"]]')]),
        (
            ['[[null, "x"]]', 'res,child'],
            [(None, '[[null, "x"]]'), ('res', 'child')],
        ),
        # What tells nothing.
        ('[]', []),
        ([], []),
        (None, []),
        (['root', 'no comma'], []),
        (['root', None], []),
    )
    @ddt.unpack
    def test_path_is_read(self, value, pairs) -> None:
        path = tuple(PathStep(*pair) for pair in pairs)
        self.assertEqual(path, stack_hints.read_path(value))

    def test_json_writes_the_tuples_of_the_specification(self) -> None:
        path = [PathStep(None, 'büro'), PathStep('res', 'child')]
        self.assertEqual(
            '[[null,"büro"],["res","child"]]',
            stack_hints.write_path(path, stack_hints.PATH_JSON),
        )

    @given(st.text(), steps(st.text()))
    def test_json_is_read_back_whatever_the_names_are(self, root, below):
        path = (PathStep(None, root), *below)
        text = stack_hints.write_path(path, stack_hints.PATH_JSON)
        self.assertIs(str, type(text))
        for value in (text, [text]):
            self.assertEqual(path, stack_hints.read_path(value))

    @given(PLAIN, steps(PLAIN))
    def test_a_list_is_read_back_if_no_stack_has_a_comma(self, root, below):
        path = (PathStep(None, root), *below)
        value = stack_hints.write_path(path, stack_hints.PATH_LIST)
        self.assertEqual(path, stack_hints.read_path(value))


class ReadTest(unittest.TestCase):
    def test_hints_are_read_wrapped_and_unwrapped(self) -> None:
        unwrapped = {
            key: value[0] if len(value) == 1 else value
            for key, value in HINTS.items()
        }
        expected = stack_hints.StackHints(
            root_stack_id='root-id',
            stack_id='stack-id',
            stack_name='child',
            path=(PathStep(None, 'root'), PathStep('res', 'child')),
            resource_name='server',
            resource_uuid='uuid',
        )
        self.assertEqual(expected, stack_hints.read(HINTS))
        self.assertEqual(expected, stack_hints.read(unwrapped))

    def test_an_id_has_64_characters_at_most_and_a_name_may_be_longer(self):
        read = stack_hints.read(dict.fromkeys(HINTS, 'n' * 64))
        self.assertEqual('n' * 64, read.root_stack_id)
        name = 'n' * 65
        names_alone = stack_hints.StackHints(
            stack_name=name, path=(PathStep(None, name),), resource_name=name
        )
        read = stack_hints.read(dict.fromkeys(HINTS, name))
        self.assertEqual(names_alone, read)

    def test_a_hint_that_is_not_one_text_is_absent(self) -> None:
        for value in ([], [''], '', ['a', 'b'], [7], None, 7, {'a': 'b'}):
            read = stack_hints.read(dict.fromkeys(HINTS, value))
            self.assertIsNone(read.stack_id)
            self.assertIsNone(read.stack_name)

    @given(st.dictionaries(NAMES, ANYTHING), ANYTHING)
    @example({'heat_signature': '\udc00'}, 'p1')
    @example({'heat_path_in_stack': '[' * 100_000}, 'p1')
    def test_whatever_a_tenant_sends_is_read(self, hints, project) -> None:
        read = stack_hints.read(hints, project)
        self.assertIsInstance(read.path, tuple)
        self.assertIsInstance(read.root_stack_id, str | None)
        nothing = stack_hints.StackHints()
        for sent in (hints, project):
            self.assertEqual(nothing, stack_hints.read(sent, project, KEYS))
            self.assertIsNone(
                stack_hints.read_root_stack_id(sent, project, KEYS)
            )
        root = stack_hints.read_root_stack_id(hints, project, None)
        self.assertEqual(read.root_stack_id, root)

    def test_without_keys_every_hint_is_believed(self) -> None:
        hints = {**signing.EXAMPLE, 'heat_signature': 'forged'}
        for keys in (None, signature.Keys()):
            read = stack_hints.read(hints, 'p1', keys)
            self.assertEqual('r', read.root_stack_id)


class Request(dict):
    """A request for a server, which tells what is set, as Nova's does."""

    def __getattr__(self, name: str) -> object:
        return self[name]


class RequestTest(unittest.TestCase):
    def test_the_hints_of_a_request_are_those_of_its_project(self) -> None:
        request = Request(scheduler_hints=signing.EXAMPLE, project_id='p1')
        read = stack_hints.read_request(request, KEYS)
        self.assertEqual(('r', 'p1'), (read.root_stack_id, read.project_id))
        request['project_id'] = 'p2'
        read = stack_hints.read_request(request, KEYS)
        self.assertEqual(stack_hints.StackHints(), read)

    def test_a_request_may_have_no_hints_or_no_project(self) -> None:
        for request, root_stack_id in (
            (Request(), None),
            (Request(scheduler_hints=None, project_id=''), None),
            (Request(scheduler_hints=signing.EXAMPLE), 'r'),
        ):
            read = stack_hints.read_request(request)
            self.assertEqual(root_stack_id, read.root_stack_id)
            self.assertIsNone(read.project_id)

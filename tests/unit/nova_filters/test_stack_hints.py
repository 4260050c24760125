# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""What scheduler hints tell about a server's stack."""

import json
import unittest

import ddt
from hypothesis import given
from hypothesis import strategies as st

from nova_filters import stack_hints

_ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text()),
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

    @given(st.dictionaries(st.sampled_from(sorted(HINTS)), _ANYTHING))
    def test_whatever_a_tenant_sends_is_read(self, hints) -> None:
        read = stack_hints.read(hints)
        self.assertIsInstance(read.path, tuple)
        self.assertIsInstance(read.root_stack_id, str | None)
        stored = json.dumps({'nova_object.data': {'scheduler_hints': hints}})
        self.assertEqual(read, stack_hints.read_stored(stored))

# SPDX-License-Identifier: Apache-2.0

"""What servers say of their stack, whoever made them say it."""

import unittest

import ddt

from openstack_commands.records import rows
from openstack_commands.stacks.advice import hint_members
from os_placement_plugins import signature
from tests import signing

SIGNED = signing.EXAMPLE
KEYS = signature.Keys([signing.KEY])
OTHER_KEYS = signature.Keys([signing.OTHER_KEY])


def server(hints, project='p1'):
    """Return a server as Nova's API shows it."""
    row = {'id': 'i', 'name': 'web', 'tenant_id': project}
    return {**row, 'scheduler_hints': hints}


@ddt.ddt
class ServerHintsTest(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        (SIGNED, 'p1', KEYS, 'valid'),
        (SIGNED, 'p2', KEYS, 'invalid'),
        (SIGNED, None, KEYS, 'invalid'),
        (SIGNED, 'p1', OTHER_KEYS, 'invalid'),
        (SIGNED | {'heat_root_stack_id': 'x'}, 'p1', KEYS, 'invalid'),
        (SIGNED, 'p1', None, 'not checked'),
        ({'heat_root_stack_id': 'r'}, 'p1', KEYS, 'unsigned'),
        ({'heat_root_stack_id': 'r'}, 'p1', None, 'unsigned'),
        (None, 'p1', KEYS, 'unsigned'),
    )
    def test_a_signature_is_told_apart(self, hints, project, keys, verdict):
        member = hint_members.read_server(server(hints, project), keys)
        self.assertEqual(verdict, member.signature)

    @ddt.unpack
    @ddt.data(
        (SIGNED, KEYS, KEYS.ids[0]),
        # Right or wrong, and without a key to check it with.
        (SIGNED, OTHER_KEYS, KEYS.ids[0]),
        (SIGNED, None, KEYS.ids[0]),
        ({'heat_signature': 'forged'}, KEYS, ''),
        ({}, KEYS, ''),
    )
    def test_the_key_that_a_signature_names_is_told(self, hints, keys, key_id):
        member = hint_members.read_server(server(hints), keys)
        self.assertEqual(key_id, member.key_id)

    @ddt.unpack
    @ddt.data(
        ({}, False),
        ({'group': 'g', 'my_heat_': 'x', 7: 'x'}, False),
        ({'group': 'g', 'heat_x': 'x'}, True),
        (SIGNED, True),
    )
    def test_a_server_with_a_hint_of_heat_is_marked(self, hints, marked):
        member = hint_members.read_server(server(hints), KEYS)
        self.assertIs(marked, member.marked)

    def test_a_forged_hint_is_read_too(self):
        # As "server show" prints it.
        row = {'ID': 'i', 'Name': 'web', 'project_id': 'p1'}
        row['Scheduler Hints'] = {**SIGNED, 'heat_stack_name': 'mine'}
        member = hint_members.read_server(rows.columns(row), KEYS)
        self.assertEqual(
            ('web', 'i', 'p1', 'r', 'mine', 'invalid'),
            (
                member.name,
                member.id,
                member.project_id,
                member.hints.root_stack_id,
                member.hints.stack_name,
                member.signature,
            ),
        )

    @ddt.unpack
    @ddt.data(
        ({}, 'no "name"'),
        ({'name': 'web'}, 'no "id"'),
        ({'name': 'web', 'id': 'i'}, 'API version 2.100'),
        (server('text'), 'not a mapping'),
    )
    def test_what_is_no_server_is_refused(self, document, text):
        with self.assertRaisesRegex(rows.UnreadableError, text):
            hint_members.read_server(rows.columns(document), None)


def nested(root, name, project='p1'):
    """Return a server in a stack "cell" below a root stack."""
    hints = {
        'heat_root_stack_id': root,
        'heat_stack_id': f'{root}-cell',
        'heat_path_in_stack': [name, f'cells,{name}-cells', f'0,{name}-cell'],
    }
    return hint_members.read_server(server(hints, project), None)


class OfStackTest(unittest.TestCase):
    def of_stack(self, stack, *members):
        """Return the places of the servers of a stack."""
        selected = hint_members.of_stack(members, stack)
        return [members.index(member) for member in selected]

    def test_the_hints_name_the_own_stack_and_those_above(self):
        first, second = nested('r1', 'shop'), nested('r2', 'web')
        named = hint_members.read_server(
            server({'heat_stack_name': 'shop'}), None
        )
        for stack, places in (
            ('r1', [0]),
            ('r2-cell', [1]),
            ('web', [1]),
            ('cells', []),
            ('web-cells', [1]),
            ('web-cell', [1]),
            ('', []),
            ('r1-', []),
        ):
            self.assertEqual(
                places, self.of_stack(stack, first, second), stack
            )
        self.assertEqual([0], self.of_stack('shop', named, second))

    def test_an_id_comes_before_a_name(self):
        self.assertEqual(
            [1], self.of_stack('r1', nested('r2', 'r1'), nested('r1', 'shop'))
        )

    def test_a_name_of_several_stacks_needs_an_id(self):
        nameless = hint_members.read_server(
            server({'heat_stack_name': 'shop'}, 'p2'), None
        )
        shop = nested('r1', 'shop')
        for other, words in (
            (nested('r2', 'shop'), "'r1' of project 'p1', 'r2' of project"),
            # Nobody knows whether it is the same one.
            (nested('r1', 'shop', 'p2'), "'r1' of project 'p2'"),
            (nameless, "'unknown' of project 'p2'"),
        ):
            with self.assertRaisesRegex(hint_members.AmbiguousError, words):
                self.of_stack('shop', shop, other)
        self.assertEqual([0], self.of_stack('r1', shop, nameless))

    def test_the_text_lists_the_ids_in_order_and_quotes_the_name(self):
        name = 'a\nb'
        members = [nested(f'r{number}', name) for number in range(8, 0, -1)]
        with self.assertRaises(hint_members.AmbiguousError) as caught:
            hint_members.of_stack(members, name)
        self.assertEqual(
            r"Several stacks have the name 'a\nb', with the root stacks "
            "'r1' of project 'p1', 'r2' of project 'p1', 'r3' of project "
            "'p1', 'r4' of project 'p1', 4 more. Give the ID of a stack.",
            str(caught.exception),
        )

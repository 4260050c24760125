# SPDX-License-Identifier: Apache-2.0

"""What servers say of their stack, whoever made them say it."""

import unittest

import ddt

from os_placement_plugins import signature
from os_placement_plugins.commands import hint_members, rows
from tests import signing

SIGNED = signing.EXAMPLE
KEYS = signature.Keys([signing.KEY])
OTHER_KEYS = signature.Keys([signing.OTHER_KEY])


def server(hints, project='p1', **others):
    """Return a server as Nova's API shows it."""
    return {
        'id': 'i',
        'name': 'web',
        'tenant_id': project,
        'scheduler_hints': hints,
        **others,
    }


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

    def test_hints_are_read_whether_signed_or_not(self):
        forged = {**SIGNED, 'heat_stack_name': 'mine'}
        for hints in (SIGNED, forged):
            member = hint_members.read_server(server(hints), KEYS)
            self.assertEqual('r', member.hints.root_stack_id)
            self.assertEqual(
                [(None, 'root'), ('res', 'stack')],
                [(s.resource, s.stack) for s in member.hints.path],
            )

    @ddt.data(
        [server(SIGNED)],
        [{'server': server(SIGNED)}],
        [{'servers': [server(SIGNED)]}],
        # As "server show" and "server list" print it.
        [
            {
                'ID': 'i',
                'Name': 'web',
                'project_id': 'p1',
                'Scheduler Hints': SIGNED,
            }
        ],
    )
    def test_a_server_is_found_in_whatever_holds_it(self, documents):
        (row,) = rows.unwrap(documents)
        member = hint_members.read_server(row, KEYS)
        self.assertEqual(
            ('web', 'i', 'valid'),
            (member.name, member.id, member.signature),
        )

    @ddt.unpack
    @ddt.data(
        ({}, 'no "name"'),
        ({'name': 'web'}, 'no "id"'),
        ({'name': 'web', 'id': 'i'}, 'API version 2.100'),
        (server('text'), 'not a mapping'),
    )
    def test_what_is_no_server_is_refused(self, document, text):
        with self.assertRaises(rows.UnreadableError) as caught:
            hint_members.read_server(rows.columns(document), None)
        self.assertIn(text, str(caught.exception))

    @ddt.unpack
    @ddt.data(
        ('r', True),
        ('root', True),
        ('stack', True),
        ('res', False),
        ('other', False),
    )
    def test_a_server_belongs_to_the_stacks_of_its_path(self, stack, belongs):
        member = hint_members.read_server(server(SIGNED), None)
        self.assertEqual(belongs, member.belongs_to(stack))

# SPDX-License-Identifier: Apache-2.0

"""Rows of the shell and of Nova's API in one form."""

import unittest

import ddt

from openstack_commands.records import rows

ROW = {'id': 'i', 'name': 'n'}
LINKS = [{'rel': 'next', 'href': 'there'}]


@ddt.ddt
class UnwrapTest(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        ([], []),
        ([ROW], [ROW]),
        ([[ROW, ROW]], [ROW, ROW]),
        ([[], ROW], [ROW]),
        ([{'server': ROW}], [ROW]),
        ([{'servers': [ROW, ROW]}, {'flavor': ROW}], [ROW, ROW, ROW]),
        ([{'servers': [ROW], 'servers_links': LINKS}], [ROW]),
        # A row that happens to have a column of this name.
        ([{'name': 'n', 'server': 's'}], [{'name': 'n', 'server': 's'}]),
        ([{'host': 'h'}], [{'host': 'h'}]),
        ([{'Server Group': 'g'}], [{'server_group': 'g'}]),
    )
    def test_rows_lists_and_answers_are_rows(self, documents, read):
        self.assertEqual(read, list(rows.unwrap(documents)))

    @ddt.data(None, 'text', 7, [7], {'server': 'text'}, {'servers': [None]})
    def test_what_is_something_else_is_refused(self, document):
        with self.assertRaises(rows.UnreadableError) as caught:
            list(rows.unwrap([document]))
        self.assertIn('-f json', str(caught.exception))

    @ddt.unpack
    @ddt.data(
        ({'servers': [], 'servers_links': LINKS}, True),
        ({'servers': []}, False),
        ({'image_links': LINKS}, False),
        (['servers_links'], False),
        (None, False),
    )
    def test_a_page_has_a_link_to_the_next_one(self, document, more):
        self.assertEqual(more, rows.continues(document))


@ddt.ddt
class RowTest(unittest.TestCase):
    def test_columns_are_in_lower_case_with_underscores(self):
        self.assertEqual(
            {'host_name': 1, 'id': 2, '7': 3},
            rows.columns({' Host Name ': 1, 'ID': 2, 7: 3}),
        )

    @ddt.unpack
    @ddt.data(
        (('name',), 'n'),
        (('none', 'name'), 'n'),
        (('null', 'name'), 'n'),
        (('empty', 'name'), ''),
        (('number',), '7'),
        (('none',), ''),
        (('null',), ''),
    )
    def test_the_first_column_with_a_value_is_its_text(self, names, text):
        row = {'name': 'n', 'null': None, 'empty': '', 'number': 7}
        self.assertEqual(text, rows.text(row, *names))

    @ddt.unpack
    @ddt.data(
        ({}, None),
        ({'scheduler_hints': None}, {}),
        ({'scheduler_hints': {'a': 'b'}}, {'a': 'b'}),
        ({'os-sch-hnt:scheduler_hints': {'a': 'b'}}, {'a': 'b'}),
        (
            {
                'os-sch-hnt:scheduler_hints': {'c': 'd'},
                'scheduler_hints': {'a': 'b'},
            },
            {'a': 'b'},
        ),
    )
    def test_null_is_no_hints_and_absent_is_not_shown(self, row, hints):
        self.assertEqual(hints, rows.hints(row))

    @ddt.data('text', ['a'], 7)
    def test_hints_that_are_no_mapping_are_refused(self, hints):
        with self.assertRaises(rows.UnreadableError) as caught:
            rows.hints({'name': 'web', 'scheduler_hints': hints})
        self.assertEqual(
            'the "scheduler_hints" of \'web\' are not a mapping',
            str(caught.exception),
        )

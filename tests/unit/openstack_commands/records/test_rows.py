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
        ([{'servers': [ROW, ROW]}, {'flavors': [ROW]}], [ROW, ROW, ROW]),
        ([{'servers': [ROW], 'servers_links': LINKS}], [ROW]),
        # A row that happens to have a column of this name.
        ([{'name': 'n', 'servers': 's'}], [{'name': 'n', 'servers': 's'}]),
        ([{'Host Name': 'h'}], [{'host_name': 'h'}]),
    )
    def test_rows_lists_and_answers_are_rows(self, documents, read):
        self.assertEqual(read, list(rows.unwrap(documents)))

    @ddt.data(None, 'text', 7, [7], {'servers': [None]})
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
    )
    def test_a_page_has_a_link_to_the_next_one(self, document, more):
        self.assertEqual(more, rows.continues(document))


@ddt.ddt
class RowTest(unittest.TestCase):
    @ddt.unpack
    @ddt.data(('name', 'n'), ('number', '7'), ('none', ''), ('null', ''))
    def test_a_value_is_text(self, column, text):
        row = {'name': 'n', 'null': None, 'number': 7}
        self.assertEqual(text, rows.text(row, column))

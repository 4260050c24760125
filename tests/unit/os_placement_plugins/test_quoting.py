# SPDX-License-Identifier: Apache-2.0

"""Texts of others in a line of the log."""

import unittest

import ddt

from os_placement_plugins import quoting


@ddt.ddt
class QuotingTest(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        ('web', "'web'"),
        (7, "'7'"),
        ('a\nb\x1b', "'a\\nb\\x1b'"),
        ('x' * 60, f"'{'x' * 60}'"),
        ('x' * 61, f"'{'x' * 60}…'"),
    )
    def test_a_text_is_quoted_and_not_long(self, text, quoted):
        self.assertEqual(quoted, quoting.quote(text))

    @ddt.unpack
    @ddt.data(
        ('größe 服务器 ~', 'größe 服务器 ~'),
        ('a\x1b[2Jb\nc', r'a\x1b[2Jb\nc'),
        # A terminal of eight bits, the direction of a text, half a pair.
        ('\x9b2J\u202e\udc9b', r'\x9b2J\u202e\udc9b'),
    )
    def test_a_terminal_shows_a_text_and_does_not_obey_it(self, text, shown):
        self.assertEqual(shown, quoting.printable(text))

    @ddt.unpack
    @ddt.data(
        ('', ''),
        ('a', 'a'),
        ('abcd', 'a, b, c, d'),
        ('abcdef', 'a, b, c, d, 2 more'),
    )
    def test_four_texts_are_listed(self, texts, line):
        self.assertEqual(line, quoting.listed(list(texts)))

    def test_a_caller_chooses_how_many_are_listed(self):
        listed = quoting.listed(['a', 'b', 'c'], most=1, mark='; ')
        self.assertEqual('a; 2 more', listed)

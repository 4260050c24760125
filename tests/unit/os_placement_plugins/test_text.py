# SPDX-License-Identifier: Apache-2.0

"""Texts of others in a line of the log."""

import unittest

import ddt

from os_placement_plugins.text import listed, printable, quote


@ddt.ddt
class TextTest(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        ('web', "'web'"),
        (7, "'7'"),
        ('a\nb\x1b', "'a\\nb\\x1b'"),
        ('x' * 60, f"'{'x' * 60}'"),
        ('x' * 61, f"'{'x' * 60}…'"),
    )
    def test_a_text_is_quoted_and_not_long(self, text, quoted):
        self.assertEqual(quoted, quote(text))

    @ddt.unpack
    @ddt.data(
        ('größe 服务器 ~', 'größe 服务器 ~'),
        ('a\x1b[2Jb\nc', r'a\x1b[2Jb\nc'),
        # A terminal of eight bits, the direction of a text, half a pair.
        ('\x9b2J\u202e\udc9b', r'\x9b2J\u202e\udc9b'),
    )
    def test_a_terminal_shows_a_text_and_does_not_obey_it(self, text, shown):
        self.assertEqual(shown, printable(text))

    @ddt.unpack
    @ddt.data(
        ('', ''),
        ('a', 'a'),
        ('abcd', 'a, b, c, d'),
        ('abcdef', 'a, b, c, d, 2 more'),
        # A caller chooses how many, and what is between them.
        ('abc', 'a; 2 more', {'most': 1, 'mark': '; '}),
    )
    def test_some_texts_are_listed(self, texts, line, options=None):
        self.assertEqual(line, listed(list(texts), **options or {}))

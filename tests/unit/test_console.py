# SPDX-License-Identifier: Apache-2.0

"""The commands that pages show: that they are found, and can be typed."""

import unittest

import ddt

from tests import console


@ddt.ddt
class UnquotedTest(unittest.TestCase):
    @ddt.data(
        ("--property os='~'", ''),
        ("--property 'os=<or> 1 <or> ~' '*' '!'", ''),
        ('--property "os=~" "*"', ''),
        (r'os=\~ \* \!', ''),
        ("it\\'s ~", '~'),
        ('os=~', '~'),
        ('a*b', '*'),
        ('os=!', '!'),
        # The history is looked up within double quotes, too.
        ('"os=!"', '!'),
        ('"it\'s" *', '*'),
        ('\'say "yes"\' !', '!'),
    )
    @ddt.unpack
    def test_what_a_shell_would_replace_is_found(self, command, wanted):
        self.assertEqual(set(wanted), console.unquoted(command))


@ddt.ddt
class AgreementTest(unittest.TestCase):
    TABLE = '+---+----+\n| a | b  |\n+---+----+\n| 1 | {} |\n+---+----+'

    @ddt.data(
        (TABLE.format('22'), True),
        (TABLE.format('23'), False),
        (TABLE.format('...'), True),
        (TABLE.format('2...'), True),
        (TABLE.format('3...'), False),
        ('', False),
    )
    @ddt.unpack
    def test_dots_stand_for_anything(self, shown, wanted):
        printed = self.TABLE.format('22')
        self.assertIs(wanted, console.agrees(shown, printed))

    def test_width_of_a_table_does_not_count(self):
        wide = self.TABLE.replace('-', '--').format('long word')
        self.assertTrue(console.agrees(self.TABLE.format('...'), wide))
        self.assertFalse(console.agrees(self.TABLE.format('short'), wide))


class PagesTest(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.examples = {
            page.name: console.examples(page.name)
            for page in sorted(console.PAGES.glob('*.rst'))
        }

    def test_no_block_of_commands_is_overlooked(self):
        for page, examples in self.examples.items():
            text = (console.PAGES / page).read_text('utf-8')
            self.assertEqual(
                text.count('code-block:: console'),
                len(console.blocks(page, 'console')),
                page,
            )
            prompts = [
                line
                for line in text.splitlines()
                if line.startswith(('   $ ', '   # '))
            ]
            self.assertLessEqual(len(examples), len(prompts), page)

    def test_continued_commands_are_read_as_a_whole(self):
        commands = [one.command for one in self.examples['commands.rst']]
        (loop,) = (one for one in commands if one.startswith('for '))
        self.assertEqual(3, len(loop.splitlines()))
        self.assertTrue(loop.endswith('\ndone > servers.json'))
        for page, examples in self.examples.items():
            for example in examples:
                self.assertFalse(example.command.endswith('\\'), page)

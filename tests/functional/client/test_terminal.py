# SPDX-License-Identifier: Apache-2.0

"""What tenants have written reaches a terminal as text, and is not obeyed."""

import json

import ddt

from tests.functional.client import base

#: Clears the screen, begins a line and turns the direction of the text.
EVIL = 'x\x1b[2J\x9b2J\r\nforged \u202e'
SHOWN = r'x\x1b[2J\x9b2J\r\nforged \u202e'
SERVER = {
    'id': 'id-1',
    'name': EVIL,
    'OS-EXT-SRV-ATTR:host': 'h',
    'flavor': {'original_name': 'f', 'extra_specs': {EVIL: EVIL}},
}
FLAVOR = {'Name': EVIL, 'Properties': {f'{EVIL}=': '<or> ! <or> x'}}
AGGREGATE = {'Name': 'a', 'Properties': {}, 'Hosts': ['h']}


@ddt.ddt
class TerminalTest(base.CommandTestCase):
    def print(self, *arguments: str) -> str:
        """Return what a command prints."""
        result = self.openstack(*arguments)
        return result.output + result.error

    def assert_harmless(self, output: str) -> None:
        """Fail if something but the text itself is there."""
        for line in output.split('\n'):
            self.assertTrue(line.isprintable(), repr(line))
            self.assertFalse(line.startswith('forged'))
        # CSV escapes a backslash.
        self.assertIn(SHOWN, output.replace('\\\\', '\\'))

    def files(self) -> list[str]:
        """Return the options that read a server and its host."""
        return [
            '--aggregates',
            self.write(json.dumps([AGGREGATE]), 'aggregates.json'),
            '--servers',
            self.write(json.dumps([SERVER]), 'servers.json'),
        ]

    @ddt.data('table', 'csv', 'value')
    def test_servers(self, form: str) -> None:
        command = ('aggregate', 'filter', 'audit', *self.files())
        self.assert_harmless(self.print(*command, '-f', form))

    @ddt.data('json', 'yaml')
    def test_programs_read_the_text_as_it_is(self, form: str) -> None:
        command = ('aggregate', 'filter', 'audit', *self.files())
        output = self.print(*command, '-f', form)
        for line in output.split('\n'):
            self.assertTrue(line.isprintable(), repr(line))
        if form == 'json':
            (problem,) = json.loads(output)['causes']
            self.assertEqual(EVIL, problem['servers'][0]['name'])

    def test_findings_of_lint(self) -> None:
        flavors = self.write(json.dumps([FLAVOR]), 'flavors.json')
        files = ('--flavors', flavors, *self.files()[:2])
        command = ('aggregate', 'filter', 'lint', *files)
        self.assert_harmless(self.print(*command))

    def test_an_error_that_names_a_text(self) -> None:
        command = ('aggregate', 'filter', 'explain', '--server', EVIL * 2)
        result = self.openstack(*command, *self.files())
        self.assert_one_line(result)
        self.assertTrue(result.error.strip().isprintable())

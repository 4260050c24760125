# SPDX-License-Identifier: Apache-2.0

"""What tenants have written reaches a terminal as text, and is not obeyed."""

import json

import ddt

from os_placement_plugins import stack_hints
from tests.functional.client import base

#: Clears the screen, begins a line and turns the direction of the text.
EVIL = 'x\x1b[2J\x9b2J\r\nforged \u202e'
SHOWN = r'x\x1b[2J\x9b2J\r\nforged \u202e'
SERVER = {
    'id': 'id-1',
    'name': EVIL,
    'tenant_id': EVIL,
    'scheduler_hints': {
        stack_hints.STACK_ID: EVIL,
        stack_hints.STACK_NAME: EVIL,
        stack_hints.PATH_IN_STACK: ['root', f'{EVIL},{EVIL}'],
        stack_hints.RESOURCE_NAME: EVIL,
    },
}
FLAVOR = {'Name': EVIL, 'Properties': {f'{EVIL}=': '<or> ! <or> x'}}


@ddt.ddt
class TerminalTest(base.CommandTestCase):
    def print(self, *arguments: str) -> str:
        """Return what a command prints without an error."""
        result = self.openstack(*arguments)
        self.assertEqual('', result.error)
        return result.output

    def assert_harmless(self, output: str) -> None:
        """Fail if something but the text itself is there."""
        for line in output.split('\n'):
            self.assertTrue(line.isprintable(), repr(line))
            self.assertFalse(line.startswith('forged'))
        # CSV escapes a backslash.
        self.assertIn(SHOWN, output.replace('\\\\', '\\'))

    @ddt.data('table', 'csv', 'value')
    def test_stacks_and_servers(self, form: str) -> None:
        file = self.write(json.dumps([SERVER]), 'servers.json')
        command = ('stack', 'hints', 'list', '--long', '--servers', file)
        self.assert_harmless(self.print(*command, '-f', form))

    @ddt.data('json', 'yaml')
    def test_programs_read_the_text_as_it_is(self, form: str) -> None:
        file = self.write(json.dumps([SERVER]), 'servers.json')
        command = ('stack', 'hints', 'list', '--servers', file, '-f', form)
        output = self.print(*command)
        for line in output.split('\n'):
            self.assertTrue(line.isprintable(), repr(line))
        if form == 'json':
            self.assertEqual(EVIL, json.loads(output)[0]['Server'])

    @ddt.data((), ('-f', 'value'))
    def test_findings_of_lint(self, words: tuple[str, ...]) -> None:
        flavors = self.write(json.dumps([FLAVOR]), 'flavors.json')
        aggregate = {'Name': 'a', 'Properties': {}, 'Hosts': ['h']}
        aggregates = self.write(json.dumps([aggregate]), 'aggregates.json')
        files = ('--flavors', flavors, '--aggregates', aggregates)
        command = ('aggregate', 'filter', 'lint', *files, *words)
        self.assert_harmless(self.print(*command))

    def test_an_error_that_names_a_text(self) -> None:
        file = self.write(json.dumps([SERVER]), 'servers.json')
        result = self.openstack(
            'stack', 'hints', 'list', EVIL * 2, '--servers', file
        )
        self.assert_one_line(result)
        self.assertTrue(result.error.strip().isprintable())

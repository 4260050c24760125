# SPDX-License-Identifier: Apache-2.0

"""What tenants have written reaches a terminal as text, and is not obeyed."""

import json

import ddt

from tests.functional.client import base

#: Clears the screen, begins a line and turns the direction of the text.
EVIL = 'x\x1b[2J\x9b2J\r\nforged \u202e'
SHOWN = r'x\x1b[2J\x9b2J\r\nforged \u202e'
ROWS = {
    'servers': {
        'id': 'id-1',
        'name': EVIL,
        'OS-EXT-SRV-ATTR:host': 'h',
        'flavor': {'original_name': 'f', 'extra_specs': {EVIL: EVIL}},
    },
    'flavors': {'name': EVIL, 'extra_specs': {f'{EVIL}=': '<or> ! <or> x'}},
    'aggregates': {'name': 'a', 'metadata': {}, 'hosts': ['h']},
}


@ddt.ddt
class TerminalTest(base.CommandTestCase):
    def print(self, command: str, noun: str, *arguments: str) -> str:
        """Return the output of a command, which has no control characters."""
        words = ['aggregate', 'filter', command, *arguments]
        for name in 'aggregates', noun:
            answer = json.dumps({name: [ROWS[name]]})
            words += [f'--{name}', self.write(answer, name)]
        result = self.openstack(*words)
        output = result.output + result.error
        for line in output.split('\n'):
            self.assertTrue(line.isprintable(), repr(line))
            self.assertFalse(line.startswith('forged'))
        return output

    @ddt.data('table', 'csv', 'value', 'json', 'yaml')
    def test_servers(self, form: str) -> None:
        output = self.print('audit', 'servers', '-f', form)
        if form == 'json':
            # A program reads the text as it is.
            rows, _ = json.JSONDecoder().raw_decode(output)
            self.assertEqual(EVIL, rows[0]['Names'][0]['name'])
        elif form != 'yaml':
            # CSV escapes a backslash.
            self.assertIn(SHOWN, output.replace('\\\\', '\\'))

    def test_findings_of_lint(self) -> None:
        self.assertIn(SHOWN, self.print('lint', 'flavors'))

    def test_an_error_that_names_a_text(self) -> None:
        output = self.print('explain', 'servers', '--server', EVIL * 2)
        self.assertEqual(1, output.count('\n'))

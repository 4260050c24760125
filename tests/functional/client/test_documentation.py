# SPDX-License-Identifier: Apache-2.0

"""The examples of the pages, run as they stand there."""

import contextlib
import json
import re
import shlex

import requests_mock

from nova_filters import inventory, mistakes
from nova_filters.client import files
from tests import console
from tests.functional.client import base, rest_stub

PAGE = console.PAGES / 'commands.rst'
FILES = console.PAGES / 'examples'
#: What a file says, whichever release of the client printed it.
_READ = {
    'flavors.json': inventory.read_flavors,
    'aggregates.json': inventory.read_aggregates,
    'hosts.json': inventory.read_hosts,
}
#: The words of examples that ask a cloud, or Senlin: those that save a file
#: are run below, and the others beside what they ask.
_ELSEWHERE = (' > ', '--compare', 'stack hints show shop --config-file')
#: Options of every command of the shell.
_FORMATS = {
    '--help', '--format', '--column', '--quote', '--noindent', '--fit-width',
    '--max-width', '--print-empty', '--sort-column', '--sort-ascending',
    '--sort-descending',
}  # fmt: skip


def saving() -> dict[str, str]:
    """Return the commands of the page that save what a cloud has.

    :returns: the words after ``openstack`` by the name of the file.
    """
    pattern = re.compile(r'openstack (.*) > (\w+\.json)')
    return {
        match[2]: match[1]
        for example in console.examples(PAGE.name)
        if (match := pattern.fullmatch(example.command))
    }


def saving_servers() -> tuple[str, list[str]]:
    """Return how the page saves servers, which it does in a loop.

    :returns: the words between ``openstack`` and a server's name, and the
        names.
    """
    (loop,) = (
        one.command
        for one in console.examples(PAGE.name)
        if one.command.startswith('for ')
    )
    (names,) = re.findall(r'in (.*); do', loop)
    (words,) = re.findall(r'openstack (.*) \$server', loop)
    return words, names.split()


class DocumentationTest(base.CommandTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.examples = console.examples(PAGE.name)

    def test_each_example_prints_what_the_page_shows(self) -> None:
        for words in _ELSEWHERE:
            self.assertTrue(any(words in e.command for e in self.examples))
        shown = [
            example
            for example in self.examples
            if not any(words in example.command for words in _ELSEWHERE)
        ]
        self.assertGreater(len(shown), 11)
        for example in shown:
            program, *words = shlex.split(example.command.replace('\\\n', ''))
            self.assertEqual('openstack', program)
            with contextlib.chdir(FILES):
                result = self.openstack(*words)
            if example.output.startswith('+') or '-f yaml' in example.command:
                self.assertEqual('', result.error, example.command)
                found = result.output
            else:
                # A refusal.
                self.assertEqual((1, ''), (result.status, result.output))
                found = result.error
            self.assertEqual(example.output, found.rstrip(), example.command)

    def test_the_example_files_say_what_the_client_prints(self) -> None:
        commands = saving()
        self.assertEqual(
            {'flavors.json', 'aggregates.json', 'hosts.json'},
            set(commands),
        )
        for name, words in commands.items():
            read = _READ[name]
            sources = [('', rest_stub.licensed_hosts())]
            if name != 'hosts.json':
                sources.append(('mistaken-', rest_stub.mistaken()))
            for prefix, source in sources:
                rows = json.loads((FILES / f'{prefix}{name}').read_text())
                self.assertEqual(
                    read(json.loads(self.printed(source, words))),
                    read(rows),
                    name,
                )

    def test_the_servers_say_what_the_client_prints(self) -> None:
        words, names = saving_servers()
        source = rest_stub.licensed_hosts()
        file = self.write(
            ''.join(self.printed(source, f'{words} {n}') for n in names),
            'servers.json',
        )
        read = inventory.read_servers
        self.assertEqual(
            files.read([file], read),
            files.read([str(FILES / 'servers.json')], read),
        )

    def printed(self, source: rest_stub.Cloud, words: str) -> str:
        """Return what a command prints of a cloud."""
        with requests_mock.Mocker() as mocker:
            source.install(mocker)
            result = self.openstack(*words.split(), **rest_stub.LOGIN)
        self.assertEqual((0, ''), (result.status, result.error))
        return result.output

    def test_the_page_lists_every_finding_with_its_severity(self) -> None:
        wanted = {
            (code.value, mistakes.Problem(code, '', '').severity.value)
            for code in mistakes.Code
        }
        found = re.findall(
            r'^``([a-z-]+)`` +(error|warning|info) ',
            PAGE.read_text('utf-8'),
            re.M,
        )
        self.assertEqual(wanted, set(found))
        self.assertEqual(len(wanted), len(found))

    def test_the_page_names_every_option(self) -> None:
        page = PAGE.read_text('utf-8')
        for command in ('explain', 'lint', 'impact'):
            usage = self.openstack('aggregate', 'filter', command, '--help')
            self.assertEqual(0, usage.status, usage)
            own = usage.output.split('output formatters')[0]
            options = set(re.findall(r'--[a-z][a-z-]+', own)) - _FORMATS
            self.assertTrue(options)
            self.assertEqual(set(), {o for o in options if o not in page})


class NovaPageTest(base.CommandTestCase):
    """The worked example of the filter, from its commands to its claims."""

    def setUp(self) -> None:
        super().setUp()
        self.commands = [one.command for one in console.examples('nova.rst')]
        self.cloud = rest_stub.ChangeableCloud(
            flavors={'win.medium': {}, 'any.small': {}, 'm1.small': {}},
            aggregates={},
            hosts=['compute-1', 'compute-7'],
            servers={},
        )
        self.mocker = requests_mock.Mocker()
        self.enterContext(self.mocker)
        self.cloud.install(self.mocker)

    def test_the_commands_bring_about_what_the_page_says(self) -> None:
        self.assertEqual(4, len(self.commands))
        for command in self.commands:
            words = shlex.split(command.replace('\\\n', ''))[1:]
            result = self.openstack(*words, **rest_stub.LOGIN)
            self.assertEqual((0, ''), (result.status, result.error), command)
        found = {
            flavor: [
                row['Host']
                for row in self.data(
                    *('aggregate', 'filter', 'explain', flavor),
                    **rest_stub.LOGIN,
                )
                if row['Result'] == 'pass'
            ]
            for flavor in self.cloud.flavors
        }
        self.assertEqual(
            {
                'win.medium': ['compute-7'],
                'any.small': ['compute-1', 'compute-7'],
                'm1.small': ['compute-1'],
            },
            found,
        )
        # It checks what it has written, too.
        lint = self.openstack('aggregate', 'filter', 'lint', **rest_stub.LOGIN)
        self.assertEqual((0, ''), (lint.status, lint.error))
        self.assertEqual('', lint.output.strip())

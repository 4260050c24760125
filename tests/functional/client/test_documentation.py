# SPDX-License-Identifier: Apache-2.0

"""The examples of the pages, run as they stand there."""

import contextlib
import json
import re
import shlex
import shutil
import subprocess
from typing import Any

from osc_placement_plugins import mistakes
from tests import console
from tests.functional.client import base, pages, rest_stub


class CommandsPageTest(base.CloudTestCase):
    def test_each_example_prints_what_the_page_shows(self) -> None:
        # What the page edits is written beside the files.
        for file in pages.FILES.iterdir():
            if file.is_file():
                shutil.copy(file, self.folder)
        # The commands without files ask the cloud of the nights, in turn.
        self.cloud = rest_stub.examples('night')
        self.cloud.install(self.mocker)
        for example in console.examples(pages.PAGE.name):
            if '> ' not in example.command or 'sed ' in example.command:
                self.assertEqual(
                    example.output, self.type(example.command), example.command
                )

    def type(self, command: str) -> str:
        """Type a command among the files; return what it prints."""
        program, *words = shlex.split(command.replace('\\\n', ''))
        if program == 'sed':
            subprocess.run(command, shell=True, check=True, cwd=self.folder)  # noqa: S602
            return ''
        self.assertEqual('openstack', program)
        with contextlib.chdir(self.folder):
            result = self.openstack(*words, COLUMNS='80', **self.login)
        return (result.output or result.error).rstrip()

    def test_the_example_files_say_what_the_client_prints(self) -> None:
        for folder in ('.', 'night'):
            self.cloud = rest_stub.examples(folder)
            self.cloud.install(self.mocker)
            for name, words in pages.saving().items():
                saved = (pages.FILES / folder / name).read_text('utf-8')
                self.assert_same_rows(self.run_command(words), saved)

    def test_the_servers_say_what_the_client_prints(self) -> None:
        words, names = pages.saving_servers()
        printed = ''.join(
            self.run_command(f'{words} {name}') for name in names
        )
        saved = (pages.FILES / 'servers.json').read_text('utf-8')
        self.assert_same_rows(_as_list(printed), _as_list(saved))

    def assert_same_rows(self, printed: str, saved: str) -> None:
        """Fail if a file does not say what the client prints."""
        self.assertEqual(json.loads(saved), json.loads(printed))

    def test_the_page_lists_every_finding_with_its_severity(self) -> None:
        page = pages.PAGE.read_text('utf-8')
        for severity in mistakes.SEVERITIES:
            codes = [
                code.value
                for code in mistakes.FindingCode
                if code.severity is severity
            ]
            (paragraph,) = re.findall(
                rf'\n``{severity.value}``\n((?:    .+\n)+)', page
            )
            self.assertCountEqual(codes, re.findall('``(.+?)``', paragraph))


def _as_list(objects: str) -> str:
    """Return JSON objects that follow each other as one list."""
    return '[' + objects.replace('}\n{', '},{') + ']'


class NovaPagesTest(base.CloudTestCase):
    """Commands that change a cloud of two hosts, and what comes of it."""

    def type(self, *examples: console.Example, **flavors: Any) -> str:
        """Type commands; return what the last one prints.

        :param flavors: those of the cloud.
        """
        hosts = ['compute-1', 'compute-7']
        self.cloud = rest_stub.Cloud(flavors, {}, hosts, {})
        self.cloud.install(self.mocker)
        for example in examples:
            words = example.command.replace('\\\n', '').partition(' ')[2]
            printed = self.run_command(words)
        return printed.rstrip()

    def test_the_quickstart_ends_as_the_page_shows(self) -> None:
        # After the restart of nova-scheduler.
        examples = console.examples('quickstart-nova.rst')[-4:]
        flavors = {name: {} for name in ('win.medium', 'm1.small')}
        self.assertEqual(examples[-1].output, self.type(*examples, **flavors))

    def test_the_commands_bring_about_what_the_page_says(self) -> None:
        examples = console.examples('nova.rst')
        self.assertEqual(4, len(examples))
        hosts_by_flavor = {
            'win.medium': ['compute-7'],
            'any.small': ['compute-1', 'compute-7'],
            'm1.small': ['compute-1'],
        }
        self.type(*examples, **{flavor: {} for flavor in hosts_by_flavor})
        for flavor, hosts in hosts_by_flavor.items():
            (document,) = self.live('aggregate', 'filter', 'explain', flavor)
            self.assertEqual(hosts, document['takers'], flavor)
        # It checks what it has written, too. The cloud has two hosts only.
        findings = self.live('aggregate', 'filter', 'lint')['causes']
        self.assertEqual(
            ['one-host'] * 2, [finding['code'] for finding in findings]
        )

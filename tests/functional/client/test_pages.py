# SPDX-License-Identifier: Apache-2.0

"""The commands of the pages, typed in the real shell, on the stub cloud."""

import contextlib
import json
import pathlib
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable

import ddt
import requests

from nova_filters.matching import inputs, preferences
from tests import pages
from tests.functional.client import base, rest_stub

EXAMPLES = pages.PAGES / 'examples'
#: The flavors that each page assumes.
FLAVORS = {
    'nova': 'any.small',
    'quickstart-nova': 'win.medium m1.small',
    'preferences': 'm1.small m1.large acme.large',
}


def make_cloud(page: str) -> rest_stub.Cloud:
    """Return the cloud that a page begins with."""
    if page == 'commands':
        return rest_stub.examples('night')
    cloud = rest_stub.Cloud()
    for name in FLAVORS[page].split():
        cloud.add_flavor(name, {})
    hosts = ['compute-1', 'compute-7']
    if page == 'nova':
        demand = {'os': 'windows', 'force_metadata_check': 'True'}
        cloud.add_aggregate('licensed', demand, ['compute-7'])
    if page == 'preferences':
        hosts = ['left', 'old', 'plain', 'reserved']
        cloud.add_aggregate('leaving', {}, ['left'])
        cloud.add_aggregate('old', {}, ['old'])
        cloud.add_aggregate('acme', {}, ['reserved'])
    for host in hosts:
        cloud.add_service(host)
    return cloud


#: A command in the text of a page.
COMMAND = re.compile('openstack ([a-z ]+)')
#: The commands of this package.
COMMANDS = (
    'aggregate filter explain',
    'aggregate filter lint',
    'aggregate filter audit',
    'cluster region plan',
)


@ddt.ddt
class PagesTest(pages.Walk, base.CloudTestCase):
    suite = 'client'
    maxDiff = None

    @ddt.data(*pages.select('client'))
    def test_the_page_is_true(self, page: str) -> None:
        self.cloud = make_cloud(pathlib.Path(page).stem)
        self.cloud.install(self.mocker)
        for file in EXAMPLES.iterdir():
            if file.is_file():
                shutil.copy(file, self.folder)
        self.walk(page)

    def type(self, command: pages.Command) -> str:
        """Type a command in the folder of the files; return what it prints."""
        for name, text in self.files.items():
            self.write(text, name)
        words, _, target = command.words.partition(' > ')
        if not words.startswith('openstack '):
            subprocess.run(
                ['bash', '-c', command.text],  # noqa: S607
                check=True,
                cwd=self.folder,
            )
            return ''
        with contextlib.chdir(self.folder):
            result = self.openstack(*shlex.split(words)[1:], COLUMNS='80')
        if not command.output:
            self.assertEqual((0, ''), (result.status, result.error), words)
        if target:
            self.write(result.output, target)
        return result.output or result.error

    def passing(self, flavor: str) -> list[str]:
        """Return the hosts that take a flavor."""
        rows = self.data(f'aggregate filter explain {flavor} --all')
        return [row['Host'] for row in rows if row['Result'] == 'pass']

    def points(self, flavor: str) -> dict[str, int]:
        """Return the points that hosts gain or lose for a flavor."""
        specs = self.cloud.flavors[flavor]['extra_specs']
        aggregates = {
            inputs.Aggregate(row['name'], row['metadata']): row['hosts']
            for row in self.cloud.aggregates.values()
        }
        preferred = preferences.Preferences(specs, aggregates)
        points = {}
        for host in self.cloud.services:
            of_host = [a for a, hosts in aggregates.items() if host in hosts]
            if preferred.score(of_host):
                points[host] = preferred.score(of_host)
        return points

    def check_offers_kept(self, run: Callable[[], str]) -> None:
        metadata = self.cloud.aggregates['licensed-new']['metadata']
        offer = metadata['os']
        run()
        self.assertIn(offer, metadata['os'].split(','))
        self.assertEqual(['compute-8'], self.passing('--server mail'))

    def check_corrected(self, run: Callable[[], str]) -> None:
        self.assertEqual([], self.passing('gpu.large'))
        self.cloud.add_service('compute-9')
        self.cloud.add_aggregate('new', {'gpu': 'h100'}, ['compute-9'])
        self.assertEqual(['compute-9'], self.passing('gpu.large'))
        del self.cloud.aggregates['new'], self.cloud.services['compute-9']
        run()
        hosts = ['compute-1', 'compute-2']
        self.assertEqual(hosts, self.passing('gpu.large'))

    def check_opened(self, run: Callable[[], str]) -> None:
        lint = 'aggregate filter lint'
        self.assertIn('closed-aggregate', self.run_command(lint, status=2))
        run()
        self.assertNotIn('closed-aggregate', self.run_command(lint, status=2))
        metadata = self.cloud.aggregates['ssd']['metadata']
        self.assertEqual({'disk': 'ssd'}, metadata)
        self.assertEqual(5, len(self.passing('m1.small')))

    def check_saved_files(self, run: Callable[[], str]) -> None:
        for cloud in 'night', '.':
            self.cloud = rest_stub.examples(cloud)
            self.cloud.install(self.mocker)
            for command in self.block.commands:
                # curl would need a server.
                words = shlex.split(command.words)
                path = words[words.index('>') - 1].removeprefix('$NOVA')
                _, _, version = words[5].partition(': ')
                response = requests.get(
                    rest_stub.COMPUTE + path,
                    headers={'OpenStack-API-Version': version},
                    timeout=60,
                )
                saved = EXAMPLES / cloud / words[-1]
                if saved.exists():
                    self.assertEqual(
                        json.loads(saved.read_text()), response.json()
                    )

    def test_the_page_names_no_option_that_is_unknown(self) -> None:
        known = self.openstack('--help').output
        for command in COMMANDS:
            known += self.openstack(*command.split(), '--help').output
        options = {*re.findall('--[a-z-]+', known)}
        for words in pages.literals('doc/source/commands.rst'):
            for option in re.findall('--[a-z-]+', words):
                self.assertIn(option, options)

    def test_the_pages_name_no_command_that_is_unknown(self) -> None:
        named = {
            match[1]
            for page in pages.pages()
            for words in pages.literals(page)
            if (match := COMMAND.match(words))
        }
        for words in named:
            # Senlin's client is not here.
            if not words.startswith('cluster') or 'region' in words:
                help_text = self.openstack(*words.split(), '--help').output
                self.assertTrue(help_text.startswith('usage: '), words)

    def test_the_output_for_scripts(self) -> None:
        self.cloud = rest_stub.examples('night')
        self.cloud.install(self.mocker)
        policy = EXAMPLES / 'policy.yaml'
        for words, status in (
            ('aggregate filter explain gpu.large', 0),
            ('aggregate filter lint', 2),
            ('aggregate filter audit', 0),
            (
                f'cluster region plan --spec {policy} --scale-out 1',
                0,
            ),
        ):
            rows, sentences = self.answer(words, status=status)
            self.assertIsInstance(rows, list)
            printed = self.run_command(words, status=status)
            self.assertEqual(printed.split()[:5], sentences[0].split()[:5])

    def test_the_exit_codes(self) -> None:
        self.cloud = rest_stub.examples('night')
        self.cloud.install(self.mocker)
        files = self.files('flavors', 'aggregates')
        codes = [
            self.openstack('aggregate', 'filter', *words.split()).status
            for words in (
                'audit',
                # No host takes the flavor, but this is not asked.
                'explain gpu.large',
                'explain no-such-flavor',
                f'explain m1.small {" ".join(files)}',
                'lint',
                'explain --fail-if-none gpu.large',
            )
        ]
        self.assertEqual([0, 0, 1, 1, 2, 2], codes)

    def check_any(self, run: Callable[[], str]) -> None:
        self.assertEqual(['compute-1'], self.passing('any.small'))
        run()
        self.assertEqual(['compute-1', 'compute-7'], self.passing('any.small'))

    def check_leaving(self, run: Callable[[], str]) -> None:
        run()
        for flavor in self.cloud.flavors:
            self.assertEqual({'left': -1}, self.points(flavor))

    def check_old(self, run: Callable[[], str]) -> None:
        run()
        # The recipe above goes on.
        self.assertEqual({'left': -1, 'old': -1}, self.points('m1.large'))
        self.assertEqual({'left': -1}, self.points('m1.small'))

    def check_reserved(self, run: Callable[[], str]) -> None:
        run()
        self.assertEqual(4, len(self.passing('acme.large')))
        self.assertEqual(
            {'left': -1, 'reserved': 1}, self.points('acme.large')
        )
        self.assertEqual({'left': -1, 'reserved': -1}, self.points('m1.small'))

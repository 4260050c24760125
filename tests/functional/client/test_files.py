# SPDX-License-Identifier: Apache-2.0

"""Files in place of a cloud: what the shell prints, and what Nova answers."""

import json
import pathlib

from tests.functional.client import base, pages


class FilesTest(base.CloudTestCase):
    def save(self, *commands: str) -> str:
        """Save what commands of the standard client print, in one file."""
        texts = [
            self.run_command(command, '-f', 'json') for command in commands
        ]
        return self.write(''.join(texts), commands[0])

    def test_rows_and_answers_are_the_same_as_from_cloud_and_files(self):
        self.cloud.states['compute-3'] = ('disabled', 'up')
        words, _ = pages.saving_servers()
        saving = {file: [command] for file, command in pages.saving().items()}
        saving['servers.json'] = [
            f'{words} {server}' for server in self.cloud.servers
        ]
        rows = []
        for name, commands in saving.items():
            texts = map(self.run_command, commands)
            rows += [f'--{name[:-5]}', self.write(''.join(texts), name)]
        answers = self.files(*base.NOUNS)
        for command, count in (
            ('explain gpu.large --server mail', 8),
            ('lint', 6),
            ('impact --add-host gpus compute-3', 8),
        ):
            command = ('aggregate', 'filter', *command.split())
            live = self.live(*command)
            self.assertTrue(live)
            for files in (rows, answers):
                self.assertEqual(live, self.data(*command, *files[:count]))

    def test_rows_of_single_objects_are_enough(self) -> None:
        flavors = self.save('flavor show win.medium', 'flavor show m1.small')
        aggregates = self.save(
            'aggregate show licensed', 'aggregate show gpus'
        )
        files = ('--flavors', flavors, '--aggregates', aggregates)
        command = 'aggregate filter explain win.medium'
        # Aggregates alone name four hosts.
        self.assertEqual(
            ['pass', 'pass', 'refuse', 'refuse'],
            [row['Result'] for row in self.data(*command.split(), *files)],
        )

    def test_a_missing_column_is_named_with_its_command(self) -> None:
        short = self.save('aggregate list')
        command = ('aggregate', 'filter', 'lint', *self.files('flavors'))
        self.assert_one_line(
            self.openstack(*command, '--aggregates', short),
            '"Properties"',
            'openstack aggregate list --long',
        )

    def test_pages_may_follow_each_other(self) -> None:
        *options, file = self.files(*base.NOUNS)
        servers = json.loads(pathlib.Path(file).read_text('utf-8'))['servers']
        link = [{'rel': 'next', 'href': 'http://cloud.test/next'}]
        first = json.dumps({'servers': servers[:2], 'servers_links': link})
        last = json.dumps({'servers': servers[2:]})
        first_page = self.write(first, 'first-page')
        last_page = self.write(last, 'last-page')
        both_pages = self.write(first + last, 'both-pages')
        command = ('aggregate', 'filter', 'explain', *options)
        self.assert_one_line(
            self.openstack(*command, first_page), 'further pages'
        )
        rows = self.data(*command, file)
        self.assertEqual(rows, self.data(*command, both_pages))
        self.assertEqual(
            rows, self.data(*command, first_page, '--servers', last_page)
        )

    def test_5000_servers_are_one_file(self) -> None:
        *options, file = self.files(*base.NOUNS)
        page = json.loads(pathlib.Path(file).read_text('utf-8'))
        servers = []
        for number in range(5_000 // 3 + 1):
            for server in page['servers']:
                servers.append({**server, 'id': f'{server["id"]}-{number}'})
        file = self.write(json.dumps({'servers': servers}), 'many')
        output = self.run_command(
            'aggregate filter impact --summary -f json --fail-on stranded '
            '--remove-host licensed compute-8',
            *options,
            file,
            status=2,
        )
        self.assertIn(
            ['server', 'win.medium', 'stranded', len(servers) // 3],
            [list(row.values()) for row in json.loads(output)],
        )

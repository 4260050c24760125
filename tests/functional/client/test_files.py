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
        saving = {name: [one] for name, one in pages.saving().items()}
        saving['servers.json'] = [f'{words} {o}' for o in self.cloud.servers]
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
        flavors, aggregates = (
            self.save(*(f'{noun} show {name}' for name in names))
            for noun, names in (
                ('flavor', ('win.medium', 'm1.small')),
                ('aggregate', ('licensed', 'gpus')),
            )
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
        *others, file = self.files(*base.NOUNS)
        page = json.loads(pathlib.Path(file).read_text('utf-8'))
        first, last = page['servers'][:2], page['servers'][2:]
        link = [{'rel': 'next', 'href': 'http://cloud.test/next'}]
        texts = [
            json.dumps({'servers': first, 'servers_links': link}),
            json.dumps({'servers': last}),
        ]
        one, other, both = (
            self.write(''.join(found), f'page-{number}')
            for number, found in enumerate((texts[:1], texts[1:], texts))
        )
        command = ('aggregate', 'filter', 'explain', *others)
        self.assert_one_line(self.openstack(*command, one), 'further pages')
        whole = self.data(*command, file)
        self.assertEqual(whole, self.data(*command, both))
        found = self.data(*command, one, '--servers', other)
        self.assertEqual(whole, found)

    def test_5000_servers_are_one_file(self) -> None:
        *others, file = self.files(*base.NOUNS)
        page = json.loads(pathlib.Path(file).read_text('utf-8'))
        servers = [
            {**server, 'id': f'{server["id"]}-{number}'}
            for number in range(5_000 // 3 + 1)
            for server in page['servers']
        ]
        file = self.write(json.dumps({'servers': servers}), 'many')
        told = self.run_command(
            'aggregate filter impact --summary -f json --fail-on stranded '
            '--remove-host licensed compute-8',
            *others,
            file,
            status=2,
        )
        self.assertIn(
            ['server', 'win.medium', 'stranded', len(servers) // 3],
            [list(row.values()) for row in json.loads(told)],
        )

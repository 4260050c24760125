# SPDX-License-Identifier: Apache-2.0

"""Files in place of a cloud: what the shell prints, and what Nova answers."""

import json
import pathlib
import re

from tests import pages
from tests.functional.client import base


class FilesTest(base.CloudTestCase):
    def test_rows_and_answers_are_the_same_as_from_cloud_and_files(self):
        self.cloud.states['compute-3'] = ('disabled', 'up')
        self.cloud.servers['web'] = ('compute-7', 'm1.small')
        blocks = pages.read('doc/source/commands.rst')
        page = ''.join(block.text for block in blocks)
        saving = {
            file: [words]
            for words, file in re.findall(r'openstack (.*) > (\w+.json)', page)
        }
        (words,) = re.findall(r'openstack (.*) \$server', page)
        saving['servers.json'] = [
            f'{words} {server}' for server in self.cloud.servers
        ]
        rows = []
        for name, commands in saving.items():
            texts = map(self.run_command, commands)
            rows += [f'--{name[:-5]}', self.write(''.join(texts), name)]
        answers = self.files(*base.NOUNS)
        for command, read in (
            ('explain gpu.large --server mail', slice(8)),
            ('lint', slice(6)),
            ('audit', slice(2, 8)),
        ):
            command = ('aggregate', 'filter', *command.split())
            live = self.live(*command)
            self.assertTrue(live)
            for files in (rows, answers):
                self.assertEqual(live, self.data(*command, *files[read]))

    def test_pages_may_follow_each_other(self) -> None:
        # Of the last page.
        self.cloud.servers['web'] = ('compute-7', 'm1.small')
        *options, file = self.files('aggregates', 'hosts', 'servers')
        servers = json.loads(pathlib.Path(file).read_text('utf-8'))['servers']
        link = [{'rel': 'next', 'href': 'http://cloud.test/next'}]
        first = json.dumps({'servers': servers[:2], 'servers_links': link})
        last = json.dumps({'servers': servers[2:]})
        first_page = self.write(first, 'first-page')
        last_page = self.write(last, 'last-page')
        both_pages = self.write(first + last, 'both-pages')
        command = ('aggregate', 'filter', 'audit', *options)
        self.assert_one_line(
            self.openstack(*command, first_page), 'further pages'
        )
        document = self.data(*command, file)
        self.assertEqual(1, len(document['causes']))
        self.assertEqual(document, self.data(*command, both_pages))
        self.assertEqual(
            document, self.data(*command, first_page, '--servers', last_page)
        )

# SPDX-License-Identifier: Apache-2.0

"""What Nova's API answered, saved as it came, in place of the shell's rows."""

import json
import pathlib

import requests

from tests.functional.client import base, rest_stub

#: What the page says to ask for, by the option that reads it.
_PATHS = {
    'flavors': 'flavors/detail?is_public=None',
    'aggregates': 'os-aggregates',
    'hosts': 'os-services?binary=nova-compute',
    'servers': 'servers/detail?all_tenants=1',
}


class AnswersTest(base.CloudTestCase):
    def answers(self) -> list[str]:
        """Save Nova's answers and return the options that read them."""
        options = []
        for option, path in _PATHS.items():
            answer = requests.get(
                f'{rest_stub.COMPUTE}/{path}',
                headers={'OpenStack-API-Version': 'compute 2.61'},
                timeout=1,
            )
            options += [f'--{option}', self.write(answer.text, option)]
        return options

    def test_they_are_read_like_the_rows_of_the_shell(self) -> None:
        self.cloud.states['compute-3'] = ('disabled', 'up')
        answers = self.answers()
        for words, count in (
            ('explain gpu.large --server mail', 8),
            ('lint', 6),
            ('impact --add-host gpus compute-3', 8),
        ):
            command = ('aggregate', 'filter', *words.split())
            live = self.live(*command)
            self.assertTrue(live)
            self.assertEqual(live, self.data(*command, *answers[:count]))

    def test_pages_may_follow_each_other(self) -> None:
        *others, file = self.answers()
        page = json.loads(pathlib.Path(file).read_text('utf-8'))
        first, last = page['servers'][:2], page['servers'][2:]
        link = [{'rel': 'next', 'href': 'http://cloud.test/next'}]
        pages = [{'servers': first, 'servers_links': link}, {'servers': last}]
        texts = list(map(json.dumps, pages))
        command = ('aggregate', 'filter', 'explain', *others)
        result = self.openstack(*command, self.write(texts[0], 'first'))
        self.assert_one_line(result, 'further pages')
        whole = self.data(*command, file)
        self.assertEqual(
            whole, self.data(*command, self.write('\n'.join(texts), 'both'))
        )
        self.assertEqual(
            whole,
            self.data(
                *(*command, self.write(texts[0], 'first')),
                *('--servers', self.write(texts[1], 'last')),
            ),
        )

    def test_5000_servers_are_one_file(self) -> None:
        *others, file = self.answers()
        page = json.loads(pathlib.Path(file).read_text('utf-8'))
        servers = [
            {**server, 'id': f'{server["id"]}-{number}'}
            for number in range(5_000 // 3 + 1)
            for server in page['servers']
        ]
        file = self.write(json.dumps({'servers': servers}), 'many')
        told = self.told(
            'aggregate filter impact --summary -f json --fail-on stranded '
            '--remove-host licensed compute-8',
            *(*others, file),
            status=2,
        )
        self.assertIn(
            ['server', 'win.medium', 'stranded', len(servers) // 3],
            [list(row.values()) for row in json.loads(told)],
        )

# SPDX-License-Identifier: Apache-2.0

"""Answers of Nova's API in files, in place of a cloud."""

import json

from tests.functional.client import base, rest_stub


class FilesTest(base.CloudTestCase):
    def test_files_and_the_cloud_give_the_same_answer(self) -> None:
        self.cloud.services['compute-3']['status'] = 'disabled'
        self.cloud.servers['web']['OS-EXT-SRV-ATTR:host'] = 'compute-7'
        for command, nouns in (
            ('explain gpu.large --server mail', base.NOUNS),
            ('lint', ('flavors', 'aggregates', 'hosts')),
            ('audit', ('aggregates', 'hosts', 'servers')),
        ):
            command = f'aggregate filter {command}'
            live = self.data(command)
            self.assertEqual(live, self.data(command, *self.files(*nouns)))

    def test_each_page_has_a_file(self) -> None:
        # Of the last page.
        self.cloud.servers['web']['OS-EXT-SRV-ATTR:host'] = 'compute-7'
        audit = 'aggregate filter audit'
        live = self.data(audit)
        self.assertEqual(1, len(live))
        mail, train, web = self.cloud.servers.values()
        link = [{'rel': 'next', 'href': 'http://cloud.test/next'}]
        first = json.dumps({'servers': [mail, train], 'servers_links': link})
        options = self.files('aggregates', 'hosts')
        options += ['--servers', self.write(first, 'first.json')]
        result = self.openstack(*audit.split(), *options)
        self.assert_one_line(result, 'further pages')
        last = json.dumps({'servers': [web]})
        options += ['--servers', self.write(last, 'last.json')]
        self.assertEqual(live, self.data(audit, *options))

    def test_the_cloud_is_asked_for_each_page(self) -> None:
        self.cloud.servers['web']['OS-EXT-SRV-ATTR:host'] = 'compute-7'
        audit = 'aggregate filter audit'
        whole = self.data(audit)
        self.assertEqual(1, len(whole))
        mail, train, web = self.cloud.servers.values()
        link = [{'rel': 'next', 'href': 'http://cloud.test/next'}]
        first = {'servers': [mail, train], 'servers_links': link}
        url = f'{rest_stub.COMPUTE}/servers/detail'
        self.mocker.get(url, [{'json': first}, {'json': {'servers': [web]}}])
        self.assertEqual(whole, self.data(audit))
        self.assertIn(f'marker={train["id"]}', self.mocker.last_request.url)

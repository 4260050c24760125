# SPDX-License-Identifier: Apache-2.0

"""Files in place of a cloud: what the shell prints, and what Nova answers."""

import io
import json
import types
from unittest import mock

from osc_placement_plugins.source import SAVING, cloud
from tests.functional.client import base, rest_stub


class FilesTest(base.CloudTestCase):
    def test_rows_and_answers_are_the_same_as_from_cloud_and_files(self):
        self.cloud.services['compute-3']['status'] = 'disabled'
        self.cloud.servers['web']['OS-EXT-SRV-ATTR:host'] = 'compute-7'
        printed = {}
        for noun, command in SAVING.items():
            words = command.removeprefix('openstack ')
            names = self.cloud.servers if noun == 'servers' else ['']
            texts = [
                self.run_command(words.replace('SERVER', name))
                for name in names
            ]
            printed[noun] = self.write(''.join(texts), f'printed-{noun}.json')
        for command, nouns in (
            ('explain gpu.large --server mail', base.NOUNS),
            ('lint', ('flavors', 'aggregates', 'hosts')),
            ('audit', ('aggregates', 'hosts', 'servers')),
        ):
            command = f'aggregate filter {command}'
            live = self.data(command)
            self.assertEqual(live, self.data(command, *self.files(*nouns)))
            options = []
            for noun in nouns:
                options += [f'--{noun}', printed[noun]]
            self.assertEqual(live, self.data(command, *options))

    def test_pages_may_follow_each_other(self) -> None:
        # Of the last page.
        self.cloud.servers['web']['OS-EXT-SRV-ATTR:host'] = 'compute-7'
        audit = 'aggregate filter audit'
        live = self.data(audit)
        self.assertEqual(1, len(live))
        mail, train, web = self.cloud.servers.values()
        link = [{'rel': 'next', 'href': 'http://cloud.test/next'}]
        first = json.dumps({'servers': [mail, train], 'servers_links': link})
        last = json.dumps({'servers': [web]})
        options = self.files('aggregates', 'hosts')
        options += ['--servers', self.write(first, 'pages.json')]
        result = self.openstack(*audit.split(), *options)
        self.assert_one_line(result, 'further pages')
        self.write(first + last, 'pages.json')
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

    def test_a_terminal_is_told_how_far_a_slow_command_is(self) -> None:
        mail, *others = self.cloud.servers.values()
        pages = (
            {'servers': [mail], 'servers_links': [{'rel': 'next'}]},
            {'servers': others},
        )
        url = f'{rest_stub.COMPUTE}/servers/detail'
        for is_terminal, patience, lines in (
            (True, 0.0, ['1 servers read']),
            (True, 60.0, []),
            (False, 0.0, []),
        ):
            self.mocker.get(url, [{'json': page} for page in pages])
            error = io.StringIO()
            error.isatty = lambda: is_terminal  # noqa: B023
            streams = types.SimpleNamespace(stderr=error)
            with (
                mock.patch.object(cloud, '_PATIENCE', patience),
                mock.patch.object(cloud, 'sys', streams),
            ):
                self.assertEqual([], self.data('aggregate filter audit'))
            self.assertEqual(lines, error.getvalue().splitlines())

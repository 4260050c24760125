# SPDX-License-Identifier: Apache-2.0

"""Whatever is wrong is told in one line, with an exit code."""

import re
import shlex
import sys

import ddt

from testing import subprocesses
from tests.functional.client import base, rest_stub

_CLUSTER = 'cluster region plan --cluster web --scale-out 1'
#: What a file may hold, and what is said of it.
_TEXTS = (
    ('[{"Name": "m1.small"}]', 'no column "Properties"'),
    ('[{"Name": "m1.small", "Properties": null}]', 'flavor list --all --long'),
    (
        '[{"Name": "f", "Properties": {}}, {"Name": "f", "Properties": {}}]',
        "flavor 'f' is there twice",
    ),
    ('[7]', 'use -f json'),
    ('[{"Name": ', 'Expecting value'),
    # A line of a log.
    (
        'WARNING old: policy\n[{"Name": "f", "Properties": {}}]',
        "begins with 'WARNING old: policy', which is no JSON; use -f",
    ),
    ('[' * 100_000, 'recursion'),
    ('', "begins with ''"),
    ('\udcff\udcfe', 'utf-8'),
)
#: A command, and what is said of it.
_ARGUMENTS = (
    ('explain nosuch', "No flavor has the name or ID 'nosuch'"),
    ('explain m1.small --host h', "the name 'h'"),
    ('explain', 'Name a flavor'),
    ('lint --flavors {twice}', 'a key is there twice'),
    ('lint --config-file /no/nova.conf', '/no/nova.conf'),
    ('lint --aggregates /no/file', 'Cannot read'),
    ('lint --severity', 'see --help'),
    ('lint -f json -c nosuch', 'verdict, causes, unjudged'),
)


@ddt.ddt
class ErrorTest(base.CloudTestCase):
    def run_filter(self, *words: str, **login: str) -> base.Result:
        """Run a command of the filter."""
        return self.openstack('aggregate', 'filter', *words, **login)

    def test_a_wrong_file_is_named(self) -> None:
        aggregates = self.files('aggregates')
        file = self.write('', 'wrong')
        for text, words in _TEXTS:
            # A half of a surrogate pair stands for a byte that is no text.
            with open(file, 'w', errors='surrogateescape') as stream:
                stream.write(text)
            with self.subTest(text[:50]):
                result = self.run_filter(
                    'lint', '--flavors', file, *aggregates
                )
                self.assert_one_line(result, file, words)

    def test_a_wrong_argument_is_named(self) -> None:
        twice = self.write('[{"name": "a", "name": "b"}]', 'twice.json')
        files = self.files()
        for words, message in _ARGUMENTS:
            command, *arguments = words.format(twice=twice).split()
            with self.subTest(words):
                result = self.run_filter(command, *files, *arguments)
                self.assert_one_line(result, message)
                # 2 stands for findings.
                self.assertEqual(1, result.status)

    def test_half_of_the_files_are_not_enough(self) -> None:
        file = {noun: self.files(noun) for noun in base.NOUNS}
        for command, missing in (
            (('lint', *file['hosts']), 'flavors'),
            (('lint', *file['flavors']), 'aggregates'),
            (('explain', '--server', 'web', *file['aggregates']), 'servers'),
        ):
            text = f'Offline input takes --{missing} <file> too'
            self.assert_one_line(self.run_filter(*command), text)

    @ddt.data('aggregate filter lint', _CLUSTER)
    def test_no_cloud_is_told(self, words: str) -> None:
        self.assert_one_line(self.openstack(*words.split()), 'auth')
        # The discard port, where nobody listens; the stub knows it not.
        login = rest_stub.LOGIN | {'OS_AUTH_URL': 'http://127.0.0.1:9/v3'}
        self.mocker.stop()
        self.addCleanup(self.mocker.start)
        result = self.openstack(*words.split(), **login)
        self.assertEqual(1, result.status)
        self.assertIn('127.0.0.1:9', result.error)

    def test_a_senlin_that_does_not_answer_is_told(self) -> None:
        self.mocker.stop()
        self.addCleanup(self.mocker.start)
        result = self.openstack(
            *_CLUSTER.split(),
            OS_AUTH_TYPE='admin_token',
            OS_TOKEN='t',
            OS_ENDPOINT='http://127.0.0.1:9/',
        )
        self.assert_one_line(result, '127.0.0.1')

    def test_a_user_who_may_not_is_told(self) -> None:
        self.mocker.get(
            f'{rest_stub.COMPUTE}/os-aggregates',
            status_code=403,
            json={'forbidden': {'message': 'Policy says no', 'code': 403}},
        )
        result = self.run_filter('lint', **self.login)
        self.assert_one_line(
            result,
            '403',
            '/os-aggregates',
            'Policy says no',
        )

    def test_an_unknown_server_is_told(self) -> None:
        result = self.run_filter('explain', '--server', 'nosuch', **self.login)
        self.assert_one_line(result, 'nosuch')

    def test_a_server_whose_cell_is_down_is_told(self) -> None:
        self.cloud.down = ('lost',)
        result = self.run_filter('explain', '--server', 'lost', **self.login)
        self.assert_one_line(result, 'flavor of lost: the cell may be down')
        self.assertEqual(1, result.status)

    @ddt.data(
        ('lint', '/os-aggregates'),
        ('explain --server web', '/servers/web'),
    )
    @ddt.unpack
    def test_a_page_in_place_of_an_answer_is_told(
        self, words: str, path: str
    ) -> None:
        page = '<html>It works!</html>'
        self.mocker.get(re.compile(f'{rest_stub.COMPUTE}{path}'), text=page)
        result = self.run_filter(*words.split(), **self.login)
        self.assert_one_line(result, 'Nova answers something that is no JSON')

    def test_a_file_may_begin_with_a_byte_order_mark(self) -> None:
        flavors = self.write('\ufeff[{"Name": "f", "Properties": {}}]', 'bom')
        files = ('--flavors', flavors, *self.files('aggregates'))
        document = self.data('aggregate', 'filter', 'lint', *files)
        self.assertIn('1 flavor and', document['verdict'])

    def test_an_incomplete_list_of_servers_is_told(self) -> None:
        self.mocker.get(
            f'{rest_stub.COMPUTE}/servers/detail',
            json={'servers': [], 'servers_links': [{'rel': 'next'}]},
        )
        result = self.run_filter('audit', **self.login)
        self.assert_one_line(result, 'the list is incomplete: ask again')

    def test_a_closed_standard_output_is_told(self) -> None:
        command = ['aggregate', 'filter', 'lint', *self.files()]
        shell = f'{sys.executable} -m openstackclient.shell'
        result = subprocesses.run(
            *('sh', '-c', f'{shell} {shlex.join(command)} >&-'),
            env=self.environment(),
        )
        self.assertEqual(1, result.returncode)
        self.assertEqual(
            'The standard output is closed', result.stderr.strip()
        )

# SPDX-License-Identifier: Apache-2.0

"""Whatever is wrong is told in one line, with an exit code."""

import json
import re

import ddt

from tests.functional.client import base, rest_stub

#: The commands of the filter, each with the arguments it needs.
_COMMANDS = (
    ('explain', 'm1.small'),
    ('lint',),
    ('impact', '--set-aggregate', 'licensed', 'os=x'),
)
_CLUSTER = 'cluster region plan --cluster web --scale-out 1'
#: What a file may hold, and what is said of it.
_TEXTS = (
    ('[{"Name": "m1.small"}]', 'no column "Properties"'),
    ('[{"ID": 1}]', 'no column "Name"'),
    ('[{"Name": ', 'Expecting value'),
    ('[1]', 'does not hold what'),
    # CSV, a table, YAML, and a line of a log.
    ('"ID","Name"\n"1","m1.small"\n', 'use -f json'),
    ('+----+------+\n| ID | Name |\n', 'use -f json'),
    ('- Name: m1.small\n  Properties: {}', 'use -f json'),
    (
        'WARNING old: policy\n[{"Name": "f", "Properties": {}}]',
        "begins with 'WARNING old: policy', which is no JSON; use -f",
    ),
    ('\x00', 'which is no JSON'),
    ('[' * 100_000, 'recursion'),
    ('', "begins with ''"),
    ('\udcff\udcfe', 'utf-8'),
)
#: A command, and what is said of it.
_ARGUMENTS = (
    ('explain nosuch', "no flavors have the name or ID 'nosuch'"),
    ('explain m1.small --host h', "the name 'h'"),
    ('explain --server web', '--servers'),
    ('explain', 'Name a flavor'),
    ('impact --replace-in-tree --no-servers --servers {old}', 'exclude'),
    # Files of something else, and several outputs run together.
    ('explain m1.small --hosts {flavors}', 'compute service list'),
    ('explain m1.small --hosts {aggregates}', 'service list'),
    ('explain m1.small --flavors {aggregates}', 'flavor list --all'),
    ('explain m1.small --aggregates {flavors}', 'no column "Hosts"'),
    ('explain --servers {twice}', 'a key is there twice'),
    ('impact', 'Name a change'),
    ('impact --set-aggregate x k=v', "the name or ID 'x'"),
    ('impact --add-host gpus h', "No compute host has the name 'h'"),
    ('impact --remove-host gpus h', "'h' is not in aggregate 'gpus'"),
    ('impact --replace-in-tree --fail-on stranded', 'needs hosts and ser'),
    ('impact --set-aggregate gpus k', "'k' is not key=value"),
    ('impact --unset-flavor m1.small k', "no key 'k'"),
    ('lint --config-file /no/nova.conf', '/no/nova.conf'),
    ('lint --aggregates /no/file', 'Cannot read'),
    ('lint --severity worst', 'see --help'),
    # Saved with an old microversion of the API.
    ('explain --servers {old}', '--os-compute-api-version 2.47'),
    ('impact --replace-in-tree --servers {old}', 'api-version 2.47'),
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
        server = {'name': 'mail', 'flavor': 'win.medium (1)'}
        old = self.write(json.dumps(server), 'old.json')
        twice = self.write('[{"name": "a", "name": "b"}]', 'twice.json')
        files = self.files()
        for words, message in _ARGUMENTS:
            command, *arguments = words.format(
                old=old, twice=twice, flavors=files[1], aggregates=files[3]
            ).split()
            with self.subTest(words):
                result = self.run_filter(command, *files, *arguments)
                self.assert_one_line(result, message)
                # 2 stands for findings.
                self.assertEqual(1, result.status)

    def test_half_of_the_files_are_not_enough(self) -> None:
        files = {f'--{noun}': self.files(noun)[1] for noun in base.NOUNS}
        for command in _COMMANDS:
            for option, file in files.items():
                if (command[0], option) == ('lint', '--servers'):
                    continue
                missing = '--aggregates'
                # The flavors are asked for first.
                if option != '--flavors':
                    missing = '--flavors'
                result = self.run_filter(*command, option, file)
                text = f'Offline input takes {missing} <file> too'
                self.assert_one_line(result, text)

    @ddt.data(
        *(' '.join(('aggregate filter', *command)) for command in _COMMANDS),
        'aggregate filter audit',
        'aggregate filter capacity',
        'stack hints list shop',
        'stack hints list',
        'cluster region list web',
        _CLUSTER,
    )
    def test_no_cloud_is_told(self, words: str) -> None:
        self.assert_one_line(self.openstack(*words.split()), 'auth')
        # The discard port, where nobody listens; the stub knows it not.
        login = rest_stub.LOGIN | {'OS_AUTH_URL': 'http://127.0.0.1:9/v3'}
        self.mocker.stop()
        self.addCleanup(self.mocker.start)
        result = self.openstack(*words.split(), **login)
        self.assert_one_line(result, '127.0.0.1:9')
        # If you ask for more you get more.
        result = self.openstack('-v', *words.split(), **login)
        self.assertGreater(len(result.error.splitlines()), 1)

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
            'Nova answers 403',
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
        # Beside others, it is not judged.
        files = self.files(*base.NOUNS)
        result = self.run_filter(
            'explain', *files, '--fail-if-none', '-f', 'json'
        )
        self.assertEqual(1, result.status)
        self.assertIn('Nova does not show the flavor of lost', result.error)
        self.assertTrue(json.loads(result.output))

    @ddt.data(
        ('lint', f'{rest_stub.COMPUTE}/os-aggregates', 'Nova'),
        ('audit', f'{rest_stub.COMPUTE}/servers/detail', 'Nova'),
        ('explain --server web', f'{rest_stub.COMPUTE}/servers/web', 'Nova'),
        ('capacity', f'{rest_stub.PLACEMENT}/allocation_candid', 'Placement'),
    )
    @ddt.unpack
    def test_a_page_in_place_of_an_answer_is_told(
        self, words: str, url: str, service: str
    ) -> None:
        page = '<html>It works!</html>'
        self.mocker.get(re.compile(url), text=page)
        result = self.run_filter(*words.split(), **self.login)
        self.assert_one_line(
            result, f'{service} answers something that is no JSON'
        )

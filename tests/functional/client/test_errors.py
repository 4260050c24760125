# SPDX-License-Identifier: Apache-2.0

"""Whatever is wrong is told in one line, with an exit code."""

import shlex
import sys
from typing import Any

import ddt
import requests
from keystoneauth1.fixture import discovery

from testing import subprocesses
from tests.functional.client import base, rest_stub

#: What a file may hold, and what is said of it.
_FLAVOR = '{"name": "f", "extra_specs": {}}'
_TEXTS = (
    (f'{{"flavors": [{_FLAVOR}, {_FLAVOR}]}}', 'flavors is there twice'),
    (f'[{_FLAVOR}]', "no JSON object with a list 'flavors'; save the answer"),
    ('{"flavors": [7]}', "'flavors' has something that is no object; save"),
    ('{"flavors": ', 'Expecting value'),
    # A line of a log.
    ('WARNING old: policy\n{"flavors": []}', 'Expecting value'),
    ('[' * 100_000, 'recursion'),
    # A half of a surrogate pair stands for a byte that is no text.
    ('\udcff\udcfe', 'utf-8'),
)
#: A command, and what is said of it.
_ARGUMENTS = (
    ('explain nosuch', "No flavor has the name or ID 'nosuch'"),
    ('explain m1.small --host h', "the name 'h'"),
    ('explain', 'Name a flavor'),
    ('lint --exempt-metadata-keys aggregate_instance_extra_specs:k', 'scope'),
    ('lint --aggregates /no/file', 'Cannot read'),
    ('lint --severity', 'see --help'),
    ('lint -f json -c nosuch', 'nosuch'),
)
_FORBIDDEN = {'message': 'Policy says no', 'code': 403}


@ddt.ddt
class ErrorTest(base.CloudTestCase):
    def run_filter(self, *words: str) -> base.Result:
        """Run a command of the filter."""
        return self.openstack('aggregate', 'filter', *words)

    def test_a_wrong_file_is_named(self) -> None:
        aggregates = self.files('aggregates')
        for text, words in _TEXTS:
            file = self.write('', 'wrong')
            with open(file, 'w', errors='surrogateescape') as stream:
                stream.write(text)
            with self.subTest(text[:50]):
                result = self.run_filter(
                    'lint', '--flavors', file, *aggregates
                )
                self.assert_one_line(result, file, words)

    def test_a_wrong_argument_is_named(self) -> None:
        files = self.files('flavors', 'aggregates')
        for words, message in _ARGUMENTS:
            command, *arguments = words.split()
            with self.subTest(words):
                result = self.run_filter(command, *files, *arguments)
                self.assert_one_line(result, message)
                # 2 stands for findings.
                self.assertEqual(1, result.status)

    def test_half_of_the_files_are_not_enough(self) -> None:
        result = self.run_filter('lint', *self.files('flavors'))
        self.assert_one_line(result, 'takes --aggregates <file> too')

    def test_a_cloud_without_the_microversion_is_told(self) -> None:
        old = discovery.NovaMicroversionDiscovery(
            rest_stub.COMPUTE, 'v2.1', min_version='2.1', version='2.60'
        )
        for answer in (
            {'json': {'version': old}},
            {'text': '<html>It works!</html>'},
            {'status_code': 500},
        ):
            self.mocker.get(rest_stub.COMPUTE, **answer)
            self.mocker.get('http://cloud.test/', status_code=404)
            self.mocker.get('http://cloud.test/compute/', status_code=404)
            for command in 'lint', 'audit', 'explain m1.small':
                self.assert_one_line(
                    self.run_filter(*command.split()),
                    rest_stub.COMPUTE,
                    'microversion 2.69',
                )

    def test_no_cloud_is_told(self) -> None:
        self.login = {}
        self.assert_one_line(self.run_filter('lint'), 'auth')

    def test_a_cloud_that_does_not_answer_is_told(self) -> None:
        refused = requests.ConnectionError('refused')
        self.mocker.get(rest_stub.AUTH_URL, exc=refused)
        self.mocker.post(f'{rest_stub.AUTH_URL}/auth/tokens', exc=refused)
        for command in (
            'aggregate filter lint',
            'cluster region plan --cluster web --scale-out 1',
        ):
            result = self.openstack(*command.split())
            self.assertEqual(1, result.status)
            self.assertIn(rest_stub.AUTH_URL, result.error)

    @ddt.unpack
    @ddt.data(
        (
            ('lint', '/os-aggregates'),
            {'status_code': 403, 'json': {'forbidden': _FORBIDDEN}},
            *('403', '/os-aggregates', 'Policy says no'),
        ),
        (
            ('lint', '/os-aggregates'),
            {'text': '<html>It works!</html>'},
            '/os-aggregates is of no use: it is no JSON object with a list',
        ),
        # Too deep for a parser.
        (
            ('lint', '/os-aggregates'),
            {'text': '[' * 100_000},
            '/os-aggregates is of no use: it is no JSON object with a list',
        ),
        *(
            (
                ('lint', '/os-services'),
                {'json': answer},
                "of no use: it is no JSON object with a list 'services'",
            )
            for answer in (None, 7, [], {}, {'services': None})
        ),
        *(
            (
                ('lint', '/flavors/detail'),
                {'json': {'flavors': flavors}},
                words,
            )
            for flavors, words in (
                ([7], "'flavors' has something that is no object"),
                ([{'extra_specs': {}}], 'a flavor has no name'),
                ([{'name': 'f', 'extra_specs': None}], "'f' has no extra_s"),
                # A policy of Nova may hide them.
                ([{'name': 'f'}], "'f' has no extra_specs"),
            )
        ),
        *(
            (
                ('audit', '/servers/detail'),
                {'json': {'servers': page, 'servers_links': [{}]}},
                'the list is incomplete: ask again',
            )
            # A page is empty, or is answered for ever.
            for page in ([], [{'id': '1', 'status': 'UNKNOWN'}])
        ),
        (
            ('explain --server x', '/servers/x'),
            {'json': []},
            '/servers/x is of no use: it is no JSON object',
        ),
    )
    def test_an_answer_of_no_use_is_told(self, asked, answer, *words):
        command, path = asked
        self.mocker.get(f'{rest_stub.COMPUTE}{path}', **answer)
        result = self.run_filter(*command.split())
        self.assert_one_line(result, *words)

    def test_a_server_that_nova_does_not_show_is_told(self) -> None:
        self.cloud.add_lost_server()
        for name, words in (
            ('nosuch', 'nosuch'),
            ('lost', 'flavor of lost: the cell may be down'),
        ):
            result = self.run_filter('explain', '--server', name)
            self.assert_one_line(result, words)

    def start_lint(self, ending: str, **variables: str) -> Any:
        """Run lint as a process.

        :param ending: how the shell command ends.
        """
        files = self.files('flavors', 'aggregates', 'hosts')
        command = [sys.executable, '-m', 'openstackclient.shell']
        command += ['aggregate', 'filter', 'lint', *files]
        return subprocesses.run(
            *('sh', '-c', f'{shlex.join(command)} {ending}'),
            env=self.environment() | variables,
        )

    def test_a_closed_standard_output_is_told(self) -> None:
        result = self.start_lint('>&-')
        self.assertEqual(1, result.returncode)
        self.assertEqual('The standard output is closed\n', result.stderr)

    def test_a_closed_standard_error_adds_nothing_to_the_rows(self) -> None:
        result = self.start_lint('-f csv 2>&-')
        self.assertEqual(0, result.returncode)
        self.assertEqual(1, len(result.stdout.splitlines()), result.stdout)

    def test_a_character_that_the_terminal_lacks_is_escaped(self) -> None:
        self.cloud.add_flavor('\u0141ukasz\ud800', {'nosuch': '1'})
        result = self.start_lint('', PYTHONIOENCODING='ascii:strict')
        self.assertEqual(2, result.returncode, result.stderr)
        self.assertIn(r'\u0141ukasz\ud800, nosuch', result.stdout)

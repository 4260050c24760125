# SPDX-License-Identifier: Apache-2.0

"""Whatever is wrong is told in one line, with an exit code."""

import json

import ddt

from tests.functional.client import base, rest_stub

_COMMANDS = {
    'explain': ['m1.small'],
    'lint': [],
    'impact': ['--set-aggregate', 'licensed', 'os=x'],
}


@ddt.ddt
class ErrorTest(base.CloudTestCase):
    def fail(self, command: str, *arguments: str, **login: str) -> base.Result:
        """Run a command that must fail, with the arguments it needs."""
        needed = _COMMANDS[command]
        return self.openstack(
            'aggregate', 'filter', command, *needed, *arguments, **login
        )

    @ddt.data(*_COMMANDS)
    def test_a_missing_file_is_named(self, command: str) -> None:
        result = self.fail(
            command, '--aggregates', '/no/file', '--flavors', 'x'
        )
        self.assert_one_line(result, 'Cannot read', 'No such file')

    @ddt.data(
        ('[{"Name": "m1.small"}]', 'no column "Properties"'),
        ('[{"ID": 1}]', 'no column "Name"'),
        ('[{"Name": ', 'Expecting value'),
        ('[1]', 'does not hold what'),
        ('42', 'does not hold what'),
        ('a: [', 'line'),
        ('- Name: m1.small\n  Properties: {k: ~}', 'quotes'),
        ('\x00', 'not allowed'),
        ('', 'it is empty'),
    )
    @ddt.unpack
    def test_a_wrong_file_is_named(self, text: str, words: str) -> None:
        aggregates = self.files()[2:]
        file = self.write(text, 'wrong')
        for command in _COMMANDS:
            result = self.fail(command, '--flavors', file, *aggregates)
            self.assert_one_line(result, file, words)

    def test_a_file_that_is_no_text_is_named(self) -> None:
        options = self.files()
        with open(options[1], 'wb') as stream:
            stream.write(b'\xff\xfe\x00')
        self.assert_one_line(self.fail('lint', *options), options[1], 'utf-8')

    def test_a_missing_column_is_named_with_its_command(self) -> None:
        short = self.save('short.json', 'aggregate', 'list')
        result = self.fail('lint', *self.files()[:2], '--aggregates', short)
        self.assert_one_line(
            result, '"Properties"', 'openstack aggregate list --long'
        )

    def test_a_server_saved_with_an_old_api_is_told_how_to_save(self) -> None:
        servers = self.write(
            json.dumps({'name': 'mail', 'flavor': 'win.medium (1)'}),
            'servers.json',
        )
        files = self.files()
        for command in ('explain', 'impact'):
            result = self.fail(command, *files, '--servers', servers)
            self.assert_one_line(result, '--os-compute-api-version 2.47')

    @ddt.data(
        (['explain', 'nosuch'], "no flavor has the name or ID 'nosuch'"),
        (['explain', 'm1.small', '--host', 'h'], "the name 'h'"),
        (['explain', '--server', 'web'], '--servers'),
        (['explain'], 'Name a flavor'),
        (['explain', '--matrix', '--host', 'compute-1'], 'leave out --host'),
        (['impact'], 'Name a change'),
        (['impact', '--set-aggregate', 'x', 'k=v'], "the name 'x'"),
        (['impact', '--set-aggregate', 'gpus', 'k'], "'k' is no key=value"),
        (['impact', '--unset-flavor', 'm1.small', 'k'], "no key 'k'"),
        (['lint', '--config-file', '/no/nova.conf'], '/no/nova.conf'),
    )
    @ddt.unpack
    def test_a_wrong_argument_is_named(
        self, words: list[str], message: str
    ) -> None:
        result = self.openstack('aggregate', 'filter', *words, *self.files())
        self.assert_one_line(result, message)

    @ddt.data(
        (['--flavors'], '--aggregates'),
        (['--hosts'], '--aggregates'),
        (['--aggregates'], '--flavors'),
    )
    @ddt.unpack
    def test_half_of_the_files_are_not_enough(
        self, options: list[str], missing: str
    ) -> None:
        files = self.files()
        given = [
            word
            for option in options
            for word in (option, files[files.index(option) + 1])
        ]
        for command in _COMMANDS:
            result = self.fail(command, *given)
            self.assert_one_line(result, missing)

    @ddt.data('explain', 'impact')
    def test_servers_alone_are_not_enough(self, command: str) -> None:
        result = self.fail(command, *self.server_files(), **rest_stub.LOGIN)
        self.assert_one_line(result, '--aggregates')

    @ddt.data(*_COMMANDS)
    def test_no_cloud_is_told(self, command: str) -> None:
        self.assert_one_line(self.fail(command), 'auth')

    @ddt.data(*_COMMANDS)
    def test_an_unreachable_cloud_is_told(self, command: str) -> None:
        # The discard port, where nobody listens; the stub knows it not.
        login = rest_stub.LOGIN | {'OS_AUTH_URL': 'http://127.0.0.1:9/v3'}
        self.mocker.stop()
        self.addCleanup(self.mocker.start)
        self.assert_one_line(self.fail(command, **login), '127.0.0.1:9')

    def test_a_user_who_may_not_is_told(self) -> None:
        self.mocker.get(
            f'{rest_stub.COMPUTE}/os-aggregates',
            status_code=403,
            json={'forbidden': {'message': 'Policy says no', 'code': 403}},
        )
        self.assert_one_line(
            self.fail('lint', **rest_stub.LOGIN), '403', 'Policy says no'
        )

    def test_an_unknown_server_is_told(self) -> None:
        command = ('aggregate', 'filter', 'explain', '--server', 'nosuch')
        result = self.openstack(*command, **rest_stub.LOGIN)
        self.assert_one_line(result, 'nosuch')

# SPDX-License-Identifier: Apache-2.0

"""The shell finds the plug-in, and nothing else changes."""

import contextlib
import importlib.metadata
import io
import json
from unittest import mock

import ddt
import requests_mock
from keystoneauth1 import adapter, session, token_endpoint

from nova_filters.matching.inputs import SCOPE
from openstack_commands import extension
from openstack_commands.base import lister, pages, progress
from tests.functional.client import base


@ddt.ddt
class ShellTest(base.CommandTestCase):
    def test_errors_of_lint_end_a_process_with_exit_code_2(self) -> None:
        flavor = {'Name': 'f', 'Properties': {f'{SCOPE}os': '<or> ! <or> x'}}
        aggregate = {'Name': 'a', 'Properties': {}, 'Hosts': ['h']}
        files = [
            '--flavors',
            self.write(json.dumps([flavor]), 'flavors'),
            '--aggregates',
            self.write(json.dumps([aggregate]), 'others'),
        ]
        command = 'aggregate filter lint --severity error -f json'
        result = self.openstack_process(*command.split(), *files)
        # The shell loads without a warning.
        self.assertEqual((2, ''), (result.status, result.error))
        row, *_ = json.loads(result.output)
        self.assertEqual(
            ['Severity', 'Code', 'Object', 'Name', 'Key', 'Problem', 'Remedy'],
            list(row),
        )
        self.assertEqual(
            ['error', 'exclusive-sentinel', 'flavor', 'f'],
            list(row.values())[:4],
        )

    def test_the_extension_is_published_once(self) -> None:
        points = importlib.metadata.entry_points(
            group='openstack.cli.extension', name=extension.API_NAME
        )
        self.assertEqual([extension], [point.load() for point in points])

    @ddt.data((True, 0.0, 2), (True, 60.0, 0), (False, 0.0, 0))
    @ddt.unpack
    def test_a_terminal_is_told_how_far_a_slow_command_is(
        self, terminal: bool, patience: float, lines: int
    ) -> None:
        error = io.StringIO()
        with (
            mock.patch.object(progress, 'PATIENCE', patience),
            mock.patch.object(error, 'isatty', lambda: terminal, create=True),
            contextlib.redirect_stderr(error),
        ):
            self.assertEqual(['a', 'b'], [*lister.progress(['a', 'b'], 'f')])
        progress_lines = ['0 of 2 f', '1 of 2 f'][:lines]
        self.assertEqual(progress_lines, error.getvalue().splitlines())

    def test_a_terminal_is_told_how_far_a_long_list_is(self) -> None:
        error = io.StringIO()
        url = 'http://nova.test/servers'
        auth = token_endpoint.Token('http://nova.test', 'token')
        nova = adapter.Adapter(session.Session(auth), service_type='compute')
        rows = [{'id': '1'}, {'id': '2'}]
        first = {'servers': rows, 'servers_links': ['next']}
        last = {'servers': rows}
        mocker = self.enterContext(requests_mock.Mocker())
        mocker.get(url, [{'json': first}, {'json': last}])
        with (
            mock.patch.object(progress, 'PATIENCE', 0.0),
            mock.patch.object(error, 'isatty', lambda: True, create=True),
            contextlib.redirect_stderr(error),
        ):
            servers = [*pages.listed(nova, '/servers', 'servers', '2.69')]
        self.assertEqual([*rows, *rows], servers)
        self.assertEqual(
            ['2 servers read', '4 servers read'], error.getvalue().splitlines()
        )

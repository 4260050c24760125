# SPDX-License-Identifier: Apache-2.0

"""The commands where their service is not installed."""

import contextlib
import io
import logging
import os
import sys
import unittest
from unittest import mock

import ddt

from heat_hints import status as heat_status
from nova_filters import status as nova_status
from senlin_plugins import conversion
from senlin_plugins import status as senlin_status

CHECK = ['upgrade', 'check']


@ddt.ddt
class UpgradeCheckTest(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        ('senlin-plugins-status', senlin_status.Checks, 'senlin-engine'),
        ('nova-filters-status', nova_status.Checks, 'nova-scheduler'),
        ('heat-hints-status', heat_status.Checks, 'heat-engine'),
        ('senlin-plugins-convert', conversion, 'senlin-engine', ['list']),
    )
    def test_without_the_service_one_line_says_where_to_run_it(
        self, name, command, service, words=CHECK
    ):
        package, _, _ = service.partition('-')
        output, error = io.StringIO(), io.StringIO()
        with (
            # As if it were not there, wherever the tests run.
            mock.patch.dict(sys.modules, {package: None}),
            # The command has its process for itself.
            mock.patch.dict(os.environ),
            mock.patch.object(logging.getLogger(), 'handlers', []),
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(error),
        ):
            code = command.main(words)
        self.assertEqual((255, ''), (code, output.getvalue()))
        (line,) = error.getvalue().splitlines()
        self.assertTrue(line.startswith(f'{name}: '), line)
        self.assertIn(f'where {service} is', line)

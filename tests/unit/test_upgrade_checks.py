# SPDX-License-Identifier: Apache-2.0

"""The upgrade checks where their service is not installed."""

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
from senlin_plugins import status as senlin_status


@ddt.ddt
class UpgradeCheckTest(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        (senlin_status, 'senlin', 'senlin-plugins-status', 'senlin-engine'),
        (nova_status, 'nova', 'nova-filters-status', 'nova-scheduler'),
        (heat_status, 'heat', 'heat-hints-status', 'heat-engine'),
    )
    def test_without_the_service_one_line_says_where_to_run_it(
        self, status, package, command, service
    ):
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
            code = status.Checks.main(['upgrade', 'check'])
        self.assertEqual((255, ''), (code, output.getvalue()))
        (line,) = error.getvalue().splitlines()
        self.assertTrue(line.startswith(f'{command}: '), line)
        self.assertIn(f'where {service} is installed', line)

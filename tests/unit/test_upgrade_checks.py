# SPDX-License-Identifier: Apache-2.0

"""The commands where their service is not installed."""

import contextlib
import io
import logging
import os
import sys
import tempfile
import threading
import unittest
from unittest import mock

import ddt
from oslo_config import cfg

from heat_hints import status as heat_status
from nova_filters import status as nova_status
from os_placement_plugins import child_process, upgrade_check
from senlin_plugins import status as senlin_status

CHECK = ['upgrade', 'check']


class HangingChecks(upgrade_check.Checks):
    """The upgrade check of a service whose plug-ins never load."""

    command = 'some-status'
    project = 'some'
    service = 'some-engine'
    options = ()

    @classmethod
    def load(cls):
        return cls(cfg.ConfigOpts(), ())

    def look(self):
        return child_process.load('a plug-in', self.hang)

    def hang(self, begin):
        threading.Event().wait()


@ddt.ddt
class UpgradeCheckTest(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        ('senlin-plugins-status', senlin_status.Checks, 'senlin-engine'),
        ('nova-filters-status', nova_status.Checks, 'nova-scheduler'),
        ('heat-hints-status', heat_status.Checks, 'heat-engine'),
    )
    def test_without_the_service_one_line_says_where_to_run_it(
        self, name, command, service
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
            code = command.main(CHECK)
        self.assertEqual((255, ''), (code, output.getvalue()))
        (line,) = error.getvalue().splitlines()
        self.assertTrue(line.startswith(f'{name}: '), line)
        self.assertIn(f'where {service} is', line)

    def test_a_plug_in_that_hangs_is_not_called_a_failure(self):
        file = self.enterContext(tempfile.NamedTemporaryFile(suffix='.conf'))
        output, error = io.StringIO(), io.StringIO()
        with (
            mock.patch.object(child_process, 'LIMIT', 0.1),
            mock.patch.object(logging.getLogger(), 'handlers', []),
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(error),
        ):
            code = HangingChecks.main(['--config-file', file.name, *CHECK])
        self.assertEqual(255, code)
        self.assertEqual(f'{upgrade_check.DOES}\n', output.getvalue())
        (line,) = error.getvalue().splitlines()
        self.assertIn('some-status: could not check a plug-in: there', line)

# SPDX-License-Identifier: Apache-2.0

"""What only a heat-engine that forks its workers, and many servers, show."""

import contextlib
import itertools
import pathlib
import tempfile
import unittest

import tests
from testing.heat import loopback, process
from testing.heat.templates import group, server, stack, template
from tests.functional.heat_hints import base

WORKERS = 2
#: How many servers each stack has: more than call a provider at once.
SERVERS = 100 if tests.ALL else 20
#: How many stacks each worker makes.
STACKS = 2 if tests.ALL else 1
#: A provider that tells where it was imported and checked.
PROVIDER = f"""
import os
import threading

PROCESS = os.getpid()
IN_MAIN_THREAD = threading.current_thread() is threading.main_thread()
CHECKED_IN = []
{base.PROVIDER}
    @classmethod
    def check(cls, conf):
        CHECKED_IN.append(os.getpid())

    def hints(self, request):
        before_the_fork = [PROCESS, *CHECKED_IN] == [os.getppid()] * 2
        return {{'places': [IN_MAIN_THREAD, before_the_fork]}}
"""
PLACES = ['True', 'True']
SETTINGS = {
    'DEFAULT': {'num_engine_workers': str(WORKERS)},
    'heat_hints': {
        'enabled': 'true',
        'on_error': 'fail',
        'providers': 'rack',
        # No load may make a call late.
        'provider_timeout': '1800',
    },
}
POINTS = {'heat_hints.providers': {'rack': 'providers_for_tests:Provider'}}


class TestForked(unittest.TestCase):
    def run_engine(self, stacks):
        """Return what each worker reports, the requests, and the log."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        path = folder / 'path'
        path.mkdir()
        files = {'providers_for_tests.py': PROVIDER}
        base.write_modules(path, files, POINTS)
        with contextlib.closing(loopback.Cloud()) as cloud:
            scenario = {
                'cloud': cloud.url,
                'settings': SETTINGS,
                'stacks': stacks,
            }
            log = folder / 'heat.log'
            try:
                reports = process.run_forked(scenario, WORKERS, folder, path)
            except RuntimeError as exc:
                text = f'{exc}\n...{log.read_text()[-4000:]}'
                raise AssertionError(text) from exc
            return reports, cloud.requests, log.read_text()

    def test_a_provider_is_loaded_in_the_main_thread_before_the_fork(self):
        many = template(many=group(SERVERS, server()))
        stacks = []
        for number in range(STACKS):
            name = f'stack{number}'
            stacks.append(stack(name, many, project=f'project{number}'))
        reports, requests, log = self.run_engine(stacks)
        told = {}
        for listing in itertools.chain(*reports):
            self.assertEqual('CREATE_COMPLETE', listing['status'], listing)
            for resource in listing['resources']:
                told[resource['server']] = listing['root'], resource
        self.assertEqual(WORKERS * STACKS * SERVERS, len(requests))
        for request in requests:
            expected = base.stack_hints.expected(*told[request.id])
            self.assertEqual({**expected, 'places': PLACES}, request.hints)
        lines = [line for line in log.splitlines() if ' heat_hints.' in line]
        self.assertRegex(lines[0], 'INFO .*loading the provider "rack"')
        self.assertRegex(lines[1], 'INFO .*scheduler hints are sent for')
        self.assertEqual(2, len(lines))

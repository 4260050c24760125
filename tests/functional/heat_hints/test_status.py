# SPDX-License-Identifier: Apache-2.0

"""``heat-hints-status upgrade check`` on good and bad heat.conf files."""

import os
import pathlib
import subprocess
import sys

from testing import subprocesses
from tests import signing, upgrade_checks

GOOD = """
[heat_hints]
enabled = true
"""
KEY = f'signing_key = {signing.KEY}'
TYPES = 'Resource types and providers'
VALUES = 'Option values'
USER = subprocess.check_output(['id', '-un'], text=True).strip()

#: What is added to the good file, the row with its result, and words of what
#: is told. The environment is in the folder of the test.
CASES = (
    (KEY, 'Hints', 'SUCCESS', 'On for OS::Nova::Server, AWS::EC2::Instance.'),
    ('signing_key =', 'Hints', 'SUCCESS', 'not signed'),
    ('signing_key = ,', VALUES, 'FAILURE', 'it contains no key'),
    (f'{KEY}\n{KEY}', VALUES, 'FAILURE', 'heat.conf has it on 2 lines'),
    ('enabled = false', 'Hints', 'WARNING', 'Off. To send hints, set enabled'),
    ('signing_key = zq7x-secret', VALUES, 'FAILURE', 'fewer than 32'),
    (
        '[DEFAULT]\nnum_engine_workers = auto',
        VALUES,
        'FAILURE',
        '[DEFAULT]',
        'num_engine_workers',
    ),
    ('providers = gone', TYPES, 'FAILURE', 'there is no provider "gone"'),
    ('', TYPES, 'SUCCESS', f'as the user "{USER}"'),
    (
        '[DEFAULT]\nenvironment_dir = {folder}',
        TYPES,
        'FAILURE',
        'OS::Nova::Server would be created without hints',
        'environment_dir',
    ),
)

ENVIRONMENT = (
    'resource_registry:\n  "OS::Nova::Server": "OS::Heat::RandomString"\n'
)
#: No provider, and one that ends the process.
ENDING = """
import sys

SEVEN = 7


class Ending:
    @classmethod
    def check(cls, conf):
        sys.exit('no inventory')

    def hints(self, request):
        return {}
"""


class HeatHintsStatusTest(upgrade_checks.UpgradeCheckCase):
    command = 'heat-hints-status'
    file = 'heat.conf'

    def test_each_row_says_what_the_file_does(self):
        (self.folder / 'other.yaml').write_text(ENVIRONMENT)
        for added, row, code, *words in CASES:
            with self.subTest(added):
                text = GOOD + added.replace('{folder}', str(self.folder))
                answer = self.check_details(f'{text}\n', row, code, *words)
                for part in 'zq', 'secret':
                    self.assertNotIn(part, answer.output)
                # No row says "On" if a type gets no hints.
                if code == 'FAILURE':
                    self.assertNotIn('Hints', answer.checks)

    def test_a_provider_that_cannot_work_is_a_failure(self):
        info = self.folder / 'racks-1.0.dist-info'
        info.mkdir()
        (info / 'METADATA').write_text('Name: racks\nVersion: 1.0\n')
        (info / 'entry_points.txt').write_text(
            '[heat_hints.providers]\n'
            'seven = racks_for_tests:SEVEN\n'
            'ending = racks_for_tests:Ending\n'
        )
        (self.folder / 'racks_for_tests.py').write_text(ENDING)
        for name, words in (
            ('seven', 'has no method "hints"'),
            ('ending', 'SystemExit: no inventory'),
        ):
            text = f'{GOOD}providers = {name}\n'
            self.check_details(text, TYPES, 'FAILURE', f'"{name}"', words)


class CommandTest(upgrade_checks.UpgradeCheckCase):
    """What the commands of all services have in common."""

    command = 'heat-hints-status'
    file = 'heat.conf'

    def test_a_file_that_cannot_be_read_is_one_line(self):
        broken = self.write("[heat_hints]\nsigning_key \"my 'secret'\n")
        for path, cause in (
            (self.folder / 'gone.conf', 'gone.conf'),
            (self.folder, str(self.folder)),
            (broken, f'{broken}:2'),
        ):
            answer = self.execute('--config-file', path, 'upgrade', 'check')
            self.assertEqual((255, ''), (answer.code, answer.output))
            (line,) = answer.error.splitlines()
            self.assertIn(self.command, line)
            self.assertIn(cause, line)
            self.assertNotIn('secret', line)

    def test_without_a_file_nothing_is_checked(self):
        # As on a host where the service is not configured.
        answer = self.execute('upgrade', 'check', '--json')
        self.assertEqual((255, ''), (answer.code, answer.output))
        self.assertIn(f'no {self.file} or heat-engine.conf was', answer.error)

    def test_nothing_is_said_when_nobody_reads_any_more(self):
        # The installed script, as an operator calls it; its libraries warn of
        # what they find old.
        script = pathlib.Path(sys.executable).parent / self.command
        path = self.write('')
        reading, writing = os.pipe()
        os.close(reading)
        with open(writing, 'wb') as output:
            result = subprocesses.run(
                *(script, '--config-file', path, 'upgrade', 'check'),
                stdout=output,
                # Unbuffered, it learns at once that nobody reads.
                env={'PYTHONUNBUFFERED': '1'},
            )
        self.assertEqual((255, ''), (result.returncode, result.stderr))

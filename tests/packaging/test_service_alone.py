# SPDX-License-Identifier: Apache-2.0

"""The wheel in an environment with one service alone."""

import json
import pathlib
import sys
import tempfile
import unittest

import runs

SERVICE = pathlib.Path(sys.prefix).name.removeprefix('alone-')

#: By service: the lines that enable the plug-ins, the worst result of the
#: upgrade check with them, and what the service loads of each package.
CASES = {
    'senlin': (
        '',
        ('senlin-plugins-status', 1),
        {
            'senlin_plugins': {
                'senlin_plugins.policy.region_placement-1.0',
                'senlin_plugins.policy.deletion-1.0',
                'senlin_plugins.policy.deletion-1.1',
                'senlin_plugins.nova.server-1.0',
                'senlin_plugins.heat.stack-1.0',
            },
            'senlin': {'senlin.policy.deletion-1.1', 'os.nova.server-1.0'},
        },
    ),
    'nova': (
        '[filter_scheduler]\n'
        'available_filters = nova.scheduler.filters.all_filters\n'
        'available_filters = nova_filters.all_filters\n'
        'enabled_filters = ComputeFilter,AggregateInstanceTypeFilter\n'
        'weight_classes = nova_filters.all_weighers\n',
        ('nova-filters-status', 1),
        {
            'nova_filters': {
                'AggregateInstanceTypeFilter',
                'PreferenceWeigher',
                'StackAffinityWeigher',
                'ServerGroupWeigher',
            },
            'nova': {'ComputeFilter'},
        },
    ),
    'heat': (
        '[heat_hints]\nenabled = true\n',
        ('heat-hints-status', 0),
        {'heat_hints': {'the hints of servers'}, 'heat': set()},
    ),
}


#: How often the check is run on a busy host, as it says itself.
ATTEMPTS = 5


class ServiceAloneTest(unittest.TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name, f'{SERVICE}.conf')
        text, self.check, self.expected = CASES[SERVICE]
        self.file.write_text(text)

    def test_the_service_loads_the_plug_ins_beside_its_own(self):
        program = pathlib.Path(__file__).with_name('loaded.py')
        done = runs.run(
            *(sys.executable, '-W', 'ignore', program), cwd=self.file.parent
        )
        self.assertEqual(0, done.returncode, done.stderr)
        loaded = {package: set() for package in self.expected}
        for name, package in json.loads(done.stdout.splitlines()[-1]).items():
            loaded[package].add(name)
        # The service itself loads many more names than are listed.
        names_of_service = loaded.pop(SERVICE)
        self.assertLessEqual(self.expected.pop(SERVICE), names_of_service)
        self.assertEqual(self.expected, loaded)

    def test_the_upgrade_check_warns_of_nothing_worse_than_defaults(self):
        script, worst = self.check
        for _ in range(ATTEMPTS):
            done = runs.run(
                pathlib.Path(sys.prefix, 'bin', script),
                *('--config-file', self.file, 'upgrade', 'check', '--json'),
            )
            if 'If the host is busy, run this command again' not in (
                done.stderr
            ):
                break
        rows = json.loads(done.stdout)['checks']
        self.assertEqual(done.returncode, max(r['result'] for r in rows))
        self.assertLessEqual(done.returncode, worst, done.stdout)

# SPDX-License-Identifier: Apache-2.0

"""The console scripts, and Senlin's own service, on good and bad files."""

from tests import processes, upgrade_checks

GOOD = '[DEFAULT]\ndefault_region_name = RegionOne\n'
PLACEMENT = 'senlin_plugins.policy.region_placement-1.0'
TYPES = 'Policy and profile types'
#: What is added to the good file, the row with its result, and words of what
#: is told. The environment is in the folder of the test.
CASES = (
    ('', TYPES, 'SUCCESS', 'On: '),
    ('', 'Default region', 'SUCCESS', 'RegionOne'),
    ('default_region_name =', 'Default region', 'WARNING', 'Set it to'),
    ('environment_dir = {folder}', TYPES, 'FAILURE', PLACEMENT, 'look for'),
    ('max_nodes_per_cluster = all', 'Option values', 'FAILURE', '[DEFAULT]'),
)
CONDUCTOR = """
import sys
from senlin.cmd import conductor
sys.argv[:] = ['senlin-conductor', '--config-file', sys.argv[1]]
conductor.main()
"""


class StatusTest(upgrade_checks.UpgradeCheckCase):
    command = 'senlin-plugins-status'
    file = 'senlin.conf'

    def test_each_row_says_what_the_file_does(self):
        (self.folder / 'site.yaml').write_text(
            f'custom_policies:\n  {PLACEMENT}: null\n'
        )
        for added, row, code, *words in CASES:
            with self.subTest(added):
                text = GOOD + added.replace('{folder}', str(self.folder))
                self.check_details(f'{text}\n', row, code, *words)

    def test_senlin_does_not_start_with_a_wrong_value(self):
        path = self.write(
            '[DEFAULT]\ntransport_url = fake://\n'
            '[senlin_plugins]\nregion_timeout = soon\n'
        )
        with self.assertRaisesRegex(
            AssertionError,
            r'\[senlin_plugins\] Value for option region_timeout .*soon',
        ):
            processes.run_python(CONDUCTOR, str(path))

# SPDX-License-Identifier: Apache-2.0

"""``senlin-plugins-status upgrade check`` on good and bad files."""

from tests import upgrade_checks

REGION = 'default_region_name = RegionOne\n'
GOOD = f'[DEFAULT]\n{REGION}'
PLACEMENT = 'senlin_plugins.policy.region_placement-1.0'
TYPES = 'Policy and profile types'

#: What is added to the good file, the row with its result, and words of what
#: is told. The environment is in the folder of the test.
CASES = (
    ('', TYPES, 'SUCCESS', 'On: '),
    ('', 'Default region', 'SUCCESS', 'RegionOne'),
    ('environment_dir = {folder}', TYPES, 'FAILURE', PLACEMENT, 'look for'),
    ('environment_dir = $nowhere', 'Option values', 'FAILURE', '[DEFAULT]'),
    ('max_nodes_per_cluster = all', 'Option values', 'FAILURE', '[DEFAULT]'),
    (
        '[senlin_plugins]\ncheck_catalog = maybe',
        'Option values',
        'FAILURE',
        '[senlin_plugins]',
        'check_catalog',
    ),
)


class SenlinPluginsStatusTest(
    upgrade_checks.FileTests, upgrade_checks.UpgradeCheckCase
):
    command = 'senlin-plugins-status'
    file = 'senlin.conf'
    misspelled = (
        'senlin_plugins',
        'senlin_plugin',
        'check_catalog',
        'check_catalogue',
    )

    def good(self):
        return GOOD

    def test_each_row_says_what_the_file_does(self):
        (self.folder / 'site.yaml').write_text(
            f'custom_policies:\n  {PLACEMENT}: null\n'
        )
        for added, row, code, *words in CASES:
            with self.subTest(added):
                text = GOOD + added.replace('{folder}', str(self.folder))
                self.check_details(f'{text}\n', row, code, *words)

    def test_no_default_region_is_a_warning(self):
        text = '[DEFAULT]\nmax_nodes_per_cluster = 9\n'
        self.check_details(text, 'Default region', 'WARNING', 'Set it to')

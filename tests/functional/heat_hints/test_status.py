# SPDX-License-Identifier: Apache-2.0

"""``heat-hints-status upgrade check`` on good and bad heat.conf files."""

import ddt

from tests import signing, upgrade_checks

GOOD = f"""
[heat_hints]
enabled = true
signing_key = {signing.KEY}
"""

#: For each check and result, what is added to the good file, and words of
#: what is told.
CASES = {
    ('Option values', 'FAILURE'): (
        ('scope = some', 'scope', 'opt_in', "'some'"),
        (
            'signing_key = short-secret',
            'signing_key',
            'number 1 has fewer than 32 characters',
        ),
    ),
    ('Start of heat-engine', 'FAILURE'): (
        (
            'user_hints = keep',
            'hints that a tenant made up',
            'Set user_hints = override',
        ),
        ('scope = some', 'Not checked', 'Option values'),
        (
            'resource_types = OS::Nova::Severs',
            'no resource type "OS::Nova::Severs"',
            'Correct',
        ),
        (
            'providers = rack',
            'provider "rack"',
            'installed here are: none',
        ),
    ),
    ('Start of heat-engine', 'WARNING'): (
        (
            '[DEFAULT]\nstack_scheduler_hints = true',
            'stack_scheduler_hints is on as well',
            'turn it off',
        ),
    ),
}


@ddt.ddt
class HeatHintsStatusTest(
    upgrade_checks.FileTests, upgrade_checks.UpgradeCheckCase
):
    command = 'heat-hints-status'
    file = 'heat.conf'
    misspelled = ('heat_hints', 'heat_hint', 'enabled', 'enable')

    def good(self):
        return GOOD

    def test_enabled_with_a_key_needs_nothing(self):
        self.assert_clean(GOOD)

    def test_an_empty_key_is_as_good_as_none(self):
        self.assert_clean(f'{GOOD.partition("signing_key")[0]}signing_key =\n')

    @ddt.data(*((row, case) for row in CASES for case in CASES[row]))
    @ddt.unpack
    def test_a_wrong_option_is_told_with_its_remedy(self, row, case):
        added, *words = case
        answer = self.check_details(f'{GOOD}{added}\n', *row, *words)
        self.assertNotIn('secret', answer.output)

    def test_switched_off_is_a_warning(self):
        answer = self.check_details('', 'Enabled', 'WARNING', 'enabled = true')
        self.assertEqual(1, answer.code)

    def test_an_environment_that_replaces_the_type_is_told(self):
        environment = self.folder / 'environment.d'
        environment.mkdir()
        (environment / 'other.yaml').write_text(
            'resource_registry:\n'
            '  "OS::Nova::Server": "OS::Heat::RandomString"\n'
        )
        self.check_details(
            f'{GOOD}[DEFAULT]\nenvironment_dir = {environment}\n',
            'Start of heat-engine',
            'FAILURE',
            'OS::Nova::Server would be created without hints',
            'environment_dir',
        )

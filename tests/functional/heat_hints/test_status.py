# SPDX-License-Identifier: Apache-2.0

"""``heat-hints-status upgrade check`` on good and bad heat.conf files."""

import ddt

from tests import upgrade_checks

KEY = 'an example key of 32 characters.'

GOOD = f"""
[heat_hints]
enabled = true
signing_key = {KEY}
"""

#: What is added to the good file; the check that says so, its result, and
#: words of it.
CASES = (
    (
        'scope = some\n',
        'Option values',
        'FAILURE',
        ('scope', 'opt_in', "'some'"),
    ),
    (
        'scope = some\n',
        'Start of heat-engine',
        'FAILURE',
        ('Not checked', 'Option values'),
    ),
    (
        'resource_types = OS::Nova::Severs\n',
        'Start of heat-engine',
        'FAILURE',
        ('no resource type "OS::Nova::Severs"', 'Correct'),
    ),
    (
        'providers = rack\n',
        'Start of heat-engine',
        'FAILURE',
        ('provider "rack"', 'installed here are: group, mapping_file'),
    ),
    (
        'providers = mapping_file\n',
        'Start of heat-engine',
        'FAILURE',
        ('mapping_file is not set', 'give the path'),
    ),
    (
        'user_hints = keep\n',
        'Signature',
        'FAILURE',
        ('hints that a tenant made up', 'Set user_hints = override'),
    ),
    (
        '[DEFAULT]\nstack_scheduler_hints = true\n',
        'Start of heat-engine',
        'WARNING',
        ('stack_scheduler_hints is on as well', 'turn it off'),
    ),
    (
        'signing_key = short-secret\n',
        'Option values',
        'FAILURE',
        ('signing_key', 'number 1 has fewer than 32 characters'),
    ),
    (
        'signing_key = , ,\n',
        'Option values',
        'FAILURE',
        ('signing_key', '32 characters'),
    ),
    (
        'signing_key = $secret\n',
        'Option values',
        'FAILURE',
        ('signing_key is not valid: it cannot be read',),
    ),
)


@ddt.ddt
class HeatHintsStatusTest(
    upgrade_checks.FileTests, upgrade_checks.UpgradeCheckCase
):
    command = 'heat-hints-status'
    file = 'heat.conf'

    def test_enabled_with_a_key_needs_nothing(self):
        self.assert_clean(self.check(GOOD))

    def test_an_empty_key_is_as_good_as_none(self):
        self.assert_clean(self.check(f'{GOOD}signing_key =\n'))

    @ddt.unpack
    @ddt.data(*CASES)
    def test_a_wrong_option_is_told_with_its_remedy(
        self, added, name, code, words
    ):
        answer = self.check(GOOD + added)
        self.assert_details(answer, name, code, *words)
        self.assertNotIn('secret', answer.output)

    def test_switched_off_is_a_warning(self):
        answer = self.check('')
        self.assert_details(answer, 'Enabled', 'WARNING', 'enabled = true')
        self.assertEqual(1, answer.code)

    def test_an_environment_that_replaces_the_type_is_told(self):
        environment = self.folder / 'environment.d'
        environment.mkdir()
        (environment / 'other.yaml').write_text(
            'resource_registry:\n'
            '  "OS::Nova::Server": "OS::Heat::RandomString"\n'
        )
        answer = self.check(
            f'{GOOD}[DEFAULT]\nenvironment_dir = {environment}\n'
        )
        self.assert_details(
            answer,
            'Start of heat-engine',
            'FAILURE',
            'OS::Nova::Server would be created without hints',
            'environment_dir',
        )

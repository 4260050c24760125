# SPDX-License-Identifier: Apache-2.0

"""``heat-hints-status upgrade check`` on good and bad heat.conf files."""

import ddt

from tests import signing, upgrade_checks

GOOD = f"""
[heat_hints]
enabled = true
signing_key = {signing.KEY}
"""

#: What is added to the good file, the check and its result, and words of what
#: is told.
CASES = (
    (
        'signing_key = short-secret',
        'Option values',
        'FAILURE',
        'number 1 has fewer than 32 characters',
    ),
    ('scope = some', 'Start of heat-engine', 'FAILURE', 'Not checked'),
    (
        'user_hints = keep',
        'Start of heat-engine',
        'FAILURE',
        'Set user_hints = override',
    ),
    (
        'resource_types = OS::Neutron::Port',
        'Start of heat-engine',
        'FAILURE',
        '"OS::Neutron::Port" gets no hints',
    ),
    (
        '[DEFAULT]\nstack_scheduler_hints = true',
        'Start of heat-engine',
        'WARNING',
        'stack_scheduler_hints is on as well',
    ),
)


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

    @ddt.data(*CASES)
    @ddt.unpack
    def test_a_wrong_option_is_told(self, added, name, code, words):
        answer = self.check_details(f'{GOOD}{added}\n', name, code, words)
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

# SPDX-License-Identifier: Apache-2.0

from tests.functional.client import base

_LINT = 'aggregate filter lint'


class LintTest(base.CloudTestCase):
    def setUp(self) -> None:
        super().setUp()
        # Two hosts have both.
        self.cloud.aggregates['disks']['hosts'].append('compute-1')

    def test_findings_are_rows_beside_the_verdict(self) -> None:
        sound = 'Nothing found in 4 flavors and 3 aggregates.'
        flavor = self.cloud.flavors['m1.small']
        flavor['os-flavor-access:is_public'] = False
        self.assertEqual(([], [sound]), self.answer(_LINT))
        metadata = self.cloud.aggregates['disks']['metadata']
        metadata['force_metadata_chek'] = 'True'
        rows, (verdict, note) = self.answer(
            _LINT, *self.files('flavors', 'aggregates'), status=1
        )
        self.assertEqual(
            '1 warning found in 4 flavors and 3 aggregates.', verdict
        )
        finding = {
            'Severity': 'warning',
            'Code': 'misspelled-flag',
            'Object': 'aggregate',
            'Name': 'disks',
            'Key': 'force_metadata_chek',
            'Problem': "'force_metadata_chek' is a key like any other, and "
            'not the flag force_metadata_check. It is right if another '
            'program reads it',
        }
        self.assertEqual([finding], rows)
        self.assertIn('no list of compute services', note)

    def test_flavors_that_are_all_public_are_told(self) -> None:
        # Nova shows private flavors to administrators only.
        metadata = {'force_metadata_check': 'true', 'reserved': 'acme'}
        self.cloud.add_aggregate('acme', metadata, [])
        (finding,), (_, note) = self.answer(_LINT)
        self.assertEqual('closed-aggregate', finding['Code'])
        self.assertIn('All flavors that were read are public', note)
        self.cloud.add_flavor('acme', {'reserved': '<or> acme <or> ~'})
        acme = self.cloud.flavors['acme']
        acme['os-flavor-access:is_public'] = False
        _, sentences = self.answer(_LINT)
        self.assertEqual(1, len(sentences), sentences)

    def test_hosts_that_are_not_known_are_no_success(self) -> None:
        # No host takes the flavor, but there may be hosts in no aggregate.
        self.cloud.flavors['m1.small']['extra_specs'] = {'os': '!'}
        self.cloud.aggregates['disks']['hosts'] = [*self.cloud.services]
        self.cloud.aggregates['disks']['metadata']['os'] = 'x'
        nouns = ['flavors', 'aggregates']
        self.run_command(_LINT, *self.files(*nouns), status=1)
        self.run_command(_LINT, *self.files(*nouns, 'hosts'), status=2)

    def test_a_user_who_chooses_columns_gets_a_table(self) -> None:
        self.cloud.flavors['win.medium']['extra_specs'] = {'os': 'a,b'}
        output = self.run_command(_LINT, '-c', 'Code', status=2)
        self.assertEqual('+--', output.splitlines()[1][:3])

# SPDX-License-Identifier: Apache-2.0

from tests.functional.client import base

_LINT = 'aggregate filter lint'


class LintTest(base.CloudTestCase):
    def setUp(self) -> None:
        super().setUp()
        # Two hosts have both.
        self.cloud.aggregates['disks']['hosts'].append('compute-1')

    def test_findings_are_fields_beside_the_verdict(self) -> None:
        sound = {
            'verdict': 'Nothing found in 4 flavors and 3 aggregates.',
            'causes': [],
            'unjudged': [],
        }
        self.assertEqual(sound, self.data(_LINT))
        metadata = self.cloud.aggregates['disks']['metadata']
        metadata['force_metadata_chek'] = 'True'
        document = self.data(_LINT, *self.files('flavors', 'aggregates'))
        self.assertEqual(
            '1 warning found in 4 flavors and 3 aggregates.',
            document['verdict'],
        )
        finding = {
            'severity': 'warning',
            'code': 'misspelled-flag',
            'object': 'aggregate',
            'name': 'disks',
            'key': 'force_metadata_chek',
            'problem': "'force_metadata_chek' is a key like any other, and "
            'not the flag force_metadata_check',
            'remedy': '',
        }
        self.assertEqual([finding], document['causes'])
        self.assertIn('no list of compute services', *document['unjudged'])

    def test_a_user_who_chooses_columns_gets_a_table(self) -> None:
        self.cloud.flavors['win.medium']['extra_specs'] = {'os': 'a,b'}
        output = self.run_command(_LINT, '-c', 'Code', status=2)
        self.assertEqual('+--', output.splitlines()[1][:3])

# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter lint`` in the real shell."""

from tests.functional.client import base

_SCOPE = 'aggregate_instance_extra_specs'
_LINT = 'aggregate filter lint'


class LintTest(base.CloudTestCase):
    def setUp(self) -> None:
        super().setUp()
        # Two hosts have both.
        self.cloud.aggregates['disks'][1].append('compute-1')

    def test_findings_are_fields_beside_the_verdict(self) -> None:
        command = _LINT.split()
        sound = {
            'verdict': 'Nothing found in 4 flavors and 3 aggregates.',
            'causes': [],
            'unjudged': [],
        }
        self.assertEqual(sound, self.live(*command))
        self.cloud.aggregates['disks'][0]['force_metadata_chek'] = 'True'
        document = self.live(*command)
        self.assertEqual(
            '1 warning found in 4 flavors and 3 aggregates.',
            document['verdict'],
        )
        (finding,) = document['causes']
        self.assertEqual(
            {
                'severity': 'warning', 'code': 'misspelled-flag',
                'object': 'aggregate', 'name': 'disks',
                'key': 'force_metadata_chek',
                'problem': "'force_metadata_chek' is a key like any other",
                'remedy': 'force_metadata_check=True',
            },
            finding,
        )  # fmt: skip
        unjudged = self.live(*command, *self.files()[:4])['unjudged']
        self.assertIn('no list of compute services', *unjudged)

    def test_the_verdict_is_the_first_line(self) -> None:
        self.cloud.flavors['win.medium'][f'{_SCOPE}:os'] = 'a,b'
        lines = self.run_command(_LINT, status=2).splitlines()
        self.assertEqual(
            ['2 errors found in 4 flavors and 3 aggregates.', '', 'error:'],
            [*lines[:2], lines[2].split()[0]],
        )
        output = self.run_command(_LINT, '-c', 'Code', status=2)
        self.assertEqual('+--', output.splitlines()[1][:3])

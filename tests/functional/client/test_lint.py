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

    def test_findings_are_the_same_from_cloud_and_files(self) -> None:
        command = _LINT.split()
        self.assertEqual([], self.live(*command))
        self.cloud.flavors['m1.small']['gpu'] = '<or> a100 <or> ~'
        self.cloud.aggregates['disks'][0]['force_metadata_chek'] = 'True'
        live = self.live(*command)
        self.assertEqual(
            [
                ('warning', 'misspelled-flag', 'aggregate', 'disks'),
                ('info', 'unscoped-key', 'flavor', 'm1.small'),
            ],
            [tuple(row.values())[:4] for row in live],
        )
        self.assertEqual(live, self.data(*command, *self.files()))
        self.assertEqual(
            live[:1], self.live(*command, '--severity', 'warning')
        )

    def test_what_stands_below_and_in_place_of_the_findings(self) -> None:
        # What they look like is on the page.
        self.cloud.flavors['win.medium'][f'{_SCOPE}:os'] = 'a,b'
        output = self.run_command(_LINT, '-c', 'Code', status=2)
        self.assertTrue(output.startswith('+--'), output)
        output = self.run_command(_LINT, *self.files()[:4], status=2)
        self.assertIn('No --hosts: hosts in no aggregate', output)
        self.cloud.flavors = {'m1.small': {}}
        self.assertIn('found in 1 flavor and 3 aggr', self.run_command(_LINT))

    def test_hosts_beyond_what_nova_looks_at_are_told(self) -> None:
        command = (*_LINT.split(), '--config-file')
        for limit, flavors in (
            (6, []),
            (5, ['any.small', 'gpu.large', 'm1.small', 'win.medium']),
        ):
            text = f'[scheduler]\nmax_placement_results = {limit}\n'
            rows = self.live(*command, self.write(text, 'nova.conf'))
            names = [r['Name'] for r in rows if r['Code'] == 'beyond-limit']
            self.assertEqual(flavors, sorted(names))

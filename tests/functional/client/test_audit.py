# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter audit`` in the real shell."""

import json
from typing import Any

from tests.functional.client import base

_AUDIT = 'aggregate filter audit'


class AuditTest(base.CloudTestCase):
    def audit(self) -> list[dict[str, Any]]:
        """Return the rows."""
        return self.live(*_AUDIT.split())

    def test_a_sound_cloud_has_no_problem(self) -> None:
        self.assertEqual([], self.audit())
        output = self.run_command(f'{_AUDIT} --fail-on refused')
        self.assertIn('0 problems found among 3 running', output)

    def test_servers_that_their_host_would_refuse_are_told(self) -> None:
        self.cloud.aggregates['licensed'][0]['os'] = 'linux'
        self.cloud.aggregates['gpus'][1].remove('compute-2')
        self.assertEqual(
            [
                {
                    'Problem': 'refused', 'Flavor': 'win.medium',
                    'Servers': ['mail (compute-7)'],
                    'Reason': "'os' does not match 'windows'; aggregate "
                    "'licensed' has 'linux'",
                    'Server IDs': ['id-mail'], 'Hosts': ['compute-7'],
                },
                {
                    'Problem': 'refused', 'Flavor': 'gpu.large',
                    'Servers': ['train (compute-2)'],
                    'Reason': "'gpu' not in any aggregate",
                    'Server IDs': ['id-train'], 'Hosts': ['compute-2'],
                },
            ],
            self.audit(),
        )  # fmt: skip
        self.run_command(_AUDIT)
        # What is found goes before what is not known.
        self.cloud.down = ('lost',)
        self.run_command(f'{_AUDIT} --fail-on refused', status=2)

    def test_servers_that_cannot_be_judged_are_rows(self) -> None:
        self.cloud.down = ('lost',)
        self.run_command(_AUDIT)
        command = f'{_AUDIT} --fail-on refused'
        (row,) = json.loads(self.run_command(f'{command} -f json', status=1))
        self.assertEqual('unknown', row['Problem'])
        self.assertEqual(['lost'], row['Server IDs'])
        output = self.run_command(command, status=1)
        self.assertIn('0 problems found among 3 running', output)

    def test_without_a_list_of_hosts_not_all_servers_are_judged(self) -> None:
        files = self.files('aggregates', 'servers')
        command = f'{_AUDIT} --fail-on refused'
        output = self.run_command(command, *files, status=1)
        self.assertIn('No --hosts: hosts in no aggregate', output)
        # The host of this server is in no aggregate.
        self.assertIn('| unknown |        | web (compute-4) |', output)

# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter audit`` in the real shell."""

import json

from tests.functional.client import base

_AUDIT = 'aggregate filter audit'


class AuditTest(base.CloudTestCase):
    def test_servers_that_their_host_would_refuse_are_told(self) -> None:
        output = self.run_command(f'{_AUDIT} --fail-on refused')
        self.assertEqual(
            '0 of 3 running servers would be refused by the host that it is '
            'on.\n',
            output,
        )
        self.cloud.aggregates['licensed'][0]['os'] = 'linux'
        self.cloud.aggregates['gpus'][1].remove('compute-2')
        document = self.live(*_AUDIT.split())
        self.assertEqual(
            '2 of 3 running servers would be refused by the host that it is '
            'on.',
            document['verdict'],
        )
        self.assertEqual(
            [
                {
                    'problem': 'refused', 'flavor': 'win.medium',
                    'reason': "'os' does not match 'windows'; aggregate "
                    "'licensed' has 'linux'",
                    'servers': [{
                        'name': 'mail', 'id': 'id-mail', 'host': 'compute-7',
                    }],
                },
                {
                    'problem': 'refused', 'flavor': 'gpu.large',
                    'reason': "'gpu' not in any aggregate",
                    'servers': [{
                        'name': 'train', 'id': 'id-train', 'host': 'compute-2',
                    }],
                },
            ],
            document['causes'],
        )  # fmt: skip
        self.run_command(_AUDIT)
        # What is found goes before what is not known.
        self.cloud.down = ('lost',)
        self.run_command(f'{_AUDIT} --fail-on refused', status=2)

    def test_a_server_that_cannot_be_judged_is_no_success(self) -> None:
        self.cloud.down = ('lost',)
        self.run_command(_AUDIT)
        command = f'{_AUDIT} --fail-on refused'
        document = json.loads(self.run_command(f'{command} -f json', status=1))
        self.assertTrue(
            document['verdict'].endswith('; 1 could not be judged.')
        )
        (problem,) = document['causes']
        self.assertEqual('unknown', problem['problem'])
        self.assertEqual('lost', problem['servers'][0]['id'])

    def test_without_a_list_of_hosts_not_all_servers_are_judged(self) -> None:
        files = self.files('aggregates', 'servers')
        command = f'{_AUDIT} --fail-on refused'
        output = self.run_command(command, *files, status=1)
        self.assertIn('There is no list of compute services', output)
        # The host of this server is in no aggregate.
        self.assertIn('| unknown |        | web (compute-4) |', output)

# SPDX-License-Identifier: Apache-2.0

import json

from tests.functional.client import base

_AUDIT = 'aggregate filter audit'


class AuditTest(base.CloudTestCase):
    def test_servers_that_their_host_would_refuse_are_told(self) -> None:
        verdict = (
            '{} of 3 running servers would be refused by the host that it is '
            'on.'
        )
        output = self.run_command(f'{_AUDIT} --fail-on refused')
        self.assertEqual(verdict.format(0), output.strip())
        self.cloud.aggregates['licensed']['metadata']['os'] = 'linux'
        self.cloud.aggregates['gpus']['hosts'].remove('compute-2')
        document = self.data(_AUDIT)
        self.assertEqual(verdict.format(2), document['verdict'])
        mail, train = document['causes']
        self.assertEqual(
            {
                'problem': 'refused',
                'flavor': 'win.medium',
                'reason': "'os' does not match 'windows'; aggregate "
                "'licensed' has 'linux'",
                'servers': [
                    {'name': 'mail', 'id': 'id-mail', 'host': 'compute-7'}
                ],
            },
            mail,
        )
        self.assertEqual("'gpu' not in any aggregate", train['reason'])
        # What is found goes before what is not known.
        self.cloud.add_lost_server()
        self.run_command(f'{_AUDIT} --fail-on refused', status=2)

    def test_a_server_that_cannot_be_judged_is_no_success(self) -> None:
        self.cloud.add_lost_server()
        self.run_command(_AUDIT)
        command = f'{_AUDIT} --fail-on refused -f json'
        document = json.loads(self.run_command(command, status=1))
        self.assertIn('; 1 could not be judged.', document['verdict'])
        (problem,) = document['causes']
        self.assertEqual('unknown', problem['problem'])
        self.assertEqual('lost', problem['servers'][0]['id'])

    def test_without_a_list_of_hosts_not_all_servers_are_judged(self) -> None:
        output = self.run_command(_AUDIT, *self.files('aggregates', 'servers'))
        self.assertIn('There is no list of compute services', output)
        # The host of this server is in no aggregate.
        self.assertIn('| unknown |        | web (compute-4) |', output)

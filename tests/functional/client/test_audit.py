# SPDX-License-Identifier: Apache-2.0

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
        self.cloud.add_server('train-2', 'compute-2', 'gpu.large')
        rows, sentences = self.answer(_AUDIT)
        self.assertEqual(verdict.replace('3', '4').format(3), sentences[0])
        # Most servers come first.
        train, mail = rows
        self.assertEqual(2, train['Servers'])
        self.assertEqual("'gpu' not in any aggregate", train['Reason'])
        self.assertEqual(
            {
                'Problem': 'refused',
                'Flavor': 'win.medium',
                'Servers': 1,
                'Reason': "'os' does not match 'windows'; aggregate "
                "'licensed' has 'linux'",
                'Names': [
                    {'name': 'mail', 'id': 'id-mail', 'host': 'compute-7'}
                ],
            },
            mail,
        )
        by_name = self.data(f'{_AUDIT} --sort-column Names')
        self.assertEqual([mail, train], by_name)
        # What is found goes before what is not known.
        self.cloud.add_lost_server()
        self.run_command(f'{_AUDIT} --fail-on refused', status=2)

    def test_a_server_that_cannot_be_judged_is_no_success(self) -> None:
        self.cloud.add_lost_server()
        for words in _AUDIT, f'{_AUDIT} --fail-on refused':
            (row,), (verdict, *_) = self.answer(words, status=1)
            self.assertIn('; 1 could not be judged.', verdict)
            self.assertEqual('unknown', row['Problem'])
            self.assertEqual('lost', row['Names'][0]['id'])

    def test_without_a_list_of_hosts_not_all_servers_are_judged(self) -> None:
        files = self.files('aggregates', 'servers')
        output = self.run_command(_AUDIT, *files, status=1)
        self.assertIn('There is no list of compute services', output)
        # The host of this server is in no aggregate.
        self.assertIn('| web (compute-4) |', output)

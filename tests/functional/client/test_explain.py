# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter explain`` in the real shell."""

import json
from typing import Any

import ddt

from tests.functional.client import base, rest_stub

_EXPLAIN = 'aggregate filter explain'
_SCOPE = 'aggregate_instance_extra_specs'


@ddt.ddt
class ExplainTest(base.CloudTestCase):
    def explain(self, *arguments: str) -> list[dict[str, Any]]:
        """Return the document."""
        return self.live(*_EXPLAIN.split(), *arguments)

    def hosts(self, *arguments: str) -> dict[str, str]:
        """Return the result on each host, by host."""
        (document,) = self.explain('--all', *arguments)
        return {host['host']: host['result'] for host in document['hosts']}

    def lines(self, words: str, status: int = 0) -> list[str]:
        """Return what is printed in 80 columns."""
        output = self.run_command(f'{_EXPLAIN} {words}', status=status)
        return output.splitlines()

    def test_a_cloud_is_only_read(self) -> None:
        self.explain('gpu.large')
        self.assertIn(('GET', '/os-aggregates'), self.cloud.requests)
        self.assertEqual(
            {'GET'}, {method for method, _ in self.cloud.requests}
        )

    def test_with_files_no_cloud_is_asked_even_if_there_is_one(self) -> None:
        files = self.files()
        self.cloud.requests.clear()
        self.explain('gpu.large', *files)
        self.assertEqual([], self.cloud.requests)

    def test_the_first_line_is_the_verdict(self) -> None:
        self.cloud.flavors['gpu.large'][f'{_SCOPE}:gpu'] = 'h100'
        lines = self.lines('gpu.large m1.small')
        self.assertEqual(
            [
                '0 of 6 hosts take gpu.large: 4 lack the key gpu, '
                '2 have gpu=a100.',
                '4 of 6 hosts take m1.small: 2 demand the key os.',
            ],
            lines[:2],
        )
        self.assertEqual(
            [
                "The nearest host is compute-2: 'gpu' does not match 'h100'; "
                "aggregate 'gpus' has",
                "'a100'.",
            ],
            lines[-2:],
        )

    def test_programs_get_all_that_people_get(self) -> None:
        self.cloud.hosts.remove('compute-8')
        (document,) = self.explain('m1.small', '--all')
        self.assertEqual(
            '4 of 6 hosts take m1.small: 2 demand the key os.',
            document['verdict'],
        )
        self.assertEqual(
            [f'compute-{n}' for n in (1, 2, 3, 4)], document['takers']
        )
        self.assertEqual(
            [
                {
                    'cause': 'demand the key os',
                    'aggregates': ['licensed'],
                    'hosts': ['compute-7', 'compute-8'],
                }
            ],
            document['causes'],
        )
        (unjudged,) = document['unjudged']
        self.assertIn("count as not up: 'compute-8'.", unjudged)
        self.assertEqual(
            {
                'host': 'compute-8', 'state': 'unknown', 'result': 'refuse',
                'reasons': "aggregate 'licensed' demands 'os'",
                'preferences': '',
            },
            document['hosts'][-1],
        )  # fmt: skip

    def test_csv_has_the_rows_and_says_the_rest_beside_them(self) -> None:
        command = (*_EXPLAIN.split(), 'm1.small', *self.files()[:4])
        result = self.openstack(*command, '-f', 'csv')
        self.assertEqual(
            '"Hosts","Verdict","Aggregates","Names"',
            *result.output.splitlines()[:1],
        )
        for words in ('4 of 6 hosts take', 'no list of compute services'):
            self.assertNotIn(words, result.output)
        self.assertIn('hosts take m1.small: 2 demand', result.error)
        self.assertIn('There is no list of compute services', result.error)

    def test_a_server_is_judged_by_its_own_copy_of_the_flavor(self) -> None:
        specs = self.cloud.flavors['win.medium']
        flavor_copy = {'original_name': 'win.medium', 'extra_specs': specs}
        self.cloud.shown['mail'] = {'flavor': flavor_copy}
        self.cloud.flavors['win.medium'] = {'k': '1'}
        files = self.files(*base.NOUNS)
        command = ('--host', 'compute-7', '--server', 'mail')
        (document,) = self.explain(*command)
        self.assertEqual(
            '1 of 1 host takes win.medium of mail.', document['verdict']
        )
        self.assertEqual([document], self.explain(*command, *files))
        # A flavor beside it.
        documents = self.explain('win.medium', *command)
        self.assertEqual(
            ['win.medium', 'win.medium of mail'],
            [document['flavor'] for document in documents],
        )

    def test_servers_of_the_same_name_are_told_with_their_ids(self) -> None:
        self.cloud.shown = {'web': {'name': 'dup'}, 'mail': {'name': 'dup'}}
        for files in ([], self.files(*base.NOUNS)):
            result = self.openstack(
                *_EXPLAIN.split(), '--server', 'dup', *files, **self.login
            )
            self.assert_one_line(result, 'use an ID: id-mail, id-web')

    @ddt.data('2.46', '2.60', '2.61', '2.68')
    def test_an_older_nova_is_asked_for_each_flavor(self, newest: str) -> None:
        command = ('gpu.large', 'win.medium')
        documents = self.explain(*command)
        findings = self.live('aggregate', 'filter', 'lint')
        self.cloud.maximum = newest
        self.assertEqual(documents, self.explain(*command))
        self.assertEqual(findings, self.live('aggregate', 'filter', 'lint'))

    def test_hidden_extra_specs_are_not_no_extra_specs(self) -> None:
        # A policy of Nova may hide them: the list of flavors lacks them then.
        flavors = [{'id': '1', 'name': 'gpu.large', 'links': []}]
        url = f'{rest_stub.COMPUTE}/flavors'
        self.mocker.get(f'{url}/detail', json={'flavors': flavors})
        self.mocker.get(f'{url}/1/os-extra_specs', status_code=403)
        command = (*_EXPLAIN.split(), 'gpu.large')
        result = self.openstack(*command, **self.login)
        self.assert_one_line(result, '403', 'os-extra_specs')

    def test_an_old_microversion_of_the_shell_does_not_matter(self) -> None:
        old = ('--os-compute-api-version', '2.1', *_EXPLAIN.split())
        documents = self.live(*old, 'win.medium', '--server', 'mail')
        self.assertEqual(2, len(documents))

    def test_hosts_that_are_not_up_are_shown_as_such(self) -> None:
        self.cloud.states = {
            'compute-2': ('disabled', 'up'),
            'compute-3': ('disabled', 'down'),
            'compute-4': ('enabled', 'down'),
        }
        # The only host that passes does not count.
        lines = self.lines('gpu.large --all --fail-if-none', status=2)
        self.assertEqual(
            '1 of 6 hosts takes gpu.large (1 of them not up): 4 lack the key '
            'gpu, 1 lacks the',
            lines[0],
        )
        self.assertIn('| compute-2 | disabled          | pass   |', lines[5])
        self.assertEqual(
            [
                'Not up, but would take it:',
                '  openstack compute service set --enable compute-2 '
                'nova-compute',
                "The nearest host is compute-1: 'ssd' not in any aggregate.",
            ],
            lines[-3:],
        )

    def test_what_is_not_known_of_the_hosts_is_no_success(self) -> None:
        command = f'{_EXPLAIN} gpu.large --fail-if-none'
        self.run_command(command, *self.files())
        output = self.run_command(command, *self.files()[:4], status=1)
        self.assertIn('There is no list of compute services', output)
        self.cloud.flavors['gpu.large'][f'{_SCOPE}:gpu'] = 'h100'
        for form in ('json', 'table', 'csv'):
            result = self.openstack(*command.split(), '-f', form, **self.login)
            self.assertEqual(2, result.status)

    def test_preferences_are_told_of_each_host(self) -> None:
        self.cloud.flavors['m1.small'] = {'aggregate_preferred.5:ssd': '*'}
        (document,) = self.explain('m1.small', '--all')
        self.assertEqual(
            {'', '+5 aggregate_preferred.5:ssd=*'},
            {host['preferences'] for host in document['hosts']},
        )

    def test_a_scope_that_nothing_reads_is_told(self) -> None:
        name = f'hw:{_SCOPE}:ssd'
        self.cloud.flavors['m1.small'] = {name: 'true'}
        text = ' '.join(self.lines('m1.small'))
        self.assertIn(f"'{name}' does not ask for 'ssd'", text)
        findings = self.live('aggregate', 'filter', 'lint')['causes']
        remedies = {finding['code']: finding['remedy'] for finding in findings}
        self.assertEqual(f'{_SCOPE}:ssd', remedies['misplaced-scope'])

    def test_exempt_keys_come_from_the_configuration(self) -> None:
        conf = self.write(
            '[nova_filters]\nexempt_metadata_keys = o*,x\n', 'conf'
        )
        # The zone is exempt by default; a list replaces the default.
        self.cloud.aggregates['gpus'][0]['force_metadata_check'] = 'True'
        self.cloud.aggregates['gpus'][0].pop('gpu')
        results = self.hosts('m1.small')
        self.assertEqual(
            ('pass', 'refuse'), (results['compute-1'], results['compute-7'])
        )
        results = self.hosts('m1.small', '--config-file', conf)
        self.assertEqual(
            ('refuse', 'pass'), (results['compute-1'], results['compute-7'])
        )

    def test_the_table_counts_rare_causes_together(self) -> None:
        for number in range(20):
            name = f'host-{number}'
            self.cloud.hosts.append(name)
            self.cloud.aggregates[name] = ({'ssd': str(number)}, [name])
        self.cloud.flavors['m1.small'] = {f'{_SCOPE}:ssd': 'x'}
        lines = self.lines('m1.small')
        self.assertLess(len(lines), 30)
        self.assertIn('other reasons, see --all', '\n'.join(lines))
        (document,) = self.explain('m1.small')
        causes = document['causes']
        self.assertEqual(26, sum(len(cause['hosts']) for cause in causes))

    def test_the_help_tells_where_nova_has_the_answer(self) -> None:
        result = self.openstack(*_EXPLAIN.split(), '--help')
        text = ' '.join(result.output.split())
        for words in (
            'judges this filter alone',
            'Filtering removed all hosts for the request with instance ID',
            "0 of 9 hosts: 9 'gpu' not in any aggregate",
        ):
            self.assertIn(words, text)

    def test_c_chooses_fields_of_the_document(self) -> None:
        rows = json.loads(
            self.run_command(f'{_EXPLAIN} m1.small -f json -c verdict')
        )
        self.assertEqual([['verdict']], [[*row] for row in rows])

# SPDX-License-Identifier: Apache-2.0

import pathlib

from tests.functional.client import base, rest_stub

_EXPLAIN = 'aggregate filter explain'
_SCOPE = 'aggregate_instance_extra_specs'


class ExplainTest(base.CloudTestCase):
    def test_a_cloud_is_only_read(self) -> None:
        self.data(f'{_EXPLAIN} gpu.large')
        methods = {r.url: r.method for r in self.mocker.request_history}
        login = methods.pop(f'{rest_stub.AUTH_URL}/auth/tokens')
        self.assertEqual('POST', login)
        self.assertIn(f'{rest_stub.COMPUTE}/os-aggregates', methods)
        self.assertEqual({'GET'}, {*methods.values()})

    def test_programs_get_all_that_people_get(self) -> None:
        del self.cloud.services['compute-8']
        (document,) = self.data(f'{_EXPLAIN} m1.small --all')
        self.assertEqual(
            '4 of 6 hosts take m1.small: 2 demand the key os.',
            document['verdict'],
        )
        self.assertEqual(
            ['compute-1', 'compute-2', 'compute-3', 'compute-4'],
            document['takers'],
        )
        cause = {
            'cause': 'demand the key os',
            'aggregates': ['licensed'],
            'hosts': ['compute-7', 'compute-8'],
        }
        self.assertEqual([cause], document['causes'])
        (unjudged,) = document['unjudged']
        self.assertIn("count as not up: 'compute-8'.", unjudged)
        host = {
            'host': 'compute-8',
            'state': 'unknown',
            'result': 'refuse',
            'reasons': "aggregate 'licensed' demands 'os'",
            'preferences': '',
        }
        self.assertEqual(host, document['hosts'][-1])

    def test_csv_has_the_rows_and_says_the_rest_beside_them(self) -> None:
        files = self.files('flavors', 'aggregates')
        command = [*_EXPLAIN.split(), 'm1.small', *files, '-f', 'csv']
        result = self.openstack(*command)
        # With files, no cloud is asked even if there is one.
        self.assertEqual([], self.mocker.request_history)
        header, _ = result.output.split('\n', 1)
        self.assertEqual('"Hosts","Verdict","Aggregates","Names"', header)
        for words in (
            'hosts take m1.small: 2 demand',
            'There is no list of compute services',
        ):
            self.assertNotIn(words, result.output)
            self.assertIn(words, result.error)

    def test_a_server_is_judged_by_its_own_copy_of_the_flavor(self) -> None:
        self.cloud.flavors['win.medium']['extra_specs'] = {'k': '1'}
        words = f'{_EXPLAIN} win.medium --server mail --host compute-7'
        # The flavor, and its copy.
        documents = self.data(words)
        self.assertEqual(
            [
                '0 of 1 host takes win.medium: 1 lacks the key k.',
                '1 of 1 host takes win.medium of mail.',
            ],
            [document['verdict'] for document in documents],
        )

    def test_servers_of_the_same_name_are_told_with_their_ids(self) -> None:
        self.cloud.servers['web']['name'] = 'dup'
        self.cloud.servers['mail']['name'] = 'dup'
        result = self.openstack(*_EXPLAIN.split(), '--server', 'dup')
        self.assert_one_line(result, 'use an ID: id-mail, id-web')

    def test_hidden_extra_specs_are_not_no_extra_specs(self) -> None:
        # A policy of Nova may hide them: the list of flavors lacks them then.
        flavors = [{'id': '1', 'name': 'gpu.large', 'links': []}]
        url = f'{rest_stub.COMPUTE}/flavors'
        self.mocker.get(f'{url}/detail', json={'flavors': flavors})
        self.mocker.get(f'{url}/1/os-extra_specs', status_code=403)
        result = self.openstack(*_EXPLAIN.split(), 'gpu.large')
        self.assert_one_line(result, '403', 'os-extra_specs')

    def test_an_old_microversion_of_the_shell_does_not_matter(self) -> None:
        old = '--os-compute-api-version 2.1'
        words = f'{_EXPLAIN} win.medium --server mail'
        self.assertEqual(self.data(words), self.data(f'{old} {words}'))

    def test_hosts_that_are_not_up_are_shown_and_do_not_count(self) -> None:
        self.cloud.services['compute-2']['status'] = 'disabled'
        words = f'{_EXPLAIN} gpu.large --all --fail-if-none'
        output = self.run_command(words, status=2)
        self.assertIn('| compute-2 | disabled | pass   |', output)

    def test_what_is_not_known_of_the_hosts_is_no_success(self) -> None:
        words = f'{_EXPLAIN} gpu.large --fail-if-none'
        self.run_command(words)
        files = self.files('flavors', 'aggregates')
        self.run_command(words, *files, status=1)

    def test_exempt_keys_come_from_the_configuration(self) -> None:
        conf = self.write('[nova_filters]\nexempt_metadata_keys = o*', 'conf')
        # The zone is exempt by default; a list replaces the default.
        gpus = self.cloud.aggregates['gpus']['metadata']
        gpus['force_metadata_check'] = 'True'
        del gpus['gpu']
        words = f'{_EXPLAIN} m1.small --host compute-1 --host compute-7'
        (document,) = self.data(words)
        self.assertEqual(['compute-1'], document['takers'])
        # The command does not read this folder.
        folder = pathlib.Path(f'{conf}.d')
        folder.mkdir()
        text = '[nova_filters]\nexempt_metadata_keys = x'
        (folder / '50-x.conf').write_text(text)
        (document,) = self.data(words, '--config-file', conf)
        self.assertEqual(['compute-7'], document['takers'])

    def test_the_table_counts_rare_causes_together(self) -> None:
        for number in range(20):
            name = f'host-{number}'
            self.cloud.add_service(name)
            self.cloud.add_aggregate(name, {'ssd': str(number)}, [name])
        self.cloud.flavors['m1.small']['extra_specs'] = {f'{_SCOPE}:ssd': 'x'}
        output = self.run_command(f'{_EXPLAIN} m1.small')
        self.assertLess(output.count('\n'), 30)
        self.assertIn('other reasons, see --all', output)

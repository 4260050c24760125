# SPDX-License-Identifier: Apache-2.0

from tests.functional.client import base

_EXPLAIN = 'aggregate filter explain'
_SCOPE = 'aggregate_instance_extra_specs'


class ExplainTest(base.CloudTestCase):
    def test_programs_get_all_that_people_get(self) -> None:
        del self.cloud.services['compute-8']
        rows, sentences = self.answer(f'{_EXPLAIN} m1.small')
        verdict, other_filters, unknown = sentences
        self.assertEqual(
            "4 of 6 hosts take m1.small: aggregate 'licensed' demands 'os' "
            '(2).',
            verdict,
        )
        self.assertIn('other filters are not judged', other_filters)
        self.assertIn("count as not up: 'compute-8'.", unknown)
        hosts = ['compute-1', 'compute-2', 'compute-3', 'compute-4']
        self.assertEqual(
            [
                {
                    'Flavor': 'm1.small',
                    'Result': 'pass',
                    'Hosts': 4,
                    'Reason': '',
                    'Names': hosts,
                },
                {
                    'Flavor': 'm1.small',
                    'Result': 'refuse',
                    'Hosts': 2,
                    'Reason': "aggregate 'licensed' demands 'os'",
                    'Names': ['compute-7', 'compute-8'],
                },
            ],
            rows,
        )
        host = {
            'Flavor': 'm1.small',
            'Host': 'compute-8',
            'State': 'unknown',
            'Result': 'refuse',
            'Reason': "aggregate 'licensed' demands 'os'",
        }
        self.assertEqual(host, self.data(f'{_EXPLAIN} m1.small --all')[-1])

    def test_csv_has_the_rows_and_says_the_rest_beside_them(self) -> None:
        files = self.files('flavors', 'aggregates')
        command = [*_EXPLAIN.split(), 'm1.small', *files, '-f', 'csv']
        result = self.openstack(*command)
        # With files, no cloud is asked even if there is one.
        self.assertEqual([], self.mocker.request_history)
        header, _ = result.output.split('\n', 1)
        self.assertEqual('"Flavor","Result","Hosts","Reason","Names"', header)
        for words in (
            "hosts take m1.small: aggregate 'licensed' demands",
            'There is no list of compute services',
        ):
            self.assertNotIn(words, result.output)
            self.assertIn(words, result.error)

    def test_a_server_is_judged_by_its_own_copy_of_the_flavor(self) -> None:
        self.cloud.flavors['win.medium']['extra_specs'] = {'k': '1'}
        words = f'{_EXPLAIN} win.medium --server mail --host compute-7'
        # The flavor, and its copy.
        _, sentences = self.answer(words)
        self.assertEqual(
            [
                "0 of 1 host takes win.medium: 'k' not in any aggregate (1), "
                "aggregate 'licensed' demands 'os' (1).",
                '1 of 1 host takes win.medium of mail.',
            ],
            sentences[:2],
        )

    def test_a_server_cannot_move_to_its_own_host(self) -> None:
        rows, (verdict, *_) = self.answer(f'{_EXPLAIN} --server mail')
        self.assertIn(' other hosts take', verdict)
        self.assertNotIn('compute-7', rows[0]['Names'])
        # A server on no host can move to each host.
        self.cloud.servers['mail']['OS-EXT-SRV-ATTR:host'] = None
        self.cloud.servers['mail']['hostId'] = ''
        rows, (verdict, *_) = self.answer(f'{_EXPLAIN} --server mail')
        self.assertIn(' of 6 hosts take', verdict)
        self.assertIn('compute-7', rows[0]['Names'])

    def test_a_server_whose_host_is_hidden_is_no_success(self) -> None:
        words = f'{_EXPLAIN} --server train --fail-if-none'
        self.cloud.aggregates['gpus']['hosts'].remove('compute-1')
        self.run_command(words, status=2)
        del self.cloud.servers['train']['OS-EXT-SRV-ATTR:host']
        _, sentences = self.answer(words, status=1)
        self.assertIn("does not show the host of 'train'", sentences[-1])

    def test_servers_of_the_same_name_are_told_with_their_ids(self) -> None:
        self.cloud.servers['web']['name'] = 'dup.1'
        self.cloud.servers['mail']['name'] = 'dup.1'
        result = self.openstack(*_EXPLAIN.split(), '--server', 'dup.1')
        self.assert_one_line(result, 'id-mail (dup.1), id-web (dup.1)')
        # Nova reads the name as a regular expression.
        self.assertIn(r'name=dup%5C.1', self.mocker.last_request.url)

    def test_an_old_microversion_of_the_shell_does_not_matter(self) -> None:
        old = '--os-compute-api-version 2.1'
        words = f'{_EXPLAIN} win.medium --server mail'
        self.assertEqual(self.data(words), self.data(f'{old} {words}'))

    def test_hosts_that_are_not_up_are_shown_and_do_not_count(self) -> None:
        service = self.cloud.services['compute-2']
        service.update(status='disabled', disabled_reason='RAM')
        words = f'{_EXPLAIN} gpu.large --fail-if-none'
        first, *_ = self.data(words, status=2)
        self.assertEqual(
            ('not up', "disabled: 'RAM'", ['compute-2']),
            (first['Result'], first['Reason'], first['Names']),
        )
        first, *_ = self.data(words, '--all', status=2)
        self.assertEqual(
            ('compute-2', "disabled: 'RAM'", 'not up'),
            (first['Host'], first['State'], first['Result']),
        )

    def test_each_sentence_names_its_flavor(self) -> None:
        for name in 'gpu.large', 'win.medium':
            specs = {f'{_SCOPE}:x': name, 'other:k': ''}
            self.cloud.flavors[name]['extra_specs'] = specs
        _, sentences = self.answer(f'{_EXPLAIN} gpu.large win.medium')
        self.assertEqual(4, len(sentences))
        for number, sentence in enumerate(sentences):
            name = ['gpu.large', 'win.medium'][number in (1, 3)]
            self.assertIn(name, sentence)

    def test_what_is_not_known_of_the_hosts_is_no_success(self) -> None:
        words = f'{_EXPLAIN} gpu.large --fail-if-none'
        self.run_command(words)
        files = self.files('flavors', 'aggregates')
        self.run_command(words, *files, status=1)
        self.run_command(f'{_EXPLAIN} gpu.large', *files, status=1)

    def test_exempt_keys_are_given_as_in_the_configuration(self) -> None:
        # The zone is exempt by default; a list replaces the default.
        gpus = self.cloud.aggregates['gpus']['metadata']
        gpus['force_metadata_check'] = 'True'
        del gpus['gpu']
        words = f'{_EXPLAIN} m1.small --host compute-1 --host compute-7'
        first, *_ = self.data(words)
        self.assertEqual(['compute-1'], first['Names'])
        option = '--exempt-metadata-keys'
        (first, *_), sentences = self.answer(words, option, 'x, o*')
        self.assertEqual(['compute-7'], first['Names'])
        self.assertEqual(
            'Keys that are not demanded because of exempt_metadata_keys: '
            "'os'.",
            sentences[-1],
        )
        # Every key may be demanded.
        rows = self.data(words, option, '')
        self.assertEqual({'refuse'}, {row['Result'] for row in rows})

    def test_hosts_with_other_values_have_one_row(self) -> None:
        for number in range(20):
            name = f'host-{number:02}'
            self.cloud.add_service(name)
            self.cloud.add_aggregate(name, {'ssd': str(number)}, [name])
        self.cloud.flavors['m1.small']['extra_specs'] = {f'{_SCOPE}:ssd': 'x'}
        words = f'{_EXPLAIN} m1.small'
        row, *_ = self.data(words)
        self.assertEqual(22, row['Hosts'])
        self.assertIn("'ssd' does not match 'x'; aggregate", row['Reason'])
        # A program gets the whole list, and people its first names.
        self.assertEqual('host-19', row['Names'][-1])
        self.assertIn('18 more', self.run_command(words))

    def test_a_flavor_that_only_administrators_see_is_told(self) -> None:
        result = self.openstack(*_EXPLAIN.split(), 'secret')
        self.assert_one_line(result, "'secret'. All flavors that were read")
        flavor = self.cloud.flavors['m1.small']
        flavor['os-flavor-access:is_public'] = False
        result = self.openstack(*_EXPLAIN.split(), 'secret')
        self.assertTrue(result.error.endswith("or ID 'secret'\n"), result)

    def test_rows_are_sorted_and_chosen_by_the_shell(self) -> None:
        words = f'{_EXPLAIN} m1.small -c Hosts --sort-column Hosts'
        self.assertEqual([{'Hosts': 2}, {'Hosts': 4}], self.data(words))

# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter explain`` in the real shell."""

import ddt

from tests.functional.client import base

COLUMNS = [
    'Flavor', 'Host', 'Result', 'Failing Keys', 'Side', 'Key', 'Wanted',
    'Found', 'Aggregate',
]  # fmt: skip


@ddt.ddt
class ExplainTest(base.CloudTestCase):
    def explain(self, *arguments: str) -> list[dict[str, object]]:
        """Return the rows, which must be the same from cloud and files."""
        command = ('aggregate', 'filter', 'explain', *arguments)
        # The matrix judges aggregates, and refuses hosts.
        count = 4 if '--matrix' in arguments else 6
        files = self.files()[:count]
        self.cloud.requests.clear()
        live = self.live(*command)
        # A cloud is only read.
        self.assertIn(('GET', '/os-aggregates'), self.cloud.requests)
        self.assertEqual(
            {'GET'}, {method for method, _ in self.cloud.requests}
        )
        # With files no cloud is asked, even if there is one.
        self.cloud.requests.clear()
        self.assertEqual(live, self.live(*command, *files))
        self.assertEqual([], self.cloud.requests)
        return live

    def test_each_host_is_told_with_its_reason(self) -> None:
        rows = self.explain('win.medium', 'm1.small')
        self.assertEqual(COLUMNS, list(rows[0]))
        self.assertEqual(12, len(rows))
        passed = {
            (row['Flavor'], row['Host'])
            for row in rows
            if row['Result'] == 'pass'
        }
        self.assertEqual(
            {('win.medium', f'compute-{n}') for n in (7, 8)}
            | {('m1.small', f'compute-{n}') for n in (1, 2, 3, 4)},
            passed,
        )
        self.assertEqual(
            ['m1.small', 'compute-7', 'refuse', 1, 'aggregate']
            + ['os', ['windows'], [], ['licensed']],
            list(rows[-2].values()),
        )

    def test_near_misses_come_first(self) -> None:
        rows = self.explain('gpu.large', '--only-refused')
        self.assertEqual(
            [
                ('compute-1', 1),
                ('compute-3', 1),
                ('compute-4', 2),
                ('compute-7', 3),
                ('compute-8', 3),
            ],
            [(row['Host'], row['Failing Keys']) for row in rows],
        )

    def test_a_host_can_be_chosen(self) -> None:
        rows = self.explain('1', '--host', 'compute-4', '--host', 'compute-7')
        self.assertEqual(
            ['compute-7', 'compute-4'], [row['Host'] for row in rows]
        )

    def test_the_reason_is_that_of_the_log(self) -> None:
        (row,) = self.explain('m1.small', '--host', 'compute-7', '--long')
        self.assertEqual("aggregate 'licensed' demands 'os'", row['Reason'])
        self.assertEqual(['licensed'], row['Host Aggregates'])
        self.assertEqual(['os'], row['All Keys'])

    def test_hosts_are_counted_by_reason(self) -> None:
        self.assertEqual(
            [
                ('gpu.large', 'pass', 1, ''),
                ('gpu.large', 'refuse', 4, "'gpu' not in any aggregate"),
                ('gpu.large', 'refuse', 1, "'ssd' not in any aggregate"),
            ],
            [
                tuple(row.values())
                for row in self.explain('gpu.large', '--summary')
            ],
        )

    def test_the_matrix_holds_all_flavors_and_aggregates(self) -> None:
        self.assertEqual(
            [
                ('win.medium', 'os', 'pass', 'os', 'os'),
                ('any.small', 'pass', 'pass', 'pass', 'pass'),
                ('gpu.large', 'gpu, ssd', 'gpu, ssd, os', 'ssd', 'gpu'),
                ('m1.small', 'pass', 'os', 'pass', 'pass'),
            ],
            [tuple(row.values()) for row in self.explain('--matrix')],
        )

    def test_a_server_is_judged_by_its_own_copy_of_the_flavor(self) -> None:
        command = ('aggregate', 'filter', 'explain', '--host', 'compute-7')
        servers = self.server_files()
        self.cloud.flavors['win.medium'] = {'k': '1'}
        files = self.files()
        (row,) = self.live(*command, '--server', 'mail')
        self.assertEqual(
            ('win.medium of mail', 'pass'), (row['Flavor'], row['Result'])
        )
        (same,) = self.data(*command, '--server', 'mail', *files, *servers)
        self.assertEqual(row, same)
        # All servers of the files, and a flavor beside them.
        rows = self.data(*command, 'win.medium', *files, *servers)
        self.assertEqual(
            [
                'win.medium', 'win.medium of mail', 'gpu.large of train',
                'm1.small of web',
            ],
            [row['Flavor'] for row in rows],
        )  # fmt: skip

    def test_an_old_microversion_of_the_shell_does_not_matter(self) -> None:
        old = ('--os-compute-api-version', '2.1', 'aggregate', 'filter')
        rows = self.live(*old, 'explain', 'win.medium', '--server', 'mail')
        self.assertEqual(12, len(rows))

    def test_a_nova_without_embedded_flavors_is_told(self) -> None:
        self.cloud.maximum = '2.46'
        result = self.openstack(
            'aggregate', 'filter', 'explain', '--server', 'mail',
            **base.rest_stub.LOGIN,
        )  # fmt: skip
        self.assert_one_line(result, 'microversion 2.47')
        # Flavors and aggregates need no such thing.
        self.assertEqual(
            6, len(self.live('aggregate', 'filter', 'explain', 'm1.small'))
        )

    @ddt.data('json', 'yaml', 'csv', 'value', 'table')
    def test_every_format_prints_the_same(self, form: str) -> None:
        result = self.openstack(
            'aggregate', 'filter', 'explain', 'any.small', *self.files(),
            '--host', 'compute-1', '-f', form,
        )  # fmt: skip
        self.assertEqual((0, ''), (result.status, result.error))
        for word in ('any.small', 'compute-1', 'pass'):
            self.assertIn(word, result.output)

    def test_files_may_be_yaml(self) -> None:
        command = ('aggregate', 'filter', 'explain', 'gpu.large')
        live = self.live(*command)
        self.assertEqual(live, self.data(*command, *self.files('yaml')))
        servers = self.server_files('yaml')
        rows = self.data(*command, *self.files('json'), *servers)
        self.assertEqual(24, len(rows))

    def test_rows_of_single_objects_are_enough(self) -> None:
        flavors = self.show('flavor show', 'win.medium', 'm1.small')
        aggregates = self.show('aggregate show', 'licensed', 'gpus')
        command = ('aggregate', 'filter', 'explain', 'win.medium')
        files = ('--flavors', flavors, '--aggregates', aggregates)
        rows = self.data(*command, *files)
        # Aggregates alone name four hosts.
        self.assertEqual(
            ['pass', 'pass', 'refuse', 'refuse'],
            [row['Result'] for row in rows],
        )

    def test_exempt_keys_come_from_the_option_or_a_file(self) -> None:
        command = ('aggregate', 'filter', 'explain', 'm1.small', *self.files())
        host = ('--host', 'compute-7')
        conf = self.write(
            '[nova_filters]\nexempt_metadata_keys = o*,x\n', 'conf'
        )
        for options, wanted in (
            ((), 'refuse'),
            (('--exempt', 'os'), 'pass'),
            (('--exempt', 'x', '--exempt', 'y'), 'refuse'),
            (('--config-file', conf), 'pass'),
        ):
            (row,) = self.data(*command, *host, *options)
            self.assertEqual(wanted, row['Result'], options)
        # The zone is exempt by default; an own list replaces the default.
        self.cloud.aggregates['gpus'][0]['force_metadata_check'] = 'True'
        self.cloud.aggregates['gpus'][0].pop('gpu')
        zone = ('aggregate', 'filter', 'explain', 'm1.small', '--host')
        for options, wanted in (
            ((), 'pass'),
            (('--exempt', 'x'), 'refuse'),
        ):
            (row,) = self.live(*zone, 'compute-1', *options)
            self.assertEqual(wanted, row['Result'], options)

# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter explain`` in the real shell."""

import collections

from tests.functional.client import base

COLUMNS = [
    'Flavor', 'Host', 'State', 'Result', 'Failing Keys', 'Side', 'Key',
    'Wanted', 'Found', 'Aggregate', 'Host Aggregates', 'All Keys', 'Reason',
    'Preferences',
]  # fmt: skip
_SCOPE = 'aggregate_instance_extra_specs'
_EXPLAIN = 'aggregate filter explain'


class ExplainTest(base.CloudTestCase):
    def explain(self, *arguments: str) -> list[dict[str, object]]:
        """Return the rows."""
        return self.live(*_EXPLAIN.split(), *arguments)

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

    def test_each_host_is_told_with_its_reason(self) -> None:
        rows = self.explain('win.medium', 'm1.small')
        self.assertEqual(COLUMNS, list(rows[0]))
        self.assertEqual(12, len(rows))
        self.assertEqual(
            ['m1.small', 'compute-7', 'up', 'refuse', 1, 'aggregate']
            + ['os', ['windows'], [], ['licensed'], ['licensed'], ['os']]
            + ["aggregate 'licensed' demands 'os'", ''],
            list(rows[-2].values()),
        )

    def test_preferences_are_told_with_their_reasons(self) -> None:
        self.cloud.flavors['m1.small'] = {'aggregate_preferred.5:ssd': '*'}
        rows = self.explain('m1.small')[:4]
        self.assertEqual(
            {'', '+5 aggregate_preferred.5:ssd=*'},
            {row['Preferences'] for row in rows},
        )

    def test_a_server_is_judged_by_its_own_copy_of_the_flavor(self) -> None:
        command = (*_EXPLAIN.split(), '--host', 'compute-7')
        specs = self.cloud.flavors['win.medium']
        flavor_copy = {'original_name': 'win.medium', 'extra_specs': specs}
        self.cloud.shown['mail'] = {'flavor': flavor_copy}
        self.cloud.flavors['win.medium'] = {'k': '1'}
        files = self.files(*base.NOUNS)
        (row,) = self.live(*command, '--server', 'mail')
        self.assertEqual(
            ('win.medium of mail', 'pass'), (row['Flavor'], row['Result'])
        )
        (same,) = self.data(*command, '--server', 'mail', *files)
        self.assertEqual(row, same)
        # A flavor beside it.
        rows = self.live(*command, 'win.medium', '--server', 'mail')
        self.assertEqual(
            ['win.medium', 'win.medium of mail'],
            [row['Flavor'] for row in rows],
        )

    def test_an_old_microversion_of_the_shell_does_not_matter(self) -> None:
        old = ('--os-compute-api-version', '2.1', 'aggregate', 'filter')
        rows = self.live(*old, 'explain', 'win.medium', '--server', 'mail')
        self.assertEqual(12, len(rows))

    def test_an_older_nova_is_asked_in_its_newest_microversion(self) -> None:
        command = (*_EXPLAIN.split(), 'win.medium', '--server', 'mail')
        rows = self.live(*command)
        self.cloud.maximum = '2.61'
        self.assertEqual(rows, self.live(*command))

    def lines(self, words: str, status: int = 0) -> list[str]:
        """Return the lines of a table in 80 columns."""
        return self.run_command(
            f'{_EXPLAIN} {words}', status=status
        ).splitlines()

    def test_hosts_that_are_disabled_or_down_are_shown_as_such(self) -> None:
        self.cloud.states = {
            'compute-2': ('disabled', 'up'),
            'compute-3': ('disabled', 'down'),
            'compute-4': ('enabled', 'down'),
        }
        states = {
            row['Host']: row['State'] for row in self.explain('gpu.large')
        }
        self.assertEqual(
            {
                'compute-2': 'disabled', 'compute-3': 'disabled and down',
                'compute-4': 'down',
                **{f'compute-{n}': 'up' for n in (1, 7, 8)},
            },
            states,
        )  # fmt: skip
        # The only host that passes does not count.
        lines = self.lines('gpu.large --fail-if-none', status=2)
        self.assertIn('| compute-2 | disabled          | pass   |', lines[3])
        text = ' '.join(lines)
        self.assertIn('1 of 6 hosts passes (1 of them not up); ', text)
        # First the host that would do as it is, then the nearest that is up.
        self.assertEqual(
            [
                'These hosts pass, but are not up:',
                '  openstack compute service set --enable compute-2 '
                'nova-compute',
                "The nearest host is compute-1: 'ssd' not in any aggregate.",
            ],
            lines[-3:],
        )

    def test_a_cloud_without_a_host_that_is_up_has_no_nearest(self) -> None:
        self.cloud.states = dict.fromkeys(
            self.cloud.hosts, ('enabled', 'down')
        )
        self.assertEqual(
            'No host that is up is left to open.', self.lines('gpu.large')[-1]
        )

    def test_a_host_that_no_service_has_is_told(self) -> None:
        self.cloud.hosts.remove('compute-8')
        self.cloud.hosts.append('Compute-8')
        self.cloud.aggregates['disks'][1].append('gone')
        self.assertIn(
            "not up: 'compute-8' (a service's host is 'Compute-8'), 'gone'.",
            ' '.join(self.lines('m1.small')),
        )

    def test_the_nearest_host_is_told_with_its_reason(self) -> None:
        self.cloud.flavors['gpu.large'][f'{_SCOPE}:gpu'] = 'h100'
        lines = self.lines('gpu.large m1.small')
        self.assertEqual(
            [
                "gpu.large: 0 of 6 hosts pass; 4 'gpu' not in any aggregate, "
                "2 'gpu' does not",
                "match 'h100'.",
                "The nearest host is compute-2: 'gpu' does not match 'h100'; "
                "aggregate 'gpus' has",
                "'a100'.",
                "m1.small: 4 of 6 hosts pass; 2 aggregate 'licensed' demands "
                "'os'.",
            ],
            lines[-5:],
        )

    def test_a_summary_counts_the_hosts_by_reason(self) -> None:
        rows = self.explain('--summary')
        self.assertEqual({*self.cloud.flavors}, {r['Flavor'] for r in rows})
        counts: collections.Counter[object] = collections.Counter()
        for row in rows:
            counts[row['Flavor']] += row['Hosts']
        self.assertEqual(dict.fromkeys(self.cloud.flavors, 6), dict(counts))
        self.assertEqual(
            [
                ['m1.small', 'pass', 4, ''],
                ['m1.small', 'refuse', 2, "aggregate 'licensed' demands 'os'"],
            ],
            [
                list(row.values())
                for row in rows
                if row['Flavor'] == 'm1.small'
            ],
        )
        # A flavor that no host takes.
        self.cloud.flavors['gpu.large'][f'{_SCOPE}:gpu'] = 'h100'
        named = self.explain('gpu.large', '--summary')
        self.assertEqual({'refuse'}, {row['Result'] for row in named})

    def test_the_exit_code_tells_that_no_host_passes(self) -> None:
        self.cloud.flavors['stuck'] = {'nosuch': '1'}
        for flavor, status in (('gpu.large', 0), ('stuck', 2)):
            command = f'{_EXPLAIN} {flavor}'
            self.run_command(command)
            for form, source in (('json', []), ('table', self.files())):
                more = ('--fail-if-none', '-f', form, *source)
                self.run_command(command, *more, status=status)

    def test_a_wider_table_keeps_long_names(self) -> None:
        long = 'compute-0042.rack-17.frankfurt-2.cloud.example.com'
        self.cloud.hosts.append(long)
        self.cloud.aggregates['disks'][1].append(long)
        self.cloud.aggregates['disks'][0]['gpu'] = 'l4, h100'
        for options, number in (('', 0), (' --max-width 200', 1)):
            lines = self.lines(f'gpu.large{options}')
            self.assertEqual(number, len([o for o in lines if long in o]))

    def test_exempt_keys_come_from_the_option_or_a_file(self) -> None:
        conf = self.write(
            '[nova_filters]\nexempt_metadata_keys = o*,x\n', 'conf'
        )
        # The zone is exempt by default; an own list replaces the default.
        self.cloud.aggregates['gpus'][0]['force_metadata_check'] = 'True'
        self.cloud.aggregates['gpus'][0].pop('gpu')
        for host, options, verdict in (
            ('compute-7', '', 'refuse'),
            ('compute-7', '--exempt os', 'pass'),
            ('compute-7', '--exempt x --exempt y', 'refuse'),
            ('compute-7', f'--config-file {conf}', 'pass'),
            ('compute-1', '', 'pass'),
            ('compute-1', '--exempt x', 'refuse'),
        ):
            words = f'{_EXPLAIN} m1.small --host {host} {options}'
            (row,) = self.live(*words.split())
            self.assertEqual(verdict, row['Result'], words)

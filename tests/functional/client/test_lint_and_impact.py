# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter lint`` and ``impact`` in the real shell."""

import json

import ddt

from tests.functional.client import base

#: The hosts with a licence.
BOTH = ['compute-7', 'compute-8']
_SCOPE = 'aggregate_instance_extra_specs'
_LINT, _IMPACT = 'aggregate filter lint', 'aggregate filter impact'


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


@ddt.ddt
class ImpactTest(base.CloudTestCase):
    @ddt.data(
        (
            '--set-aggregate licensed os=~',
            ('flavor', 'win.medium', BOTH, '', '', 'loses'),
            ('flavor', 'm1.small', BOTH, '', '', 'gains'),
            # It can stay, and go nowhere.
            ('server', 'mail', BOTH[:1], 1, 0, 'stranded'),
        ),
        (
            # By ID: "2" is the aggregate "gpus", and "3" is "disks".
            '--add-host 2 compute-3 --remove-host 3 compute-2',
            ('flavor', 'gpu.large', ['compute-2'], '', '', 'loses'),
            ('flavor', 'gpu.large', ['compute-3'], '', '', 'gains'),
            ('server', 'train', ['compute-2'], 0, 1, 'refused'),
        ),
        (
            # A server has a copy of the flavor.
            f'--set-flavor m1.small {_SCOPE}:ssd=*',
            ('flavor', 'm1.small', ['compute-1', 'compute-4'])
              + ('', '', 'loses'),
        ),
        (
            '--unset-aggregate licensed force_metadata_check '
            f'--unset-flavor gpu.large {_SCOPE}:ssd',
            ('flavor', 'gpu.large', ['compute-1'], '', '', 'gains'),
            ('flavor', 'm1.small', BOTH, '', '', 'gains'),
        ),
    )  # fmt: skip
    def test_a_change_is_told_before_it_is_made(self, case) -> None:
        options, *effects = case
        command = [*_IMPACT.split(), *options.split()]
        live = self.live(*command)
        files = self.files(*base.NOUNS)
        self.assertEqual(live, self.data(*command, *files))
        rows = [tuple(row.values()) for row in live]
        self.assertEqual(
            effects, [(*row[:3], *row[5:7], row[9]) for row in rows]
        )

    def test_hosts_beyond_what_nova_looks_at_are_told(self) -> None:
        command = ('aggregate', 'filter', 'lint', '--config-file')
        for limit, flavors in (
            (6, []),
            (5, ['any.small', 'gpu.large', 'm1.small', 'win.medium']),
        ):
            text = f'[scheduler]\nmax_placement_results = {limit}\n'
            rows = self.live(*command, self.write(text, 'nova.conf'))
            names = [r['Name'] for r in rows if r['Code'] == 'beyond-limit']
            self.assertEqual(flavors, sorted(names))

    def test_a_stranded_server_can_end_with_exit_code_2(self) -> None:
        command = f'{_IMPACT} --fail-on stranded --remove-host'
        for form in ('json', 'table'):
            self.run_command(f'{command} disks compute-3 -f {form}')
            self.run_command(
                f'{command} licensed compute-8 -f {form}', status=2
            )

    def test_a_server_whose_boot_has_failed_is_not_stranded(self) -> None:
        self.cloud.shown['mail'] = {
            'status': 'ERROR', 'hostId': '', 'OS-EXT-SRV-ATTR:host': None,
        }  # fmt: skip
        files = self.files(*base.NOUNS)
        command = f'{_IMPACT} --fail-on stranded --remove-host'
        for source in ([], files):
            change = 'licensed compute-8 --remove-host licensed compute-7'
            output = self.run_command(f'{command} {change}', *source)
            self.assertIn('Servers by effect: none.', output)

    def test_what_a_shell_made_of_a_tilde_is_told(self) -> None:
        change = ('--set-aggregate', 'licensed', 'os=/root')
        result = self.openstack(*_IMPACT.split(), *self.files(), *change)
        self.assertEqual(0, result.status)
        self.assertIn("in quotes: 'KEY=~'", result.error)

    def test_files_may_say_what_comes_after(self) -> None:
        files = self.files(*base.NOUNS)
        del self.cloud.flavors['any.small']
        self.cloud.flavors['gpu.small'] = {f'{_SCOPE}:gpu': '*'}
        self.cloud.aggregates['gpus'] = ({'gpu': 'h100'}, ['compute-1'])
        for noun in ('flavors', 'aggregates'):
            files += [f'--after-{noun}', self.files(noun)[1]]
        effects = self.data(*_IMPACT.split(), *files)
        rows = [tuple(effect.values()) for effect in effects]
        self.assertEqual(
            [
                ('any.small', self.cloud.hosts, 'pass', '', 'deleted'),
                ('gpu.large', ['compute-2'], 'pass', 'refuse', 'loses'),
                ('gpu.small', ['compute-1'], '', 'pass', 'new'),
                ('train', ['compute-2'], 'pass', 'refuse', 'refused'),
            ],
            [(*row[1:5], row[9]) for row in rows],
        )
        output = self.run_command(_IMPACT, *files)
        self.assertIn('Flavors by effect: deleted 1, loses 1, new 1.', output)

    def test_replacing_the_in_tree_filter_is_a_change_too(self) -> None:
        self.cloud.flavors['odd'] = {'k': '>= two'}
        self.cloud.aggregates['disks'][0]['k'] = '1'
        rows = self.live(*_IMPACT.split(), '--replace-in-tree')
        # What else changes is on the page.
        (odd,) = (row for row in rows if row['Name'] == 'odd')
        self.assertEqual(('error', 'refuse'), (odd['Before'], odd['After']))

    def test_servers_can_be_left_out(self) -> None:
        command = (*_IMPACT.split(), '--no-servers')
        rows = self.live(*command, '--set-aggregate', 'licensed', 'os=linux')
        self.assertEqual({'flavor'}, {row['Object'] for row in rows})
        paths = {path for _, path in self.cloud.requests}
        self.assertNotIn('/servers/detail', paths)

    @ddt.data(
        (None, 'Nova does not show its host'),
        ('compute-9', "its host 'compute-9' is not among the hosts"),
        # Nova shows next to nothing of the server.
        ('', 'Nova does not show its flavor'),
    )
    @ddt.unpack
    def test_what_is_not_known_is_no_all_clear(self, host, reason) -> None:
        """A server's own host must not count as another one."""
        self.cloud.servers = {'mail': (host, 'win.medium')}
        if host == '':
            self.cloud.servers, self.cloud.down = {}, ('mail',)
        files = self.files(*base.NOUNS)
        command = f'{_IMPACT} --fail-on stranded'
        change = '--remove-host licensed compute-8'
        for source in ([], files):
            output = self.run_command(
                f'{command} {change} -f json', *source, status=1
            )
            row = json.loads(output)[-1]
            self.assertEqual(('mail', 'unknown'), (row['Name'], row['Effect']))
            self.assertIn(reason, row['Reason'])
            output = self.run_command(f'{command} {change}', *source, status=1)
            self.assertIn('Servers by effect: unknown 1.', output)
        if host != '':
            self.run_command(f'{command} --set-aggregate disks rack=r1')

    def test_a_misspelled_host_after_the_change_is_no_gain(self) -> None:
        files = self.files(*base.NOUNS)
        self.cloud.aggregates['gpus'][1].append('compute-33')
        after = self.files('aggregates')[1]
        command = (*_IMPACT.split(), '--after-aggregates', after)
        result = self.openstack(*command, *files)
        self.assert_one_line(result, "No compute host has the name 'compute-3")
        # Who does not know the hosts is told.
        result = self.openstack(*command, *files[:4])
        self.assertIn('or misspelled: compute-33.', result.output)

    def test_a_second_zone_is_refused_as_nova_does(self) -> None:
        self.cloud.aggregates['west'] = ({'availability_zone': 'west'}, [])
        command = f'{_IMPACT} --add-host west'
        result = self.openstack(*command.split(), 'compute-1', **self.login)
        self.assert_one_line(result, 'Nova refuses', "'compute-1'", 'east')
        output = self.run_command(f'{command} compute-4').replace('\n', ' ')
        self.assertIn('zone of compute-4 changes: Nova refuses', output)

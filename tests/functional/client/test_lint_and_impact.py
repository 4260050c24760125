# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter lint`` and ``impact`` in the real shell."""

import json

import requests

from tests.functional.client import base, rest_stub

#: The hosts with a licence.
BOTH = ['compute-7', 'compute-8']
_SCOPE = 'aggregate_instance_extra_specs'


class LintTest(base.CloudTestCase):
    def setUp(self) -> None:
        super().setUp()
        # Two hosts have both.
        self.cloud.aggregates['disks'][1].append('compute-1')

    def test_a_sound_cloud_has_no_findings(self) -> None:
        self.assertEqual([], self.live('aggregate', 'filter', 'lint'))

    def test_findings_are_the_same_from_cloud_and_files(self) -> None:
        self.cloud.flavors['m1.small']['gpu'] = '<or> a100 <or> ~'
        self.cloud.aggregates['disks'][0]['force_metadata_chek'] = 'True'
        live = self.live('aggregate', 'filter', 'lint')
        self.assertEqual(
            [
                ('warning', 'misspelled-flag', 'aggregate', 'disks'),
                ('info', 'unscoped-key', 'flavor', 'm1.small'),
            ],
            [tuple(row.values())[:4] for row in live],
        )
        command = ('aggregate', 'filter', 'lint')
        self.assertEqual(live, self.data(*command, *self.files()))
        found = self.live(*command, '--severity', 'warning')
        self.assertEqual(live[:1], found)

    def test_errors_end_with_exit_code_2(self) -> None:
        self.cloud.flavors['win.medium'][f'{_SCOPE}:os'] = '<or> ! <or> x'
        # A process ends with that code, too.
        result = self.openstack_process(
            *('aggregate', 'filter', 'lint', '--severity', 'error'),
            *('-f', 'json', *self.files()),
        )
        self.assertEqual((2, ''), (result.status, result.error))
        row, effect = json.loads(result.output)
        self.assertEqual('no-host', effect['Code'])
        self.assertEqual(
            ['error', 'exclusive-sentinel', 'flavor', 'win.medium'],
            list(row.values())[:4],
        )
        self.assertEqual(
            ['Severity', 'Code', 'Object', 'Name', 'Key', 'Problem', 'Remedy'],
            list(row),
        )

    def test_one_flavor_is_not_1_flavors(self) -> None:
        self.cloud.flavors = {'m1.small': {}}
        result = self.openstack('aggregate', 'filter', 'lint', **self.login)
        self.assertIn('found in 1 flavor and 3 aggr', result.output)

    def test_each_finding_is_a_block(self) -> None:
        self.cloud.flavors['win.medium'][f'{_SCOPE}:os'] = 'a,b'
        command = ('aggregate', 'filter', 'lint')
        result = self.openstack(*command, COLUMNS='80', **self.login)
        self.assertEqual(
            """\
error: comma-in-flavor
  flavor win.medium, aggregate_instance_extra_specs:os
  'a,b': aggregates' values are split at commas, so none of them holds one
  Remedy: '<or> A <or> B'

error: no-host
  flavor win.medium, os
  none of 6 hosts takes the flavor; nearest is compute-1: 'os' not in any
  aggregate
  Remedy:
    openstack flavor unset --property aggregate_instance_extra_specs:os win.medium

2 errors found in 4 flavors and 3 aggregates.
""",  # noqa: E501
            result.output,
        )
        result = self.openstack(*command, '-c', 'Code', **self.login)
        self.assertTrue(result.output.startswith('+--'), result.output)
        result = self.openstack(*command, *self.files()[:4])
        self.assertIn('No --hosts: hosts in no aggregate', result.output)


class ImpactTest(base.CloudTestCase):
    def impact(self, *arguments: str) -> list[tuple[object, ...]]:
        """Return the rows, which must be the same from cloud and files."""
        command = ('aggregate', 'filter', 'impact', *arguments)
        live = self.live(*command)
        files = [*self.files(), *self.server_files()]
        self.assertEqual(live, self.data(*command, *files))
        return [tuple(row.values()) for row in live]

    def test_a_change_of_metadata_is_told_before_it_is_made(self) -> None:
        rows = self.impact('--set-aggregate', 'licensed', 'os=~')
        self.assertEqual(
            ('flavor', 'win.medium', BOTH, 'pass', 'refuse', '', ''),
            rows[0][:7],
        )
        self.assertEqual(
            [
                ('flavor', 'm1.small', BOTH, 'refuse', 'pass'),
            ],
            [row[:5] for row in rows if row[1] == 'm1.small'],
        )
        # The mail server can stay, and go nowhere.
        self.assertEqual(
            ('server', 'mail', BOTH[:1], 'pass', 'refuse', 1, 0),
            rows[-1][:7],
        )

    def test_hosts_can_be_added_and_removed(self) -> None:
        # By ID, too: "2" is the aggregate "gpus", and "3" is "disks".
        rows = self.impact(
            *('--add-host', '2', 'compute-3', '--remove-host', '3'),
            'compute-2',
        )
        self.assertEqual(
            [
                ('flavor', 'gpu.large', ['compute-2'], 'loses'),
                ('flavor', 'gpu.large', ['compute-3'], 'gains'),
                ('server', 'train', ['compute-2'], 'refused'),
            ],
            [(*row[:3], row[9]) for row in rows],
        )
        self.assertEqual(
            "aggregate 'gpus' has 'gpu': 'a100'; before: 'gpu' not in any "
            'aggregate',
            rows[1][10],
        )

    def test_the_table_ends_with_the_commands_to_paste(self) -> None:
        change = (
            *('--set-flavor', '4', f'{_SCOPE}:gpu=<or> a100 <or> ~'),
            *('--unset-aggregate', 'licensed', 'os'),
            *('--remove-host', 'licensed', 'compute-8'),
        )
        command = ('aggregate', 'filter', 'impact', *change)
        result = self.openstack(*command, COLUMNS='80', **self.login)
        self.assertEqual((0, ''), (result.status, result.error))
        lines = result.output.splitlines()
        self.assertEqual(
            [
                'Flavors by effect: gains 1, loses 1. Servers by effect: '
                'stranded 1.',
                'To make the change:',
                "  openstack flavor set --property '"
                f"{_SCOPE}:gpu=<or> a100 <or> ~' 4",
                '  openstack aggregate unset --property os licensed',
                '  openstack aggregate remove host licensed compute-8',
            ],
            lines[-5:],
        )
        self.assertLessEqual(max(map(len, lines[:-3])), 80)
        result = self.openstack(*command, *self.files())
        self.assertIn('No --servers: running servers are', result.output)

    def test_a_stranded_server_can_end_with_exit_code_2(self) -> None:
        command = ('aggregate', 'filter', 'impact', '--fail-on', 'stranded')
        for host, status in (('compute-3', 0), ('compute-8', 2)):
            change = ('--remove-host', 'licensed', host)
            if not status:
                change = ('--remove-host', 'disks', host)
            for form in ('json', 'table'):
                result = self.openstack(
                    *command, *change, '-f', form, **self.login
                )
                self.assertEqual((status, ''), (result.status, result.error))

    def test_what_a_shell_made_of_a_tilde_is_told(self) -> None:
        command = ('aggregate', 'filter', 'impact', *self.files())
        change = ('--set-aggregate', 'licensed', 'os=/root')
        result = self.openstack(*command, *change)
        self.assertEqual(0, result.status)
        self.assertIn("in quotes: 'KEY=~'", result.error)

    def test_a_change_of_a_flavor_reaches_no_server(self) -> None:
        rows = self.impact('--set-flavor', 'm1.small', f'{_SCOPE}:ssd=*')
        self.assertEqual({'flavor'}, {row[0] for row in rows})
        self.assertEqual(
            [['compute-1', 'compute-4']], [row[2] for row in rows]
        )

    def test_keys_can_be_removed(self) -> None:
        rows = self.impact(
            '--unset-aggregate', 'licensed', 'force_metadata_check',
            '--unset-flavor', 'gpu.large', f'{_SCOPE}:ssd',
        )  # fmt: skip
        self.assertEqual(
            [
                ('gpu.large', ['compute-1']),
                ('m1.small', BOTH),
            ],
            [row[1:3] for row in rows],
        )

    def test_files_may_say_what_comes_after(self) -> None:
        command = ('aggregate', 'filter', 'impact')
        before = self.files()
        self.cloud.aggregates['gpus'] = ({'gpu': 'h100'}, ['compute-1'])
        after = self.save('after.json', 'aggregate', 'list', '--long')
        before += self.server_files()
        rows = self.data(*command, *before, '--after-aggregates', after)
        self.assertEqual(
            [
                ('flavor', 'gpu.large', ['compute-2'], 'pass', 'refuse'),
                ('server', 'train', ['compute-2'], 'pass', 'refuse'),
            ],
            [tuple(row.values())[:5] for row in rows],
        )

    def test_replacing_the_in_tree_filter_is_a_change_too(self) -> None:
        self.cloud.flavors['odd'] = {'k': '>= two'}
        self.cloud.aggregates['disks'][0]['k'] = '1'
        rows = self.impact('--replace-in-tree')
        self.assertEqual(
            {
                ('any.small', 'refuse', 'pass'),
                # Its "*" was a plain asterisk; the host is right now.
                ('gpu.large', 'refuse', 'pass'),
                # The demand is new.
                ('m1.small', 'pass', 'refuse'),
                ('odd', 'error', 'refuse'),
            },
            {(row[1], *row[3:5]) for row in rows if row[0] == 'flavor'},
        )
        # No server loses its place.
        self.assertEqual([], [row for row in rows if row[0] == 'server'])

    def test_servers_can_be_left_out(self) -> None:
        command = ('aggregate', 'filter', 'impact', '--no-servers')
        rows = self.live(*command, '--set-aggregate', 'licensed', 'os=linux')
        self.assertEqual({'flavor'}, {row['Object'] for row in rows})
        paths = {path for _, path in self.cloud.requests}
        self.assertNotIn('/servers/detail', paths)

    def test_what_is_not_known_is_no_all_clear(self) -> None:
        """A server's own host must not count as another one."""
        command = ('aggregate', 'filter', 'impact', '--fail-on', 'stranded')
        change = ('--remove-host', 'licensed', 'compute-8')
        harmless = ('--set-aggregate', 'disks', 'rack=r1')
        for reach, told in (
            ('hidden', 'Nova does not show its host'),
            ('elsewhere', "its host 'compute-9' is not among the hosts"),
            ('lost', 'Nova does not show its flavor'),
        ):
            self.cloud = rest_stub.examples()
            host = {'hidden': None, 'elsewhere': 'compute-9'}.get(reach, '')
            self.cloud.servers = {'mail': (host, 'win.medium')}
            if reach == 'lost':
                self.cloud.servers, self.cloud.down = {}, ('mail',)
            self.cloud.__post_init__()
            self.cloud.install(self.mocker)
            files = self.files()
            answer = requests.get(
                f'{rest_stub.COMPUTE}/servers/detail',
                headers={'OpenStack-API-Version': 'compute 2.100'},
                timeout=1,
            )
            files += ['--servers', self.write(answer.text, 'servers')]
            for source in ([], files):
                result = self.openstack(
                    *(*command, *change, '-f', 'json', *source), **self.login
                )
                self.assertEqual((1, ''), (result.status, result.error))
                row = json.loads(result.output)[-1]
                self.assertEqual(
                    ('mail', 'unknown'), (row['Name'], row['Effect'])
                )
                self.assertIn(told, row['Reason'])
                result = self.openstack(
                    *command, *change, *source, **self.login
                )
                self.assertIn('Servers by effect: unknown 1.', result.output)
            if reach != 'lost':
                result = self.openstack(*command, *harmless, **self.login)
                self.assertEqual((0, ''), (result.status, result.error))

    def test_new_and_deleted_flavors_are_told(self) -> None:
        files = [*self.files(), *self.server_files()]
        del self.cloud.flavors['any.small']
        self.cloud.flavors['gpu.small'] = {f'{_SCOPE}:gpu': '*'}
        after = self.save('after.json', *['flavor', 'list', '--all', '--long'])
        command = ('aggregate', 'filter', 'impact', *files)
        rows = self.data(*command, '--after-flavors', after)
        self.assertEqual(
            [
                ('any.small', 6, 'pass', '', 'deleted'),
                ('gpu.small', 2, '', 'pass', 'new'),
            ],
            [
                (name, len(hosts), *words, row['Effect'])
                for row in rows
                for _, name, hosts, *words in [[*row.values()][:5]]
            ],
        )
        result = self.openstack(*command, '--after-flavors', after)
        self.assertIn('Flavors by effect: deleted 1, new 1.', result.output)

    def test_a_misspelled_host_after_the_change_is_no_gain(self) -> None:
        files = [*self.files(), *self.server_files()]
        self.cloud.aggregates['gpus'][1].append('compute-33')
        after = self.save('after.json', 'aggregate', 'list', '--long')
        command = ('aggregate', 'filter', 'impact', '--after-aggregates')
        result = self.openstack(*command, after, *files)
        self.assert_one_line(result, "No compute host has the name 'compute-3")
        # Who does not know the hosts is told.
        result = self.openstack(*command, after, *files[:4])
        self.assertIn('or misspelled: compute-33.', result.output)

    def test_a_second_zone_is_refused_as_nova_does(self) -> None:
        self.cloud.aggregates['west'] = ({'availability_zone': 'west'}, [])
        command = ('aggregate', 'filter', 'impact', '--add-host', 'west')
        result = self.openstack(*command, 'compute-1', **self.login)
        self.assert_one_line(result, 'Nova refuses', "'compute-1'", 'east')
        result = self.openstack(*command, 'compute-4', **self.login)
        self.assertIn('zone of compute-4 changes: Nova refuses', result.output)

# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter audit`` in the real shell."""

import json
from typing import Any

import ddt

from tests.functional.client import base

_AUDIT = 'aggregate filter audit'


@ddt.ddt
class AuditTest(base.CloudTestCase):
    def audit(self, *arguments: str) -> list[tuple[Any, ...]]:
        """Return the first five columns of the rows."""
        rows = self.live(*_AUDIT.split(), *arguments)
        return [tuple(row.values())[:5] for row in rows]

    def run_servers(self, *hosts: str, stack: str = 'shop') -> None:
        """Let servers of one stack run on hosts."""
        self.cloud.servers = {
            f'web-{number}': (host, 'm1.small')
            for number, host in enumerate(hosts)
        }
        hints = {'heat_root_stack_id': stack, 'heat_path_in_stack': [stack]}
        for name in self.cloud.servers:
            self.cloud.shown[name] = {'scheduler_hints': hints}

    def test_a_sound_cloud_has_no_problem(self) -> None:
        self.assertEqual([], self.audit())
        output = self.run_command(
            f'{_AUDIT} --fail-on refused --fail-on spread'
        )
        self.assertIn('0 problems found among 3 running', output)

    def test_the_page_shows_what_is_printed(self) -> None:
        self.cloud.aggregates['licensed'][0]['os'] = 'linux'
        self.assert_page_shows(_AUDIT)

    def test_servers_that_their_host_would_refuse_are_told(self) -> None:
        self.cloud.aggregates['licensed'][0]['os'] = 'linux'
        self.cloud.aggregates['gpus'][1].remove('compute-2')
        self.assertEqual(
            [
                (
                    'refused',
                    'flavor',
                    'win.medium',
                    ['mail (compute-7)'],
                    "'os' does not match 'windows'; aggregate 'licensed' has "
                    "'linux'",
                ),
                (
                    'refused',
                    'flavor',
                    'gpu.large',
                    ['train (compute-2)'],
                    "'gpu' not in any aggregate",
                ),
            ],
            self.audit(),
        )
        self.run_command(f'{_AUDIT} --fail-on refused', status=2)
        self.run_command(f'{_AUDIT} --fail-on spread')

    def test_a_stack_that_could_be_spread_better_is_told(self) -> None:
        self.run_servers('compute-1', 'compute-2', 'compute-3', 'compute-4')
        self.assertEqual([], self.audit())
        self.run_servers('compute-1', 'compute-1', 'compute-2', 'compute-3')
        (breach,) = self.audit('--fail-on', 'refused')
        self.assertEqual(
            ('spread', 'stack', 'shop', ['web-0 (compute-1)']), breach[:4]
        )
        self.assertEqual(
            'host compute-1 has 2 of 4 members; compute-4 takes the server, '
            'and host compute-4 has 0',
            breach[4],
        )
        # No other host takes it.
        self.cloud.states['compute-4'] = ('enabled', 'down')
        self.assertEqual([], self.audit())

    @ddt.data('rack', 'availability_zone')
    def test_racks_and_zones_are_places_too(self, level: str) -> None:
        for place, hosts in (('a', (1, 2)), ('b', (3, 4))):
            names = [f'compute-{number}' for number in hosts]
            self.cloud.aggregates[place] = ({level: place}, names)
        self.cloud.aggregates['gpus'][0].pop('availability_zone')
        conf = self.write(
            f'[nova_filters]\nstack_spread_over = {level},host\n', 'nova.conf'
        )
        self.run_servers('compute-1', 'compute-2')
        self.assertEqual([], self.audit())
        (breach,) = self.audit('--config-file', conf)
        self.assertIn(f'{level} a has 2 of 2 members', breach[4])
        self.assertIn(f'{level} b has 0', breach[4])
        # A server that must stay in its zone cannot stand better.
        for row in self.cloud.shown.values():
            row['pinned_availability_zone'] = 'a'
        if level == 'availability_zone':
            self.assertEqual([], self.audit('--config-file', conf))
        for row in self.cloud.shown.values():
            del row['pinned_availability_zone']
        with open(conf, 'a') as stream:
            stream.write('stack_affinity_weight_multiplier = 1\n')
        self.assertEqual([], self.audit('--config-file', conf))

    def make_group(self, policy: str, **rules: int) -> None:
        """Let all servers be in one server group."""
        self.cloud.groups = [
            {
                'id': 'id-db', 'name': 'db', 'policy': policy,
                'rules': rules,
                'members': [f'id-{name}' for name in self.cloud.servers],
            }
        ]  # fmt: skip

    def test_server_groups_are_judged_by_their_policy(self) -> None:
        for policy, hosts, problem in (
            ('anti-affinity', ('compute-1', 'compute-1'), 'broken'),
            ('soft-anti-affinity', ('compute-1', 'compute-1'), 'spread'),
            ('soft-anti-affinity', ('compute-1', 'compute-2'), ''),
            ('affinity', ('compute-1', 'compute-2'), 'broken'),
            ('affinity', ('compute-1', 'compute-1'), ''),
            ('soft-affinity', ('compute-1', 'compute-1'), ''),
        ):
            self.run_servers(*hosts)
            self.make_group(policy)
            breaches = self.audit()
            self.assertEqual(
                [(problem, 'server group', 'db')] * bool(problem),
                [breach[:3] for breach in breaches],
                (policy, hosts),
            )

    def test_a_hard_policy_goes_by_its_own_rule(self) -> None:
        """No other host has to be there for a rule to be broken."""
        for name in ('compute-3', 'compute-4'):
            self.cloud.states[name] = ('enabled', 'down')
        for most, hosts, number in (
            (1, (1, 1, 2), 2),
            (2, (1, 1, 1, 2, 2), 3),
            (2, (1, 1), 0),
            (3, (1, 1, 1), 0),
        ):
            self.run_servers(*(f'compute-{host}' for host in hosts))
            self.make_group('anti-affinity', max_server_per_host=most)
            status = 2 if number else 0
            for problem in ('spread', 'broken'):
                command = f'{_AUDIT} --fail-on {problem} -f json'
                rows = json.loads(self.run_command(command, status=status))
            self.assertEqual(bool(number), bool(rows), (most, hosts))
            for row in rows:
                self.assertEqual(('db', 'id-db'), (row['Name'], row['ID']))
                self.assertEqual(
                    [f'id-web-{member}' for member in range(number)],
                    row['Server IDs'],
                )
                self.assertEqual(['compute-1'], row['Hosts'])
                self.assertIn(f'policy allows {most}', row['Reason'])
        self.run_command(f'{_AUDIT} --fail-on refused')

    def test_a_server_must_stay_in_its_zone(self) -> None:
        web = {'pinned_availability_zone': 'east'}
        self.cloud.shown['web'] = web
        (row,) = self.live(*_AUDIT.split())
        self.assertEqual(
            {
                'Problem': 'broken', 'Object': 'server', 'Name': 'web',
                'Servers': ['web (compute-4)'],
                'Reason': "it must stay in zone 'east'; host compute-4 is in "
                "zone 'nova'",
                'ID': 'id-web', 'Server IDs': ['id-web'],
                'Hosts': ['compute-4'],
            },
            row,
        )  # fmt: skip
        self.run_command(f'{_AUDIT} --fail-on broken', status=2)
        self.run_command(f'{_AUDIT} --fail-on refused --fail-on spread')
        # Nova takes any host for the zone that no aggregate makes.
        web['pinned_availability_zone'] = 'nova'
        self.cloud.servers['web'] = ('compute-2', 'gpu.large')
        self.assertEqual([], self.audit())

    def test_hosts_of_other_projects_are_judged_if_nova_does(self) -> None:
        metadata, hosts = self.cloud.aggregates['licensed']
        metadata['filter_tenant_id.2'] = 'p2, p3'
        words = 'Not judged: hosts that are reserved for projects.'
        fail = f'{_AUDIT} --fail-on broken'
        self.assertIn(
            words, self.run_command(fail, status=1).replace('\n', ' ')
        )
        result = self.openstack(*fail.split(), '-f', 'json', **self.login)
        self.assertEqual((1, '[]'), (result.status, result.output.strip()))
        self.assertIn(words, result.error)
        enabled = self.write(
            '[filter_scheduler]\nenabled_filters = '
            'AggregateMultiTenancyIsolation\n',
            'enabled.conf',
        )
        (breach,) = self.audit('--config-file', enabled)
        self.assertEqual(
            ('broken', 'server', 'mail', ['mail (compute-7)']), breach[:4]
        )
        self.run_command(f'{fail} --config-file', enabled, status=2)
        # The filter is not there, so that it has no say.
        without = self.write('', 'without.conf')
        self.run_command(f'{fail} --config-file', without)
        metadata['filter_tenant_id'] = 'p1'
        self.assertEqual([], self.audit('--config-file', enabled))

    def test_what_is_not_shown_is_not_judged(self) -> None:
        self.cloud.maximum = '2.96'
        words = 'Not judged: the spread of stacks'
        fail = f'{_AUDIT} --fail-on spread'
        self.assertIn(words, self.run_command(fail, status=1))
        result = self.openstack(*fail.split(), '-f', 'json', **self.login)
        self.assertEqual((1, '[]'), (result.status, result.output.strip()))
        self.assertIn(words, result.error)
        self.run_command(f'{_AUDIT} --fail-on refused')
        self.cloud.down = ('lost',)
        output = self.run_command(f'{_AUDIT} --fail-on refused', status=1)
        self.assertIn('| unknown | server ', output)
        self.assertIn('0 problems found among 3 running', output)
        self.cloud.maximum = '2.95'
        output = self.run_command(f'{_AUDIT} --fail-on broken', status=1)
        self.assertIn('Not judged: the zones of mail, train, web', output)

    def test_a_name_on_standard_error_is_not_obeyed(self) -> None:
        self.cloud.maximum = '2.95'
        self.cloud.servers['x\x1b[2J'] = ('compute-2', 'gpu.large')
        result = self.openstack(*_AUDIT.split(), '-f', 'json', **self.login)
        self.assertIn(r'x\x1b[2J', result.error)
        self.assertNotIn('\x1b', result.error)

    def test_servers_that_cannot_be_judged_are_rows(self) -> None:
        self.cloud.down = ('lost',)
        for problem in ('refused', 'broken', 'spread'):
            command = f'{_AUDIT} --fail-on {problem} -f json'
            (row,) = json.loads(self.run_command(command, status=1))
            self.assertEqual('unknown', row['Problem'])
            self.assertEqual(['lost'], row['Server IDs'])
        # What is found goes before what is not known.
        self.run_servers('compute-1', 'compute-1')
        self.make_group('anti-affinity')
        self.run_command(f'{_AUDIT} --fail-on broken', status=2)

# SPDX-License-Identifier: Apache-2.0

"""The commands of the ``openstack`` shell, held against what then happens."""

import collections
import functools
import json

import ddt

from tests.cloud import (
    base,
    command_base,
    heat_base,
    layout,
    nova_base,
    processes,
    readiness,
    services,
)

ONE, TWO = base.ONE, base.TWO
FIRST, SECOND, THIRD = nova_base.HOSTS
FORCED = {'force_metadata_check': 'True'}


class TestExplain(command_base.FilterCommandTest):
    #: What each flavor wants, and the hosts that must take it: the first
    #: two are licensed, the second has graphics, the third has nothing.
    WANTED = {
        layout.FLAVOR: ({}, {THIRD}),
        'windows': ({'os': 'windows'}, {FIRST, SECOND}),
        'either': ({'os': '<or> windows <or> ~'}, {FIRST, SECOND, THIRD}),
        'graphics': ({'gpu': 'a100'}, set()),
        'both': ({'os': '*', 'gpu': '<or> h100 <or> l4'}, {SECOND}),
        'neither': ({'os': '<or> windows <or> ~', 'gpu': '!'}, {FIRST, THIRD}),
    }

    def setUp(self) -> None:
        super().setUp()
        self.licensed = self.make_aggregate(
            {'os': 'windows', **FORCED}, FIRST, SECOND, name='licensed'
        )
        self.gpus = self.make_aggregate(
            {'gpu': 'a100, h100'}, SECOND, name='gpus'
        )
        self.make_flavors(
            **{
                name: specs
                for name, (specs, _) in self.WANTED.items()
                if specs
            }
        )

    def explain(self, *arguments: str) -> list[dict]:
        """Return what the command says of the cloud."""
        return self.live('aggregate', 'filter', 'explain', *arguments)

    def test_each_verdict_and_its_reason_are_the_schedulers(self):
        rows = self.explain(*self.flavors, '--long')
        told = {(row['Flavor'], row['Host']): row['Reason'] for row in rows}
        passing = {
            name: {
                row['Host']
                for row in rows
                if row['Flavor'] == name and row['Result'] == 'pass'
            }
            for name in self.flavors
        }
        self.assertEqual(
            {name: hosts for name, (_, hosts) in self.WANTED.items()}, passing
        )
        self.assertEqual(self.refusals(), told)
        # Without a login: nothing but the files is asked.
        self.assertEqual(
            rows,
            self.data(
                *('aggregate', 'filter', 'explain', *self.flavors, '--long'),
                *self.files(),
            ),
        )

    def test_summary_is_what_the_scheduler_counts(self):
        rows = self.explain('--summary')
        for name, flavor in self.flavors.items():
            with self.subTest(flavor=name):
                counted = [row for row in rows if row['Flavor'] == name]
                refused = {
                    row['Reason']: row['Hosts']
                    for row in counted
                    if row['Result'] == 'refuse'
                }
                server = self.boot(flavor)
                if len(refused) == len(counted):
                    self.assertIsNone(self.host_of(server))
                    self.assertEqual(refused, self.reasons(server))
                else:
                    self.assertIn(self.host_of(server), self.WANTED[name][1])

    def test_matrix_says_what_one_aggregate_alone_does(self):
        rows = {row.pop('Flavor'): row for row in self.explain('--matrix')}
        self.compute.remove_host_from_aggregate(self.licensed, SECOND)
        # As its end expects it.
        self.addCleanup(
            self.compute.add_host_to_aggregate, self.licensed, SECOND
        )
        alone = {'licensed': FIRST, 'gpus': SECOND, '(none)': THIRD}
        refusals = self.refusals()
        self.assertEqual(set(self.flavors), set(rows))
        for name, cells in rows.items():
            self.assertEqual(
                {
                    aggregate: refusals[name, host] == ''
                    for aggregate, host in alone.items()
                },
                {
                    aggregate: cell == 'pass'
                    for aggregate, cell in cells.items()
                },
                name,
            )

    def test_server_is_judged_by_its_own_copy_of_the_flavor(self):
        server = self.boot(self.flavors['windows'], host=FIRST)
        self.assertEqual(FIRST, self.host_of(server))
        self.set_extra_specs(self.flavors['windows'], {'os': 'linux'})
        name = self.compute.get_server(server).name
        results = {
            (row['Flavor'], row['Host']): row['Result']
            for row in self.explain('windows', '--server', name)
        }
        self.assertEqual(
            {
                (flavor, host): result
                for flavor, verdicts in {
                    'windows': ('refuse', 'refuse', 'refuse'),
                    f'windows of {name}': ('pass', 'pass', 'refuse'),
                }.items()
                for host, result in zip(nova_base.HOSTS, verdicts, strict=True)
            },
            results,
        )
        self.assertEqual(
            self.explain('--server', server),
            self.data('aggregate', 'filter', 'explain', *self.files(name)),
        )
        self.assertIsNone(self.host_of(self.boot(self.flavors['windows'])))
        self.assertFalse(self.migrates(server, THIRD))
        self.assertTrue(self.migrates(server, SECOND))

    def test_host_that_is_disabled_is_shown_as_such(self):
        (service,) = self.compute.services(binary='nova-compute', host=THIRD)
        self.addCleanup(
            self.compute.enable_service, service, THIRD, 'nova-compute'
        )
        self.compute.disable_service(service, THIRD, 'nova-compute')
        states = {
            row['Host']: row['State'] for row in self.explain(layout.FLAVOR)
        }
        self.assertEqual(
            {FIRST: 'up', SECOND: 'up', THIRD: 'disabled'}, states
        )

    def test_way_of_a_request_ends_where_the_scheduler_refuses(self):
        server = self.boot(self.flavors['graphics'])
        self.assertIsNone(self.host_of(server))
        config = ('--config-file', str(layout.ETC / self.region / 'nova.conf'))
        left = {
            row['Step']: row['Left']
            for row in self.explain('--server', server, *config)
        }
        self.assertEqual(0, left.pop('AggregateInstanceTypeFilter'))
        self.assertIn('Placement', left)
        self.assertEqual({len(nova_base.HOSTS)}, set(left.values()))


class TestLint(command_base.FilterCommandTest):
    def lint(self, *arguments: str) -> tuple[int, set[tuple[str, str, str]]]:
        """Return the exit code, and what was found where."""
        result = self.openstack(
            *('aggregate', 'filter', 'lint', '-f', 'json', *arguments),
            **self.login,
        )
        self.assertEqual('', result.error)
        found = {
            (row['Severity'], row['Code'], row['Name'])
            for row in json.loads(result.output)
        }
        return result.status, found

    def test_what_is_found_keeps_servers_from_booting(self):
        self.assertEqual((0, set()), self.lint())
        self.make_aggregate({'gpu': 'a100, h100'}, FIRST, name='gpus')
        self.make_aggregate({'ssd': '*', **FORCED}, SECOND, name='disks')
        diskless = self.make_aggregate(
            {'ssd': '!', **FORCED}, SECOND, name='diskless'
        )
        self.make_flavors(
            comma={'gpu': 'a100,h100'},
            exclusive={'gpu': '<or> ! <or> v100'},
            absent={'rack': 'r7'},
            ssd={'ssd': 'nvme'},
        )
        wanted = {
            ('error', 'comma-in-flavor', 'comma'),
            ('error', 'exclusive-sentinel', 'exclusive'),
            ('error', 'key-not-offered', 'absent'),
            ('error', 'contradictory-demands', SECOND),
            *(('error', 'no-host', n) for n in ('comma', 'exclusive', 'ssd')),
        }
        status, found = self.lint('--severity', 'error')
        self.assertEqual((2, wanted), (status, found))
        self.assertEqual((2, found), self.lint(*self.files()))
        refusals = self.refusals()
        for name in ('comma', 'exclusive', 'absent', 'ssd'):
            self.assertEqual(
                [],
                [host for host in nova_base.HOSTS if not refusals[name, host]],
            )
        self.assertEqual(
            [], [name for name in self.flavors if not refusals[name, SECOND]]
        )

        self.set_extra_specs(
            self.flavors['comma'], {'gpu': '<or> a100 <or> h100'}
        )
        self.set_extra_specs(self.flavors['exclusive'], {'gpu': '!'})
        self.set_extra_specs(
            self.flavors['absent'], {'rack': '<or> r7 <or> ~'}
        )
        self.compute.set_aggregate_metadata(diskless, {'ssd': None})
        refusals = self.refusals()
        takers = collections.Counter(
            name for (name, _), reason in refusals.items() if not reason
        )
        alone = {
            ('warning', 'one-host', name)
            for name, number in takers.items()
            if number == 1
        }
        self.assertEqual(3, len(alone))
        self.assertEqual((0, alone), self.lint())
        for name, host in (
            ('comma', FIRST),
            ('exclusive', THIRD),
            ('absent', THIRD),
            ('ssd', SECOND),
        ):
            self.assertEqual('', refusals[name, host])


class TestImpact(command_base.FilterCommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.licensed = self.make_aggregate(
            {'os': 'windows', **FORCED}, FIRST, SECOND, name='licensed'
        )
        self.make_flavors(
            windows={'os': 'windows'},
            linux={'os': 'linux'},
            either={'os': '<or> windows <or> ~'},
        )

    def impact(self, *arguments: str) -> list[dict]:
        """Return the rows, which must be the same from cloud and files."""
        return self.live('aggregate', 'filter', 'impact', *arguments)

    def test_what_is_foretold_happens(self):
        server = self.boot(self.flavors['windows'], host=FIRST)
        self.assertEqual(FIRST, self.host_of(server))
        name = self.compute.get_server(server).name
        before = self.refusals()
        change = ('--set-aggregate', 'licensed', 'os=<or> linux <or> ~')
        rows = self.impact(*change)
        self.assertEqual(
            rows,
            self.data(
                *('aggregate', 'filter', 'impact', *change), *self.files(name)
            ),
        )
        self.compute.set_aggregate_metadata(
            self.licensed, {'os': '<or> linux <or> ~'}
        )
        after = self.refusals()
        self.assertEqual(
            {
                where: (
                    'refuse' if before[where] else 'pass',
                    'refuse' if after[where] else 'pass',
                    after[where] or before[where],
                )
                for where in before
                if bool(before[where]) != bool(after[where])
            },
            {
                (row['Name'], host): (
                    row['Before'],
                    row['After'],
                    # Before it stands what has changed.
                    row['Reason'].rpartition('before: ')[2],
                )
                for row in rows
                if row['Object'] == 'flavor'
                for host in row['Hosts']
            },
        )
        (moved,) = (row for row in rows if row['Object'] == 'server')
        self.assertEqual(
            [name, [FIRST], 'pass', 'refuse', 1, 0],
            list(moved.values())[1:7],
        )
        self.assertFalse(self.migrates(server, SECOND))
        self.assertEqual([], self.impact(*change))

    def test_host_that_leaves_strands_a_server(self):
        server = self.boot(self.flavors['windows'], host=FIRST)
        self.assertEqual(FIRST, self.host_of(server))
        change = ('--remove-host', 'licensed', SECOND)
        rows = self.impact(*change)
        (row,) = (row for row in rows if row['Object'] == 'server')
        self.assertEqual((server, 'stranded'), (row['ID'], row['Effect']))
        # What Nova's API answers does as well as what the shell prints.
        answer = self.compute.get(
            '/servers/detail?all_tenants=1', microversion='2.61'
        )
        servers = ('--servers', self.write(answer.text, 'answer.json'))
        command = ('aggregate', 'filter', 'impact', *change)
        self.assertEqual(rows, self.data(*command, *self.files(), *servers))
        self.compute.remove_host_from_aggregate(self.licensed, SECOND)
        # As its end expects it.
        self.addCleanup(
            self.compute.add_host_to_aggregate, self.licensed, SECOND
        )
        self.assertFalse(self.migrates(server, SECOND))

    def test_replacement_of_the_in_tree_filter_is_foretold(self):
        self.make_flavors(odd={'os': '>= two'})
        rows = self.impact('--replace-in-tree')
        told = {
            (row['Name'], host): (row['Before'], row['After'])
            for row in rows
            for host in row['Hosts']
        }
        now = self.words()
        self.use_filter('AggregateInstanceExtraSpecsFilter')
        before = self.words()
        self.assertEqual({'pass', 'refuse', 'error'}, set(before.values()))
        self.assertEqual(
            {
                where: (before[where], now[where])
                for where in now
                if before[where] != now[where]
            },
            told,
        )

    def use_filter(self, name: str) -> None:
        """Let the schedulers run another filter until the test ends."""
        file = layout.ETC / self.region / 'nova.conf'
        text = file.read_text()
        other = text.replace('AggregateInstanceTypeFilter', name)
        self.assertNotEqual(text, other)
        # From the last to the first.
        self.addCleanup(self.restart_schedulers)
        self.addCleanup(file.write_text, text)
        file.write_text(other)
        self.restart_schedulers()

    def restart_schedulers(self) -> None:
        """Start the schedulers anew and wait until they work."""
        before = readiness.reports(self.region)
        for number in (1, 2):
            name = f'{self.region}.nova-scheduler-{number}'
            processes.kill(name)
            processes.start(services.named(name))
        self.wait_for(
            functools.partial(readiness.reported, self.region, before)
        )

    def words(self) -> dict[tuple[str, str], str]:
        """Ask for a server of each flavor on each host.

        :returns: what becomes of it in the words of the command.
        """
        servers = self.boot_everywhere(self.flavors)
        ended = self.wait_for_servers(self.region, servers.values())
        found = {}
        for where, server in servers.items():
            one = ended[server]
            if one.status == 'ACTIVE':
                found[where] = 'pass'
            elif 'No valid host' in one.fault['message']:
                found[where] = 'refuse'
            else:
                self.assertEqual('ValueError', one.fault['message'])
                found[where] = 'error'
        self.remove_servers(*servers.values())
        return found


class TestCapacity(command_base.FilterCommandTest):
    """The number of servers that fit, held against booting them."""

    def setUp(self) -> None:
        super().setUp()
        self.placement = self.admin[self.region].placement
        # FakeDriver has much of everything: a ratio makes it little.
        self.nodes = {
            node.service_details['host']: node.id
            for node in self.compute.hypervisors(details=True)
        }
        for host, ratio in zip(self.hosts, (0.005, 0.004, 0.003), strict=True):
            self.set_ratio(host, 'VCPU', ratio)
            self.set_ratio(host, 'MEMORY_MB', 0.0125)

    def set_ratio(self, host: str, name: str, ratio: float) -> None:
        """Change an allocation ratio, and change it back at the end."""
        path = f'/resource_providers/{self.nodes[host]}/inventories/{name}'

        def put(value: float) -> float:
            own = self.placement.get(path, microversion='1.36').json()
            before = own['allocation_ratio']
            answer = self.placement.put(
                path,
                json={**own, 'allocation_ratio': value},
                microversion='1.36',
            )
            self.assertEqual(200, answer.status_code, answer.text)
            return before

        before = []

        def change() -> None:
            before.append(put(ratio))

        # nova-compute may write at the same time.
        self.wait_for(change)
        self.addCleanup(self.wait_for, lambda: put(before[0]))

    def test_the_number_is_what_boots(self) -> None:
        self.make_aggregate({'gpu': 'a100'}, FIRST, SECOND, name='gpus')
        for name, vcpus, ram, specs, scarce in (
            ('cpus', 2, 64, {}, 'VCPU'),
            ('memory', 1, 4096, {}, 'MEMORY_MB'),
            ('graphics', 2, 64, {'gpu': 'a100'}, 'VCPU'),
        ):
            flavor = self.compute.create_flavor(
                name=name, vcpus=vcpus, ram=ram, disk=1
            ).id
            self.addCleanup(self.compute.delete_flavor, flavor)
            if specs:
                self.set_extra_specs(flavor, specs)
            command = ('aggregate', 'filter', 'capacity', name)
            (room,) = self.live(*command)
            self.assertEqual(2 if specs else 3, room['Hosts'])
            self.assertEqual([scarce], room['Scarce'][:1])
            self.assertIn(room['Servers'], range(3, 10))
            # One after the other: at once, Placement was seen to put 6 VCPUs
            # on a host that has room for 5.
            servers = [self.boot(flavor)]
            while self.host_of(servers[-1]):
                servers.append(self.boot(flavor))
            self.assertEqual(room['Servers'], len(servers) - 1)
            (full,) = self.live(*command)
            self.assertEqual(
                (0, room['Hosts']), (full['Servers'], full['Full'])
            )
            self.assertEqual([scarce], full['Scarce'][:1])
            self.remove_servers(*servers)


class TestAudit(command_base.FilterCommandTest):
    """What is audited, in the region whose Nova shows hints."""

    region = TWO
    COMMAND = ('aggregate', 'filter', 'audit')

    def audit(self, *arguments: str) -> list[list]:
        """Return the rows."""
        rows = self.live(*self.COMMAND, *arguments)
        return [list(row.values()) for row in rows]

    def test_an_aggregate_is_changed_under_a_running_server(self) -> None:
        first, _ = self.hosts
        licensed = self.make_aggregate(
            {'os': 'windows', **FORCED}, first, name='licensed'
        )
        self.make_flavors(windows={'os': 'windows'})
        server = self.boot(self.flavors['windows'], host=first)
        self.assertEqual(first, self.host_of(server))
        self.assertEqual([], self.audit())
        self.compute.set_aggregate_metadata(licensed, {'os': 'linux'})
        name = self.compute.get_server(server).name
        (breach,) = self.audit()
        self.assertEqual(
            ['refused', 'flavor', 'windows', [f'{name} ({first})']], breach[:4]
        )
        # As nova-scheduler says it.
        self.assertEqual(self.refusals()['windows', first], breach[4])
        result = self.openstack(
            *(*self.COMMAND, '--fail-on', 'refused'), **self.login
        )
        self.assertEqual(2, result.status)

    def test_a_stack_and_a_group_could_be_spread_better(self) -> None:
        first, second = self.hosts
        group = self.compute.create_server_group(
            name='db', policy='soft-anti-affinity'
        ).id
        self.addCleanup(self.compute.delete_server_group, group)
        small = self.flavors[layout.FLAVOR]
        for noun, name, hints in (
            ('server group', 'db', {'group': group}),
            (
                *('stack', 'shop'),
                {
                    'heat_root_stack_id': 'id-shop',
                    'heat_path_in_stack': ['shop'],
                },
            ),
        ):
            servers = [self.boot(small, hints, first) for _ in range(2)]
            self.assertEqual({first}, {*self.hosts_of(servers).values()})
            (breach,) = self.audit()
            self.assertEqual(['spread', noun, name], breach[:3])
            self.assertIn(f'host {first} has 2 of 2 members', breach[4])
            self.assertIn(f'{second} takes the server', breach[4])
            (worst,) = breach[3]
            (moved,) = (
                one
                for one in servers
                if self.compute.get_server(one).name == worst
            )
            self.assertTrue(self.migrates(moved, second))
            self.assertEqual([], self.audit())
            self.remove_servers(*servers)


class TestRegionPlan(command_base.PlanTest):
    """What a user without special rights learns of his cluster."""

    def test_plan_is_what_senlin_does_next(self):
        policy = self.make_region_policy(
            RegionOne={'weight': 100}, RegionTwo={'weight': 200, 'cap': 4}
        )
        other = self.make_region_policy(
            RegionOne={'weight': 300}, RegionTwo={'weight': 100}
        )
        cluster = self.make_cluster(self.make_profile(), policy)
        name = self.senlin.get(f'/clusters/{cluster}')['cluster']['name']
        rows = self.plan('--cluster', name, '--scale-out', '6')
        self.assertEqual(
            [(ONE, 100, None, 0, 2, 2), (TWO, 200, 4, 0, 4, 4)],
            [tuple(row.values())[:6] for row in rows],
        )
        self.assert_foretold(cluster, rows)
        rows = self.plan('--cluster', cluster, '--count', '+1')
        self.assertEqual([1, 0], [row['Change'] for row in rows])
        self.assertIn('its cap of 4 binds', rows[1]['Why'])
        self.assert_foretold(cluster, rows)
        self.assert_foretold(
            cluster, self.plan('--cluster', name, '--scale-in', '3')
        )

        # What if another policy were attached?
        rows = self.plan('--cluster', name, '--policy', other, '--count', '+4')
        self.detach(cluster, policy)
        self.assert_one_line(
            self.openstack(
                *('cluster', 'region', 'plan', '--cluster', name),
                *('--scale-in', '1'),
                **self.login,
            ),
            'no region placement policy',
        )
        self.attach(cluster, other)
        self.assert_foretold(cluster, rows)

    def test_steps_are_what_the_cluster_goes_through(self):
        cluster = self.make_cluster(
            self.make_profile(),
            self.make_region_policy(
                RegionOne={'weight': 100}, RegionTwo={'weight': 200}
            ),
        )
        for verb, data in (
            ('scale_out', 'creation'),
            ('scale_in', 'deletion'),
        ):
            option = '--' + verb.replace('_', '-')
            rows = self.plan('--cluster', cluster, option, '3', '--steps')
            self.assertEqual([1, 2, 3], [row['Step'] for row in rows])
            for row in rows:
                action = self.do(cluster, verb, count=1)
                self.assertEqual(
                    {row['Region']: 1}, action['data'][data]['regions']
                )
                self.assert_spread(cluster, **row['Distribution'])

    def test_refusal_is_that_of_senlin(self):
        cluster = self.make_cluster(
            self.make_profile(),
            self.make_region_policy(
                RegionOne={'cap': 1}, RegionTwo={'cap': 1}
            ),
        )
        result = self.openstack(
            *('cluster', 'region', 'plan', '--cluster', cluster),
            *('--scale-out', '3'),
            **self.login,
        )
        self.assert_one_line(
            result, '3 nodes are to be added, and the caps leave room for 2'
        )
        action = self.senlin.wait(
            self.senlin.act(f'/clusters/{cluster}', 'scale_out', count=3)
        )
        self.assertEqual('FAILED', action['status'])
        words, _, _ = result.error.partition('.')
        self.assertIn(words, action['status_reason'])


class TestStackHints(
    command_base.CommandTest, heat_base.StackTest, nova_base.PlacementTest
):
    """What Heat has told Nova, in the region whose Nova shows it."""

    region = TWO
    who = layout.USER

    def hints_of(self, *arguments: str) -> dict[str, tuple]:
        """Return where the servers are, and how they are signed, by name."""
        rows = self.live('stack', 'hints', 'list', *arguments)
        return {
            row['Server']: (
                [step['resource'] for step in row['Path'] or ()],
                row['Resource'],
                row['Signature'],
            )
            for row in rows
        }

    def test_servers_of_a_stack_are_shown_with_their_signature(self):
        root = self.make_stack(
            heat_base.template(
                front=heat_base.server(name='front'),
                workers=heat_base.group(
                    2, heat_base.server(name='worker-%index%')
                ),
            )
        )
        name = self.show(root)['stack_name']
        wanted = {
            'front': ([None], 'front', 'valid'),
            'worker-0': ([None, 'workers'], '0', 'valid'),
            'worker-1': ([None, 'workers'], '1', 'valid'),
        }
        # What nova-scheduler reads, which has the same key as Heat.
        config = ('--config-file', str(layout.ETC / TWO / 'nova.conf'))
        self.assertEqual(wanted, self.hints_of(name, *config))
        self.assertEqual(
            {
                server: (path, resource, 'not checked')
                for server, (path, resource, _) in wanted.items()
            },
            self.hints_of(root),
        )

        # Somebody of another project copies the hints of a server.
        (front,) = (
            one['server']
            for one in self.resources(root, 'OS::Nova::Server')
            if one['name'] == 'front'
        )
        small = self.compute.find_flavor(layout.FLAVOR).id
        copy = self.boot(small, self.hints(TWO, front))
        plain = self.boot(small)
        self.assertNotIn(None, self.hosts_of([copy, plain]).values())
        answer = self.compute.get(
            '/servers/detail?all_tenants=1', microversion='2.100'
        )
        file = self.write(answer.text, 'servers.json')
        everybody = self.hints_of('--servers', file, *config)
        copied = self.compute.get_server(copy).name
        self.assertEqual(
            {
                **wanted,
                copied: ([None], 'front', 'invalid'),
            },
            everybody,
        )
        self.assertEqual(
            {*wanted, copied}, set(self.hints_of(name, '--servers', file))
        )


@ddt.ddt
class TestErrors(command_base.CommandTest):
    """One clear line for what only a real cloud answers."""

    EXPLAIN = ('aggregate', 'filter', 'explain', layout.FLAVOR)
    PLAN = ('cluster', 'region', 'plan', '--scale-out', '1')
    OF_CLUSTER = (*PLAN, '--cluster', 'nosuch')
    HINTS = ('stack', 'hints', 'list', 'nosuch')

    @ddt.data(EXPLAIN, OF_CLUSTER, HINTS)
    def test_login_that_is_wrong(self, command):
        for variable, value, words in (
            ('OS_PASSWORD', 'wrong', '401'),
            ('OS_REGION_NAME', 'RegionNine', 'RegionNine'),
        ):
            login = {**self.login, variable: value}
            self.assert_one_line(self.openstack(*command, **login), words)

    def test_user_who_may_not_see_aggregates(self):
        login = {**self.login, **layout.login(layout.USER)}
        for command in (self.EXPLAIN, ('aggregate', 'filter', 'lint')):
            result = self.openstack(*command, **login)
            self.assert_one_line(result, '403', 'os-aggregates')

    @ddt.data(OF_CLUSTER, (*PLAN, '--policy', 'nosuch'))
    def test_unknown_name(self, command):
        result = self.openstack(*command, **self.login)
        self.assert_one_line(result, 'nosuch')

    def test_nova_that_shows_no_hints(self):
        # Of all servers: Heat does not know this stack.
        *command, _ = self.HINTS
        result = self.openstack(*command, **self.login)
        self.assert_one_line(result, 'microversion 2.100')

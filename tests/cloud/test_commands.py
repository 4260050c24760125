# SPDX-License-Identifier: Apache-2.0

"""The commands of the ``openstack`` shell, held against what then happens."""

import functools
import json

from tests.cloud import base, command_base, heat_base, layout, nova_base
from tests.functional.client import pages

ONE, TWO = base.ONE, base.TWO
FIRST, SECOND, THIRD = nova_base.HOSTS
FORCED = {'force_metadata_check': 'True'}


class FilterCommandTest(command_base.CommandTest, nova_base.PlacementTest):
    """A test that compares what commands say with what Nova does."""

    def setUp(self) -> None:
        super().setUp()
        #: The ids of the flavors in question, by name.
        self.flavors = {
            layout.FLAVOR: self.compute.find_flavor(layout.FLAVOR).id
        }

    def make_flavors(self, **extra_specs: dict[str, str]) -> None:
        """Make flavors; extra specs by the flavor's name."""
        for name, wanted in extra_specs.items():
            self.flavors[name] = self.make_flavor(wanted, name)

    def filter(self, *arguments: str) -> list[dict]:
        """Return what ``aggregate filter`` says of the cloud."""
        return self.live('aggregate', 'filter', *arguments)

    def files(self, *servers: str) -> list[str]:
        """Save the cloud, and servers by name, as the documentation says.

        :returns: the options that read the files.
        """
        options = []
        for file, command in pages.saving().items():
            name = file.removesuffix('.json')
            options += [f'--{name}', self.write(self.printed(command), file)]
        self.assertEqual(
            {'--flavors', '--aggregates', '--hosts'}, set(options[::2])
        )
        if servers:
            words, _ = pages.saving_servers()
            texts = [self.printed(f'{words} {name}') for name in servers]
            file = self.write(''.join(texts), 'servers.json')
            options += ['--servers', file]
        return options

    def printed(self, command: str) -> str:
        """Return what a command prints."""
        result = self.openstack(*command.split(), **self.login)
        self.assertEqual((0, ''), (result.status, result.error))
        return result.output

    def refusals(self) -> dict[tuple[str, str], str]:
        """Ask for a server of each flavor on each host, and no other.

        :returns: why it was refused, by the names of flavor and host; empty
            where the server runs.
        """
        servers = self.boot_everywhere(self.flavors)
        chosen = self.hosts_of(servers.values())
        found = {}
        for (name, host), server in servers.items():
            if chosen[server] is None:
                # The name of the function that logs a line stands behind it.
                found[name, host] = self.logged(
                    rf'Instance {server}: 1 host\(s\) in .* refused:'
                    ' (.*) _report '
                )[1]
            else:
                self.assertEqual(host, chosen[server])
                found[name, host] = ''
        self.remove_servers(*servers.values())
        return found

    def migrates(self, server: str, host: str) -> bool:
        """Ask Nova to move a server to a host; tell whether it does."""
        response = self.compute.post(
            f'/servers/{server}/action',
            json={'migrate': {'host': host}},
            microversion=nova_base.VERSION,
        )
        self.assertEqual(202, response.status_code, response.text)

        def check_done() -> None:
            found = self.compute.get_server(server)
            self.assertIsNone(found.task_state)
            self.assertIn(found.status, ('ACTIVE', 'VERIFY_RESIZE'))

        self.wait_for(check_done)
        return self.compute.get_server(server).compute_host == host


class TestVerdicts(FilterCommandTest):
    """What is said of flavors, aggregates and hosts before anybody boots."""

    def test_each_verdict_and_its_reason_are_the_schedulers(self):
        # The first two hosts are licensed, the second has graphics.
        self.make_aggregate(
            {'os': 'windows', **FORCED}, FIRST, SECOND, name='licensed'
        )
        self.make_aggregate({'gpu': 'a100, h100'}, SECOND, name='gpus')
        self.make_flavors(
            windows={'os': 'windows'},
            either={'os': '<or> windows <or> ~'},
            graphics={'gpu': 'a100'},
            both={'os': '*', 'gpu': '<or> h100 <or> l4'},
            neither={'os': '<or> windows <or> ~', 'gpu': '!'},
        )
        rows = self.filter('explain', *self.flavors, '--long')
        told = {(row['Flavor'], row['Host']): row['Reason'] for row in rows}
        passing: dict[str, set[str]] = {name: set() for name in self.flavors}
        for row in rows:
            if row['Result'] == 'pass':
                passing[row['Flavor']].add(row['Host'])
        self.assertEqual(
            {
                layout.FLAVOR: {THIRD},
                'windows': {FIRST, SECOND},
                'either': {FIRST, SECOND, THIRD},
                'graphics': set(),
                'both': {SECOND},
                'neither': {FIRST, THIRD},
            },
            passing,
        )
        self.assertEqual(self.refusals(), told)
        # Without a login: nothing but the files is asked.
        command = ('aggregate', 'filter', 'explain', *self.flavors, '--long')
        self.assertEqual(rows, self.data(*command, *self.files()))

        # The way of a request ends where the scheduler refuses.
        server = self.boot(self.flavors['graphics'])
        self.assertIsNone(self.host_of(server))
        config = ('--config-file', str(layout.ETC / self.region / 'nova.conf'))
        left = {
            row['Step']: row['Left']
            for row in self.filter('explain', '--server', server, *config)
        }
        self.assertEqual(0, left.pop('AggregateInstanceTypeFilter'))
        self.assertIn('Placement', left)
        self.assertEqual({len(nova_base.HOSTS)}, set(left.values()))

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

    def test_what_lint_finds_keeps_servers_from_booting(self):
        self.assertEqual((0, set()), self.lint())
        self.make_aggregate({'gpu': 'a100, h100'}, FIRST, name='gpus')
        self.make_aggregate({'ssd': '*', **FORCED}, SECOND, name='disks')
        self.make_aggregate({'ssd': '!', **FORCED}, SECOND, name='diskless')
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
        booted = {where for where, why in self.refusals().items() if not why}
        self.assertEqual(
            {(layout.FLAVOR, FIRST), (layout.FLAVOR, THIRD)}, booted
        )

    def set_ratio(self, path: str, ratio: float) -> float:
        """Change the allocation ratio of an inventory; return the old one."""
        placement = self.admin[self.region].placement
        own = placement.get(path, microversion='1.36').json()
        changed = {**own, 'allocation_ratio': ratio}
        answer = placement.put(path, json=changed, microversion='1.36')
        # nova-compute may write at the same time.
        self.assertEqual(200, answer.status_code, answer.text)
        return own['allocation_ratio']

    def test_capacity_is_what_boots(self) -> None:
        # FakeDriver has much of everything: a ratio makes it little.
        ratios = dict(zip(self.hosts, (0.005, 0.002, 0.003), strict=True))
        for node in self.compute.hypervisors(details=True):
            change = functools.partial(
                self.set_ratio,
                f'/resource_providers/{node.id}/inventories/VCPU',
            )
            ratio = ratios[node.service_details['host']]
            before = self.wait_for(functools.partial(change, ratio))
            self.addCleanup(self.wait_for, functools.partial(change, before))
        self.make_aggregate({'gpu': 'a100'}, FIRST, SECOND, name='gpus')
        flavor = self.make_flavor({'gpu': 'a100'}, 'graphics', vcpus=2)
        (room,) = self.filter('capacity', 'graphics')
        self.assertEqual(
            (3, 2, ['VCPU']),
            (room['Servers'], room['Hosts'], room['Scarce'][:1]),
        )
        # One after the other: at once, Placement was seen to put 6 VCPUs on
        # a host that has room for 5.
        servers = [self.boot(flavor)]
        while self.host_of(servers[-1]):
            servers.append(self.boot(flavor))
        self.assertEqual(room['Servers'], len(servers) - 1)
        (full,) = self.filter('capacity', 'graphics')
        self.assertEqual((0, 2), (full['Servers'], full['Full']))


class TestRunningServers(FilterCommandTest):
    """What is said of servers, in the region whose Nova shows hints."""

    region = TWO

    def test_an_aggregate_is_changed_under_a_running_server(self) -> None:
        first, second = self.hosts
        licensed = self.make_aggregate(
            {'os': 'windows', **FORCED}, first, name='licensed'
        )
        self.make_aggregate({'os': 'windows'}, second, name='trial')
        self.make_flavors(
            windows={'os': 'windows'},
            linux={'os': 'linux'},
            either={'os': '<or> windows <or> ~'},
        )
        server = self.boot(self.flavors['windows'], host=first)
        self.assertEqual(first, self.host_of(server))
        name = self.compute.get_server(server).name
        before = self.refusals()
        change = ('--set-aggregate', 'licensed', 'os=<or> linux <or> ~')
        rows = self.filter('impact', *change)
        command = ('aggregate', 'filter', 'impact', *change)
        self.assertEqual(rows, self.data(*command, *self.files(name)))
        self.assertEqual([], self.filter('audit'))

        self.compute.set_aggregate_metadata(
            licensed, {'os': '<or> linux <or> ~'}
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
            [name, [first], 'pass', 'refuse', 1, 1],
            list(moved.values())[1:7],
        )
        self.assertEqual([], self.filter('impact', *change))

        (breach,) = self.filter('audit')
        self.assertEqual(
            ['refused', 'flavor', 'windows', [f'{name} ({first})']],
            list(breach.values())[:4],
        )
        # As nova-scheduler says it.
        self.assertEqual(after['windows', first], [*breach.values()][4])
        result = self.openstack(
            *('aggregate', 'filter', 'audit', '--fail-on', 'refused'),
            **self.login,
        )
        self.assertEqual(2, result.status)

        # A server is judged by its own copy of the flavor.
        self.set_extra_specs(self.flavors['windows'], {'os': 'linux'})
        results = {
            (row['Flavor'], row['Host']): row['Result']
            for row in self.filter('explain', 'windows', '--server', name)
        }
        own = f'windows of {name}'
        self.assertEqual(
            {
                ('windows', first): 'pass',
                ('windows', second): 'refuse',
                (own, first): 'refuse',
                (own, second): 'pass',
            },
            results,
        )
        self.assertTrue(self.migrates(server, second))

    def test_a_stack_and_a_group_could_be_spread_better(self) -> None:
        first, second = self.hosts
        group = self.compute.create_server_group(
            name='db', policy='soft-anti-affinity'
        ).id
        self.addCleanup(self.compute.delete_server_group, group)
        small = self.flavors[layout.FLAVOR]
        hints = {
            'db': {'group': group},
            'shop': {
                'heat_root_stack_id': 'id-shop',
                'heat_path_in_stack': ['shop'],
            },
        }
        servers = self.at_once(
            lambda name: self.boot(small, hints[name], first), [*hints] * 2
        )
        self.assertEqual({first}, {*self.hosts_of(servers).values()})
        names = {self.compute.get_server(one).name: one for one in servers}
        found = [[*row.values()] for row in self.filter('audit')]
        self.assertEqual(
            {
                ('spread', 'server group', 'db'),
                ('spread', 'stack', 'shop'),
            },
            {tuple(breach[:3]) for breach in found},
        )
        for *_, (worst,), why in found:
            self.assertIn(f'host {first} has 2 of 2 members', why)
            self.assertIn(f'{second} takes the server', why)
            self.assertTrue(self.migrates(names[worst], second))
        self.assertEqual([], self.filter('audit'))


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
        self.assertIsNotNone(self.host_of(copy))
        answer = self.compute.get(
            '/servers/detail?all_tenants=1', microversion='2.100'
        )
        file = self.write(answer.text, 'servers.json')
        copied = self.compute.get_server(copy).name
        self.assertEqual(
            {**wanted, copied: ([None], 'front', 'invalid')},
            self.hints_of(name, '--servers', file, *config),
        )


class TestErrors(command_base.CommandTest):
    """One clear line for what only a real cloud answers."""

    def test_each_is_told(self):
        explain = ('aggregate', 'filter', 'explain', layout.FLAVOR)
        plan = ('cluster', 'region', 'plan', '--scale-out', '1')
        of_cluster = (*plan, '--cluster', 'nosuch')
        # Of all servers: Heat does not know this stack.
        hints = ('stack', 'hints', 'list')
        wrong = {'OS_PASSWORD': 'wrong'}
        elsewhere = {'OS_REGION_NAME': 'RegionNine'}
        for command, login, words in (
            (explain, wrong, '401'),
            (of_cluster, elsewhere, 'RegionNine'),
            (explain, layout.login(layout.USER), 'os-aggregates'),
            (of_cluster, {}, 'nosuch'),
            ((*plan, '--policy', 'nosuch'), {}, 'nosuch'),
            (hints, {}, 'microversion 2.100'),
        ):
            with self.subTest(command=command, login=login):
                result = self.openstack(*command, **{**self.login, **login})
                self.assert_one_line(result, words)

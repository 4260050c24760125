# SPDX-License-Identifier: Apache-2.0

"""The commands of the ``openstack`` shell, held against what then happens."""

import itertools
import json

from tests.cloud import base, layout, nova_base
from tests.functional.client import pages

ONE, TWO = base.ONE, base.TWO
FIRST, SECOND, THIRD = nova_base.HOSTS
FORCED = {'force_metadata_check': 'True'}


class FilterCommandTest(base.CommandTest, nova_base.PlacementTest):
    """A test that compares what commands say with what Nova does."""

    def setUp(self) -> None:
        super().setUp()
        #: The ids of the flavors in question, by name.
        self.flavors = {
            layout.FLAVOR: self.compute.find_flavor(layout.FLAVOR).id
        }

    def make_flavors(self, **extra_specs: dict[str, str]) -> None:
        """Make flavors; extra specs by the flavor's name."""
        for name, specs in extra_specs.items():
            self.flavors[name] = self.make_flavor(specs, name)

    def filter(self, *arguments: str) -> list[dict]:
        """Return what ``aggregate filter`` says of the cloud."""
        return self.live('aggregate', 'filter', *arguments)

    def fill(self, host: str) -> None:
        """Let a server take all memory of a host that servers may take."""
        room = self.make_flavor({}, ram=self.free_memory(host), disk=0)
        self.assertEqual(host, self.host_of(self.boot(room, host=host)))

    def free_memory(self, host: str) -> int:
        """Return how many MiB Placement has left on a host."""
        placement = self.admin[self.region].placement
        (node,) = (
            node
            for node in self.compute.hypervisors(details=True)
            if node.service_details['host'] == host
        )
        path = f'/resource_providers/{node.id}'
        inventories = placement.get(f'{path}/inventories').json()
        used = placement.get(f'{path}/usages').json()['usages']
        memory = inventories['inventories']['MEMORY_MB']
        total = memory['total'] - memory['reserved']
        return int(total * memory['allocation_ratio']) - used['MEMORY_MB']

    def disable(self, host: str, enabled: bool = False) -> None:
        """Disable a host, or enable it again."""
        (service,) = self.compute.services(binary='nova-compute', host=host)
        if enabled:
            self.compute.enable_service(service)
        else:
            self.compute.disable_service(service)
            self.addCleanup(self.disable, host, enabled=True)

    def files(self) -> list[str]:
        """Save the cloud as the documentation says.

        :returns: the options that read the files.
        """
        options = []
        for file, command in pages.saving().items():
            text = self.run_command(command)
            name = file.removesuffix('.json')
            options += [f'--{name}', self.write(text, file)]
        self.assertEqual(
            {'--flavors', '--aggregates', '--hosts'}, set(options[::2])
        )
        return options

    def refusals(self) -> dict[tuple[str, str], str]:
        """Ask for a server of each flavor on each host, and no other.

        :returns: why it was refused, by the names of flavor and host; empty
            where the server runs.
        """
        pairs = list(itertools.product(self.flavors, self.hosts))
        made = self.at_once(
            lambda pair: self.boot(self.flavors[pair[0]], host=pair[1]), pairs
        )
        servers = dict(zip(pairs, made, strict=True))
        chosen = self.hosts_of(servers.values())
        reasons = {}
        for (name, host), server in servers.items():
            if chosen[server] is None:
                # The name of the function that logs a line stands behind it.
                refusal = self.logged(
                    rf'Instance {server}: 1 host\(s\) in .* refused:'
                    ' (.*) _report '
                )
                reasons[name, host] = refusal[1]
            else:
                self.assertEqual(host, chosen[server])
                reasons[name, host] = ''
        self.remove_servers(*servers.values())
        return reasons


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
        command = ('aggregate', 'filter', 'explain', *self.flavors, '--long')
        rows = self.live(*command)
        reasons = {(row['Flavor'], row['Host']): row['Reason'] for row in rows}
        self.assertEqual(self.refusals(), reasons)
        # Without a login: nothing but the files is asked.
        self.assertEqual(rows, self.data(*command, *self.files()))
        lint = ('aggregate', 'filter', 'lint', '-f', 'json')
        errors = self.run_command(
            ' '.join(lint), '--severity', 'error', status=2
        )
        (error,) = json.loads(errors)
        self.assertEqual('graphics', error['Name'])
        for host in self.hosts:
            self.assertNotEqual('', reasons['graphics', host])

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

    def assert_kept(self, flavor: str, *sentences: str) -> None:
        """Check what is told of a request that fails, and what Nova logs.

        :param flavor: the ID of a flavor that the first two hosts take.
        :param sentences: what keeps the request from them.
        """
        server = self.boot(flavor)
        self.assertIsNone(self.host_of(server))
        conf = str(layout.ETC / self.region / 'nova.conf')
        output = self.run_command(
            f'aggregate filter explain --server {server} --config-file', conf
        )
        text = ' '.join(output.split())
        for sentence in ('2 hosts take the flavor: ', *sentences):
            self.assertIn(sentence, text)
        self.assertNotIn('add host', text)
        self.assertNotIn('nearest', text)
        # Nova's own log blames the hosts that are left.
        self.logged(rf"Instance {server}, flavor '.*?': 0 of 1 hosts:")

    def test_the_right_hosts_are_full_or_disabled(self) -> None:
        self.make_aggregate({'gpu': 'a100'}, FIRST, SECOND, name='gpus')
        flavor = self.make_flavor({'gpu': 'a100'}, 'graphics', disk=0)
        self.fill(SECOND)
        self.disable(FIRST)
        enable = 'openstack compute service set --enable'
        self.assert_kept(
            flavor,
            f'{FIRST} is disabled; {SECOND} lacks MEMORY_MB.',
            f'{enable} {FIRST} nova-compute',
        )
        self.remove_servers()
        self.disable(SECOND)
        self.assert_kept(flavor, f'{FIRST} and {SECOND} are disabled.', enable)
        self.disable(FIRST, enabled=True)
        self.disable(SECOND, enabled=True)
        self.fill(FIRST)
        self.fill(SECOND)
        self.assert_kept(flavor, f'{FIRST} and {SECOND} lack MEMORY_MB.')

    def test_capacity_of_three_flavors_is_what_boots(self) -> None:
        """Each alone: by disk, by memory, and on one host only."""
        self.make_aggregate({'gpu': 'a100'}, FIRST, name='gpus')
        third = self.free_memory(FIRST) // 3
        for name, specs, size in (
            ('disks', {}, {'disk': 250_000}),
            ('memory', {}, {'ram': third, 'disk': 0}),
            ('graphics', {'gpu': 'a100'}, {'disk': 150_000}),
        ):
            flavor = self.make_flavor(specs, name, **size)
            (room,) = self.filter('capacity', name)
            self.assertEqual('at most', room['Bound'])
            servers = [self.boot(flavor)]
            while self.host_of(servers[-1]):
                servers.append(self.boot(flavor))
            self.assertEqual(room['Servers'], len(servers) - 1, name)
            self.remove_servers(*servers)

    def test_capacity_is_what_boots(self) -> None:
        self.make_aggregate({'gpu': 'a100'}, FIRST, SECOND, name='gpus')
        # FakeDriver has 600,000 GB of disk.
        filling = self.make_flavor({}, disk=300_000)
        self.assertEqual(FIRST, self.host_of(self.boot(filling, host=FIRST)))
        flavor = self.make_flavor({'gpu': 'a100'}, 'graphics', disk=200_000)
        (room,) = self.filter('capacity', 'graphics')
        self.assertEqual(
            (4, 2, ['DISK_GB']),
            (room['Servers'], room['Hosts'], room['Scarce'][:1]),
        )
        # One after the other: at once, Placement was seen to put 6 VCPUs on
        # a host that has room for 5.
        servers = [self.boot(flavor)]
        while self.host_of(servers[-1]):
            servers.append(self.boot(flavor))
        self.assertEqual(room['Servers'], len(servers) - 1)
        (full,) = self.filter('capacity', 'graphics')
        self.assertEqual((0, 2), (full['Servers'], full['Full Nodes']))


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
        self.assertEqual([], self.filter('audit'))

        self.compute.set_aggregate_metadata(
            licensed, {'os': '<or> linux <or> ~'}
        )
        after = self.refusals()
        changes = set()
        for (flavor, host), reason in after.items():
            if bool(reason) != bool(before[flavor, host]):
                verdict = 'refuse' if reason else 'pass'
                changes.add((flavor, host, verdict))
        predicted = set()
        for row in rows:
            if row['Object'] == 'flavor':
                for host in row['Hosts']:
                    predicted.add((row['Name'], host, row['After']))
        self.assertEqual(changes, predicted)
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
        self.run_command('aggregate filter audit --fail-on refused', status=2)

    def test_a_stack_and_a_group_could_be_spread_better(self) -> None:
        first, second = self.hosts
        group = self.compute.create_server_group(
            name='db', policy='soft-anti-affinity'
        ).id
        self.addCleanup(self.compute.delete_server_group, group)
        shop = {
            'heat_root_stack_id': 'id-shop',
            'heat_path_in_stack': ['shop'],
        }
        servers = self.at_once(
            lambda hints: self.boot(self.flavors[layout.FLAVOR], hints, first),
            [{'group': group}, shop] * 2,
        )
        self.assertEqual({first}, {*self.hosts_of(servers).values()})
        rows = self.filter('audit')
        self.assertEqual(
            {('spread', 'server group', 'db'), ('spread', 'stack', 'shop')},
            {(row['Problem'], row['Object'], row['Name']) for row in rows},
        )
        for row in rows:
            self.assertEqual([first], row['Hosts'])
            reason = row['Reason']
            self.assertIn(f'host {first} has 2 of 2 members', reason)
            self.assertIn(f'{second} takes the server', reason)


class TestErrors(base.CommandTest):
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

# SPDX-License-Identifier: Apache-2.0

"""The commands of the ``openstack`` shell, held against what then happens."""

import itertools
import json

from tests.cloud import base, layout, nova_base
from tests.functional.client import pages

FIRST, SECOND, _ = nova_base.HOSTS
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

        # Nova says itself which filter took the last host.
        server = self.boot(self.flavors['graphics'])
        self.assertIsNone(self.host_of(server))
        self.logged(
            r'Filtering removed all hosts for the request with instance ID '
            rf"'{server}'.*AggregateInstanceTypeFilter.*end: 0\)"
        )


class TestRunningServers(FilterCommandTest):
    """What is said of servers that run."""

    def test_an_aggregate_is_changed_under_a_running_server(self) -> None:
        licensed = self.make_aggregate(
            {'os': 'windows', **FORCED}, FIRST, name='licensed'
        )
        self.make_flavors(windows={'os': 'windows'})
        server = self.boot(self.flavors['windows'], host=FIRST)
        self.assertEqual(FIRST, self.host_of(server))
        name = self.compute.get_server(server).name
        self.assertEqual([], self.filter('audit'))

        self.compute.set_aggregate_metadata(licensed, {'os': 'linux'})
        (problem,) = self.filter('audit')
        self.assertEqual(
            ['refused', 'windows', [f'{name} ({FIRST})']],
            list(problem.values())[:3],
        )
        self.assertEqual([server], problem['Server IDs'])
        # As nova-scheduler says it.
        self.assertEqual(self.refusals()['windows', FIRST], problem['Reason'])
        self.run_command('aggregate filter audit --fail-on refused', status=2)
        # The server has its own copy of the flavor, which is judged.
        rows = self.filter('explain', '--server', server)
        self.assertEqual({'refuse'}, {row['Result'] for row in rows})


class TestErrors(base.CommandTest):
    """One clear line for what only a real cloud answers."""

    def test_each_is_told(self):
        explain = ('aggregate', 'filter', 'explain', layout.FLAVOR)
        plan = ('cluster', 'region', 'plan', '--scale-out', '1')
        of_cluster = (*plan, '--cluster', 'nosuch')
        wrong = {'OS_PASSWORD': 'wrong'}
        elsewhere = {'OS_REGION_NAME': 'RegionNine'}
        for command, login, words in (
            (explain, wrong, '401'),
            (of_cluster, elsewhere, 'RegionNine'),
            (explain, layout.login(layout.USER), 'os-aggregates'),
            (of_cluster, {}, 'nosuch'),
            ((*plan, '--policy', 'nosuch'), {}, 'nosuch'),
        ):
            with self.subTest(command=command, login=login):
                result = self.openstack(*command, **{**self.login, **login})
                self.assert_one_line(result, words)

# SPDX-License-Identifier: Apache-2.0

"""What only several schedulers show: changes, and many servers at once."""

import collections
from collections.abc import Iterable

from tests import signing
from tests.cloud import base, databases

#: How many servers of each kind are asked for at once, and come back.
COUNT, BACK = 9, 6

#: How many strict groups are requested at once. RabbitMQ asks the eight
#: workers of the two schedulers by turns. So one worker gets the first and the
#: third member of a group, and another worker gets the second. A worker knows
#: which hosts it has given away, and not those that others have.
GROUPS = 4
#: How many groups are requested at once whose members share a host.
TOGETHER = 6


class TestMetadata(base.ServerTest):
    def test_change_of_metadata_counts_at_once(self):
        aggregate = self.make_aggregate(
            {'os': 'windows', 'force_metadata_check': 'True'}
        )
        for forced in ('True', 'False', 'True'):
            with self.subTest(force_metadata_check=forced):
                self.compute.set_aggregate_metadata(
                    aggregate, {'force_metadata_check': forced}
                )
                # Enough of them for both schedulers.
                hosts = self.hosts_of(self.at_once(self.boot, [{}] * 4))
                if forced == 'True':
                    self.assertEqual({None}, set(hosts))
                else:
                    self.assertNotIn(None, hosts)


class TestMetadataInNewestNova(TestMetadata):
    region = base.TWO


class TestAtOnce(base.ServerTest):
    """Each host gets as many, although the other weighers prefer one."""

    def setUp(self) -> None:
        super().setUp()
        # The fake computes never get done with their servers.
        self.make_aggregate({'io_ops_weight_multiplier': '0.0'})
        big = self.compute.create_flavor(
            name=base.unique('flavor'), vcpus=100, ram=100000, disk=1
        ).id
        self.addCleanup(self.compute.delete_flavor, big)
        first, *others = self.hosts
        filling = [self.boot({}, big, host=host) for host in others]
        self.assertEqual(others, self.hosts_of(filling))
        # Without a stack everything goes to the one that is empty.
        self.assertEqual([first], self.hosts_of([self.boot({})]))

    def stack(self, **more: object) -> dict[str, object]:
        """Return the hints of a stack of its own, as Heat would sign them."""
        hints = {'heat_root_stack_id': base.unique('stack')}
        project = self.admin[self.region].current_project_id
        return {**signing.signed(hints, project, signing.KEY), **more}

    def assert_even(self, servers: Iterable[str]) -> None:
        """Fail unless the hosts have equally many servers, or one more."""
        counts = collections.Counter(dict.fromkeys(self.hosts, 0))
        counts.update(self.hosts_of(servers))
        self.assertEqual(set(self.hosts), set(counts))
        self.assertLessEqual(max(counts.values()) - min(counts.values()), 1)

    def test_servers_that_start_and_that_come_back(self):
        group = self.make_group('soft-anti-affinity')
        wishes = [self.stack(), {'group': group}]
        servers = self.boot_before_claims(self.boot, wishes * COUNT)
        for number, wish in enumerate(wishes):
            with self.subTest(wish):
                self.assert_even(servers[number :: len(wishes)])

        back = servers[:: len(wishes)][:BACK]
        self.remove_servers(
            *(server for server in servers if server not in back)
        )
        self.at_once(self.compute.shelve_server, back)
        self.wait_for_statuses(back, 'SHELVED_OFFLOADED')
        self.at_once(self.compute.unshelve_server, back)
        self.assert_even(back)

    def boot_together(self, hints: dict[str, object]) -> list[str]:
        """Ask for several servers in one request, and return their ids."""
        name = base.unique('together')
        self.boot(hints, name=name, min_count=COUNT, max_count=COUNT)
        # Nova numbers the names.
        made = [
            server.id
            for server in self.servers(self.region).values()
            if server.name.startswith(name)
        ]
        self._servers.extend(made)
        self.assertEqual(COUNT, len(made))
        return made

    def test_several_servers_in_one_request(self):
        """The scheduler is asked once for all of them."""
        self.assert_even(self.boot_together(self.stack()))

    def test_strict_groups_with_as_many_members_as_hosts(self):
        """No host refuses a member.

        nova-compute checks the policy again when it claims a server. The
        server then has one other host to try.
        """
        groups = [self.make_group('anti-affinity') for _ in range(GROUPS)]
        wishes = [{'group': group} for group in groups] * len(self.hosts)
        servers = self.boot_before_claims(self.boot, wishes)
        for number, group in enumerate(groups):
            hosts = self.hosts_of(servers[number::GROUPS])
            self.assertCountEqual(self.hosts, hosts, group)
        self.assert_first_attempts(servers)

    def test_groups_whose_members_stay_together(self):
        """Six at once, three times."""
        for _ in range(3):
            groups = [self.make_group('affinity') for _ in range(TOGETHER)]
            wishes = [{'group': group} for group in groups] * len(self.hosts)
            servers = self.boot_before_claims(self.boot, wishes)
            for number, group in enumerate(groups):
                hosts = {*self.hosts_of(servers[number::TOGETHER])}
                self.assertEqual(1, len(hosts), group)
                self.assertNotIn(None, hosts, group)
            self.assert_first_attempts(servers)
            self.remove_servers(*servers)

    def assert_first_attempts(self, servers: list[str]) -> None:
        """Fail if a build was tried on a second host."""
        rows = databases.query(
            f'nova_{self.region}',
            'SELECT instance_uuid FROM instance_actions_events AS event'
            ' JOIN instance_actions AS action ON action.id = event.action_id'
            " WHERE event = 'compute__do_build_and_run_instance'"
            ' AND instance_uuid IN %s'
            ' GROUP BY instance_uuid HAVING COUNT(*) > 1',
            servers,
        )
        self.assertEqual([], rows, 'servers that needed a second attempt')


class TestAtOnceInNewestNova(TestAtOnce):
    region = base.TWO

# SPDX-License-Identifier: Apache-2.0

"""Server groups whose members start, or move, all at once."""

from tests.cloud import base, mariadb, nova_base

#: How many strict groups are requested at once, and how many of these by
#: turns. RabbitMQ asks the eight workers of the two schedulers by turns, too.
#: So one worker gets the first and the third member of a group, and another
#: worker gets the second. A worker knows which hosts it has given away, and
#: not those that others have.
GROUPS, TURNS = 8, 4

#: How many members on each host are resized.
RESIZED = 2


class TestStrictGroups(nova_base.PreferenceTest):
    """As many members as hosts: no place is left for a wrong choice.

    nova-compute checks the policy again when it claims a server, and refuses
    the second member on a host. The server then has one other host to try. If
    the schedulers choose well, no host refuses a member.
    """

    def setUp(self) -> None:
        super().setUp()
        self.prefer(self.hosts[0])
        self.small = self.compute.find_flavor('small').id
        self.groups = [self.make_group('anti-affinity') for _ in range(GROUPS)]

    def boot_member(self, group: str) -> str:
        """Ask for a member of a group and return its id."""
        return self.boot(self.small, {'group': group})

    def test_each_host_has_one_member_of_each_group(self) -> None:
        early = self.groups[:TURNS] * len(self.hosts)
        late = self.groups[TURNS:] * len(self.hosts)
        # All early members have hosts before any host has claimed one. The
        # late ones are asked for while hosts claim.
        servers = self.boot_before_claims(self.boot_member, early)
        servers += self.at_once(self.boot_member, late)
        self.wait_until_ended(servers)
        failed = base.instances(self.region, servers, "vm_state = 'error'")
        self.assertEqual(set(), failed, 'servers in ERROR')
        hosts = self.hosts_of(servers)
        by_group: dict[str, list[str | None]] = {}
        for server, group in zip(servers, early + late, strict=True):
            by_group.setdefault(group, []).append(hosts[server])
        for group, own_hosts in by_group.items():
            self.assertEqual(sorted(self.hosts), sorted(own_hosts), group)
        self.assertEqual(set(), self.refused_once(servers))

    def refused_once(self, servers: list[str]) -> set[str]:
        """Return the servers that needed more than one attempt."""
        rows = mariadb.query(
            f'nova_{self.region}',
            'SELECT instance_uuid FROM instance_actions_events AS event'
            ' JOIN instance_actions AS action ON action.id = event.action_id'
            " WHERE event = 'compute__do_build_and_run_instance'"
            ' AND instance_uuid IN %s'
            ' GROUP BY instance_uuid HAVING COUNT(*) > 1',
            servers,
        )
        return {server for (server,) in rows}


class TestStrictGroupsInNewestNova(TestStrictGroups):
    region = base.TWO


class TestResize(nova_base.PreferenceTest):
    """All members of a soft group are resized at once.

    No member may stay on its host. With 2/2/2 before, 2/2/2 is within reach
    afterwards: each host gives two members and takes two.

    But members get their hosts one by one, in the order of their requests. In
    some orders, the last place that is free is on the host that the last
    member leaves. The result is then 3/2/1, because no member that has a host
    gives it up again. So the test asks in an order in which this cannot
    happen.
    """

    def test_members_leave_different_hosts(self) -> None:
        self.prefer(self.hosts[0])
        small = self.compute.find_flavor('small').id
        larger = self.make_flavor({}, ram=128)
        hint = {'group': self.make_group('soft-anti-affinity')}
        wishes = list(self.hosts) * RESIZED
        servers = self.at_once(
            lambda host: self.boot(small, hint, host), wishes
        )
        before = self.hosts_of(servers)
        waiting: dict[str | None, list[str]] = {
            host: [] for host in self.hosts
        }
        for server, host in before.items():
            waiting[host].append(server)
        schedulers = [
            f'{self.region}.nova-scheduler-{number}' for number in (1, 2)
        ]
        # All are asked for before the first one gets a host, and all have
        # hosts before the first one is claimed.
        self.pause(*schedulers, *self.computes())
        for host in self.order():
            self.compute.resize_server(waiting[host].pop(), larger)
        self.go_on(*schedulers)
        self.wait_for(lambda: self.check_moved(before))
        self.go_on(*self.computes())
        self.wait_until_ended(servers, "vm_state IN ('resized', 'error')")
        self.at_once(self.compute.confirm_server_resize, servers)
        self.assert_even(servers)
        after = self.hosts_of(servers)
        for server in servers:
            self.assertNotEqual(before[server], after[server])

    def check_moved(self, before: dict[str, str | None]) -> None:
        """Raise unless a scheduler has chosen a new host for each server.

        The scheduler allocates the new host. The allocation of the old host
        then belongs to the migration.
        """
        rows = mariadb.query(
            f'placement_{self.region}',
            'SELECT DISTINCT consumer_id, name FROM allocations'
            ' JOIN resource_providers AS provider'
            ' ON provider.id = resource_provider_id'
            ' WHERE consumer_id IN %s',
            list(before),
        )
        moved = {server for server, host in rows if host != before[server]}
        self.assertEqual(set(before), moved, 'servers with a new host')

    def order(self) -> list[str]:
        """Return the host that each member leaves, in the order of requests.

        Whichever of two equally empty hosts a member gets, the members behind
        it find one of the emptiest hosts among those that they may have. This
        does not hold in most other orders.
        """
        one, two, three = self.hosts
        return [one, two, one, three, three, two]


class TestResizeInNewestNova(TestResize):
    region = base.TWO

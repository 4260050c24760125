# SPDX-License-Identifier: Apache-2.0

"""Server groups whose members start all at once."""

from tests.cloud import base, mariadb, nova_base

#: How many strict groups are requested at once, and how many of these by
#: turns. RabbitMQ asks the eight workers of the two schedulers by turns, too.
#: So one worker gets the first and the third member of a group, and another
#: worker gets the second. A worker knows which hosts it has given away, and
#: not those that others have.
GROUPS, TURNS = 8, 4


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

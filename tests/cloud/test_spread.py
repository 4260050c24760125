# SPDX-License-Identifier: Apache-2.0

"""Many members at once, with two schedulers of four workers each."""

import collections
from collections.abc import Iterable

from tests import signing
from tests.cloud import base, mariadb, test_heat

#: How many servers are asked for at once, and how many of them come back.
COUNT, BACK = 12, 6


class TestAtOnce(test_heat.PreferenceTest):
    """Each host gets as many, although the other weighers prefer one."""

    def setUp(self) -> None:
        super().setUp()
        self.prefer(self.hosts[0])
        self.small = self.compute.find_flavor('small').id

    def stack(self, **more: object) -> dict[str, object]:
        """Return the hints of a stack of its own, as Heat would sign them."""
        hints = {'heat_root_stack_id': base.unique('stack')}
        project = self.admin[self.region].current_project_id
        return {**signing.signed(hints, project, test_heat.KEY), **more}

    def assert_even(self, servers: Iterable[str]) -> None:
        """Fail unless the hosts have equally many servers, or one more."""
        found = collections.Counter(dict.fromkeys(self.hosts, 0))
        found.update(self.hosts_of(servers).values())
        self.assertEqual(set(self.hosts), set(found))
        self.assertLessEqual(max(found.values()) - min(found.values()), 1)

    def check_scheduled(self, servers: list[str]) -> None:
        """Raise unless a scheduler has chosen the host of each server."""
        rows = mariadb.query(
            f'nova_api_{self.region}',
            'SELECT cell_id FROM instance_mappings WHERE instance_uuid IN %s',
            servers,
        )
        self.assertNotIn((None,), rows)

    def test_servers_that_start_and_that_come_back(self) -> None:
        group = self.compute.create_server_group(
            name=base.unique('group'), policy='soft-anti-affinity'
        ).id
        self.addCleanup(self.compute.delete_server_group, group)
        wishes = {
            'a stack': self.stack(),
            'a stack with a limit': self.stack(max_skew='1'),
            'a server group': {'group': group},
        }
        # None is claimed before all have hosts.
        computes = [f'{self.region}.nova-compute-{one}' for one in self.hosts]
        self.pause(*computes)
        asked = [*wishes] * COUNT
        servers = self.at_once(
            lambda name: self.boot(self.small, wishes[name]), asked
        )
        self.wait_for(lambda: self.check_scheduled(servers))
        self.go_on(*computes)
        for number, name in enumerate(wishes):
            with self.subTest(name):
                self.assert_even(servers[number :: len(wishes)])

        back = servers[:: len(wishes)][:BACK]
        self.remove_servers(*(one for one in servers if one not in back))
        self.at_once(self.compute.shelve_server, back)
        offloaded = "vm_state = 'shelved_offloaded' AND task_state IS NULL"
        self.wait_for(
            lambda: self.assertEqual(
                set(back), base.instances(self.region, back, offloaded)
            )
        )
        self.at_once(self.compute.unshelve_server, back)
        self.assert_even(back)


class TestAtOnceInNewestNova(TestAtOnce):
    region = base.TWO

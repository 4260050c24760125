# SPDX-License-Identifier: Apache-2.0

"""Many members at once, with two schedulers of four workers each."""

import collections
import signal
from collections.abc import Iterable

from tests import signing
from tests.cloud import base, mariadb, processes, test_heat


class TestAtOnce(test_heat.PreferenceTest):
    """Each host gets as many, although the other weighers prefer one."""

    def setUp(self) -> None:
        super().setUp()
        self.prefer(self.hosts[0])
        self.small = self.compute.find_flavor('small').id
        self.stack = signing.signed(
            {'heat_root_stack_id': base.unique('stack')},
            self.admin[self.region].current_project_id,
            test_heat.KEY,
        )

    def assert_even(self, servers: Iterable[str]) -> None:
        """Fail unless the hosts have equally many servers, or one more."""
        found = collections.Counter(dict.fromkeys(self.hosts, 0))
        found.update(self.hosts_of(servers).values())
        self.assertEqual(set(self.hosts), set(found))
        self.assertLessEqual(max(found.values()) - min(found.values()), 1)

    def boot_before_any_starts(self, hints: dict[str, object]) -> list[str]:
        """Ask for servers at once; none is claimed before all have hosts."""
        computes = [f'{self.region}.nova-compute-{one}' for one in self.hosts]
        for compute in computes:
            self.addCleanup(processes.send, signal.SIGCONT, compute)
            processes.send(signal.SIGSTOP, compute)
        servers = self.at_once(
            lambda _: self.boot(self.small, hints), range(18)
        )

        def check_scheduled() -> None:
            rows = mariadb.query(
                f'nova_api_{self.region}',
                'SELECT cell_id FROM instance_mappings'
                ' WHERE instance_uuid IN %s',
                servers,
            )
            self.assertNotIn((None,), rows)

        self.wait_for(check_scheduled)
        for compute in computes:
            processes.send(signal.SIGCONT, compute)
        return servers

    def test_stack(self) -> None:
        servers = self.boot_before_any_starts(self.stack)
        self.assert_even(servers)

    def test_limit(self) -> None:
        hints = {**self.stack, 'max_skew': '1'}
        self.assert_even(self.boot_before_any_starts(hints))

    def test_server_group(self) -> None:
        group = self.compute.create_server_group(
            name=base.unique('group'), policy='soft-anti-affinity'
        ).id
        self.addCleanup(self.compute.delete_server_group, group)
        servers = self.boot_before_any_starts({'group': group})
        self.assert_even(servers)

    def test_unshelved_stack(self) -> None:
        servers = self.at_once(
            lambda _: self.boot(self.small, self.stack), range(9)
        )
        self.hosts_of(servers)
        self.at_once(self.compute.shelve_server, servers)
        self.wait_for(
            lambda: self.assertEqual(
                set(servers),
                base.instances(
                    self.region,
                    servers,
                    "vm_state = 'shelved_offloaded' AND task_state IS NULL",
                ),
            )
        )
        self.at_once(self.compute.unshelve_server, servers)
        self.assert_even(servers)


class TestAtOnceInNewestNova(TestAtOnce):
    region = base.TWO

# SPDX-License-Identifier: Apache-2.0

"""What Nova knows of a server's stack, and what it makes of it."""

from tests import signing
from tests.cloud import base, heat_base, nova_base

SERVER = 'OS::Nova::Server'

#: How many servers of each kind are asked for at once, and come back.
COUNT, BACK = 9, 6

#: The key with which this cloud signs.
KEY = signing.KEY


class TestHints(heat_base.StackTest):
    def assert_hints(self, root: str, resource: dict, *path: str) -> None:
        """Assert that Nova has stored where in which stack a server is.

        :param resource: the resource of the server, as Heat lists it.
        :param path: the names of the resources on the way to its stack.
        """
        hints = self.hints(self.region, resource['server'])
        self.assertEqual([root], hints['heat_root_stack_id'])
        self.assertEqual([resource['stack_id']], hints['heat_stack_id'])
        self.assertEqual([resource['stack_name']], hints['heat_stack_name'])
        self.assertEqual([resource['name']], hints['heat_resource_name'])
        self.assertEqual([resource['uuid']], hints['heat_resource_uuid'])
        first, *below = hints['heat_path_in_stack']
        self.assertEqual(self.show(root)['stack_name'], first)
        project = self.user[base.ONE].current_project_id
        self.assertEqual(
            [signing.signature(hints, project, KEY)], hints['heat_signature']
        )
        self.assertEqual(
            list(path), [step.partition(',')[0] for step in below]
        )

    def test_nested_servers_carry_their_place(self):
        root = self.make_stack(
            heat_base.template(
                front=heat_base.server(),
                liar=heat_base.server(
                    scheduler_hints={
                        'heat_root_stack_id': 'somebody-else',
                        'rack': 'r7',
                    }
                ),
                back={'type': 'nested.yaml'},
                workers=heat_base.group(2, heat_base.server()),
            ),
            {'nested.yaml': heat_base.template(db=heat_base.server())},
        )
        resources = {
            resource['name']: resource
            for resource in self.resources(root, SERVER)
        }
        self.assertEqual({'front', 'liar', 'db', '0', '1'}, set(resources))
        self.assertEqual(
            {resource['server'] for resource in resources.values()},
            set(self.servers(self.region)),
        )
        paths = {
            'front': (),
            # A template cannot claim another stack.
            'liar': (),
            'db': ('back',),
            '0': ('workers',),
            '1': ('workers',),
        }
        for name, path in paths.items():
            self.assert_hints(root, resources[name], *path)
        hints = self.hints(self.region, resources['liar']['server'])
        self.assertEqual(['r7'], hints['rack'])


class TestHintsInNewestNova(TestHints):
    region = base.TWO


class TestAtOnce(nova_base.PreferenceTest):
    """Each host gets as many, although the other weighers prefer one."""

    def setUp(self) -> None:
        super().setUp()
        self.prefer(self.hosts[0])
        self.small = self.compute.find_flavor('small').id

    def boot_together(self, count: int, hints: dict[str, object]) -> list[str]:
        """Ask for several servers in one request, and return their ids."""
        name = base.unique('together')
        body = {
            'name': name,
            'flavorRef': self.small,
            'imageRef': self.image,
            'networks': 'none',
            'min_count': count,
            'max_count': count,
        }
        response = self.compute.post(
            '/servers',
            json={'server': body, 'os:scheduler_hints': hints},
            microversion=nova_base.VERSION,
        )
        self.assertEqual(202, response.status_code, response.text)
        # Nova numbers the names.
        listed = self.servers(self.region)
        made = [
            server_id
            for server_id, server in listed.items()
            if server.name.startswith(name)
        ]
        self._servers.extend(made)
        self.assertEqual(count, len(made))
        return made

    def test_servers_that_start_and_that_come_back(self) -> None:
        group = self.make_group('soft-anti-affinity')
        wishes = {
            'a stack': self.stack(),
            'a stack with a limit': self.stack(max_skew='1'),
            'a stack of roles': self.stack(),
            'a stack of roles with a limit': self.stack(max_skew='1'),
            'a server group': {'group': group},
        }

        def boot(wish: tuple[str, int]) -> str:
            name, number = wish
            hints = dict(wishes[name])
            if 'roles' in name:
                # Heat sends no such hint. So each server is of its own kind.
                hints['role'] = f'role-{number}'
            return self.boot(self.small, hints)

        requests = []
        for number in range(COUNT):
            requests += [(name, number) for name in wishes]
        servers = self.boot_before_claims(boot, requests)
        for number, name in enumerate(wishes):
            with self.subTest(name):
                self.assert_even(servers[number :: len(wishes)])

        back = servers[:: len(wishes)][:BACK]
        self.remove_servers(
            *(server for server in servers if server not in back)
        )
        self.at_once(self.compute.shelve_server, back)
        self.wait_until_ended(back, "vm_state = 'shelved_offloaded'")
        self.at_once(self.compute.unshelve_server, back)
        self.assert_even(back)

    def test_several_servers_in_one_request(self) -> None:
        """The scheduler is asked once for all of them."""
        self.assert_even(self.boot_together(COUNT, self.stack()))
        refused = self.boot_together(COUNT, self.stack(max_skew='1'))
        self.assertEqual({None}, set(self.hosts_of(refused).values()))
        one_of_them = '|'.join(refused)
        self.logged(
            rf'Instance ({one_of_them}): no host passes, because one request'
            rf' asks for {COUNT} servers'
        )


class TestAtOnceInNewestNova(TestAtOnce):
    region = base.TWO

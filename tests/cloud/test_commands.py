# SPDX-License-Identifier: Apache-2.0

"""The commands of the ``openstack`` shell on a real cloud."""

from tests.cloud import base, layout, nova_base

FIRST, *_ = nova_base.HOSTS


class TestRunningServers(base.CommandTest, nova_base.PlacementTest):
    def test_an_aggregate_is_changed_under_a_running_server(self) -> None:
        metadata = {'os': 'windows', 'force_metadata_check': 'True'}
        licensed = self.make_aggregate(metadata, FIRST, name='licensed')
        flavor = self.make_flavor({'os': 'windows'}, 'windows')
        server = self.boot(flavor, host=FIRST)
        self.assertEqual(FIRST, self.host_of(server))
        audit = ('aggregate', 'filter', 'audit')
        self.assertEqual([], self.live(*audit)['causes'])

        self.compute.set_aggregate_metadata(licensed, {'os': 'linux'})
        (problem,) = self.live(*audit)['causes']
        self.assertEqual('windows', problem['flavor'])
        self.assertEqual(server, problem['servers'][0]['id'])
        self.run_command('aggregate filter audit --fail-on refused', status=2)
        # The server has its own copy of the flavor, which is judged.
        explain = ('aggregate', 'filter', 'explain', '--server', server)
        (document,) = self.live(*explain)
        self.assertEqual([], document['takers'])
        # nova-scheduler says the same.
        second = self.boot(flavor, host=FIRST)
        self.assertIsNone(self.host_of(second))
        refusal = self.logged(
            rf'Instance {second}: 1 host\(s\) in .* refused: (.*) _report '
        )
        self.assertEqual(problem['reason'], refusal[1])


class TestErrors(base.CommandTest):
    """One clear line for what only a real cloud answers."""

    def test_each_is_told(self):
        explain = ('aggregate', 'filter', 'explain', layout.FLAVOR)
        plan = ('cluster', 'region', 'plan', '--scale-out', '1')
        for command, login, words in (
            (explain, {'OS_PASSWORD': 'wrong'}, '401'),
            (explain, layout.login(layout.USER), 'os-aggregates'),
            ((*plan, '--cluster', 'nosuch'), {}, 'nosuch'),
        ):
            with self.subTest(command=command, login=login):
                result = self.openstack(*command, **{**self.login, **login})
                self.assert_one_line(result, words)

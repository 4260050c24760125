# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The commands of the ``openstack`` shell, held against what then happens."""

from tests.cloud import command_base, layout, nova_base

FIRST, SECOND, THIRD = nova_base.HOSTS
FORCED = {'force_metadata_check': 'True'}


class TestExplain(command_base.FilterCommandTest):
    #: What each flavor wants, and the hosts that must take it: the first
    #: two are licensed, the second has graphics, the third has nothing.
    WANTED = {
        layout.FLAVOR: ({}, {THIRD}),
        'windows': ({'os': 'windows'}, {FIRST, SECOND}),
        'either': ({'os': '<or> windows <or> ~'}, {FIRST, SECOND, THIRD}),
        'graphics': ({'gpu': 'a100'}, set()),
        'both': ({'os': '*', 'gpu': '<or> h100 <or> l4'}, {SECOND}),
        'neither': ({'os': '<or> windows <or> ~', 'gpu': '!'}, {FIRST, THIRD}),
    }

    def setUp(self) -> None:
        super().setUp()
        self.licensed = self.make_aggregate(
            {'os': 'windows', **FORCED}, FIRST, SECOND, name='licensed'
        )
        self.gpus = self.make_aggregate(
            {'gpu': 'a100, h100'}, SECOND, name='gpus'
        )
        self.make_flavors(
            **{
                name: specs
                for name, (specs, _) in self.WANTED.items()
                if specs
            }
        )

    def explain(self, *arguments: str) -> list[dict]:
        """Return what the command says of the cloud."""
        return self.live('aggregate', 'filter', 'explain', *arguments)

    def test_each_verdict_and_its_reason_are_the_schedulers(self):
        rows = self.explain(*self.flavors, '--long')
        told = {(row['Flavor'], row['Host']): row['Reason'] for row in rows}
        passing = {
            name: {
                row['Host']
                for row in rows
                if row['Flavor'] == name and row['Result'] == 'pass'
            }
            for name in self.flavors
        }
        self.assertEqual(
            {name: hosts for name, (_, hosts) in self.WANTED.items()}, passing
        )
        self.assertEqual(self.refusals(), told)
        self.assertEqual(
            {where for where, reason in told.items() if reason},
            {
                (row['Flavor'], row['Host'])
                for row in self.explain(*self.flavors, '--only-refused')
            },
        )
        # Without a login: nothing but the files is asked.
        self.assertEqual(
            rows,
            self.data(
                *('aggregate', 'filter', 'explain', *self.flavors, '--long'),
                *self.files(),
            ),
        )

    def test_summary_is_what_the_scheduler_counts(self):
        rows = self.explain('--summary')
        for name, flavor in self.flavors.items():
            with self.subTest(flavor=name):
                counted = [row for row in rows if row['Flavor'] == name]
                refused = {
                    row['Reason']: row['Hosts']
                    for row in counted
                    if row['Result'] == 'refuse'
                }
                server = self.boot(flavor)
                if len(refused) == len(counted):
                    self.assertIsNone(self.host_of(server))
                    self.assertEqual(refused, self.reasons(server))
                else:
                    self.assertIn(self.host_of(server), self.WANTED[name][1])

    def test_matrix_says_what_one_aggregate_alone_does(self):
        rows = {row.pop('Flavor'): row for row in self.explain('--matrix')}
        self.compute.remove_host_from_aggregate(self.licensed, SECOND)
        # As its end expects it.
        self.addCleanup(
            self.compute.add_host_to_aggregate, self.licensed, SECOND
        )
        alone = {'licensed': FIRST, 'gpus': SECOND, '(none)': THIRD}
        refusals = self.refusals()
        self.assertEqual(set(self.flavors), set(rows))
        for name, cells in rows.items():
            self.assertEqual(
                {
                    aggregate: refusals[name, host] == ''
                    for aggregate, host in alone.items()
                },
                {
                    aggregate: cell == 'pass'
                    for aggregate, cell in cells.items()
                },
                name,
            )

    def test_server_is_judged_by_its_own_copy_of_the_flavor(self):
        server = self.boot(self.flavors['windows'], host=FIRST)
        self.assertEqual(FIRST, self.host_of(server))
        self.set_extra_specs(self.flavors['windows'], {'os': 'linux'})
        name = self.compute.get_server(server).name
        results = {
            (row['Flavor'], row['Host']): row['Result']
            for row in self.explain('windows', '--server', name)
        }
        self.assertEqual(
            {
                (flavor, host): result
                for flavor, verdicts in {
                    'windows': ('refuse', 'refuse', 'refuse'),
                    f'windows of {name}': ('pass', 'pass', 'refuse'),
                }.items()
                for host, result in zip(nova_base.HOSTS, verdicts, strict=True)
            },
            results,
        )
        self.assertEqual(
            self.explain('--server', server),
            self.data('aggregate', 'filter', 'explain', *self.files(name)),
        )
        self.assertIsNone(self.host_of(self.boot(self.flavors['windows'])))
        self.assertFalse(self.migrates(server, THIRD))
        self.assertTrue(self.migrates(server, SECOND))

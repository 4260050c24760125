# SPDX-License-Identifier: Apache-2.0

"""MariaDB can find the members of a team by indexes."""

from tests.cloud import base, databases, services


class TestStatements(base.ServerTest):
    def test_each_table_has_an_index_for_the_weighers(self):
        # MariaDB does not plan the rest of a join if a row is not there.
        group = self.make_group('anti-affinity')
        found = services.ask_nova(
            base.REGIONS[self.region], 'nova_statements.py', group
        )
        tables = set()
        for database, statements in found.items():
            for statement in statements:
                plan = databases.query(database, f'EXPLAIN {statement}')
                for _, _, table, _, indexes, *_ in plan:
                    tables.add(table)
                    # In brackets is the result of another step. All compute
                    # nodes are wanted.
                    if not table.startswith('<') and table != 'compute_nodes':
                        self.assertIsNotNone(indexes, f'{table}: {statement}')
        self.assertLessEqual(
            {
                'instance_mappings',
                'instance_groups',
                'instance_group_member',
                'request_specs',
                'instances',
                'instance_actions',
                'migrations',
            },
            tables,
        )


class TestStatementsOfNewestNova(TestStatements):
    region = base.TWO

# SPDX-License-Identifier: Apache-2.0

"""MariaDB can find the members of a team by indexes."""

import json
import subprocess

from tests.cloud import base, databases, layout, services


class TestStatements(base.ServerTest):
    def test_each_table_has_an_index_for_the_weighers(self):
        region = base.REGIONS[self.region]
        # MariaDB does not plan the rest of a join if a row is not there.
        group = self.make_group('anti-affinity')
        files = services.nova_files(region)
        _, *options = services.program(region.environment, '', *files)
        printed = subprocess.check_output(
            services.python(
                region.environment, 'nova_statements.py', group, *options
            ),
            cwd=layout.DATA,
        )
        tables = set()
        for database, statements in json.loads(printed).items():
            for statement in statements:
                plan = databases.query(database, f'EXPLAIN {statement}')
                for _, _, table, _, indexes, *_ in plan:
                    tables.add(table)
                    # In brackets is the result of another step.
                    if not table.startswith('<'):
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

# SPDX-License-Identifier: Apache-2.0

"""MariaDB finds the members of a team by indexes, not by reading all rows."""

import contextlib
import json
import subprocess
from collections.abc import Iterator

from tests.cloud import (
    base,
    configuration,
    layout,
    mariadb,
    nova_base,
    processes,
    services,
)

#: How many servers a copy of the databases has more. Small tables MariaDB
#: reads as a whole in any case, and so it does if most of the rows are wanted.
#: One server of so many is in the project of the team.
MORE, SHARE = 20_000, 20

#: Which server a row is about.
OF_SERVER = 'instance_uuid = %s'
#: Which group that server is in.
GROUP = f'(SELECT group_id FROM instance_group_member WHERE {OF_SERVER})'  # noqa: S608

#: The tables to fill, and the row to repeat in each.
API_TABLES = {
    'instance_mappings': OF_SERVER,
    'request_specs': OF_SERVER,
    'instance_groups': f'id = {GROUP}',
    'instance_group_policy': f'group_id = {GROUP}',
    'instance_group_member': OF_SERVER,
}
CELL_TABLES = {
    'instances': 'uuid = %s',
    'instance_actions': OF_SERVER,
    'migrations': OF_SERVER,
}

UUID = "CONCAT(LPAD(HEX(seq), 8, '0'), '-0000-4000-8000-000000000000')"
#: The others are older: their ids are lower than all that Nova gives.
ID = 'CAST(seq AS SIGNED) - 1000000'
#: What is not the same in the repeated rows. The servers have been resized.
DIFFERENCES = {
    '`id`': ID,
    '`group_id`': ID,
    '`uuid`': UUID,
    '`instance_uuid`': UUID,
    '`project_id`': (
        f"IF(MOD(seq, {SHARE}), CONCAT('project-', MOD(seq, 100)), project_id)"
    ),
    '`task_state`': 'NULL',
    '`status`': "'confirmed'",
}

#: The few rows that say where the cells are. Whoever asks all cells reads all.
EXEMPT = 'cell_mappings'


class TestStatements(nova_base.PlacementTest):
    """What the filters and weighers send in a cloud with many servers.

    A team has a member that is resized, and one that is in no cell yet and
    asks for a host.
    """

    def setUp(self) -> None:
        super().setUp()
        self.small = self.compute.find_flavor('small').id
        (self.cloud_region,) = (
            region for region in layout.REGIONS if region.name == self.region
        )

    def test_members_are_found_by_indexes(self) -> None:
        groups = {
            policy: self.make_group(policy)
            for policy in ('anti-affinity', 'soft-anti-affinity')
        }
        wishes = {
            'a stack': self.stack(),
            **{policy: {'group': id_} for policy, id_ in groups.items()},
        }
        neighbours = self.make_group('soft-anti-affinity')
        # Two candidates remain for a strict group. Nova weighs no single one.
        boots = [
            (hint, host) for hint in wishes.values() for host in self.hosts[:2]
        ]
        boots.append(({'group': neighbours}, self.hosts[0]))
        servers = self.at_once(
            lambda boot: self.boot(self.small, *boot), boots
        )
        self.assertNotIn(None, self.hosts_of(servers).values())
        neighbour = servers.pop()
        with self.copies() as (api, cell):
            self.start_again(api, cell, servers[::2])
            self.resize(cell, [*servers[1::2], neighbour])
            fill(api, API_TABLES, neighbour)
            fill(cell, CELL_TABLES, neighbour)
            whole_reads = []
            for name, server in zip(wishes, servers[::2], strict=True):
                sent = self.statements(server)
                self.assertNotEqual([], sent, name)
                for database, statement in sent:
                    plan = mariadb.explain(database, statement)
                    if any(map(reads_whole_table, plan)):
                        whole_reads.append((name, statement, plan))
        self.assertEqual([], whole_reads)

    @contextlib.contextmanager
    def copies(self) -> Iterator[tuple[str, str]]:
        """Copy the databases of Nova, and write a configuration for them.

        :returns: the names of the copies of the API database and of the cell.
        """
        with (
            mariadb.scratch(f'nova_api_{self.region}') as api,
            mariadb.scratch(f'nova_{self.region}') as cell,
        ):
            mariadb.query(
                api,
                'UPDATE cell_mappings SET database_connection = %s',
                layout.database(cell),
            )
            configuration.write(
                'nova-database.conf',
                folder=self.region,
                name='scratch.conf',
                database=layout.database(cell),
                api_database=layout.database(api),
            )
            try:
                yield api, cell
            finally:
                (layout.ETC / self.region / 'scratch.conf').unlink()

    @staticmethod
    def start_again(api: str, cell: str, servers: list[str]) -> None:
        """Have servers wait for the scheduler, as if just asked for."""
        mariadb.query(
            api,
            'UPDATE instance_mappings SET cell_id = NULL'
            ' WHERE instance_uuid IN %s',
            servers,
        )
        mariadb.query(
            cell,
            'SET STATEMENT foreign_key_checks = 0 FOR'
            ' DELETE FROM instances WHERE uuid IN %s',
            servers,
        )

    @staticmethod
    def resize(cell: str, servers: list[str]) -> None:
        """Have servers be in the middle of a resize."""
        mariadb.query(
            cell,
            "UPDATE instances SET task_state = 'resize_prep' WHERE uuid IN %s",
            servers,
        )
        mariadb.query(
            cell,
            "UPDATE instance_actions SET action = 'resize'"
            ' WHERE instance_uuid IN %s',
            servers,
        )
        mariadb.query(
            cell,
            'INSERT INTO migrations (created_at, instance_uuid, uuid,'
            ' source_compute, status, migration_type, hidden, deleted)'
            " SELECT created_at, uuid, uuid, host, 'pre-migrating',"
            " 'resize', 0, 0 FROM instances WHERE uuid IN %s",
            servers,
        )

    def statements(self, server: str) -> list[tuple[str, str]]:
        """Return what a scheduler sends when it chooses a host for a server.

        :returns: the name of a database and a statement, in turn.
        """
        region = self.cloud_region
        database_file = f'{region.name}/scratch.conf'
        printed = subprocess.run(
            (
                *services.python(
                    'nova_statements.py', region.nova_environment
                ),
                server,
                *services.config_files(
                    services.nova_files(region)[0], database_file
                ),
            ),
            env=processes.environment(),
            cwd=layout.DATA,
            timeout=120,
            capture_output=True,
            text=True,
        )
        self.assertEqual(0, printed.returncode, printed.stderr)
        return json.loads(printed.stdout)


def reads_whole_table(step: dict) -> bool:
    """Return whether a step of a plan reads all rows of a stored table."""
    table = step['table']
    # Without a table, the step asks only an index or nothing at all. In angle
    # brackets is the result of another step.
    if table is None or table.startswith('<') or table == EXEMPT:
        return False
    return step['key'] is None or step['type'] in ('ALL', 'index')


def fill(database: str, tables: dict[str, str], server: str) -> None:
    """Repeat the rows of a server for many others.

    :param tables: as ``API_TABLES``.
    """
    with mariadb.login(database) as cursor:
        # A row may come before the one that it refers to.
        cursor.execute('SET foreign_key_checks = 0')
        for table, condition in tables.items():
            cursor.execute(f'SHOW COLUMNS FROM `{table}`')
            names = [f'`{row[0]}`' for row in cursor.fetchall()]
            values = [DIFFERENCES.get(name, name) for name in names]
            cursor.execute(
                f'INSERT INTO `{table}` ({", ".join(names)})'  # noqa: S608
                f' SELECT {", ".join(values)} FROM'
                f' (SELECT * FROM `{table}` WHERE {condition} LIMIT 1) AS one'
                f' JOIN seq_1_to_{MORE}',
                (server,),
            )
            cursor.execute(f'ANALYZE TABLE `{table}`')


class TestStatementsOfNewestNova(TestStatements):
    region = base.TWO

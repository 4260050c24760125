# SPDX-License-Identifier: Apache-2.0

"""What Nova and Heat log when MariaDB refuses to answer."""

import contextlib
import json
import sys
import time
import unittest

from testing import mariadb, subprocesses
from tests.cloud import layout

#: The fewest that MariaDB can be told to have.
CONNECTIONS = 10
PASSWORD = 's3cret'
#: The errors of MariaDB and of its driver when the server is gone.
GONE = '(2003|2006|2013)'
#: Beside the rows of the services, a function that asks for two locks.
STATEMENTS = (
    f"CREATE USER 'service' IDENTIFIED BY '{PASSWORD}'",
    "GRANT ALL ON services.* TO 'service'",
    'CREATE TABLE locks (id INT PRIMARY KEY, value INT)',
    'INSERT INTO locks SELECT seq, 0 FROM seq_1_to_100',
    """
    CREATE FUNCTION lock_rows() RETURNS INT MODIFIES SQL DATA
    BEGIN
        UPDATE locks SET value = 1 WHERE id = 1;
        UPDATE locks SET value = 1 WHERE id = 2;
        RETURN 1;
    END
    """,
    """
    CREATE VIEW instance_mappings AS SELECT
        1 AS id, 'uuid' AS instance_uuid, NULL AS cell_id,
        0 AS queued_for_delete,
        IF(lock_rows(), 'root', '') AS project_id
    """,
    """
    CREATE VIEW stack AS SELECT
        IF(lock_rows(), 'root', '') AS id, 'root' AS name,
        NULL AS owner_id, NULL AS parent_resource_name
    """,
)


class DatabaseErrors:
    """The lines of one service."""

    service = ''
    #: The words before an error, and those after it.
    before = ''
    after = ''
    #: The words of a line while the database answers; none if there is none.
    answered = ''

    def start(self, url: str) -> subprocesses.Server:
        program = subprocesses.Server(
            [sys.executable, '-W', 'ignore', '-m']
            + ['tests.cloud.database_program', self.service, url],
            cwd=layout.ROOT,
        )
        self.addCleanup(program.close)
        return program

    def assert_error(self, number: str, answer: str) -> None:
        """Fail unless the only line tells a number, and no password."""
        (line,) = json.loads(answer)
        self.assertRegex(
            line,
            rf'^WARNING .*{self.before}: \w+: error {number} of the '
            rf'database\. {self.after}',
        )
        self.assertNotIn(PASSWORD, line)

    def test_each_error_is_told_by_its_number(self) -> None:
        with mariadb.running(CONNECTIONS) as server:
            server.add_database('services')
            with server.connect(database='services') as connection:
                for statement in STATEMENTS:
                    connection.query(statement)
            program = self.start(server.url('services', 'service:wrong'))
            self.assert_error('1045', program.ask(''))
            program = self.start(server.url('services', f'service:{PASSWORD}'))
            with contextlib.ExitStack() as connections:
                for _ in range(CONNECTIONS):
                    connections.enter_context(
                        server.connect('service', password=PASSWORD)
                    )
                self.assert_error('1040', program.ask(''))
            lines = json.loads(program.ask(''))
            self.assertEqual(bool(self.answered), bool(lines))
            self.assertIn(self.answered, ' '.join(lines))
            self.assert_error('1213', self.ask_for_deadlock(server, program))
            server.kill()
            self.assert_error(GONE, program.ask(''))

    def ask_for_deadlock(
        self, server: mariadb.Server, program: subprocesses.Server
    ) -> str:
        """Ask while another transaction holds the second lock."""
        with server.connect() as connection, connection.cursor() as cursor:
            # MariaDB ends the transaction that has changed fewer rows.
            cursor.execute('UPDATE services.locks SET value = 2 WHERE id > 1')
            program.process.stdin.write(b'\n')
            waiting = 'SELECT 1 FROM information_schema.innodb_lock_waits'
            end = time.monotonic() + subprocesses.LIMIT
            while not server.query(waiting) and time.monotonic() < end:
                # InnoDB reads this table anew only if nobody has asked for
                # it for 0.1 seconds.
                time.sleep(0.3)
            cursor.execute('UPDATE services.locks SET value = 2 WHERE id = 1')
            return program.read_line()


class NovaTest(DatabaseErrors, unittest.TestCase):
    service = 'nova'
    before = 'the members cannot be read'
    after = 'Check the databases of Nova'
    # A table is missing that is read next.
    answered = 'error 1146 of the database'


class HeatTest(DatabaseErrors, unittest.TestCase):
    service = 'heat'
    before = 'could not be looked up in the database'
    after = 'Remove the cause'

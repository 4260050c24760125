# SPDX-License-Identifier: Apache-2.0

"""Print what the weighers ask: ``nova_statements.py GROUP OPTIONS``.

The options name the configuration of Nova. As JSON, the program prints a list
of the statements for each database.
"""

import collections
import datetime
import importlib
import json
import sys


def main() -> None:
    """Print the statements as JSON."""
    group = sys.argv.pop(1)
    # Nova's own program chooses between green threads and native threads.
    importlib.import_module('nova.cmd.scheduler')
    import sqlalchemy
    from nova import config, context
    from nova.db.main import api as main_db

    from nova_filters.members import rows

    config.parse_args(sys.argv)
    sent = collections.defaultdict(list)

    def note(connection, cursor, statement, parameters, *_args) -> None:
        """Note a statement, with its parameters in it."""
        # Beside them are the greetings of SQLAlchemy.
        if 'FROM' in statement:
            text = cursor.mogrify(statement, parameters)
            sent[connection.engine.url.database].append(text)

    sqlalchemy.event.listen(
        sqlalchemy.engine.Engine, 'before_cursor_execute', note
    )
    admin = context.get_admin_context()
    servers = ['server-1', 'server-2']
    rows.project_servers(admin, 'project')
    rows.group_members(admin, group)
    rows.request_changes(admin, servers)
    rows.request_texts(admin, servers, 'word')
    rows.servers(admin, servers)
    rows.loads(admin, datetime.datetime(2026, 11, 29))
    main_db.pick_context_manager_reader(rows._moves)(admin, servers)
    json.dump(sent, sys.stdout)


if __name__ == '__main__':
    main()

# SPDX-License-Identifier: Apache-2.0

"""Print the SQL that a scheduler sends: ``nova_statements.py SERVER OPTIONS``.

The program judges all hosts for a server twice, with the filters and weighers
of the ``nova.conf`` that the options name. The first time, it remembers
nothing. As JSON, it prints a list with the name of a database and a statement
in each entry.
"""

import importlib
import json
import sys


def main() -> None:
    """Print the statements as JSON."""
    server = sys.argv.pop(1)
    # Nova's own program chooses between green threads and native threads.
    importlib.import_module('nova.cmd.scheduler')
    import sqlalchemy
    from nova import config, context, objects
    from nova.scheduler import host_manager, utils

    config.parse_args(sys.argv)
    objects.register_all()
    # Otherwise the manager reads the servers of all hosts in the background.
    host_manager.CONF.set_override(
        'track_instance_changes', False, group='filter_scheduler'
    )
    manager = host_manager.HostManager()
    sent: list[tuple[str, str]] = []

    def note(connection, cursor, statement, parameters, *_args) -> None:
        """Note a statement, with its parameters in it."""
        text = cursor.mogrify(statement, parameters)
        sent.append((connection.engine.url.database, text))

    event = sqlalchemy.engine.Engine, 'before_cursor_execute', note
    for _ in range(2):
        admin = context.get_admin_context()
        request = objects.RequestSpec.get_by_instance_uuid(admin, server)
        utils.setup_instance_group(admin, request)
        hosts = list(manager.get_host_states_by_uuids(admin, None, request))
        sqlalchemy.event.listen(*event)
        candidates = list(manager.get_filtered_hosts(hosts, request))
        manager.get_weighed_hosts(candidates, request)
        sqlalchemy.event.remove(*event)
    json.dump(sent, sys.stdout)


if __name__ == '__main__':
    main()

# SPDX-License-Identifier: Apache-2.0

"""Read the members of stacks: ``nova_members.py API_URL PROJECTS OPTIONS``.

The options name the configuration of Nova; the URL is that of the API
database. PROJECTS is a JSON object with the servers of each project, which are
in one stack. Each server is asked for in a thread of its own. The program
prints how many seconds each answer took, until all but one are there.
"""

import importlib
import json
import os
import sys
import threading
import time

#: How many seconds the answers may take.
PATIENCE = 60


def main() -> None:
    """Print the seconds as JSON."""
    url, projects = sys.argv.pop(1), json.loads(sys.argv.pop(1))
    # Nova's own program chooses between green threads and native threads.
    importlib.import_module('nova.cmd.scheduler')
    from nova import config, objects
    from nova.db.api import api as api_db

    from nova_filters import conf
    from nova_filters.members import reader
    from os_placement_plugins import options

    config.parse_args(sys.argv)
    objects.register_all()
    options.register(config.CONF, conf.list_opts())
    config.CONF.set_override('connection', url, 'api_database')
    api_db.configure(config.CONF)
    config.CONF.set_override('signing_key', [], 'heat_hints')
    seconds = []

    def read(project: str, server: str) -> None:
        """Ask for the members of a server's stack."""
        start = time.monotonic()
        team = ('stack', f'stack-of-{project}', project)
        reader.shared().read_members(team, server)
        seconds.append(time.monotonic() - start)

    requests = [
        (project, server)
        for project, servers in projects.items()
        for server in servers
    ]
    for request in requests:
        threading.Thread(target=read, args=request, daemon=True).start()
    end = time.monotonic() + PATIENCE
    while len(seconds) < len(requests) - 1 and time.monotonic() < end:
        time.sleep(0.1)
    json.dump(seconds, sys.stdout)
    sys.stdout.flush()
    # One of the threads never ends.
    os._exit(0)


if __name__ == '__main__':
    main()

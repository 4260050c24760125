# SPDX-License-Identifier: Apache-2.0

"""Serve a WSGI application: ``wsgi.py MODULE:NAME ADDRESS PORT``.

``NAME`` is that of the application, or with ``()`` that of a function which
makes it.

The applications read the command line as if it were theirs, which rules out
the server's own program.
"""

import importlib
import sys

import waitress

#: How many connections an application may have, idle ones included.
CONNECTIONS = 1000


def main() -> None:
    """Make the application and serve it until the process is ended."""
    found, address, port = sys.argv[1:]
    del sys.argv[1:]
    module, _, name = found.partition(':')
    application = getattr(
        importlib.import_module(module), name.removesuffix('()')
    )
    if name.endswith('()'):
        application = application()
    waitress.serve(
        application,
        host=address,
        port=int(port),
        threads=8,
        # The clients of all services keep theirs: with waitress's hundred,
        # everybody waits until one of them has been idle for two minutes.
        connection_limit=CONNECTIONS,
        # select() does not know as many.
        asyncore_use_poll=True,
        # nova-scheduler connects to Placement before it forks its workers. As
        # long as this connection lives, they read each other's answers.
        channel_timeout=5,
        cleanup_interval=2,
    )


if __name__ == '__main__':
    main()

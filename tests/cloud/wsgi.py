# SPDX-License-Identifier: Apache-2.0

"""Serve a WSGI application: ``wsgi.py MODULE:NAME PORT``.

``NAME`` is that of the application, or of a function that makes it.

The applications read the command line as if it were theirs. And a connection
ends with its answer: nova-scheduler connects to Placement before it forks its
workers. If this connection lived on, they would read each other's answers.
"""

import importlib
import socketserver
import sys
from wsgiref import simple_server


class Server(socketserver.ThreadingMixIn, simple_server.WSGIServer):
    """A server that answers each request in a thread."""

    daemon_threads = True
    request_queue_size = 128


def main() -> None:
    """Make the application and serve it until the process is ended."""
    target, port = sys.argv[1:]
    del sys.argv[1:]
    module, _, name = target.partition(':')
    application = getattr(importlib.import_module(module), name)
    if name != 'application':
        application = application()
    with simple_server.make_server(
        '127.0.0.1', int(port), application, Server
    ) as server:
        server.serve_forever()


if __name__ == '__main__':
    main()

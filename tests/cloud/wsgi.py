# SPDX-License-Identifier: Apache-2.0

"""Serve a WSGI application: ``wsgi.py MODULE:NAME ADDRESS PORT``.

``NAME`` is that of the application, or with ``()`` that of a function which
makes it.

The applications read the command line as if it were theirs, which rules out
the server's own program.
"""

import importlib
import sys

import waitress.channel
import waitress.server
import waitress.task


class Task(waitress.task.WSGITask):
    """An answer that is the last one of its connection.

    nova-scheduler connects to Placement before it forks its workers. As long
    as this connection lives, they read each other's answers.
    """

    def build_response_header(self) -> bytes:
        """Return the head of the answer."""
        self.request.headers['CONNECTION'] = 'close'
        return super().build_response_header()


class Channel(waitress.channel.HTTPChannel):
    """A connection."""

    task_class = Task


def main() -> None:
    """Make the application and serve it until the process is ended."""
    target, address, port = sys.argv[1:]
    del sys.argv[1:]
    module, _, name = target.partition(':')
    application = getattr(
        importlib.import_module(module), name.removesuffix('()')
    )
    if name.endswith('()'):
        application = application()
    server = waitress.server.create_server(
        application, host=address, port=int(port), threads=8
    )
    server.channel_class = Channel
    server.run()


if __name__ == '__main__':
    main()

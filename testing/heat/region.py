# SPDX-License-Identifier: Apache-2.0

"""The Heat of one region, in a process of its own: heat-engine and heat-api.

``python -m testing.heat.region CLOUD REGION FOLDER`` prints where its API
answers, writes its log into a folder, and ends with its standard input.
"""

import os
import pathlib
import select
import socketserver
import sys
import threading
from collections.abc import Callable
from typing import Any
from wsgiref import simple_server

from testing.heat import engine, loopback  # isort: skip

from heat.api.middleware import fault
from heat.api.openstack import v1
from heat.common import context


class _Server(socketserver.ThreadingMixIn, simple_server.WSGIServer):
    daemon_threads = True

    def serve(self) -> None:
        """Answer requests for ever.

        ``serve_forever`` would wait in a way that stops every green thread of
        Heat 22, and the engine with them.
        """
        while True:
            self.process_request(*self.get_request())


class _Handler(simple_server.WSGIRequestHandler):
    def log_message(self, *args: Any) -> None:
        """Keep standard error for the engine."""


def api(cloud: str) -> Callable[..., Any]:
    """Return Heat's API, with what Keystone's middleware would tell it.

    :param cloud: the URL of the loopback cloud, whose tokens are projects.
    """
    inner = fault.FaultWrapper(context.ContextMiddleware(v1.API({}), {}))

    def application(environ: dict[str, Any], start: Any) -> Any:
        project = environ.get('HTTP_X_AUTH_TOKEN', '')
        environ |= {
            'HTTP_X_IDENTITY_STATUS': 'Confirmed',
            'HTTP_X_PROJECT_ID': project,
            'HTTP_X_PROJECT_NAME': project,
            'HTTP_X_PROJECT_DOMAIN_ID': 'default',
            'HTTP_X_USER_ID': 'demo-user',
            'HTTP_X_USER_NAME': 'demo',
            'HTTP_X_USER_DOMAIN_ID': 'default',
            'HTTP_X_ROLES': 'member,reader',
            'HTTP_X_AUTH_USER': 'demo',
            'HTTP_X_AUTH_KEY': 'demo',
            'HTTP_X_AUTH_URL': f'{cloud}/identity/v3',
        }
        return inner(environ, start)

    return application


def main() -> None:
    """Serve until standard input ends."""
    cloud, region, folder = sys.argv[1:]
    answer, sys.stdout = sys.stdout, sys.stderr
    # The database lives as long as the engine.
    heat = engine.Engine(
        cloud,
        {'DEFAULT': {'region_name_for_services': region}},
        log=pathlib.Path(folder, f'{region}.log'),
    )
    server = simple_server.make_server(
        loopback.HOST, 0, api(cloud), _Server, _Handler
    )
    threading.Thread(target=server.serve, daemon=True).start()
    print(f'http://{loopback.HOST}:{server.server_port}', file=answer)
    answer.flush()
    # Under Heat 22, only this wait lets green threads answer requests.
    select.select([sys.stdin], [], [])
    sys.stdin.read()
    del heat
    # The engine's threads would keep the process.
    os._exit(0)


if __name__ == '__main__':
    main()

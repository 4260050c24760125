# SPDX-License-Identifier: Apache-2.0

"""The real ``openstack`` shell before a running Senlin.

The commands speak HTTP to Senlin's real REST application; only the logins and
Keystone's list of regions are a stub.
"""

import contextlib
import functools
import io
import json
import os
import pathlib
import signal
import sys
import tempfile
import types
from urllib import parse

import eventlet
import eventlet.wsgi
import openstack.config
import openstack.connection
from eventlet.green import subprocess
from keystoneauth1 import fixture
from osc_lib import exceptions

from os_placement_plugins.commands import lister
from testing.senlin import engine
from tests.functional.senlin_plugins import base

CLOUDS = """
clouds:
  stub:
    auth_type: v3password
    auth:
      auth_url: "{url}/identity/v3"
      username: stub
      password: stub
      project_name: stub
      user_domain_id: default
      project_domain_id: default
    clustering_endpoint_override: "{url}/clustering/v1"
    identity_endpoint_override: "{url}/identity/v3"
"""


class Gateway:
    """A stub of what stands before Senlin: Keystone, and the login.

    :param senlin: the running engine; requests go through its REST
        application.
    """

    def __init__(self, senlin):
        self._senlin = senlin
        #: Method and path of every request.
        self.requests = []
        #: What Keystone answers.
        self.identity_status = 200

    def __call__(self, environ, start_response):
        """Answer one request."""
        path = environ['PATH_INFO']
        self.requests.append((environ['REQUEST_METHOD'], path))
        status, answer = self._answer(environ, path)
        body = json.dumps(answer).encode()
        headers = [
            ('Content-Type', 'application/json'),
            ('Content-Length', str(len(body))),
            ('X-Subject-Token', 'stub'),
        ]
        if 'started' in answer:
            headers.append(('Location', f'/v1/actions/{answer["started"]}'))
        start_response(f'{status} Answer', headers)
        return [body]

    def _token(self):
        """Return a token with the catalog of the cloud."""
        token = fixture.V3Token(expires='2199-01-01T00:00:00.000000Z')
        for service in self._senlin.cloud.services:
            listed = token.add_service(service, service)
            for region in self._senlin.cloud.regions.values():
                if service in region.catalog:
                    url = f'http://{service}.example'
                    listed.add_endpoint('public', url, region=region.name)
        return token

    def _answer(self, environ, path):
        if path == '/identity/v3/regions':
            known = sorted(self._senlin.cloud.known)
            return self.identity_status, {
                'regions': [{'id': name} for name in known],
                'links': {},
            }
        if path == '/identity/v3/auth/tokens':
            return 201, self._token()
        if path == '/identity/v3':
            url = f'http://{environ["HTTP_HOST"]}{path}/'
            return 200, {'version': fixture.V3Discovery(url)}
        if not path.startswith('/clustering/v1'):
            return 404, {'error': {'message': path}}
        path = parse.quote(path.removeprefix('/clustering/v1') or '/')
        if environ.get('QUERY_STRING'):
            path += f'?{environ["QUERY_STRING"]}'
        method = environ['REQUEST_METHOD']
        body = environ['wsgi.input'].read()
        try:
            return 200, self._senlin.call(
                method, path, json.loads(body or 'null')
            )
        except engine.ApiError as ex:
            return ex.code, {'error': {'message': str(ex)}}


class ShellTestCase(base.TestCase):
    """Clusters of the engine in this process, and a shell beside it."""

    def setUp(self):
        super().setUp()
        self.gateway = Gateway(self.senlin)
        listener = eventlet.listen(('127.0.0.1', 0))
        url = 'http://{}:{}'.format(*listener.getsockname())
        server = eventlet.spawn(
            eventlet.wsgi.server, listener, self.gateway, log_output=False
        )
        self.addCleanup(server.kill)
        folder = tempfile.TemporaryDirectory(prefix='opp-shell-')
        self.addCleanup(folder.cleanup)
        self.clouds = pathlib.Path(folder.name) / 'clouds.yaml'
        self.clouds.write_text(CLOUDS.format(url=url))

    def run_command(self, kind, *arguments):
        """Run a command in this process, which is quick; return its rows.

        :param arguments: the words after those of the command.
        """
        config = openstack.config.OpenStackConfig([str(self.clouds)])
        connection = openstack.connection.Connection(
            config=config.get_one('stub')
        )
        app = types.SimpleNamespace(
            client_manager=types.SimpleNamespace(sdk_connection=connection),
            options=types.SimpleNamespace(verbose_level=1, debug=False),
            # The cloud of this test needs no login.
            prepare_to_run_command=lambda command: None,
        )
        command = kind(app, None)
        said = io.StringIO()
        command.log = types.SimpleNamespace(
            warning=lambda text, *words: print(text % words, file=said)
        )
        parsed_args = command.get_parser('command').parse_args(arguments)
        try:
            with (
                contextlib.redirect_stderr(said),
                lister.telling_in_one_line(*command.INPUT_ERRORS),
            ):
                columns, rows = command.take_action(parsed_args)
        finally:
            #: What the command said beside the table.
            self.said = said.getvalue().strip()
        return [
            {
                column: getattr(cell, '_value', cell)
                for column, cell in zip(columns, row, strict=True)
            }
            for row in rows
        ]

    def assert_command_fails(self, words, kind, *arguments):
        """Check that a command fails with one line.

        :param words: what stands in that line.
        """
        with self.assertRaises(exceptions.CommandError) as caught:
            self.run_command(kind, *arguments)
        (line,) = str(caught.exception).splitlines()
        for word in words:
            self.assertIn(word, line)

    def start_shell(self, *arguments, stdin=subprocess.DEVNULL):
        """Start the shell in a process of its own, as a user does.

        :param arguments: the words after ``openstack cluster region``.
        :param stdin: what it reads; nothing by default.
        """
        return subprocess.Popen(
            [sys.executable, '-W', 'ignore', '-m', 'openstackclient.shell']
            + ['--os-cloud', 'stub', 'cluster', 'region', *arguments],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.clouds.parent,
            env={'PATH': os.environ['PATH'], 'HOME': str(self.clouds.parent)},
            # Who runs the tests in the background lets them ignore it.
            preexec_fn=functools.partial(
                signal.signal, signal.SIGINT, signal.SIG_DFL
            ),
        )

    def run_shell(self, *arguments):
        """Run the shell; return its exit code and what it printed."""
        process = self.start_shell(*arguments)
        output, error = process.communicate()
        return process.returncode, output, error

    def shell(self, *arguments):
        """Run the shell, which must succeed, and return the rows."""
        status, output, self.said = self.run_shell(*arguments, '-f', 'json')
        self.assertEqual(0, status, self.said)
        return json.loads(output)

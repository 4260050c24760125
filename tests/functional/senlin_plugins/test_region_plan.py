# SPDX-License-Identifier: Apache-2.0

"""``openstack cluster region plan`` on a running Senlin, and beside it.

The command speaks HTTP to Senlin's real REST application, once from the shell
in a process of its own; only the logins and Keystone's list of regions are a
stub.
"""

import json
import os
import pathlib
import sys
import tempfile
import types
from urllib import parse

import ddt
import eventlet
import eventlet.wsgi
import openstack.config
import openstack.connection
from eventlet.green import subprocess
from osc_lib import exceptions
from senlin.common import context
from senlin.common import exception as exc
from senlin.policies import base as policy_base

from os_placement_plugins.commands import lister
from senlin_plugins.commands import region_plan
from senlin_plugins.planning import region_spec
from testing.senlin import engine
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, THREE, TWO

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
        start_response(
            f'{status} Answer',
            [
                ('Content-Type', 'application/json'),
                ('Content-Length', str(len(body))),
                ('X-Subject-Token', 'stub'),
            ],
        )
        return [body]

    def _token(self):
        """Return a token with the catalog of the cloud."""
        return {
            'methods': ['password'],
            'user': {
                'id': 'stub',
                'name': 'stub',
                'domain': {'id': 'default', 'name': 'Default'},
            },
            'expires_at': '2199-01-01T00:00:00.000000Z',
            'issued_at': '2026-01-01T00:00:00.000000Z',
            'catalog': [
                {
                    'type': service,
                    'name': service,
                    'endpoints': [
                        {
                            'interface': 'public',
                            'region': region.name,
                            'region_id': region.name,
                            'url': f'http://{service}.example',
                        }
                        for region in self._senlin.cloud.regions.values()
                        if service in region.catalog
                    ],
                }
                for service in self._senlin.cloud.services
            ],
        }

    def _answer(self, environ, path):
        if path == '/identity/v3/regions':
            known = sorted(self._senlin.cloud.known)
            return self.identity_status, {
                'regions': [{'id': name} for name in known],
                'links': {},
            }
        if path == '/identity/v3/auth/tokens':
            return 201, {'token': self._token()}
        if path == '/identity/v3':
            return 200, {
                'version': {
                    'id': 'v3.14',
                    'status': 'stable',
                    'links': [
                        {
                            'rel': 'self',
                            'href': f'http://{environ["HTTP_HOST"]}{path}/',
                        }
                    ],
                }
            }
        if not path.startswith('/clustering/v1'):
            return 404, {'error': {'message': path}}
        path = parse.quote(path.removeprefix('/clustering/v1') or '/')
        if environ.get('QUERY_STRING'):
            path += f'?{environ["QUERY_STRING"]}'
        try:
            return 200, self._senlin.call(environ['REQUEST_METHOD'], path)
        except engine.ApiError as ex:
            return ex.code, {'error': {'message': str(ex)}}


class LivePlanTest(base.TestCase):
    """Plans for clusters of the engine in this process."""

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

    def shell(self, *arguments):
        """Run the shell, which must succeed, and return what it printed."""
        process = subprocess.run(
            [sys.executable, '-W', 'ignore', '-m', 'openstackclient.shell']
            + ['--os-cloud', 'stub', 'cluster', 'region', 'plan']
            + ['-f', 'json', *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.clouds.parent,
            env={'PATH': os.environ['PATH'], 'HOME': str(self.clouds.parent)},
        )
        self.assertEqual(0, process.returncode, process.stderr)
        return json.loads(process.stdout)

    def plan(self, *arguments):
        """Return what changes in each region, and what was said beside it."""
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
        command = region_plan.PlanClusterRegion(app, None)
        said = []
        command.log = types.SimpleNamespace(
            warning=lambda text, *words: said.append(text % words)
        )
        parser = command.get_parser('plan')
        with lister.telling_in_one_line(*command.INPUT_ERRORS):
            columns, rows = command.take_action(parser.parse_args(arguments))
        self.rows = {
            row[0]: dict(zip(columns, row, strict=True)) for row in rows
        }
        changes = {name: row['Change'] for name, row in self.rows.items()}
        return {name: n for name, n in changes.items() if n}, '\n'.join(said)

    def assert_one_line(self, words, *arguments):
        """Check that the command fails with one clear line."""
        with self.assertRaises(exceptions.CommandError) as caught:
            self.plan(*arguments, '--count', '+2')
        self.assertEqual(1, len(str(caught.exception).splitlines()))
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_the_plan_is_what_the_policy_then_does(self):
        cluster = self.spread((ONE, 300), (TWO, 100, 1), (THREE,))
        rows = self.shell('--cluster', cluster, '--count', '+7')
        data = self.act(cluster, 'scale_out', count=7)
        self.assertEqual(
            data['creation']['regions'],
            {row['Region']: row['Change'] for row in rows if row['Change']},
        )
        planned, said = self.plan('--cluster', cluster, '--count', '-4')
        self.assertEqual('', said)
        data = self.act(cluster, 'scale_in', count=4)
        self.assertEqual(
            data['deletion']['regions'],
            {region: -n for region, n in planned.items()},
        )
        # Nothing but reading, after the logins.
        requests = set(self.gateway.requests)
        requests.discard(('POST', '/identity/v3/auth/tokens'))
        self.assertEqual({'GET'}, {method for method, _ in requests})

    def test_a_policy_without_a_cluster(self):
        policy = self.region_policy((ONE, 100, 1), (TWO, 100), (THREE, 100))
        planned, said = self.plan(
            *('--policy', policy, '--current', f'{TWO}=1'),
            *('--scale-out', '5'),
        )
        self.assertEqual({ONE: 1, TWO: 1, THREE: 3}, planned)
        self.assertEqual('', said)

    def test_a_region_that_keystone_does_not_know_is_left_out(self):
        cluster = self.spread((ONE,), (TWO,))
        self.cloud.known.discard(TWO)
        planned, said = self.plan('--cluster', cluster, '--count', '+2')
        self.assertEqual({ONE: 2}, planned)
        self.assertIn(f'Keystone does not know {TWO}', said)
        self.assertEqual('out of reach: left as it is', self.rows[TWO]['Why'])

    def test_a_region_without_what_the_profile_needs_is_left_out(self):
        profile = self.senlin.profile(
            flavor='small', image='cirros', networks=[]
        )
        policy = self.region_policy((ONE,), (TWO,))
        cluster = self.cluster(policy, profile=profile)
        self.act(cluster, 'scale_out', count=2)
        self.cloud.regions[TWO].catalog.discard('image')
        for count in (2, -2):
            name = 'scale_out' if count > 0 else 'scale_in'
            field = 'creation' if count > 0 else 'deletion'
            planned, said = self.plan(
                '--cluster', cluster, f'--count={count:+}'
            )
            data = self.act(cluster, name, count=abs(count))
            self.assertEqual(
                data[field]['regions'],
                {region: abs(n) for region, n in planned.items()},
            )
            left_out = f'leaves {TWO} out, because the catalog has no image'
            self.assertEqual(count > 0, left_out in said)

    def test_a_profile_that_is_tied_to_a_region(self):
        profile = self.senlin.profile(
            flavor='small',
            networks=[],
            context={'region_name': TWO},
            block_device_mapping_v2=[
                {
                    'source_type': 'snapshot',
                    'destination_type': 'volume',
                    'uuid': 's',
                    'volume_size': 1,
                }
            ],
        )
        policy = self.region_policy((ONE,), (TWO,))
        cluster = self.cluster(policy, profile=profile)
        planned, said = self.plan('--cluster', cluster, '--count', '+2')
        data = self.act(cluster, 'scale_out', count=2)
        self.assertEqual(data['creation']['regions'], planned)
        self.assertIn(f'leaves {ONE} out, because the profile names', said)

    def test_a_plan_without_effect_is_told(self):
        in_tree = self.senlin.policy(
            'senlin.policy.region_placement', {'regions': [{'name': TWO}]}
        )
        cluster = self.cluster(
            in_tree, profile=self.senlin.profile('os.nova.server')
        )
        planned, said = self.plan('--cluster', cluster, '--count', '+2')
        self.assertEqual({TWO: 2}, planned)
        self.assertIn("The policy is Senlin's own", said)
        self.assertIn("type 'os.nova.server' are not from this", said)
        # With both policies attached the effective one counts.
        cluster = self.spread((ONE,))
        self.assert_done(self.senlin.attach(cluster, in_tree))
        planned, said = self.plan('--cluster', cluster, '--count', '+2')
        self.assertEqual(({ONE: 2}, ''), (planned, said))

    def test_regions_that_cannot_be_listed_count_as_usable(self):
        cluster = self.spread((ONE,), (TWO,))
        self.gateway.identity_status = 403
        planned, said = self.plan('--cluster', cluster, '--count', '+2')
        self.assertEqual({ONE: 1, TWO: 1}, planned)
        self.assertIn('could not be read', said)

    def test_nodes_without_a_region_need_the_default_region(self):
        # Created by the in-tree profile, before there was a policy.
        profile = self.senlin.profile('os.nova.server')
        cluster = self.cluster(profile=profile, size=2)
        policy = self.region_policy((ONE,), (TWO,))
        arguments = ('--cluster', cluster, '--policy', policy)
        self.assert_one_line(('2 node(s)', '--default-region'), *arguments)
        planned, _ = self.plan(
            *arguments, '--count', '+2', '--default-region', ONE
        )
        self.assertEqual({TWO: 2}, planned)

    def test_what_is_not_there_is_one_line(self):
        cluster = self.cluster()
        disabled = self.region_policy((ONE,))
        self.assert_done(self.senlin.attach(cluster, disabled))
        self.act(cluster, 'policy_update', policy_id=disabled, enabled=False)
        deletion = self.senlin.policy(base.DELETION_POLICY, {}, '1.1')
        self.assert_one_line(['nothing'], '--cluster', 'nothing')
        self.assert_one_line(['nothing'], '--policy', 'nothing')
        self.assert_one_line(
            ['has no region placement policy'], '--cluster', cluster
        )
        self.assert_one_line(
            ["'type'", region_spec.TYPES[0]], '--policy', deletion
        )


def spec_of(*regions, **others):
    """Return the spec of a policy."""
    return {
        'type': base.REGION_POLICY,
        'version': '1.0',
        'properties': {'regions': list(regions)},
        **others,
    }


@ddt.ddt
class SpecRulesTest(base.TestCase):
    """The file reader and the real policy say the same of a spec."""

    @ddt.data(
        spec_of({'name': ONE}),
        spec_of({'name': ONE, 'weight': 0, 'cap': 0}, {'name': TWO}),
        spec_of({'name': ONE, 'weight': '3', 'cap': '-1'}),
        spec_of({'name': 1}),
        spec_of({'name': ONE}, version=1.0),
        spec_of({'name': ONE}, description='text'),
        spec_of({'name': ONE}, description=None),
        spec_of({'name': ONE}, other=1),
        spec_of({'name': ONE}, version='1.1'),
        spec_of(),
        spec_of(ONE),
        spec_of({}),
        spec_of({'name': ''}),
        spec_of({'name': None}),
        spec_of({'name': ONE}, {'name': ONE}),
        spec_of({'name': ONE, 'wieght': 1}),
        spec_of({'name': ONE, 'weight': -1}),
        spec_of({'name': ONE, 'weight': None}),
        spec_of({'name': ONE, 'weight': 1.5}),
        spec_of({'name': ONE, 'weight': True}),
        spec_of({'name': ONE, 'weight': 'x'}),
        spec_of({'name': ONE, 'weight': []}),
        spec_of({'name': ONE, 'cap': -2}),
        spec_of(properties={}),
        spec_of(properties=None),
        spec_of(properties={'regions': None}),
        spec_of(properties={'regions': {'name': ONE}}),
        spec_of(properties={'regions': 'abc'}),
        spec_of(properties={'regions': [{'name': ONE}], 'zones': []}),
    )
    def test_a_spec_is_accepted_by_both_or_by_neither(self, spec):
        accepted = True
        try:
            policy = policy_base.Policy('policy', spec)
            policy.validate(context.RequestContext())
        except (exc.SenlinException, TypeError):
            accepted = False
        try:
            regions = region_spec.read(spec)
        except region_spec.SpecError as ex:
            self.assertFalse(accepted, ex)
        else:
            self.assertTrue(accepted, regions)
            self.assertEqual(policy.spec_regions, list(regions))

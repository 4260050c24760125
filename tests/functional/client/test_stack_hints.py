# SPDX-License-Identifier: Apache-2.0

"""``openstack stack hints show`` in the shell, from files and a stub cloud.

The hints are made and signed by the code that runs in heat-engine.
"""

import contextlib
import json
import pathlib
import re

import ddt
import requests_mock

from heat_hints import hints, signature
from tests.functional.client import base, rest_stub
from tests.functional.client import test_documentation as documentation

COMMAND = ('stack', 'hints', 'show')
KEY = 'an example key of 32 characters.'
OLD_KEY = 'an older key of 32 characters...'
PROJECT = 'p1'
URL = 'http://cloud.test'

CLOUDS = f"""
clouds:
  stub:
    auth_type: admin_token
    auth: {{token: stub, endpoint: "{URL}/compute/v2.1"}}
    compute_endpoint_override: {URL}/compute/v2.1
    orchestration_endpoint_override: {URL}/heat/v1
"""


def heat_server(name, *groups, key=KEY, path_format=hints.PATH_LIST):
    """Return a server with the hints that Heat sends, as Nova shows it.

    :param name: the resource's name.
    :param groups: the resources down to its stack.
    :param key: what the hints are signed with; None for nothing.
    :param path_format: how the path is written.
    """
    path = [hints.PathStep(None, 'shop')]
    path += [hints.PathStep(group, f'shop-{group}') for group in groups]
    resource = hints.Resource(
        type='OS::Nova::Server',
        name=name,
        uuid=f'resource-{name}',
        project_id=PROJECT,
        stack_id=f'id-{path[-1].stack}',
        stack_name=path[-1].stack,
    )
    sent = hints.own_hints(
        resource,
        hints.Lineage('id-shop', tuple(path)),
        names=hints.NAMES,
        path_format=path_format,
    )
    if key:
        sent[hints.SIGNATURE] = signature.sign(key, PROJECT, sent)
    return {
        'id': f'id-{name}',
        'name': f'shop-{name}',
        'tenant_id': PROJECT,
        # As Nova hands them out: a list of one is that one.
        'scheduler_hints': {
            hint: value[0] if len(value) == 1 else value
            for hint, value in sent.items()
        },
    }


def servers():
    """Return the servers of a stack, and one that pretends to be there."""
    forged = heat_server('forged', key=None)
    forged['scheduler_hints'][hints.SIGNATURE] = '0' * 64
    return [
        heat_server('db', path_format=hints.PATH_JSON),
        heat_server('web', 'group', '0', key=OLD_KEY),
        heat_server('unsigned', key=None),
        forged,
        {
            'id': 'id-plain',
            'name': 'plain',
            'tenant_id': PROJECT,
            'scheduler_hints': None,
        },
    ]


class StackHintsTestCase(base.CommandTestCase):
    """A folder with keys and servers."""

    def write(self, name, text):
        """Write a file and return its path."""
        path = pathlib.Path(self.folder) / name
        path.write_text(text)
        return str(path)

    def verdicts(self, rows):
        """Return the signature of each server."""
        return {row['Server']: row['Signature'] for row in rows}


@ddt.ddt
class OfflineTest(StackHintsTestCase):
    def setUp(self):
        super().setUp()
        self.servers = self.write(
            'servers.json', json.dumps({'servers': servers()})
        )

    def show(self, *arguments):
        """Return the rows for the file's servers."""
        return self.data(*COMMAND, '--servers', self.servers, *arguments)

    def test_both_formats_of_the_path_are_decoded(self):
        rows = {row['Server']: row for row in self.show('--long')}
        self.assertEqual(
            {
                'Server': 'shop-web',
                'Stack': 'shop-0',
                'Path': [
                    {'resource': None, 'stack': 'shop'},
                    {'resource': 'group', 'stack': 'shop-group'},
                    {'resource': '0', 'stack': 'shop-0'},
                ],
                'Resource': 'web',
                'Signature': 'not checked',
                'Server ID': 'id-web',
                'Stack ID': 'id-shop-0',
                'Root Stack ID': 'id-shop',
                'Resource ID': 'resource-web',
            },
            rows['shop-web'],
        )
        self.assertEqual(
            [{'resource': None, 'stack': 'shop'}], rows['shop-db']['Path']
        )
        self.assertIsNone(rows['plain']['Stack'])

    @ddt.unpack
    @ddt.data(
        ('--key-file', 'keys', f'{KEY}\n{OLD_KEY}\n', 'valid'),
        ('--key-file', 'keys', f'{KEY},{OLD_KEY}', 'valid'),
        ('--key-file', 'keys', f'{KEY}\n', 'invalid'),
        (
            '--config-file',
            'nova.conf',
            f'[heat_hints]\nsigning_key = {KEY}, {OLD_KEY}\n',
            'valid',
        ),
        (
            '--config-file',
            'heat.conf',
            f'[heat_hints]\nenabled = true\nsigning_key = {KEY}\n',
            'invalid',
        ),
    )
    def test_signatures_are_checked_with_the_keys_of_a_file(
        self, option, name, text, old
    ):
        rows = self.show(option, self.write(name, text))
        self.assertEqual(
            {
                'shop-db': 'valid',
                'shop-web': old,
                'shop-unsigned': 'unsigned',
                'shop-forged': 'invalid',
                'plain': 'unsigned',
            },
            self.verdicts(rows),
        )

    @ddt.unpack
    @ddt.data(
        ('shop', {'shop-db', 'shop-web', 'shop-unsigned', 'shop-forged'}),
        ('id-shop-0', {'shop-web'}),
        ('nothing', set()),
    )
    def test_a_stack_chooses_its_servers(self, stack, names):
        self.assertEqual(names, set(self.verdicts(self.show(stack))))

    def test_the_table_is_for_people(self):
        result = self.openstack_process(*COMMAND, '--servers', self.servers)
        self.assertEqual((0, ''), (result.status, result.error))
        self.assertIn(
            '| shop-web      | shop-0 | shop / group: shop-group / 0: shop-0 '
            '| web ',
            result.output,
        )
        self.assertNotIn('None', result.output)

    def test_a_short_key_is_told_by_its_number_only(self):
        path = self.write('keys', f'short-secret\n{KEY}\n')
        result = self.openstack(
            *COMMAND, '--servers', self.servers, '--key-file', path
        )
        self.assertEqual(0, result.status, result.error)
        self.assertIn('number 1', result.error)
        self.assertNotIn('secret', result.error + result.output)

    @ddt.unpack
    @ddt.data(
        ('--key-file', 'short-secret\n', ('32 characters',)),
        ('--key-file', '\n', ('32 characters',)),
        ('--config-file', '[heat_hints]\n', ('32 characters',)),
        (
            '--config-file',
            '[heat_hints]\nsigning_key = $secret-of-32-characters-or-more\n',
            ('"$"',),
        ),
        ('--config-file', '[heat_hints\nsecret', ('ConfigFileParseError',)),
    )
    def test_a_file_without_a_usable_key_is_one_line(
        self, option, text, words
    ):
        path = self.write('keys', text)
        result = self.openstack(
            *COMMAND, '--servers', self.servers, option, path
        )
        self.assert_one_line(result, path, *words)
        self.assertNotIn('secret', result.error)

    @ddt.unpack
    @ddt.data(
        ((), ('Which stack?',)),
        (('--servers', '/nowhere/file'), ('/nowhere/file',)),
        (('shop', '--key-file', '/nowhere/file'), ('/nowhere/file',)),
        (('shop', '--config-file', '/nowhere/file'), ('/nowhere/file',)),
        (('shop',), ('auth',)),
    )
    def test_a_wrong_call_is_one_line(self, arguments, words):
        self.assert_one_line(self.openstack(*COMMAND, *arguments), *words)

    def test_a_keystone_that_does_not_answer_is_one_line(self):
        login = rest_stub.LOGIN | {'OS_AUTH_URL': 'http://127.0.0.1:9/v3'}
        result = self.openstack(*COMMAND, 'shop', **login)
        self.assert_one_line(result, '127.0.0.1:9')

    @ddt.unpack
    @ddt.data(
        ('{', ('servers.json',)),
        ('[1]', ('servers.json',)),
        ('[{"name": "web", "id": "i"}]', ('API version 2.100',)),
    )
    def test_a_wrong_file_is_one_line(self, text, words):
        path = self.write('servers.json', text)
        result = self.openstack(*COMMAND, '--servers', path)
        self.assert_one_line(result, *words)


class DocumentationTest(base.CommandTestCase):
    def test_the_example_file_holds_what_heat_sends(self):
        path = documentation.FILES / 'stack-servers.json'
        self.assertEqual({'servers': servers()}, json.loads(path.read_text()))

    def test_the_page_names_every_option(self):
        page = documentation.PAGE.read_text()
        for command in (COMMAND, ('cluster', 'region', 'plan')):
            usage = self.openstack(*command, '--help')
            self.assertEqual(0, usage.status, usage)
            # After the usage, before what the formatters understand.
            own = usage.output.partition('\noptions:')[2]
            own = own.partition('\noutput formatters')[0]
            options = set(re.findall(r'--[a-z][a-z-]+', own)) - {'--help'}
            self.assertGreater(len(options), 3)
            self.assertEqual(set(), {o for o in options if o not in page})


class LiveTest(StackHintsTestCase):
    """Nova and Heat are a stub: four paths that can be read."""

    def setUp(self):
        super().setUp()
        self.cloud = {
            'OS_CLIENT_CONFIG_FILE': self.write('clouds.yaml', CLOUDS),
            'OS_CLOUD': 'stub',
        }
        self.servers = {server['id']: server for server in servers()}
        resources = [
            {'resource_type': 'OS::Nova::Server', 'physical_resource_id': key}
            for key in self.servers
        ]
        resources += [
            {
                'resource_type': 'OS::Neutron::Port',
                'physical_resource_id': 'p',
            },
            # Not created yet.
            {'resource_type': 'OS::Nova::Server', 'physical_resource_id': ''},
        ]
        mocker = requests_mock.Mocker()
        mocker.start()
        self.addCleanup(mocker.stop)
        self.mocker = mocker
        mocker.get(re.compile(f'{URL}/heat/'), status_code=404, json={})
        mocker.get(
            f'{URL}/heat/v1', json=self.version('/heat/v1', 'v1.0', '1.0')
        )
        mocker.get(
            f'{URL}/heat/v1/stacks/shop',
            json={'stack': {'id': 'id-shop', 'stack_name': 'shop'}},
        )
        mocker.get(
            f'{URL}/heat/v1/stacks/shop/id-shop/resources',
            json={'resources': resources},
        )
        mocker.get(
            f'{URL}/compute/v2.1',
            json=self.version('/compute/v2.1', 'v2.1', '2.100'),
        )
        mocker.get(
            re.compile(f'{URL}/compute/v2.1/servers/'), json=self.server
        )

    @staticmethod
    def version(path, name, maximum):
        """Return the version document of an API."""
        return {
            'version': {
                'id': name,
                'status': 'CURRENT',
                'version': maximum,
                'min_version': '2.1',
                'links': [{'rel': 'self', 'href': URL + path}],
            }
        }

    def server(self, request, context):
        """Answer with one server, as Nova does."""
        found = self.servers.get(request.path.rpartition('/')[2])
        if found is None:
            context.status_code = 404
            return {'itemNotFound': {'message': 'gone', 'code': 404}}
        version = request.headers.get('OpenStack-API-Version')
        if version != 'compute 2.100':
            found = dict(found)
            del found['scheduler_hints']
        return {'server': found}

    def test_heat_says_which_servers_and_nova_what_they_say(self):
        keys = self.write('keys', f'{KEY}\n{OLD_KEY}\n')
        rows = self.data(*COMMAND, 'shop', '--key-file', keys, **self.cloud)
        self.assertEqual(
            {
                'shop-db': 'valid',
                'shop-web': 'valid',
                'shop-unsigned': 'unsigned',
                'shop-forged': 'invalid',
                'plain': 'unsigned',
            },
            self.verdicts(rows),
        )
        asked = [
            request.qs
            for request in self.mocker.request_history
            if request.path.endswith('/resources')
        ]
        # Nested stacks, too.
        self.assertEqual([{'nested_depth': ['100']}], asked)

    def test_the_example_of_the_page_that_asks_a_cloud(self):
        (words,) = re.findall(
            r'\$ openstack (stack hints show shop --config-file .*)',
            documentation.PAGE.read_text('utf-8'),
        )
        self.write('nova.conf', f'[heat_hints]\nsigning_key = {KEY}\n')
        with contextlib.chdir(self.folder):
            rows = self.data(*words.split(), **self.cloud)
        self.assertEqual(
            {'valid', 'invalid', 'unsigned'},
            {*self.verdicts(rows).values()},
        )

    def test_a_server_that_is_gone_is_told(self):
        del self.servers['id-web']
        result = self.openstack(*COMMAND, 'shop', **self.cloud)
        self.assertEqual(0, result.status, result.error)
        self.assertIn('id-web', result.error)
        self.assertNotIn('shop-web', result.output)

    def test_a_stack_that_is_not_there_is_one_line(self):
        result = self.openstack(*COMMAND, 'other', **self.cloud)
        self.assert_one_line(result, 'other')

    def test_an_older_nova_is_one_line(self):
        self.mocker.get(
            f'{URL}/compute/v2.1',
            json=self.version('/compute/v2.1', 'v2.1', '2.96'),
        )
        result = self.openstack(*COMMAND, 'shop', **self.cloud)
        self.assert_one_line(result, 'microversion 2.100')

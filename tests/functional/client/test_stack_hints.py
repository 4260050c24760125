# SPDX-License-Identifier: Apache-2.0

"""``openstack stack hints list`` in the shell, from files and a stub cloud.

The servers are those of the page: of a stack, one that pretends to be there
with a signature that is made up, one unsigned, and one without hints.
"""

import contextlib
import json
import operator
import re

import ddt

from os_placement_plugins import signature
from tests.functional.client import base, pages, rest_stub

COMMAND = ('stack', 'hints', 'list')
KEY = 'an example key of 32 characters.'
OLD_KEY = 'an older key of 32 characters...'
SERVERS = pages.FILES / 'stack-servers.json'
IDS = signature.Keys([KEY, OLD_KEY]).ids

#: What is said of the servers with both keys.
VERDICTS = {
    'shop-db': 'valid',
    'shop-web': 'valid',
    'shop-unsigned': 'unsigned',
    'shop-forged': 'invalid',
}


def verdicts(rows):
    """Return the signature of each server."""
    return {row['Server']: row['Signature'] for row in rows}


@ddt.ddt
class OfflineTest(base.CommandTestCase):
    def show(self, *arguments):
        """Return the rows for the file's servers."""
        return self.data(*COMMAND, '--servers', str(SERVERS), *arguments)

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
                'Key ID': IDS[1],
                'Key Number': '',
                'Signature': 'not checked',
                'Server ID': 'id-web',
                'Project ID': 'p1',
                'Stack ID': 'id-shop-0',
                'Root Stack ID': 'id-shop',
                'Resource ID': 'resource-web',
            },
            rows['shop-web'],
        )
        self.assertEqual(
            [{'resource': None, 'stack': 'shop'}], rows['shop-db']['Path']
        )
        # Whom nobody asked for, and who has no hints, is left out.
        self.assertNotIn('plain', rows)
        (plain,) = self.show('--server', 'id-plain')
        self.assertEqual(('plain', ''), (plain['Server'], plain['Stack']))

    @ddt.unpack
    @ddt.data(
        ('--key-file', f'{KEY}\n{OLD_KEY}\n', 'valid'),
        ('--key-file', f'{KEY},{OLD_KEY}', 'valid'),
        ('--key-file', f'{KEY}\n', 'invalid'),
        # Of nova.conf and of heat.conf.
        (
            '--config-file',
            f'[heat_hints]\nsigning_key = {KEY}, {OLD_KEY}\n',
            'valid',
        ),
        (
            '--config-file',
            f'[heat_hints]\nenabled = true\nsigning_key = {KEY}\n',
            'invalid',
        ),
    )
    def test_signatures_are_checked_with_the_keys_of_a_file(
        self, option, text, old
    ):
        rows = self.show(option, self.write(text, 'keys'))
        self.assertEqual(VERDICTS | {'shop-web': old}, verdicts(rows))

    def test_a_stack_or_a_key_chooses_its_servers(self):
        self.assertEqual({*VERDICTS}, {*verdicts(self.show('shop'))})
        self.assertEqual({'shop-web'}, {*verdicts(self.show('id-shop-0'))})
        self.assertEqual({'shop-web'}, {*verdicts(self.show('--key', IDS[1]))})

    def test_several_servers_can_be_chosen(self):
        rows = self.show('--server', 'shop-db', '--server', 'id-plain')
        self.assertEqual({'shop-db', 'plain'}, {*verdicts(rows)})
        result = self.openstack(
            *COMMAND,
            '--servers',
            str(SERVERS),
            '--server',
            'shop-db',
            '--server',
            'id-nobody',
            '--server',
            'other',
        )
        self.assert_one_line(result, "found for 'id-nobody', 'other'")

    @ddt.data(IDS[1].upper(), IDS[1].capitalize())
    def test_the_case_of_a_key_id_does_not_matter(self, key):
        self.assertEqual({'shop-web'}, {*verdicts(self.show('--key', key))})

    @ddt.data('1:19cd23ff', '19cd23f', '19cd23ff0', 'zzz', '', '19cd23f\n')
    def test_what_is_no_key_id_is_refused(self, key):
        result = self.openstack(
            *COMMAND, '--servers', str(SERVERS), '--key', key
        )
        self.assert_one_line(result, 'eight hexadecimal digits')

    @ddt.unpack
    @ddt.data(
        ((), 'None of the servers in the files has a signature with'),
        (('--server', 'plain'), 'None of these servers has a signature with'),
    )
    def test_that_no_server_has_a_key_is_said(self, words, message):
        result = self.openstack(
            *COMMAND, '--servers', str(SERVERS), '--key', '00000000', *words
        )
        self.assertEqual(0, result.status)
        self.assertIn(f'{message} the key ID 00000000.', result.error)

    def test_that_no_server_has_hints_is_said(self):
        plain = '[{"name": "web", "id": "i", "scheduler_hints": null}]'
        file = self.write(plain, 'plain.json')
        result = self.openstack(*COMMAND, '--servers', file)
        self.assertEqual(0, result.status)
        self.assertIn('None of the servers in the files has a', result.error)

    def test_a_name_of_several_stacks_is_one_line_with_their_ids(self):
        rows = json.loads(SERVERS.read_text())['servers']
        hints = {
            'heat_root_stack_id': 'id-other',
            'heat_path_in_stack': 'shop',
        }
        rows.append({**rows[0], 'tenant_id': 'p2', 'scheduler_hints': hints})
        file = self.write(json.dumps({'servers': rows}), 'two.json')
        result = self.openstack(*COMMAND, 'shop', '--servers', file)
        self.assert_one_line(
            result, "'id-other' of project 'p2'", "'id-shop' of project 'p1'"
        )
        result = self.openstack(*COMMAND, 'id-other', '--servers', file)
        self.assertEqual(0, result.status)

    def test_a_stack_that_no_server_names_is_told(self):
        result = self.openstack(*COMMAND, 'nothing', '--servers', str(SERVERS))
        self.assertEqual((1, ''), (result.status, result.output))
        self.assertIn("No server found for 'nothing'", result.error)

    @ddt.unpack
    @ddt.data(
        ('--key-file', 'short-secret\n', ('number 1', '32 characters')),
        ('--key-file', f'{KEY}\nshort-secret\n', ('number 2',)),
        ('--key-file', '\n', ('No signing key',)),
        ('--config-file', '[heat_hints]\n', ('No signing key',)),
        (
            '--config-file',
            '[heat_hints]\nsigning_key = $secret-of-32-characters-or-more\n',
            ('signing_key', 'cannot be read'),
        ),
        ('--config-file', '[heat_hints\nsecret', ('keys:1',)),
    )
    def test_a_file_without_a_usable_key_is_one_line(
        self, option, text, words
    ):
        path = self.write(text, 'keys')
        result = self.openstack(
            *COMMAND, '--servers', str(SERVERS), option, path
        )
        self.assert_one_line(result, path, *words)
        self.assertNotIn('secret', result.error)

    def test_a_wrong_file_is_one_line(self):
        file = self.write('[{"name": "web", "id": "i"}]', 'old.json')
        for words, message in (
            ('--servers /nowhere/file', '/nowhere/file'),
            ('shop --key-file /nowhere/file', '/nowhere/file'),
            ('shop --config-file /nowhere/file', '/nowhere/file'),
            (f'--servers {self.write("[1]", "wrong.json")}', 'wrong.json'),
            (f'--servers {file}', 'API version 2.100'),
        ):
            result = self.openstack(*COMMAND, *words.split())
            self.assert_one_line(result, message)


class ListTest(base.CloudTestCase):
    """Nova shows servers and who signed their hints, and Heat a stack's."""

    def setUp(self):
        super().setUp()
        self.rows = json.loads(SERVERS.read_text())['servers']
        self.mocker.get(f'{rest_stub.COMPUTE}/servers/detail', json=self.page)
        # The hints of the first do not say that it is in the stack.
        kinds = [('id-plain', 'OS::Nova::Server'), ('id-web', 'My::Server')]
        # Not created yet, and no server.
        kinds += [('', 'OS::Nova::Server'), ('port', 'OS::Neutron::Port')]
        self.cloud.resources = [
            {
                'resource_name': name,
                'resource_type': kind,
                'physical_resource_id': name,
            }
            for name, kind in kinds
        ]

    def queries(self, path):
        """Return the queries of the requests to a path."""
        return [
            request.qs
            for request in self.mocker.request_history
            if request.path.endswith(path)
        ]

    def run_openstack(self, *words, status=0):
        """Run the command; return its result."""
        result = self.openstack(*COMMAND, *words, **self.login)
        self.assertEqual(status, result.status, result.error)
        return result

    def page(self, request, context):
        """Answer with two servers at a time, as Nova does."""
        version = request.headers.get('OpenStack-API-Version')
        self.assertEqual('compute 2.100', version)
        ids = [row['id'] for row in self.rows]
        (marker,) = request.qs.get('marker', [None])
        start = ids.index(marker) + 1 if marker else 0
        answer = {'servers': self.rows[start : start + 2]}
        if start + 2 < len(ids):
            answer['servers_links'] = [{'rel': 'next', 'href': 'next'}]
        return answer

    def test_the_servers_of_the_cloud_are_listed_page_by_page(self):
        self.rows.append({'id': 'id-down', 'status': 'UNKNOWN'})
        keys = self.write(f'{KEY}\n{OLD_KEY}\n', 'keys')
        words = ('--key-file', keys, '-f', 'json')
        # What is not known is not fine.
        result = self.run_openstack(*words, status=1)
        columns = operator.itemgetter('Key ID', 'Key Number', 'Signature')
        self.assertEqual(
            {
                'shop-db': (IDS[0], 1, 'valid'),
                'shop-forged': ('', '', 'invalid'),
                'shop-unsigned': ('', '', 'unsigned'),
                'shop-web': (IDS[1], 2, 'valid'),
            },
            {row['Server']: columns(row) for row in json.loads(result.output)},
        )
        self.assertIn('1 servers are left out', result.error)
        queries = self.queries('/servers/detail')
        self.assertEqual(3, len(queries))
        self.assertNotIn('all_tenants', queries[0])

    def test_an_administrator_sees_all_projects(self):
        self.run_openstack('--all-projects')
        queries = self.queries('/servers/detail')
        self.assertEqual(
            [['true']] * 3, [query['all_tenants'] for query in queries]
        )

    def test_that_no_server_has_hints_is_said(self):
        for row in self.rows:
            row['scheduler_hints'] = None
        mine = self.run_openstack().error
        self.assertIn(
            'None of the servers that Nova shows of this project has a hint',
            mine,
        )
        everyone = self.run_openstack('--all-projects').error
        self.assertIn(
            'None of the servers that Nova shows has a hint', everyone
        )

    def test_the_example_of_the_page_that_asks_a_cloud(self):
        (words,) = re.findall(
            r'\$ openstack (stack hints list shop --config-file .*)',
            pages.PAGE.read_text('utf-8'),
        )
        keys = f'signing_key = {KEY}, {OLD_KEY}'
        self.write(f'[heat_hints]\n{keys}\n', 'nova.conf')
        with contextlib.chdir(self.folder):
            rows = self.live(*words.split())
        self.assertEqual(VERDICTS | {'plain': 'unsigned'}, verdicts(rows))
        # Nested stacks, too.
        nested = [{'nested_depth': ['100']}]
        self.assertEqual(nested, self.queries('/resources'))

    def test_a_server_that_is_gone_is_told(self):
        del self.rows[-1]
        result = self.run_openstack('shop', status=1)
        self.assertIn('Server id-plain of the stack is not in', result.error)
        self.assertNotIn('plain', result.output)

    def test_another_projects_stack_of_this_name_is_not_listed(self):
        hints = {
            'heat_root_stack_id': 'id-other',
            'heat_stack_id': 'id-other',
            'heat_path_in_stack': 'shop',
        }
        other = {'id': 'i', 'name': 'other', 'tenant_id': 'p2'}
        self.rows.append({**other, 'scheduler_hints': hints})
        rows = self.live(*COMMAND, 'shop', '--all-projects')
        self.assertNotIn('other', verdicts(rows))
        self.assertIn('shop-db', verdicts(rows))

    def test_servers_of_nested_stacks_are_found_by_the_ids_of_heat(self):
        # Its hints do not name the root stack.
        hints = {'heat_stack_id': 'id-cell', 'heat_path_in_stack': 'cell'}
        deep = {'id': 'i', 'name': 'deep', 'tenant_id': 'p1'}
        self.rows.append({**deep, 'scheduler_hints': hints})
        url = 'http://heat/v1/p1/stacks/cell/id-cell'
        links = [{'rel': 'stack', 'href': url}, {'rel': 'self', 'href': '/'}]
        self.cloud.resources[0]['links'] = links
        self.assertIn('deep', verdicts(self.live(*COMMAND, 'shop')))

    def test_a_stack_that_heat_does_not_show_is_found_by_its_id(self):
        for status in (404, 403):
            for stack in ('id-shop', 'id-shop-0'):
                self.mocker.get(
                    f'{rest_stub.HEAT}/stacks/{stack}', status_code=status
                )
        result = self.run_openstack('id-shop', status=1)
        self.assertIn("does not show a stack 'id-shop'", result.error)
        self.assertIn('shop-web', result.output)
        self.assertNotIn('plain', result.output)
        result = self.run_openstack('id-shop-0', status=1)
        self.assertIn('shop-web', result.output)
        self.assertNotIn('shop-db', result.output)

    def test_a_stack_that_nobody_names_is_told(self):
        self.mocker.get(f'{rest_stub.HEAT}/stacks/other', status_code=404)
        result = self.run_openstack('other', status=1)
        self.assertEqual('', result.output)
        self.assertIn("No server found for 'other'", result.error)

    def test_a_heat_that_fails_is_one_line(self):
        self.mocker.get(f'{rest_stub.HEAT}/stacks/shop', status_code=500)
        result = self.openstack(*COMMAND, 'shop', **self.login)
        self.assert_one_line(result, '500')

    def test_an_older_nova_is_one_line(self):
        self.cloud.maximum = '2.96'
        for stack in ([], ['shop']):
            result = self.openstack(*COMMAND, *stack, **self.login)
            self.assert_one_line(result, 'microversion 2.100')

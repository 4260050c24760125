# SPDX-License-Identifier: Apache-2.0

"""The pages about Senlin: the real client and shell, before the engine."""

import collections
import contextlib
import re
import shlex
import subprocess

import ddt
import yaml
from senlin import objects
from senlin.common import context

from senlin_plugins import endpoints
from tests import pages
from tests.functional.senlin_plugins import base, gateway
from tests.functional.senlin_plugins.base import ONE, THREE, TWO

#: The commands whose options the text of the page names.
COMMANDS = ('resize',), ('recover',), ('update',), ('node', 'adopt')
#: The spec in place of the one that a reader writes.
WIDER = """
type: senlin_plugins.policy.region_placement
version: '1.0'
properties:
  regions: [{name: RegionOne}, {name: RegionTwo, cap: 9}]
"""


@ddt.ddt
class PagesTest(pages.Walk, gateway.ShellTestCase):
    suite = 'senlin'

    def setUp(self):
        super().setUp()
        self.patch(endpoints, 'PAUSE', 0)

    @ddt.data(*pages.select('senlin'))
    def test_the_page_is_true(self, page):
        self.walk(page)

    def test_the_options_of_the_page_are_those_of_the_client(self):
        known = ''.join(
            block.text for block in pages.read('doc/source/senlin.rst')
        )
        for command in COMMANDS:
            known += self.shell('cluster', *command, '--help').output
        options = {*re.findall('--[a-z-]+', known)}
        for words in pages.literals('doc/source/senlin.rst'):
            if option := re.match('--[a-z-]+', words):
                self.assertIn(option[0], options)

    def use(self, block):
        """Fail if Senlin refuses a spec of the page."""
        spec = yaml.safe_load(block.text)
        if 'type' in spec:
            kind = 'policy' if '.policy.' in spec['type'] else 'profile'
            path = {'policy': 'policies', 'profile': 'profiles'}[kind]
            body = {kind: {'spec': spec}}
            answer = self.senlin.call('POST', f'/{path}/validate', body)
            self.assertEqual(spec, answer[kind]['spec'])

    def type(self, command):
        """Run a command to the end of what it starts in Senlin."""
        words, _, filter_words = command.words.partition(' | ')
        program, *arguments = shlex.split(words)
        self.assertEqual('openstack', program)
        for name, text in self.files.items():
            self.write(text, name)
        with contextlib.chdir(self.folder):
            result = self.shell(*arguments)
        self.assertEqual(0, result.status, f'{words}: {result.error}')
        for action in self.senlin.call('GET', '/actions')['actions']:
            self.senlin.wait(action['id'])
        if filter_words:
            return subprocess.run(
                ['bash', '-c', filter_words],  # noqa: S607
                input=result.output,
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        return result.output

    @property
    def c1(self):
        """Return the id of the cluster that the page calls c1."""
        return self.senlin.call('GET', '/clusters/c1')['cluster']['id']

    def begin(self):
        """Return to an empty Senlin, with what a section assumes."""
        self.senlin.reset()
        spec = yaml.safe_load(self.files['profile.yaml'])
        profile = {'name': 'web', 'spec': spec}
        self.senlin.call('POST', '/profiles', {'profile': profile})
        policy = {
            'name': 'spread',
            'spec': yaml.safe_load(self.files['regions.yaml']),
        }
        self.senlin.call('POST', '/policies', {'policy': policy})

    def count_nodes(self):
        """Return how many active nodes each region has, in order."""
        actions = self.senlin.call('GET', '/actions')['actions']
        failed = [
            a['status_reason'] for a in actions if a['status'] == 'FAILED'
        ]
        self.assertEqual([], failed)
        nodes = self.senlin.nodes(self.c1)
        self.assertEqual({'ACTIVE'}, {node['status'] for node in nodes})
        counts = collections.Counter(map(base.region_of, nodes))
        return [counts[name] for name in (ONE, TWO, THREE)]

    def check_half(self, run):
        run()
        spec = yaml.safe_load(self.files['regions.yaml'])
        regions = spec['properties']['regions']
        (two,) = (r for r in regions if r['name'] == TWO)
        self.assertEqual(2 * two['weight'], sum(r['weight'] for r in regions))

    def check_first_nodes(self, run):
        run()
        self.assertEqual([2, 4, 3], self.count_nodes())

    def check_oldest_leave(self, run):
        nodes = {*self.ids(self.c1)}
        oldest = self.oldest(self.c1, **{ONE: 1, TWO: 1, THREE: 1})
        run()
        self.assertEqual([1, 3, 2], self.count_nodes())
        self.assertEqual({*oldest}, nodes - {*self.ids(self.c1)})

    def check_region_answers_again(self, run):
        failures = self.cloud.regions[TWO].failures
        failures['server_get'] = 'dead'
        self.senlin.act(self.c1, 'check')
        self.wait_until_free(self.c1)
        before = self.held(self.c1)
        node = self.ids(self.c1, TWO)[0]
        self.assertEqual('ERROR', self.shown(node)['status'])
        self.cloud.heal()
        run(NODE=node)
        del before[node]
        self.assertEqual(before, self.held(self.c1))
        self.assert_nodes(self.c1, **{ONE: 1, TWO: 2, THREE: 2})

    def check_region_never_answers(self, run):
        self.begin()
        self.act_on_cluster('create --profile web --desired-capacity 0 c1')
        self.act_on_cluster('policy attach --policy spread c1')
        self.act_on_cluster('expand --count 2 c1')
        (lost,) = self.held(self.c1).keys() & {*self.ids(self.c1, TWO)}
        failures = self.cloud.regions[TWO].failures
        for call in base.DEAD:
            failures[call] = 'dead'
        servers = {**self.cloud.regions[TWO].servers}
        run(NODE=lost)
        path = '/actions?action=CLUSTER_RECOVER'
        (recovery,) = self.senlin.call('GET', path)['actions']
        self.assertEqual('FAILED', recovery['status'])
        self.assertEqual(servers, self.cloud.regions[TWO].servers)
        nodes = self.senlin.nodes(self.c1)
        self.assertEqual(2, len(nodes))
        self.assertEqual({'ACTIVE'}, {node['status'] for node in nodes})
        self.assertNotIn(TWO, map(base.region_of, nodes))
        self.assert_capacity(self.c1, 2)

    def check_wider(self, run):
        self.files['wider.yaml'] = WIDER
        before = self.held(self.c1)
        run()
        path = f'/clusters/{self.c1}/policies'
        bindings = self.senlin.call('GET', path)['cluster_policies']
        names = {binding['policy_name'] for binding in bindings}
        self.assertEqual({'wider'}, names)
        self.assertEqual(before, self.held(self.c1))

    def check_adopted(self, run):
        node = self.ids(self.c1, TWO)[0]
        server = self.held(self.c1)[node]
        # As if somebody else had created the server.
        self.senlin.act(self.c1, 'del_nodes', nodes=[node])
        objects.Node.delete(context.get_admin_context(), node)
        self.cloud.regions[TWO].servers[server].key_name = 'mine'
        before = self.held(self.c1)
        run(SERVER=server)
        (adopted,) = self.held(self.c1).items() - before.items()
        self.assertEqual(server, adopted[1])
        self.act_node(adopted[0], 'check')
        self.assertEqual('ACTIVE', self.shown(adopted[0])['status'])
        self.assertIn(server, self.cloud.regions[TWO].servers)

    def check_rolled_back(self, run):
        self.begin()
        run()

    def check_removed(self, run):
        self.act_on_cluster('create --profile web --desired-capacity 0 c1')
        run()
        for kind in 'clusters', 'policies', 'profiles':
            self.assertEqual([], self.senlin.call('GET', f'/{kind}')[kind])

    def check_failed_region(self, run):
        self.begin()
        self.act_on_cluster('create --profile web --desired-capacity 0 c1')
        self.act_on_cluster('policy attach --policy spread c1')
        self.cloud.regions[TWO].failures['server_create'] = 'dead'
        self.act_on_cluster('expand --count 6 c1')
        self.wait_until_free(self.c1)
        nodes = self.senlin.nodes(self.c1)
        broken = [n['id'] for n in nodes if n['status'] == 'ERROR']
        self.assertEqual(3, len(broken))
        self.cloud.heal()
        run(NODE=broken[0])
        self.assert_nodes(self.c1, **{ONE: 1, TWO: 2, THREE: 2})

    def act_on_cluster(self, words):
        """Run a command that a section assumes."""
        self.type(pages.Command(f'openstack cluster {words}', '', root=False))

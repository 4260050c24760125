# SPDX-License-Identifier: Apache-2.0

"""The six hints on each kind of resource, as Nova receives them."""

import json

from testing.heat import loopback, stack_hints
from testing.heat.templates import server, template
from tests.functional.heat_hints import base

MEMBER = server()
#: A resource whose create request can be told from all others by its name.
INNER = template(inner=server(name='inner'), deep={'type': 'deepest.yaml'})
DEEPEST = template(
    first=server(name='first'),
    second={**server(name='second'), 'depends_on': 'first'},
)


class _Everything:
    """A stack that has every kind of resource that sends hints."""

    options = {
        'enabled': 'true',
        'resource_types': (
            'OS::Nova::Server,AWS::EC2::Instance,OS::Cinder::Volume'
        ),
    }
    STACK = {
        'name': 'all',
        'template': template(
            top=server(name='top', hints={'group_of': 'mine'}),
            nested={'type': 'inner.yaml'},
            group={
                'type': 'OS::Heat::ResourceGroup',
                'properties': {'count': 2, 'resource_def': MEMBER},
            },
            scaled={
                'type': 'OS::Heat::AutoScalingGroup',
                'properties': {
                    'min_size': 2,
                    'max_size': 2,
                    'resource': MEMBER,
                },
            },
            instance={
                'type': 'AWS::EC2::Instance',
                'properties': {
                    'ImageId': 'cirros',
                    'InstanceType': loopback.FLAVOR,
                    'NetworkInterfaces': [loopback.PORT],
                },
            },
            volume={
                'type': 'OS::Cinder::Volume',
                'properties': {'name': 'disk', 'size': 1},
            },
        ),
        'files': {
            'inner.yaml': json.dumps(INNER),
            'deepest.yaml': json.dumps(DEEPEST),
        },
    }

    TYPES = {
        'OS::Nova::Server': 8,
        'AWS::EC2::Instance': 1,
        'OS::Cinder::Volume': 1,
    }

    def six_by_uuid(self):
        return {
            request.hints['heat_resource_uuid']: {
                name: request.hints[name] for name in stack_hints.SIX
            }
            for request in self.outcome.sent
        }

    def resources(self):
        return [
            resource
            for resource in self.outcome.told['all']['resources']
            if resource['type'] in self.TYPES
        ]

    def test_heat_creates_every_resource_of_the_template(self):
        self.assert_created('all')
        counted = dict.fromkeys(self.TYPES, 0)
        for resource in self.resources():
            counted[resource['type']] += 1
        self.assertEqual(self.TYPES, counted)

    def test_each_request_says_what_heat_says_about_its_resource(self):
        self.assertEqual(
            {
                resource['uuid']: self.outcome.wanted('all', resource)
                for resource in self.resources()
            },
            self.six_by_uuid(),
        )

    def test_the_templates_other_hints_are_sent_beside_the_six(self):
        self.assertEqual('mine', self.outcome.hints('top')['group_of'])

    def test_the_log_has_neither_errors_nor_warnings_of_this_package(self):
        self.assertEqual(
            ([], []), (self.outcome.errors(), self.outcome.warnings())
        )


class TestConvergence(_Everything, base.ScenarioCase):
    """Heat's engine of today."""

    stacks = (_Everything.STACK,)


class TestLegacyEngine(_Everything, base.ScenarioCase):
    """Heat's engine with ``convergence_engine = false``."""

    convergence = False
    stacks = (_Everything.STACK,)


#: Counts the statements of one thread from the moment when the hook asks
#: this plug-in, which it does first, to when it asks the provider, last.
COUNTER = """
import threading

import sqlalchemy
from heat.engine.resources.openstack.nova import server

counts = {}


def count(*args):
    thread = threading.get_ident()
    if thread in counts:
        counts[thread] += 1


class Server(server.Server):
    def _scheduler_hints(self, scheduler_hints):
        counts[threading.get_ident()] = 0
        return super()._scheduler_hints(scheduler_hints)


class Queries:
    def __init__(self, conf):
        sqlalchemy.event.listen(
            sqlalchemy.engine.Engine, 'before_cursor_execute', count
        )

    def hints(self, request):
        return {'queries': counts.pop(threading.get_ident())}
"""
PLUGIN = """
from counter_for_tests import Server


def resource_mapping():
    return {'OS::Nova::Server': Server}
"""


class TestQueries(base.ScenarioCase):
    """What a server's place in its stacks costs the database."""

    options = {'enabled': 'true', 'providers': 'queries'}
    settings = {'DEFAULT': {'plugin_dirs': '{folder}/other'}}
    modules = {
        'counter_for_tests.py': COUNTER,
        'other/counting_server.py': PLUGIN,
    }
    entry_points = {
        'heat_hints.providers': {'queries': 'counter_for_tests:Queries'}
    }
    stacks = (
        {
            'name': 'root',
            'template': template(
                nested={'type': 'inner.yaml'},
                top={**server(name='top'), 'depends_on': 'nested'},
            ),
            'files': {
                'inner.yaml': json.dumps(
                    template(deep={'type': 'deepest.yaml'})
                ),
                'deepest.yaml': json.dumps(DEEPEST),
            },
        },
    )

    def test_a_server_in_a_root_stack_costs_no_query(self):
        self.assert_created('root')
        self.assertEqual('0', self.outcome.hints('top')['queries'])

    def test_one_narrow_query_for_each_stack_above_that_is_not_known(self):
        # "first" is nested two levels deep, and the only one to look.
        narrow = [
            statement
            for statement in self.outcome.statements
            if 'parent_resource_name' in statement
            and 'raw_template' not in statement
            and statement.startswith('SELECT')
        ]
        self.assertEqual(2, len(narrow), narrow)

    def test_no_query_at_all_when_the_stack_is_known(self):
        self.assertEqual('0', self.outcome.hints('second')['queries'])

    def test_both_servers_name_the_same_root_and_path(self):
        first = self.outcome.hints('first')
        second = self.outcome.hints('second')
        self.assertEqual(
            self.outcome.told['root']['root'], first['heat_root_stack_id']
        )
        self.assertEqual(
            [first[name] for name in stack_hints.SIX[:4]],
            [second[name] for name in stack_hints.SIX[:4]],
        )
        self.assertEqual(3, len(first['heat_path_in_stack']))
        self.assertEqual(
            ['root', 'nested', 'deep'],
            [step.split(',')[0] for step in first['heat_path_in_stack']],
        )


class TestJsonPath(base.ScenarioCase):
    """``path_format = json``, and a resource with an odd name."""

    options = {'enabled': 'true', 'path_format': 'json'}
    NAME = 'x,y "ü"'
    stacks = (
        {
            'name': 'root',
            'template': template(nested={'type': 'inner.yaml'}),
            'files': {
                'inner.yaml': json.dumps(
                    template(**{NAME: server(name='odd')})
                )
            },
        },
    )

    def test_the_path_is_the_specs_tuples(self):
        self.assert_created('root')
        (odd,) = (
            resource
            for resource in self.outcome.told['root']['resources']
            if resource['name'] == self.NAME
        )
        path = json.loads(self.outcome.hints('odd')['heat_path_in_stack'])
        self.assertEqual(odd['path'], path)
        self.assertEqual([None, 'root'], path[0])
        self.assertEqual('nested', path[1][0])

    def test_an_odd_name_arrives_as_it_is_in_the_template(self):
        self.assertEqual(
            self.NAME, self.outcome.hints('odd')['heat_resource_name']
        )


class TestReplacement(base.ScenarioCase):
    """An update that makes Heat replace a server."""

    stacks = (
        {
            'name': 'root',
            'template': template(
                kept=server(name='kept'),
                changed=server(name='before', hints={'tier': 'one'}),
            ),
            'steps': [
                (
                    'update',
                    template(
                        kept=server(name='kept'),
                        changed=server(name='after', hints={'tier': 'two'}),
                    ),
                )
            ],
        },
    )

    def test_the_new_server_has_the_new_resources_hints(self):
        told = self.outcome.told['root']
        self.assertEqual('UPDATE_COMPLETE', told['status'], told['reason'])
        (new,) = (r for r in told['resources'] if r['name'] == 'changed')
        self.assertEqual(
            {**self.outcome.wanted('root', new), 'tier': 'two'},
            self.outcome.hints('after'),
        )

    def test_the_old_server_was_another_resource(self):
        self.assertNotEqual(
            self.outcome.hints('before')['heat_resource_uuid'],
            self.outcome.hints('after')['heat_resource_uuid'],
        )


class TestReplacementLegacy(TestReplacement):
    """The same, by the legacy engine."""

    convergence = False

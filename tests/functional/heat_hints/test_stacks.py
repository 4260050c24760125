# SPDX-License-Identifier: Apache-2.0

"""The six hints on stacks of every shape, by both of Heat's engines.

And what else than creating can be done to a stack.
"""

import collections
import json

from os_placement_plugins import signature
from testing.heat.templates import (
    group,
    instance,
    scaled,
    server,
    stack,
    template,
    volume,
)
from tests import signing
from tests.functional.heat_hints import base

#: How many stacks are nested in the root stack, where that is the question
#: and where it is not: each level takes Heat about 0.3 seconds.
DEPTH = 10
FEW = 3

MEMBER = server()
EVERYTHING = stack(
    'all',
    template(
        top=server(hints={'group_of': 'mine'}),
        nested={'type': 'inner.yaml'},
        group=group(2, MEMBER),
        scaled=scaled(2, MEMBER),
        instance=instance(),
        volume=volume(),
    ),
    files={'inner.yaml': template(inner=server())},
)


def nested(depth):
    """Return a stack with so many others, each in the one before."""
    files = {
        f'level{level}.yaml': template(
            here=server(name=f'level{level}'),
            below={'type': f'level{level + 1}.yaml'},
        )
        for level in range(1, depth)
    }
    files[f'level{depth}.yaml'] = template(here=server(name=f'level{depth}'))
    below = {'type': 'level1.yaml'}
    return stack('deep', template(below=below), files=files)


#: As odd as Heat lets them be: in the names of stacks, and so of resources
#: that make stacks, it takes letters, digits and these three signs only.
ODD_STACK = 'Stack_with.dots-and_dashes'
ODD_NAMES = (
    *('a,b', 'quoted "name"', "it's", 'größe', '服务器', '💻', '[null,"x"]'),
    *(' blank ', '%(percent)s', '{brace}', 'back\\slash'),
)
ODD = stack(
    ODD_STACK,
    template(
        **dict.fromkeys(ODD_NAMES, MEMBER),
        **{'nest_1.x-y': {'type': 'inner.yaml'}},
    ),
    files={'inner.yaml': template(**{'x,y "ü"': MEMBER})},
)

#: A user's environment gives a type another name.
ALIAS = stack(
    'alias',
    template(one={**MEMBER, 'type': 'My::Server'}),
    environment={'resource_registry': {'My::Server': 'OS::Nova::Server'}},
)

ADOPTED = 'aaaaaaaa-0000-4000-8000-000000000001'
#: A server that was there before its stack, and is replaced.
ADOPT = {
    'name': 'adopted',
    'adopt': {
        'name': 'adopted',
        'action': 'CREATE',
        'status': 'COMPLETE',
        'template': template(one=server(name='found')),
        'environment': {},
        'resources': {
            'one': {
                'type': 'OS::Nova::Server',
                'name': 'one',
                'resource_id': ADOPTED,
                'action': 'CREATE',
                'status': 'COMPLETE',
                'resource_data': {},
                'metadata': {},
            }
        },
    },
    'steps': [('update', template(one=server(hints={'tier': 'two'})))],
}

#: An update that makes Heat replace a server.
REPLACEMENT = stack(
    'replacement',
    template(
        kept=server(name='kept'),
        changed=server(name='before', hints={'tier': 'one'}),
    ),
    steps=[
        (
            'update',
            template(
                kept=server(name='kept'),
                changed=server(name='after', hints={'tier': 'two'}),
            ),
        )
    ],
)

PLAIN = template(one=MEMBER, nothing={'type': 'OS::Heat::None'})
PREVIEW = {'name': 'previewed', 'preview': PLAIN}
ACTIONS = stack(
    'actions',
    PLAIN,
    steps=[('check', None), ('suspend', None), ('resume', None)],
)


class _Stacks:
    options = {
        'resource_types': (
            'OS::Nova::Server,AWS::EC2::Instance,OS::Cinder::Volume'
        )
    }
    settings = {
        'DEFAULT': {
            'max_nested_stack_depth': str(DEPTH),
            'enable_stack_adopt': 'true',
        }
    }
    servers = (ADOPTED,)
    stacks = (EVERYTHING, ODD, ALIAS, ADOPT, REPLACEMENT, PREVIEW, ACTIONS)

    def wanted(self, stack, resource):
        """Return the six hints in the form that the options ask for."""
        return self.outcome.wanted(stack, resource)

    def hints(self, request):
        """Return the hints of a request but their signature."""
        return request.hints

    def assert_hints_are_what_heat_says(self, stack, **types):
        """Compare the requests for the resources of some types.

        :param types: how many resources there are of each type.
        """
        self.assert_created(stack)
        resources = [
            resource
            for resource in self.outcome.told[stack]['resources']
            if resource['type'].rpartition('::')[2] in types
        ]
        self.assertEqual(
            types,
            collections.Counter(
                r['type'].rpartition('::')[2] for r in resources
            ),
        )
        wanted = {r['uuid']: self.wanted(stack, r) for r in resources}
        for resource in resources:
            if resource['name'] == 'top':
                # The template's other hints are sent beside the six.
                wanted[resource['uuid']]['group_of'] = 'mine'
        sent = self.outcome.sent_for(stack)
        self.assertEqual(len(resources), len(sent))
        hints = [self.hints(request) for request in sent]
        self.assertEqual(wanted, {h['heat_resource_uuid']: h for h in hints})

    def test_each_kind_of_resource_says_what_heat_says_about_it(self):
        self.assert_hints_are_what_heat_says(
            'all', Server=6, Instance=1, Volume=1
        )

    def test_each_level_says_what_heat_says_about_it(self):
        self.assert_hints_are_what_heat_says('deep', Server=self.depth)

    def test_odd_names_arrive_as_they_are_in_the_template(self):
        self.assert_hints_are_what_heat_says(
            ODD_STACK, Server=len(ODD_NAMES) + 1
        )

    def test_an_aliased_type_sends_the_hints(self):
        self.assert_hints_are_what_heat_says('alias', Server=1)

    def test_adopting_sends_nothing_and_a_replacement_carries_hints(self):
        told = self.outcome.told['adopted']
        self.assertEqual(
            ['ADOPT_COMPLETE', 'UPDATE_COMPLETE'],
            told['steps'],
            told['reason'],
        )
        (request,) = self.outcome.sent_for('adopted')
        one = self.outcome.only('adopted', 'one')
        self.assertNotEqual(ADOPTED, one['physical_id'])
        self.assertEqual(
            {**self.wanted('adopted', one), 'tier': 'two'},
            self.hints(request),
        )

    def test_a_replacement_is_another_resource_with_hints_of_its_own(self):
        self.assert_created('replacement', action='UPDATE')
        new = self.outcome.only('replacement', 'changed')
        before, after = (
            self.hints(request)
            for name in ('before', 'after')
            for request in self.outcome.sent_for('replacement')
            if request.name == name
        )
        self.assertEqual(
            {**self.wanted('replacement', new), 'tier': 'two'}, after
        )
        self.assertNotEqual(
            before['heat_resource_uuid'],
            after['heat_resource_uuid'],
        )

    def test_a_preview_tells_the_resources(self):
        self.assertEqual(
            ['nothing', 'one'],
            sorted(self.outcome.told['previewed']['preview']),
        )
        self.assertEqual([], self.outcome.sent_for('previewed'))

    def test_of_all_actions_only_creating_sends_a_request(self):
        told = self.outcome.told['actions']
        actions = ('CREATE', 'CHECK', 'SUSPEND', 'RESUME')
        self.assertEqual(
            [f'{action}_COMPLETE' for action in actions],
            told['steps'],
            told['reason'],
        )
        (request,) = self.outcome.sent_for('actions')
        one = self.outcome.only('actions', 'one')
        self.assertEqual(self.wanted('actions', one), self.hints(request))

    def test_the_log_has_neither_errors_nor_warnings_of_this_package(self):
        self.assert_quiet()


#: A stack that has another Heat make a stack, as in another region.
THERE = template(two={**MEMBER, 'type': 'My::Server'})
REMOTE = (
    stack(
        'here',
        template(
            there={
                'type': 'OS::Heat::Stack',
                'properties': {'template': json.dumps(THERE)},
            },
        ),
        environment=ALIAS['environment'],
    ),
    # What the other Heat makes of it.
    stack('there', THERE, environment=ALIAS['environment']),
)


class TestConvergence(_Stacks, base.ScenarioCase):
    """Heat's engine of today."""

    depth = DEPTH
    stacks = (nested(depth), *REMOTE, *_Stacks.stacks)

    def test_another_heat_makes_a_root_stack_of_its_own(self):
        self.assert_created('here')
        (order,) = self.outcome.remote
        self.assertNotIn('hints', json.dumps(order))
        self.assertEqual(THERE, order['template'])
        registry = order['environment']['resource_registry']
        self.assertEqual('OS::Nova::Server', registry['My::Server'])
        self.assert_hints_are_what_heat_says('there', Server=1)


class TestLegacyEngine(_Stacks, base.ScenarioCase):
    """``convergence_engine = false``, ``path_format = json``, and a key."""

    options = {
        **_Stacks.options,
        'path_format': 'json',
        'signing_key': signing.KEY,
    }
    convergence = False
    depth = FEW
    stacks = (nested(depth), *_Stacks.stacks)

    def wanted(self, stack, resource):
        return {
            **super().wanted(stack, resource),
            'heat_path_in_stack': json.dumps(
                resource['path'], ensure_ascii=False, separators=(',', ':')
            ),
        }

    def hints(self, request):
        hints = super().hints(request)
        self.assertEqual(
            signing.signature(hints, request.project, signing.KEY),
            hints.pop(signature.HINT),
        )
        return hints


def narrow(statements):
    """Return the hook's own queries: four columns, by primary key."""
    return [
        statement
        for statement in statements
        if statement.startswith('SELECT')
        and 'parent_resource_name' in statement
        and statement.partition(' FROM ')[0].count(',') == 3
    ]


#: Another plug-in that overrides the type. It counts the statements of one
#: thread from the moment when the hook asks it, which the hook does first,
#: to when the hook asks the provider, last.
COUNTER = """
import threading

import sqlalchemy
from heat.engine.resources.openstack.nova import server

counts = {}
threads = {}
mapped = []


def count(*args):
    thread = threading.get_ident()
    if thread in counts:
        counts[thread] += 1


class Server(server.Server):
    def _scheduler_hints(self, scheduler_hints):
        threads[self.uuid] = threading.get_ident()
        counts[threading.get_ident()] = 0
        hints = dict(super()._scheduler_hints(scheduler_hints) or {})
        return {**hints, 'mapped': str(len(mapped))}


# Before the engine sends statements.
sqlalchemy.event.listen(
    sqlalchemy.engine.Engine, 'before_cursor_execute', count
)


class Queries:
    def __init__(self, conf):
        pass

    def hints(self, request):
        return {'queries': counts.pop(threads.pop(request.resource_uuid))}
"""
PLUGIN = """
from counter_for_tests import Server, mapped


def resource_mapping():
    mapped.append(1)
    return {'OS::Nova::Server': Server}
"""


class TestQueries(base.ScenarioCase):
    """What a server's place costs the database, beside another plug-in."""

    options = {'providers': 'queries'}
    settings = {'DEFAULT': {'plugin_dirs': '{folder}/other'}}
    files = {
        'counter_for_tests.py': COUNTER,
        'other/counting_server.py': PLUGIN,
    }
    entry_points = {
        'heat_hints.providers': {'queries': 'counter_for_tests:Queries'}
    }
    stacks = (
        stack(
            'root',
            template(
                nested={'type': 'inner.yaml'},
                top={**server(name='top'), 'depends_on': 'nested'},
            ),
            files={
                'inner.yaml': template(deep={'type': 'deepest.yaml'}),
                'deepest.yaml': template(
                    first=server(name='first'),
                    second={**server(name='second'), 'depends_on': 'first'},
                ),
            },
        ),
    )

    def test_one_narrow_query_for_each_stack_above_that_is_not_known(self):
        self.assert_created('root')
        # "first" is nested two levels deep, and the only one to look.
        self.assertEqual(2, len(narrow(self.outcome.statements)))

    def test_no_query_for_a_root_stack_nor_for_a_stack_that_is_known(self):
        for name in ('top', 'second'):
            self.assertEqual('0', self.outcome.hints(name)['queries'])

    def test_the_other_plug_in_is_extended_and_asked_for_types_once(self):
        for name in ('first', 'second', 'top'):
            resource = self.outcome.only('root', name)
            sent = self.outcome.hints(name)
            del sent['queries']
            self.assertEqual(
                {**self.outcome.wanted('root', resource), 'mapped': '1'},
                sent,
            )
        self.assert_quiet()

# SPDX-License-Identifier: Apache-2.0

"""Stacks of every shape, and what else than creating can be done to them."""

import json

from testing.heat import stack_hints
from testing.heat.templates import server, template
from tests.functional.heat_hints import base

#: How many stacks are nested in the root stack.
DEPTH = 10


def nested(depth):
    """Return the files of templates that are nested in each other."""
    files = {
        f'level{level}.yaml': json.dumps(
            template(
                here=server(name=f'level{level}'),
                below={'type': f'level{level + 1}.yaml'},
            )
        )
        for level in range(1, depth)
    }
    files[f'level{depth}.yaml'] = json.dumps(
        template(here=server(name=f'level{depth}'))
    )
    return files


class _Deep:
    settings = {'DEFAULT': {'max_nested_stack_depth': str(DEPTH)}}
    STACK = {
        'name': 'deep',
        'template': template(below={'type': 'level1.yaml'}),
        'files': nested(DEPTH),
    }

    def test_each_level_says_what_heat_says_about_it(self):
        self.assert_created('deep')
        servers = {
            f'level{len(resource["path"]) - 1}': self.outcome.wanted(
                'deep', resource
            )
            for resource in self.outcome.told['deep']['resources']
            if resource['name'] == 'here'
        }
        self.assertEqual(DEPTH, len(servers))
        self.assertEqual(
            servers, {name: self.outcome.hints(name) for name in servers}
        )


class TestDeepConvergence(_Deep, base.ScenarioCase):
    """Ten stacks below the root, as Heat works today."""

    stacks = (_Deep.STACK,)


class TestDeepLegacy(_Deep, base.ScenarioCase):
    """Ten stacks below the root, by the legacy engine."""

    convergence = False
    stacks = (_Deep.STACK,)


class TestNoCache(_Deep, base.ScenarioCase):
    """``cache_size = 0``: the same hints, one query for each level above."""

    options = {'enabled': 'true', 'cache_size': '0'}
    stacks = (_Deep.STACK,)

    def test_each_server_costs_a_query_for_each_stack_above(self):
        narrow = [
            statement
            for statement in self.outcome.statements
            if statement.startswith('SELECT')
            and 'parent_resource_name' in statement
            and statement.partition(' FROM ')[0].count(',') == 3
        ]
        self.assertEqual(sum(range(1, DEPTH + 1)), len(narrow))


#: As odd as Heat lets them be: in the names of stacks, and so of resources
#: that make stacks, it takes letters, digits and these three signs only.
ODD_STACK = 'Stack_with.dots-and_dashes'
ODD_NAMES = (
    'a,b',
    'quoted "name"',
    "it's",
    'größe',
    '服务器',
    '💻',
    '[null,"x"]',
    ' blank ',
    '%(percent)s',
    '{brace}',
    'back\\slash',
)


class _Odd:
    STACK = {
        'name': ODD_STACK,
        'template': template(
            **{
                name: server(name=f'server{place}')
                for place, name in enumerate(ODD_NAMES)
            },
            **{
                'nest_1.x-y': {'type': 'inner.yaml'},
            },
        ),
        'files': {
            'inner.yaml': json.dumps(
                template(**{'x,y "ü"': server(name='inner')})
            )
        },
    }

    def test_each_request_says_what_heat_says_about_its_resource(self):
        self.assert_created(ODD_STACK)
        told = {
            resource['uuid']: self.wanted(resource)
            for resource in self.outcome.told[ODD_STACK]['resources']
            if resource['type'] == 'OS::Nova::Server'
        }
        self.assertEqual(len(ODD_NAMES) + 1, len(told))
        self.assertEqual(
            told,
            {
                request.hints['heat_resource_uuid']: request.hints
                for request in self.outcome.sent
            },
        )

    def wanted(self, resource):
        return self.outcome.wanted(ODD_STACK, resource)


class TestOddNames(_Odd, base.ScenarioCase):
    """Names with commas, quotes and characters of the whole world."""

    stacks = (_Odd.STACK,)


class TestOddNamesAsJson(_Odd, base.ScenarioCase):
    """The same with ``path_format = json``, by the legacy engine."""

    options = {'enabled': 'true', 'path_format': 'json'}
    convergence = False
    stacks = (_Odd.STACK,)

    def wanted(self, resource):
        return {
            **super().wanted(resource),
            'heat_path_in_stack': json.dumps(
                resource['path'], ensure_ascii=False, separators=(',', ':')
            ),
        }


ADOPTED = 'aaaaaaaa-0000-4000-8000-000000000001'


class _Adopted:
    """A server that was there before its stack."""

    servers = (ADOPTED,)
    BEFORE = template(one=server(name='before'))
    STACK = {
        'name': 'adopted',
        'adopt': {
            'name': 'adopted',
            'action': 'CREATE',
            'status': 'COMPLETE',
            'template': BEFORE,
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
        'steps': [
            (
                'update',
                template(one=server(name='after', hints={'tier': 'two'})),
            )
        ],
    }

    def test_adopting_sends_nothing_and_a_replacement_carries_hints(self):
        told = self.outcome.told['adopted']
        self.assertEqual(
            ['ADOPT_COMPLETE', 'UPDATE_COMPLETE'],
            told['steps'],
            told['reason'],
        )
        (request,) = self.outcome.sent
        (one,) = told['resources']
        self.assertNotEqual(ADOPTED, one['physical_id'])
        self.assertEqual(
            {**self.outcome.wanted('adopted', one), 'tier': 'two'},
            request.hints,
        )


class TestAdopt(_Adopted, base.ScenarioCase):
    """Adopted as Heat works today."""

    settings = {'DEFAULT': {'enable_stack_adopt': 'true'}}
    stacks = (_Adopted.STACK,)


class TestAdoptLegacy(_Adopted, base.ScenarioCase):
    """Adopted by the legacy engine."""

    settings = {'DEFAULT': {'enable_stack_adopt': 'true'}}
    convergence = False
    stacks = (_Adopted.STACK,)


class _Actions:
    """Previewed, created, checked, suspended and resumed."""

    TEMPLATE = template(
        one=server(name='one'), nested={'type': 'OS::Heat::None'}
    )
    STACKS = (
        {'name': 'previewed', 'preview': TEMPLATE},
        {
            'name': 'root',
            'template': TEMPLATE,
            'steps': [('check', None), ('suspend', None), ('resume', None)],
        },
    )

    def test_a_preview_tells_the_resources(self):
        self.assertEqual(
            ['nested', 'one'],
            sorted(self.outcome.told['previewed']['preview']),
        )

    def test_only_creating_sends_a_request(self):
        self.assertEqual(
            [
                'CREATE_COMPLETE',
                'CHECK_COMPLETE',
                'SUSPEND_COMPLETE',
                'RESUME_COMPLETE',
            ],
            self.outcome.told['root']['steps'],
            self.outcome.told['root']['reason'],
        )
        self.assertEqual(['one'], [r.name for r in self.outcome.sent])
        self.assertEqual(
            sorted(stack_hints.SIX), sorted(self.outcome.hints('one'))
        )

    def test_the_log_has_neither_errors_nor_warnings_of_this_package(self):
        self.assertEqual(
            ([], []), (self.outcome.errors(), self.outcome.warnings())
        )


class TestActions(_Actions, base.ScenarioCase):
    """By Heat's engine of today."""

    stacks = _Actions.STACKS


class TestActionsLegacy(_Actions, base.ScenarioCase):
    """By the legacy engine, which calls lifecycle plug-ins each time."""

    convergence = False
    stacks = _Actions.STACKS

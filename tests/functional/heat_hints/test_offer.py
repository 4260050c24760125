# SPDX-License-Identifier: Apache-2.0

"""What a provider is offered about a stack, and what that costs."""

import json

from testing.heat import loopback
from testing.heat.templates import server, template
from tests.functional.heat_hints import base

#: A provider that sends what it is offered, and the statements of its own
#: thread with which it was found.
TELLING = """
import dataclasses
import json
import threading

import sqlalchemy

statements = {}


def count(connection, cursor, statement, *args):
    found = statements.get(threading.get_ident())
    if found is not None and 'FROM' in statement:
        found.append(' '.join(statement.split()))


# Before the engine sends statements.
sqlalchemy.event.listen(
    sqlalchemy.engine.Engine, 'before_cursor_execute', count
)


class Telling:
    def __init__(self, conf):
        pass

    def hints(self, request):
        found = statements[threading.get_ident()] = []
        try:
            told = self.tell(request)
        finally:
            del statements[threading.get_ident()]
        return {'told': json.dumps(told), 'statements': json.dumps(found)}

    def tell(self, request):
        return {
            'action': request.action,
            'flavor': request.flavor,
            'image': request.image,
            'zone': request.availability_zone,
            'parameters': request.parameters(),
            'tags': self.or_error(request.tags),
        }

    def or_error(self, ask, *args):
        try:
            return ask(*args)
        except Exception as exc:
            return str(exc)
"""

PARAMETERS = {
    'flavor': {'type': 'string', 'default': loopback.FLAVOR},
    'sizes': {'type': 'json', 'default': {'small': [1, 2]}},
    'password': {'type': 'string', 'default': 'secret', 'hidden': True},
    'many': {'type': 'number', 'default': 3},
}


def root(hint):
    """Return a template with parameters, a nested stack and a server."""
    return {
        **template(
            nested={'type': 'inner.yaml', 'properties': {'name': 'inside'}},
            changed=server(
                name='changed',
                hints={'tier': hint},
                flavor={'get_param': 'flavor'},
                availability_zone='nova',
            ),
        ),
        'parameters': PARAMETERS,
    }


FILES = {
    'inner.yaml': json.dumps(
        {
            **template(
                first=server(name='first'),
                second={**server(name='second'), 'depends_on': 'first'},
            ),
            'parameters': {'name': {'type': 'string'}},
        }
    )
}
OTHERS = template(
    instance={
        'type': 'AWS::EC2::Instance',
        'properties': {
            'ImageId': 'cirros',
            'InstanceType': loopback.FLAVOR,
            'NetworkInterfaces': [loopback.PORT],
        },
    }
)


class _Offer:
    options = {'enabled': 'true', 'providers': 'telling'}
    files = {'telling_for_tests.py': TELLING}
    entry_points = {
        'heat_hints.providers': {'telling': 'telling_for_tests:Telling'}
    }
    stacks = (
        {
            'name': 'root',
            'template': root('one'),
            'files': FILES,
            'environment': {'parameters': {'many': 4}},
            'tags': ['gold', 'blue'],
            'steps': [
                ('update', root('two'), {'files': FILES, 'tags': ['silver']})
            ],
        },
        {'name': 'others', 'template': OTHERS},
    )

    def all_told(self, name):
        """Return what was told for each request with a name, in order."""
        return [
            json.loads(request.hints['told'])
            for request in self.outcome.sent
            if request.name == name
        ]

    def statements(self, name):
        """Return the statements for each request with a name, in order."""
        return [
            json.loads(request.hints['statements'])
            for request in self.outcome.sent
            if request.name == name
        ]

    def test_a_server_is_told_as_its_template_describes_it(self):
        before, _ = self.all_told('changed')
        self.assertEqual(
            ('create', loopback.FLAVOR, 'cirros', 'nova'),
            tuple(before[k] for k in ('action', 'flavor', 'image', 'zone')),
        )

    def test_a_property_that_the_template_does_not_give_is_none(self):
        (first,) = self.all_told('first')
        self.assertIsNone(first['zone'])

    def test_an_instance_of_amazon_is_told_in_the_same_words(self):
        (request,) = self.outcome.sent_for('others')
        told = json.loads(request.hints['told'])
        self.assertEqual(
            (loopback.FLAVOR, 'cirros'), (told['flavor'], told['image'])
        )

    def test_parameters_are_those_of_the_own_stack_but_hidden_ones(self):
        before, after = self.all_told('changed')
        (first,) = self.all_told('first')
        plain = {'flavor': loopback.FLAVOR, 'sizes': {'small': [1, 2]}}
        self.assertEqual({**plain, 'many': 4}, before['parameters'])
        self.assertEqual({**plain, 'many': 3}, after['parameters'])
        self.assertEqual({'name': 'inside'}, first['parameters'])


class TestConvergence(_Offer, base.ScenarioCase):
    def test_a_replacement_is_told_as_such(self):
        self.assertEqual(
            ['create', 'replacement'],
            [told['action'] for told in self.all_told('changed')],
        )

    def test_tags_are_those_of_the_root_stack_also_after_an_update(self):
        self.assertEqual(
            [['gold', 'blue'], ['silver']],
            [told['tags'] for told in self.all_told('changed')],
        )
        (first,) = self.all_told('first')
        self.assertEqual(['gold', 'blue'], first['tags'])

    def test_one_narrow_query_for_a_new_stack_and_none_when_it_is_known(self):
        (first,), (second,) = map(self.statements, ('first', 'second'))
        self.assertEqual([], second)
        (tags,) = first
        self.assertRegex(tags, r'^SELECT stack_tag\.tag\b[^,]*FROM stack_tag ')

    def test_the_log_has_neither_errors_nor_warnings_of_this_package(self):
        self.assert_quiet()


class TestLegacyEngine(_Offer, base.ScenarioCase):
    convergence = False

    def test_a_replacement_is_not_told(self):
        self.assertEqual(
            ['create', None],
            [told['action'] for told in self.all_told('changed')],
        )

    def test_tags_are_not_told_with_the_reason(self):
        for told in self.all_told('changed'):
            self.assertIn('convergence_engine = false', told['tags'])

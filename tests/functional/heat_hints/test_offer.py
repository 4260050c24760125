# SPDX-License-Identifier: Apache-2.0

"""What providers are offered about a stack, what it costs, and ``group``."""

import itertools
import json

from testing.heat import loopback
from testing.heat.templates import (
    group,
    instance,
    scaled,
    server,
    stack,
    template,
    texts,
)
from tests.functional.heat_hints import base

#: A provider that sends what it is offered, and how many statements of its
#: own thread, which no other call has, that took.
TELLING = (
    base.PROVIDER
    + """
import dataclasses
import functools
import json
import threading

import sqlalchemy

thread = threading.local()


def count(connection, cursor, statement, *args):
    thread.count = getattr(thread, 'count', 0) + ('FROM' in statement)


# Before the engine sends statements.
sqlalchemy.event.listen(
    sqlalchemy.engine.Engine, 'before_cursor_execute', count
)


def describe(request):
    return {
        'action': request.action,
        'flavor': request.flavor,
        'image': request.image,
        'zone': request.availability_zone,
        'parameters': request.parameters(),
        'siblings': [
            or_error(request.siblings, above)
            for above in range(len(request.path))
        ],
    }


def or_error(ask, *args):
    try:
        return ask(*args)
    except Exception as exc:
        return str(exc)


def plain(value):
    if isinstance(value, frozenset):
        return sorted(value)
    return dataclasses.asdict(value)


class Telling(Provider):
    def hints(self, request):
        offer = describe(request)
        count = getattr(thread, 'count', 0)
        # As an engine that has just started finds them.
        facts = type(request.siblings.func.__self__)()
        fresh = dataclasses.replace(
            request,
            siblings=functools.partial(
                facts._find_siblings, *request.siblings.args
            ),
        )
        assert offer == describe(fresh)
        return {'offer': json.dumps(offer, default=plain), 'statements': count}
"""
)

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
            changed={
                **server(
                    name='changed',
                    hints={'tier': hint},
                    flavor={'get_param': 'flavor'},
                    image={'list_join': ['', ['cir', 'ros']]},
                    availability_zone='nova',
                ),
                'depends_on': 'nested',
            },
            # It asks after "first", too.
            amazon={**instance(), 'depends_on': 'nested'},
        ),
        'parameters': PARAMETERS,
    }


FILES = {
    'inner.yaml': {
        **template(
            first=server(name='first'),
            second={**server(name='second'), 'depends_on': 'first'},
        ),
        'parameters': {'name': {'type': 'string'}},
    }
}
RACKS = ('r1', 'r2', 'r3')


def member(group, **more):
    """Return a server that names a group."""
    return server(metadata={'placement_group': group}, **more)


def groups(count):
    """Return a template with groups of so many members, and servers."""
    cell = {'type': 'cell.yaml', 'metadata': {'placement_group': 'cells'}}
    flavor = {'get_param': 'flavor'}
    return {
        **template(
            zeta=member({'get_param': 'group'}, name='zeta', flavor=flavor),
            alpha=member(
                {'get_attr': ['zeta', 'name']},
                availability_zone={'get_attr': ['zeta', 'show', 'az']},
            ),
            hidden=member({'get_param': 'password'}),
            odd=member(['x', {'y': None}]),
            long=member('x' * 256),
            b=member('mixed'),
            a=member('mixed'),
            left_out={**server(), 'condition': {'equals': ['a', 'b']}},
            members=group(
                count, member('members', flavor=flavor), depends_on='zeta'
            ),
            scaled=scaled(count, member('scaled')),
            cells=group(count, cell),
        ),
        'parameters': {
            'flavor': {'type': 'string', 'default': loopback.FLAVOR},
            'group': {'type': 'string', 'default': 'web'},
            'password': {'type': 'string', 'default': 'x', 'hidden': True},
        },
    }


CELL = {'cell.yaml': template(web=server(), db=server())}
#: Names that are numbers, and no group has given them.
TENS = {name: member('tens') for name in ('10', '40', '70')}


class _Offer:
    options = {'providers': 'telling,group', 'group_places': ','.join(RACKS)}
    files = {'providers_for_tests.py': TELLING}
    entry_points = {'heat_hints.providers': base.providers(TELLING)}
    stacks = (
        stack(
            'root',
            root('one'),
            files=FILES,
            environment={'parameters': {'many': 4}},
            steps=[('update', root('two'), {'files': texts(FILES)})],
        ),
    )

    def offers(self, name, hint='offer'):
        """Return what each request of a resource was offered, in order."""
        return [
            json.loads(request.hints[hint])
            for request in self.outcome.sent_for('root')
            if request.hints['heat_resource_name'] == name
        ]

    def test_a_server_is_told_as_its_template_describes_it(self):
        for name, zone in (
            ('changed', 'nova'),
            ('first', None),
            ('amazon', None),
        ):
            offer = self.offers(name)[0]
            self.assertEqual('create', offer['action'])
            self.assertEqual(loopback.FLAVOR, offer['flavor'])
            self.assertEqual('cirros', offer['image'])
            self.assertEqual(zone, offer['zone'])

    def test_parameters_are_those_of_the_own_stack_but_hidden_ones(self):
        before, after = self.offers('changed')
        (first,) = self.offers('first')
        plain = {'flavor': loopback.FLAVOR, 'sizes': {'small': [1, 2]}}
        self.assertEqual({**plain, 'many': 4}, before['parameters'])
        self.assertEqual({**plain, 'many': 3}, after['parameters'])
        self.assertEqual({'name': 'inside'}, first['parameters'])


class TestConvergence(_Offer, base.ScenarioCase):
    stacks = (
        *_Offer.stacks,
        stack(
            'groups',
            groups(2),
            files=CELL,
            steps=[('update', groups(4), {'files': texts(CELL)})],
        ),
        stack(
            'tens',
            template(**TENS, **{'20': {'type': 'tens.yaml'}}),
            files={'tens.yaml': template(**TENS)},
        ),
    )

    def test_a_replacement_is_told_as_such(self):
        actions = [offer['action'] for offer in self.offers('changed')]
        self.assertEqual(['create', 'replacement'], actions)

    def test_two_queries_for_a_new_stack_and_none_when_it_is_known(self):
        # Of all servers "first" is the first to ask.
        self.assertEqual([2], self.offers('first', 'statements'))
        self.assertEqual([0], self.offers('second', 'statements'))

    def hints_in(self, *path, stack='groups'):
        """Return the hints sent in the stacks of a resource, by name."""
        by_name = {}
        for request in self.outcome.sent_for(stack):
            steps = request.hints['heat_path_in_stack']
            steps = steps[1:] if isinstance(steps, list) else []
            if [step.partition(',')[0] for step in steps] == [*path]:
                by_name[request.hints['heat_resource_name']] = request.hints
        return by_name

    def siblings_in(self, *path):
        """Return the siblings that servers of these stacks were offered."""
        siblings = {}
        for name, hints in self.hints_in(*path).items():
            siblings[name] = json.loads(hints['offer'])['siblings']
        return siblings

    def test_servers_of_a_root_stack_see_its_resources(self):
        self.assert_created('groups', action='UPDATE')
        siblings = self.siblings_in()
        self.assertEqual(
            {'zeta', 'alpha', 'hidden', 'odd', 'long', 'b', 'a'}, set(siblings)
        )
        (level,) = siblings['zeta']
        for levels in siblings.values():
            self.assertEqual([level], levels)
        server_type, group_type = 'OS::Nova::Server', 'OS::Heat::ResourceGroup'
        keys = ('name', 'resource_type', 'flavor', 'group', 'requires')
        descriptions = []
        for sibling in level:
            descriptions.append(tuple(sibling[key] for key in keys))
        flavor = loopback.FLAVOR
        self.assertEqual(
            [
                ('zeta', server_type, flavor, 'web', []),
                ('alpha', server_type, flavor, None, ['zeta']),
                ('hidden', server_type, flavor, None, []),
                ('odd', server_type, flavor, None, []),
                ('long', server_type, flavor, 'x' * 256, []),
                ('b', server_type, flavor, 'mixed', []),
                ('a', server_type, flavor, 'mixed', []),
                ('members', group_type, None, None, ['zeta']),
                ('scaled', 'OS::Heat::AutoScalingGroup', None, None, []),
                ('cells', group_type, None, None, []),
            ],
            descriptions,
        )
        self.assertEqual({None}, {sibling['index'] for sibling in level})

    def test_members_of_a_group_see_each_other_and_what_is_above(self):
        siblings = self.siblings_in('members')
        self.assertEqual({'0', '1', '2', '3'}, set(siblings))
        for name, count in (('0', 2), ('1', 2), ('2', 4), ('3', 4)):
            members, above = siblings[name]
            self.assertEqual(list(range(count)), [m['index'] for m in members])
            self.assertEqual(
                {('members', loopback.FLAVOR)},
                {(m['group'], m['flavor']) for m in members},
            )
            self.assertEqual('zeta', above[0]['name'])

    def test_members_of_a_scaled_group_see_each_other_in_one_order(self):
        siblings = self.siblings_in('scaled')
        self.assertEqual(4, len(siblings))
        orders = set()
        for members, _ in siblings.values():
            orders.add(tuple(member['name'] for member in members))
        # One order for those that were made together; when more come, the
        # older ones stay before them.
        before, after = sorted(orders, key=len)
        self.assertEqual(set(siblings), set(after))
        self.assertEqual(set(before), set(after[: len(before)]))

    def test_a_server_of_a_nested_stack_sees_the_group_of_stacks(self):
        for cell, count in (('0', 2), ('3', 4)):
            siblings = self.siblings_in('cells', cell)
            servers, cells, above = siblings['web']
            self.assertEqual(['web', 'db'], [s['name'] for s in servers])
            self.assertEqual(
                [(n, 'cells', 'cell.yaml') for n in range(count)],
                [(s['index'], s['group'], s['resource_type']) for s in cells],
            )
            self.assertEqual('zeta', above[0]['name'])
            self.assertEqual(
                [None, 'cells', cell],
                [step['resource'] for step in servers[0]['path']],
            )

    def assert_in_turn(self, group, *hints, each=1):
        """Fail unless members have the racks in turn, from any rack on."""
        self.assertEqual({group}, {h['heat_group'] for h in hints})
        places = sorted(
            (int(h['heat_group_rank']), h['heat_group_place']) for h in hints
        )
        first = RACKS.index(places[0][1])
        expected = []
        for rank in range(len(places) // each):
            rack = RACKS[(first + rank) % len(RACKS)]
            expected += [(rank, rack)] * each
        self.assertEqual(expected, places)

    def test_members_have_the_racks_in_turn_when_more_come(self):
        for name in ('members', 'scaled'):
            self.assert_in_turn(name, *self.hints_in(name).values())
        # All servers of a nested stack have the place of the stack.
        cells = [self.hints_in('cells', str(n)).values() for n in range(4)]
        self.assert_in_turn('cells', *itertools.chain(*cells), each=2)

    def test_members_without_numbers_have_the_order_of_the_template(self):
        self.assert_created('tens')
        hints = self.hints_in()
        self.assert_in_turn('mixed', hints['b'], hints['a'])
        self.assertEqual('0', hints['b']['heat_group_rank'])
        for path in ((), ('20',)):
            hints = self.hints_in(*path, stack='tens')
            self.assert_in_turn('tens', *hints.values())

    def test_a_server_of_no_group_or_of_too_long_a_name_has_no_place(self):
        hints = self.hints_in()
        for name in ('hidden', 'long'):
            self.assertNotIn('heat_group', hints[name])
        self.assertEqual([], self.outcome.lines('ERROR'))
        (warning,) = self.outcome.lines('WARNING')
        self.assertIn('256 characters, more than 255', warning)


class TestLegacyEngine(_Offer, base.ScenarioCase):
    convergence = False

    def test_neither_replacements_nor_siblings_are_told(self):
        offers = self.offers('changed')
        self.assertEqual(['create', None], [o['action'] for o in offers])
        for offer in offers:
            for error in offer['siblings']:
                self.assertIn('convergence_engine = false', error)

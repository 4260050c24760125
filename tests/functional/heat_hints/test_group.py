# SPDX-License-Identifier: Apache-2.0

"""The provider ``group`` on the real engine."""

from testing.heat.templates import (
    group,
    scaled,
    server,
    stack,
    template,
    texts,
)
from tests import signing
from tests.functional.heat_hints import base

KEY = 'an-example-key-of-32-characters.'
RACKS = ('r1', 'r2', 'r3')

#: The provider, and each answer again from an engine that has just started.
TWICE = """
import dataclasses
import functools

from heat_hints.providers.group import GroupProvider


class Twice(GroupProvider):
    def __init__(self, conf):
        super().__init__(conf)
        self.conf = conf

    def hints(self, request):
        offers = type(request.siblings.func.__self__)()
        find = functools.partial(offers._find, *request.siblings.args)
        other = GroupProvider(self.conf)
        fresh = other.hints(dataclasses.replace(request, siblings=find))
        found = super().hints(request)
        assert found == fresh
        return {**found, 'asked': 'twice'}
"""


def member(group=None):
    """Return a server that names a group."""
    return server(metadata={'placement_group': group} if group else None)


def groups(count):
    """Return a template with groups of so many members."""
    cell = {'type': 'cell.yaml', 'metadata': {'placement_group': 'cells'}}
    return template(
        numbered=group(count, member('numbered')),
        scaled=scaled(count, member('scaled')),
        cells=group(count, cell),
        b=member('mixed'),
        a=member('mixed'),
        c=member('mixed'),
        alone=member(),
        long=member('x' * 256),
    )


TENS = {name: member('tens') for name in ('10', '40', '70')}
FILES = {'cell.yaml': template(one=member(), two=member())}


class TestGroup(base.ScenarioCase):
    options = {
        'providers': 'twice',
        'group_places': ','.join(RACKS),
        'signing_key': KEY,
    }
    files = {'twice_for_tests.py': TWICE}
    entry_points = {'heat_hints.providers': {'twice': 'twice_for_tests:Twice'}}
    stacks = (
        stack(
            'web',
            groups(3),
            files=FILES,
            steps=[('update', groups(5), {'files': texts(FILES)})],
        ),
        # Names that are numbers, and no group has given them.
        stack(
            'tens',
            template(**TENS, **{'20': {'type': 'tens.yaml'}}),
            files={'tens.yaml': template(**TENS)},
        ),
    )

    def seats(self, name):
        """Return rank and place of each member of a group, by rank."""
        return sorted(
            (int(hints['heat_group_rank']), hints['heat_group_place'])
            for hints in (r.hints for r in self.outcome.sent_for('web'))
            if hints.get('heat_group') == name
        )

    def assert_in_turn(self, seats, members, each=1):
        """Fail unless members have the racks in turn, from any rack on."""
        ranks = [rank for rank, _ in seats]
        wanted = [n for n in range(members) for _ in range(each)]
        self.assertEqual(wanted, ranks)
        first = RACKS.index(seats[0][1])
        self.assertEqual(
            [RACKS[(first + rank) % len(RACKS)] for rank in ranks],
            [place for _, place in seats],
        )

    def test_all_servers_were_asked_for_twice_and_created(self):
        self.assert_created('web', action='UPDATE')
        asked = [
            request.hints['heat_resource_name']
            for request in self.outcome.sent_for('web')
            if 'asked' not in request.hints
        ]
        # Whose group has too long a name.
        self.assertEqual(['long'], asked)

    def test_members_with_numbers_have_the_racks_in_turn_when_more_come(self):
        self.assert_in_turn(self.seats('numbered'), 5)

    def test_members_of_a_scaled_group_have_the_racks_in_turn(self):
        self.assert_in_turn(self.seats('scaled'), 5)

    def test_all_servers_of_a_nested_stack_have_the_place_of_the_stack(self):
        self.assert_in_turn(self.seats('cells'), 5, each=2)

    def test_members_without_numbers_have_the_order_of_the_template(self):
        self.assert_in_turn(self.seats('mixed'), 3)
        ranks = {
            hints['heat_resource_name']: hints['heat_group_rank']
            for hints in (r.hints for r in self.outcome.sent_for('web'))
            if hints.get('heat_group') == 'mixed'
        }
        self.assertEqual({'b': '0', 'a': '1', 'c': '2'}, ranks)

    def test_names_that_are_numbers_are_no_ranks(self):
        self.assert_created('tens')
        seats = {(): [], ('20',): []}
        for hints in (r.hints for r in self.outcome.sent_for('tens')):
            path = hints['heat_path_in_stack']
            above = () if isinstance(path, str) or not path[1:] else ('20',)
            rank = int(hints['heat_group_rank'])
            seats[above].append((rank, hints['heat_group_place']))
        for found in seats.values():
            self.assert_in_turn(sorted(found), 3)

    def test_a_server_of_no_group_has_no_seat(self):
        (hints,) = (
            r.hints
            for r in self.outcome.sent_for('web')
            if r.hints['heat_resource_name'] == 'alone'
        )
        self.assertNotIn('heat_group', hints)

    def test_seats_are_signed(self):
        for request in self.outcome.sent_for('web'):
            hints = request.hints
            self.assertEqual(
                signing.signature(hints, request.project, KEY),
                hints['heat_signature'],
            )

    def test_too_long_a_name_is_told_and_is_not_sent(self):
        self.assertEqual([], self.outcome.errors())
        (warning,) = self.outcome.warnings()
        self.assertIn('256 characters, more than 255', warning)

# SPDX-License-Identifier: Apache-2.0

"""Where the members of a team are, and who is placed first."""

import datetime
import itertools
import json
import unittest
import uuid
from typing import Any

import ddt

from nova_filters.matching import inputs
from nova_filters.stacks import members
from os_placement_plugins import signature, stack_hints

TEAM = ('stack', 'root', 'project')
OTHER = ('stack', 'root', 'another')
START = datetime.datetime(2026, 11, 23)


def turn(number: int, seconds: int = 0, moves: bool = False) -> members.Turn:
    """Return a turn, so many seconds after the start."""
    time = START + datetime.timedelta(seconds=seconds)
    return members.Turn(moves, number, time)


def request(
    number: int, *teams: members.Team, shape: str = ''
) -> members.Request:
    """Return what a stored request says."""
    return members.Request(teams or (TEAM,), turn(number), shape)


def flavor(**fields: Any) -> dict[str, Any]:
    """Return a flavor as a stored request has it."""
    return {'nova_object.data': fields}


def image(**properties: Any) -> dict[str, Any]:
    """Return an image as a stored request has it."""
    data = {'id': 'image', 'properties': {'nova_object.data': properties}}
    return {'nova_object.data': data}


#: Every combination of filters.
RULES = [
    members.Rules(aggregates, images, frozenset({'isolated'}), groups)
    for aggregates, images, groups in itertools.product(
        (False, True), repeat=3
    )
]


@ddt.ddt
class TurnTest(unittest.TestCase):
    """Which of two servers is placed first."""

    @ddt.data(
        # Boots: the id, whatever the clocks of the hosts of nova-api say.
        (turn(1, 5), turn(2, 4), True),
        (turn(2, 4), turn(1, 5), False),
        # Moves: the time, because each cell has ids of its own.
        (turn(9, 4, True), turn(2, 5, True), True),
        (turn(1, 4, True), turn(2, 4, True), True),
        (turn(2, 4, True), turn(1, 4, True), False),
        # A boot and a move.
        (turn(9, 4, True), turn(2, 5), True),
        (turn(9, 4), turn(2, 5, True), True),
        (turn(9, 5), turn(2, 4, True), False),
        # What takes longer than ten minutes has failed.
        (turn(1), turn(2, 600), True),
        (turn(1), turn(2, 601), False),
        (turn(1, 0, True), turn(2, 601, True), False),
    )
    @ddt.unpack
    def test_ids_order_boots_and_times_order_moves(
        self, turn_of_server, turn_of_other, is_before
    ) -> None:
        self.assertEqual(is_before, turn_of_server.before(turn_of_other))

    def test_no_server_is_placed_before_itself(self) -> None:
        for turn_of_server in (turn(1), turn(1, moves=True)):
            self.assertFalse(turn_of_server.before(turn_of_server))


class TeamTest(unittest.TestCase):
    """The teams whose members are spread or packed."""

    def test_a_team_is_text(self) -> None:
        number = uuid.UUID(int=7)
        self.assertEqual(
            ('soft-affinity', str(number)),
            members.of_group('soft-affinity', number),
        )
        self.assertIsNone(members.of_group('affinity', number))
        hints = stack_hints.StackHints(root_stack_id='root')
        self.assertEqual(('stack', 'root', 'None'), members.of_stack(hints))
        self.assertIsNone(members.of_stack(stack_hints.StackHints()))


@ddt.ddt
class ServerTest(unittest.TestCase):
    """Where a server is, by what its cell says."""

    BOOT, MOVE = turn(1), turn(2, moves=True)

    @ddt.data(
        (BOOT, None, 'building'),
        ('a', 'a', 'building'),
        ('a', 'a', 'stopped'),
        ('a', 'a', 'error'),
        (None, None, 'error'),
        (None, None, 'shelved_offloaded'),
        (MOVE, None, 'shelved_offloaded', 'unshelve', MOVE),
        ('b', 'b', 'shelved_offloaded', 'unshelve', MOVE),
        (MOVE, 'a', 'active', 'evacuate', MOVE),
        ('b', 'a', 'active', 'evacuate', MOVE, 'b'),
        ('b', 'b', 'resized', 'resize', MOVE, 'b'),
    )
    def test_a_server_is_where_it_goes(self, case) -> None:
        position, *facts = case
        server = members.Server('project', *facts)
        if isinstance(position, members.Turn) and position.moves:
            position = position._replace(origin=server.host)
        self.assertEqual(position, server.position(self.BOOT))


class SeeTest(unittest.TestCase):
    """What the request for a server sees of its team."""

    def see(self, **positions: Any) -> members.Sight:
        """Return what the request of m5 sees.

        :param positions: of the servers m1 to m5, a stranger and a giant.
        """
        requests = {f'm{n}': request(n) for n in range(1, 6)} | {
            'stranger': request(1, OTHER),
            'giant': request(1, shape='giant'),
            'none': None,
        }
        all_positions = {'m5': turn(5)} | positions
        return members.see(TEAM, 'm5', requests, all_positions)

    def test_a_member_counts_on_its_host(self) -> None:
        sight = self.see(m1='a', m2='a', m3='b', stranger='c', none='c')
        self.assertEqual({'a': 2, 'b': 1}, sight.counts)
        self.assertEqual(([], ()), (sight.ahead, sight.unread))

    def test_a_member_in_flight_is_placed_before_later_ones(self) -> None:
        for ahead, positions in (
            (2, {'m1': turn(1), 'm4': turn(4)}),
            (1, {'m1': turn(1), 'm4': turn(6)}),
            (0, {'stranger': turn(1), 'none': turn(1)}),
            # Other candidates are placed elsewhere.
            (0, {'giant': turn(1)}),
            # A server on a host counts itself nowhere.
            (1, {'m5': 'a', 'm4': turn(4)}),
        ):
            sight = self.see(**positions)
            self.assertEqual({}, sight.counts)
            self.assertEqual(ahead, len(sight.ahead), positions)

    def test_members_ahead_come_in_the_order_of_their_turns(self) -> None:
        requests = {
            f'm{number}': request(number)._replace(flavor=(number,))
            for number in range(1, 6)
        }
        boots = {'m5': turn(5), 'm3': turn(3, 1), 'm2': turn(2, 2)}
        sight = members.see(TEAM, 'm5', requests, boots)
        self.assertEqual([(2,), (3,)], sight.ahead)
        # With a move among them, the times decide.
        moves = {'m1': turn(9, 3, moves=True), **boots, 'm5': turn(5, 9)}
        sight = members.see(TEAM, 'm5', requests, moves)
        self.assertEqual([(3,), (2,), (1,)], sight.ahead)

    def test_a_move_that_has_gone_nowhere_leaves_its_server(self) -> None:
        stuck = turn(1, moves=True)._replace(origin='a')
        for seconds, counts, ahead in ((600, {}, 1), (601, {'a': 1}, 0)):
            sight = self.see(m1=stuck, m5=turn(5, seconds))
            self.assertEqual(counts, sight.counts)
            self.assertEqual(ahead, len(sight.ahead))
        # A server that is in no cell is nowhere.
        sight = self.see(m1=turn(1), m5=turn(5, 601))
        self.assertEqual(({}, []), (sight.counts, sight.ahead))

    def test_a_request_that_is_not_visible_comes_last(self) -> None:
        positions = {'m1': turn(1), 'm9': turn(9), 'giant': turn(1)}
        requests = {'m1': request(1), 'm9': request(9), 'giant': request(1)}
        sight = members.see(TEAM, 'new', requests, positions)
        self.assertEqual(3, len(sight.ahead))

    def test_a_request_that_is_not_visible_is_like_the_last_one(self) -> None:
        positions = {'m1': turn(1), 'm8': turn(8), 'm9': turn(9)}
        requests = {
            'm1': request(1, shape='last'),
            'm8': request(8, shape='other'),
            'm9': request(9, shape='last'),
        }
        sight = members.see(TEAM, 'new', requests, positions)
        self.assertEqual('last', sight.shape)
        self.assertEqual(2, len(sight.ahead))


@ddt.ddt
class ReadTest(unittest.TestCase):
    """What a stored request says."""

    def read(
        self, rules: members.Rules = RULES[0], **changes: Any
    ) -> members.Request:
        """Return what is read from a stored request with these changes."""
        data = {
            'project_id': 'project',
            'scheduler_hints': {'heat_root_stack_id': ['root']},
            'instance_group': None,
            'availability_zone': None,
            'flavor': flavor(extra_specs={'a': 'b'}, memory_mb=64),
            'image': {'nova_object.data': {'id': 'image'}},
            **changes,
        }
        text = json.dumps({'nova_object.data': data})
        keys = signature.Keys()
        return members.read_request(7, START, text, keys, rules)

    def test_stack_and_group_are_its_teams(self) -> None:
        group = {'policy': 'soft-affinity', 'uuid': 'group'}
        stored = self.read(instance_group={'nova_object.data': group})
        self.assertEqual((TEAM, ('soft-affinity', 'group')), stored.teams)
        self.assertEqual(members.Turn(False, 7, START), stored.turn)
        group['policy'] = 'anti-affinity'
        stored = self.read(instance_group={'nova_object.data': group})
        self.assertEqual((TEAM,), stored.teams)

    @ddt.data(
        {'availability_zone': 'z'},
        {'scheduler_hints': {'different_host': ['x']}},
        {'force_hosts': ['a']},
        {'force_nodes': ['a']},
        {'flavor': flavor(extra_specs={'a': 'b', 'trait:X': 'required'})},
        {'flavor': flavor(extra_specs={'a': 'b', 'hw:cpu_policy': 'x'})},
        {'image': image(hw_architecture='aarch64')},
    )
    def test_what_decides_the_candidates_is_its_shape(self, changes) -> None:
        for rules in RULES:
            shapes = self.read(rules).shape, self.read(rules, **changes).shape
            self.assertNotEqual(*shapes, rules)

    @ddt.data(
        {'image': {'nova_object.data': {'id': 'other'}}},
        {'scheduler_hints': {'heat_root_stack_id': 'x', 'role': 'db'}},
        {'scheduler_hints': {'heat_resource_name': 'other'}},
        {'flavor': flavor(extra_specs={'a': 'b'}, memory_mb=1)},
        {
            'flavor': flavor(
                extra_specs={
                    'a': 'b',
                    'quota:cpu_shares': '9',
                    'nova_filters:max_skew': '1',
                    'aggregate_preferred:disk': 'ssd',
                }
            )
        },
    )
    def test_what_chooses_no_host_is_no_part_of_the_shape(
        self, changes
    ) -> None:
        for rules in RULES:
            shapes = self.read(rules).shape, self.read(rules, **changes).shape
            self.assertEqual(*shapes, rules)

    def test_what_a_filter_compares_is_part_of_the_shape(self) -> None:
        flavors = [
            flavor(extra_specs={'a': 'b'}),
            flavor(extra_specs={f'{inputs.SCOPE}a': 'c'}),
        ]
        # The filter here says which candidates a flavor may have.
        for rules in RULES:
            shapes = {
                self.read(rules, flavor=extra_specs).shape
                for extra_specs in flavors
            }
            self.assertEqual(rules.aggregates, len(shapes) == 1)
            images = [image(os_type='linux'), image(os_type='windows')]
            shapes = {
                self.read(rules, image=properties).shape
                for properties in images
            }
            self.assertEqual(not rules.images, len(shapes) == 1)

    def test_groups_that_count_or_are_hard_are_part_of_the_shape(self) -> None:
        for policy, is_soft in (('soft-affinity', True), ('affinity', False)):
            groups = [
                {'nova_object.data': {'policy': policy, 'uuid': uuid}}
                for uuid in 'ab'
            ]
            for rules in RULES:
                shapes = {
                    self.read(rules, instance_group=group).shape
                    for group in (None, *groups)
                }
                expected = 1
                if rules.groups or not is_soft:
                    expected = 3
                self.assertEqual(expected, len(shapes), rules)

    def test_isolated_images_are_part_of_the_shape(self) -> None:
        image = {'nova_object.data': {'id': 'isolated'}}
        for rules in RULES:
            shapes = (
                self.read(rules).shape,
                self.read(rules, image=image).shape,
            )
            self.assertNotEqual(*shapes, rules)

    def test_nothing_of_a_tenants_text_is_kept(self) -> None:
        hints = {'heat_root_stack_id': 'root', 'different_host': 'x' * 10_000}
        stored = self.read(scheduler_hints=hints)
        self.assertLess(len(repr(stored)), 1_000)

    def test_the_order_of_extra_specs_is_no_part_of_the_shape(self) -> None:
        shapes = {
            self.read(flavor=flavor(extra_specs=specs)).shape
            for specs in ({'a': '1', 'b': '2'}, {'b': '2', 'a': '1'})
        }
        self.assertEqual(1, len(shapes))

    @ddt.data({'scheduler_hints': 1}, {'flavor': None}, {'image': 'x'})
    def test_what_cannot_be_read_may_be_in_its_team(self, changes) -> None:
        unreadable = self.read(**changes)
        self.assertIsNone(unreadable.teams)
        positions = {'m1': 'a'}
        for team, unread in (
            (('stack', 'image', 'project'), ('server m1',)),
            (('stack', 'stranger', 'project'), ()),
            (('stack', 'image', 'victim'), ()),
        ):
            sight = members.see(team, 'm2', {'m1': unreadable}, positions)
            self.assertEqual(({}, unread), (sight.counts, sight.unread))

    @ddt.data('', '{', '[1]', '{"nova_object.data": 1}')
    def test_what_is_no_request_is_in_no_team(self, text: str) -> None:
        keys = signature.Keys()
        unreadable = members.read_request(7, START, text, keys, RULES[0])
        self.assertIsNone(unreadable.teams)

    def test_a_server_may_have_no_image(self) -> None:
        self.assertEqual((TEAM,), self.read(image=None).teams)

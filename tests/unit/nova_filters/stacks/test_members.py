# SPDX-License-Identifier: Apache-2.0

"""Where the members of a team are, and who is placed first."""

import datetime
import json
import unittest
import uuid
from typing import Any

import ddt

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


#: Properties of an image, as a stored request has them.
WINDOWS = {'properties': {'nova_object.data': {'os_type': 'windows'}}}


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
        self, one, other, wanted
    ) -> None:
        self.assertEqual(wanted, one.before(other))

    def test_no_server_is_placed_before_itself(self) -> None:
        for own in (turn(1), turn(1, moves=True)):
            self.assertFalse(own.before(own))


class TeamTest(unittest.TestCase):
    """The teams whose members are spread or packed."""

    def test_a_preference_for_affinity_packs(self) -> None:
        policies = {'soft-affinity': True, 'soft-anti-affinity': False}
        self.assertEqual(policies, members.POLICIES)

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
        wanted, *told = case
        self.assertEqual(wanted, members.Server(*told).position(self.BOOT))


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
        found = {'m5': turn(5)} | positions
        return members.see(TEAM, 'm5', requests, found)

    def test_a_member_counts_on_its_host(self) -> None:
        sight = self.see(m1='a', m2='a', m3='b', stranger='c', none='c')
        self.assertEqual(({'a': 2, 'b': 1}, 0, ()), sight)

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
            found = self.see(**positions)
            self.assertEqual(({}, ahead, ()), found, positions)

    def test_a_request_that_is_not_visible_comes_last(self) -> None:
        positions = {'m1': turn(1), 'm9': turn(9), 'giant': turn(1)}
        requests = {'m1': request(1), 'm9': request(9), 'giant': request(1)}
        found = members.see(TEAM, 'new', requests, positions)
        self.assertEqual(3, found.ahead)


@ddt.ddt
class ReadTest(unittest.TestCase):
    """What a stored request says."""

    def read(self, **changes: Any) -> members.Request:
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
        return members.read_request(7, START, text, signature.Keys())

    def test_stack_and_group_are_its_teams(self) -> None:
        group = {'policy': 'soft-affinity', 'uuid': 'group'}
        found = self.read(instance_group={'nova_object.data': group})
        self.assertEqual((TEAM, ('soft-affinity', 'group')), found.teams)
        self.assertEqual(members.Turn(False, 7, START), found.turn)
        group['policy'] = 'anti-affinity'
        found = self.read(instance_group={'nova_object.data': group})
        self.assertEqual((TEAM,), found.teams)

    @ddt.data(
        ({'availability_zone': 'z'}, False),
        ({'scheduler_hints': {'heat_root_stack_id': 'x', 'q': '1'}}, False),
        ({'scheduler_hints': {'heat_group_place': 'r1'}}, False),
        ({'force_hosts': ['a']}, False),
        ({'image': {'nova_object.data': {'id': 'other'}}}, True),
        ({'scheduler_hints': {'heat_resource_name': 'other'}}, True),
        ({'flavor': flavor(extra_specs={'a': 'b'}, memory_mb=1)}, True),
        ({'flavor': flavor(extra_specs={})}, False),
        ({'image': {'nova_object.data': {'id': 'image', **WINDOWS}}}, False),
    )
    @ddt.unpack
    def test_what_decides_on_candidates_is_its_shape(
        self, changes, same
    ) -> None:
        one, other = self.read(), self.read(**changes)
        self.assertEqual(same, one.shape == other.shape)

    def test_the_order_of_extra_specs_is_no_part_of_the_shape(self) -> None:
        shapes = {
            self.read(flavor=flavor(extra_specs=specs)).shape
            for specs in ({'a': '1', 'b': '2'}, {'b': '2', 'a': '1'})
        }
        self.assertEqual(1, len(shapes))

    @ddt.data({'scheduler_hints': 1}, {'flavor': None}, {'image': 'x'})
    def test_what_cannot_be_read_may_be_in_its_team(self, changes) -> None:
        found = self.read(**changes)
        self.assertIsNone(found.teams)
        positions = {'m1': 'a'}
        for team, unread in (
            (('stack', 'image', 'project'), ('m1',)),
            (('stack', 'stranger', 'project'), ()),
            (('stack', 'image', 'victim'), ()),
        ):
            sight = members.see(team, 'm2', {'m1': found}, positions)
            self.assertEqual(({}, 0, unread), sight)

    @ddt.data('', '{', '[1]', '{"nova_object.data": 1}')
    def test_what_is_no_request_is_in_no_team(self, text: str) -> None:
        found = members.read_request(7, START, text, signature.Keys())
        self.assertIsNone(found.teams)

    def test_a_server_may_have_no_image(self) -> None:
        self.assertEqual((TEAM,), self.read(image=None).teams)

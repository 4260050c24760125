# SPDX-License-Identifier: Apache-2.0

import collections
import unittest
from collections.abc import Sequence

import hypothesis
from hypothesis import strategies as st

from heat_hints.deciding import plan
from heat_hints.deciding.resource import Sibling
from os_placement_plugins.stack_hints import PathStep

RACKS = ('r1', 'r2', 'r3')


def sibling(name: str, group: str | None, index: int | None = None) -> Sibling:
    return Sibling(
        name=name,
        resource_type='OS::Nova::Server',
        path=(PathStep(None, 'web'),),
        index=index,
        flavor=None,
        group=group,
        requires=frozenset(),
    )


def numbered(numbers: Sequence[int]) -> list[Sibling]:
    return [sibling(str(n), 'members', n) for n in numbers]


def find_members(
    siblings: Sequence[Sibling], places: Sequence[str] = RACKS
) -> dict[str, plan.Member]:
    members = {}
    for resource in siblings:
        name = resource.name
        member = plan.find_member(siblings, name, 'id-root', places)
        if member is not None:
            members[name] = member
    return members


#: Resources of a template, each in one of two groups or in none.
stacks = st.dictionaries(
    st.text(max_size=5), st.sampled_from(['a', 'b', None]), max_size=20
).map(lambda groups: [sibling(*item) for item in groups.items()])
places_lists = st.lists(st.text(max_size=3), min_size=1, max_size=5)


class TestFindMember(unittest.TestCase):
    def test_members_take_the_places_in_turn(self) -> None:
        members = find_members(numbered(range(6)))
        places = [members[str(n)].place for n in range(6)]
        self.assertEqual(set(RACKS), set(places[:3]))
        self.assertEqual(places[:3], places[3:])

    def test_a_place_is_the_same_in_each_process_and_version(self) -> None:
        # A change here moves the groups of every cloud.
        members = find_members(numbered(range(6)))
        self.assertEqual(plan.Member('members', 4, 'r2'), members['4'])
        members = find_members(
            [sibling(f's{n}', f'group{n}') for n in range(8)]
        )
        places = [members[f's{n}'].place for n in range(8)]
        self.assertEqual('r1 r2 r3 r3 r3 r1 r3 r1', ' '.join(places))

    def test_groups_begin_at_different_places(self) -> None:
        members = find_members(
            [sibling(str(n), f'group{n}') for n in range(30)]
        )
        self.assertEqual(
            set(RACKS), {member.place for member in members.values()}
        )

    def test_a_resource_that_names_no_group_or_is_gone_is_no_member(
        self,
    ) -> None:
        self.assertIsNone(
            plan.find_member([sibling('a', None)], 'a', 'id-root', RACKS)
        )
        self.assertIsNone(plan.find_member([], 'a', 'id-root', RACKS))

    @hypothesis.given(stacks, places_lists)
    def test_ranks_count_each_group_and_places_are_filled_evenly(
        self, siblings: list[Sibling], places: list[str]
    ) -> None:
        slots = [f'{n} {place}' for n, place in enumerate(places)]
        all_members = find_members(siblings, slots).values()
        for group in ('a', 'b'):
            members = [m for m in all_members if m.group == group]
            self.assertEqual(
                list(range(len(members))), [m.rank for m in members]
            )
            counts = collections.Counter(m.place for m in members)
            filled = [counts[slot] for slot in slots]
            self.assertLessEqual(max(filled) - min(filled), 1)

    @hypothesis.given(stacks, st.data())
    def test_other_resources_and_later_members_move_no_member(
        self, siblings: list[Sibling], data: st.DataObject
    ) -> None:
        more = list(siblings)
        place = data.draw(st.integers(0, len(more)))
        more.insert(
            place, sibling('longer', data.draw(st.none() | st.just('c')))
        )
        more.append(sibling('longest', 'a'))
        members = find_members(more)
        for name, member in find_members(siblings).items():
            self.assertEqual(member, members[name])

    @hypothesis.given(st.sets(st.integers(0, 50)), st.data())
    def test_members_with_numbers_keep_their_places_when_others_go(
        self, numbers: set[int], data: st.DataObject
    ) -> None:
        left = [n for n in sorted(numbers) if data.draw(st.booleans())]
        before = find_members(numbered(sorted(numbers)))
        for name, member in find_members(numbered(left)).items():
            self.assertEqual(before[name], member)

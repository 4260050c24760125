# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Which nodes are chosen, by which criterion."""

import random
import unittest

import ddt
import hypothesis
from hypothesis import strategies as st

from senlin_plugins import selection
from senlin_plugins.selection import Criterion, Fitness, Member

NODES = (
    Member('n1', 'A', created=3.0, profile_created='2', index=1),
    Member('n2', 'A', created=1.0, profile_created='3', index=2),
    Member('n3', 'B', created=2.0, profile_created='1', index=3),
    Member('n4', 'B', created=1.0, profile_created='3', index=4),
)

MEMBERS = st.lists(
    st.builds(
        Member,
        id=st.integers(0, 20).map(str),
        group=st.sampled_from(['A', 'B', 'C', None]),
        fitness=st.sampled_from(Fitness),
        created=st.sampled_from([0.0, 1.0, 2.5]),
        profile_created=st.sampled_from(['1', '2']),
        index=st.integers(-1, 3),
    ),
    max_size=12,
    unique_by=lambda member: member.id,
)
GROUPS = st.dictionaries(st.sampled_from('ABCD'), st.integers(0, 5))


def chosen(members, count, criterion, per_group=None, seed=1):
    """Select with a reproducible source of chance."""
    return selection.select(
        members, count, criterion, random.Random(seed), per_group
    )


@ddt.ddt
class Criteria(unittest.TestCase):
    @ddt.data(
        (Criterion.OLDEST_FIRST, ('n2', 'n4', 'n3')),
        (Criterion.YOUNGEST_FIRST, ('n1', 'n3', 'n2')),
        (Criterion.OLDEST_PROFILE_FIRST, ('n3', 'n1', 'n2')),
    )
    @ddt.unpack
    def test_order_with_equal_ages_by_index(self, criterion, wanted):
        self.assertEqual(wanted, chosen(NODES, 3, criterion).candidates)
        self.assertEqual(wanted, chosen(NODES[::-1], 3, criterion).candidates)

    def test_random_uses_the_given_source(self):
        picks = {
            chosen(NODES, 2, Criterion.RANDOM, seed=seed).candidates
            for seed in range(200)
        }
        # Every ordered pair of four nodes.
        self.assertEqual(12, len(picks))

    @ddt.data(*Criterion)
    def test_bad_nodes_go_first_then_those_never_created(self, criterion):
        members = [
            *NODES,
            Member('unborn', fitness=Fitness.UNBORN, index=5),
            Member('bad', fitness=Fitness.BAD, created=2.0, index=6),
        ]
        self.assertEqual(
            ('bad', 'unborn'), chosen(members, 2, criterion).candidates
        )


class PerGroup(unittest.TestCase):
    def test_the_criterion_applies_within_each_region(self):
        picked = chosen(NODES, 2, Criterion.YOUNGEST_FIRST, {'B': 1, 'A': 1})
        self.assertEqual(('n1', 'n3'), picked.candidates)
        self.assertEqual({}, picked.shortage)

    def test_a_short_region_gives_what_it_has_and_others_the_rest(self):
        picked = chosen(
            NODES, 4, Criterion.OLDEST_FIRST, {'A': 3, 'nowhere': 1}
        )
        self.assertEqual(('n2', 'n1', 'n4', 'n3'), picked.candidates)
        self.assertEqual({'A': 1, 'nowhere': 1}, picked.shortage)


class Properties(unittest.TestCase):
    @hypothesis.given(
        MEMBERS, st.integers(0, 15), st.sampled_from(Criterion), GROUPS
    )
    def test_never_too_many_never_one_twice_and_groups_get_their_count(
        self, members, count, criterion, per_group
    ):
        picked = chosen(members, count, criterion, per_group)
        ids = picked.candidates
        self.assertEqual(len(set(ids)), len(ids))
        self.assertLessEqual(set(ids), {member.id for member in members})
        wanted = max(count, sum(per_group.values()))
        self.assertEqual(min(wanted, len(members)), len(ids))
        for group, number in per_group.items():
            there = [m.id for m in members if m.group == group]
            missing = picked.shortage.get(group, 0)
            self.assertEqual(max(0, number - len(there)), missing)
            self.assertGreaterEqual(
                len(set(there) & set(ids)), number - missing
            )

    @hypothesis.given(
        MEMBERS,
        st.integers(0, 15),
        st.sampled_from([c for c in Criterion if c is not Criterion.RANDOM]),
        GROUPS,
        st.randoms(),
    )
    def test_the_order_of_the_nodes_does_not_matter(
        self, members, count, criterion, per_group, rng
    ):
        self.assertEqual(
            chosen(members, count, criterion, per_group),
            chosen(
                rng.sample(members, len(members)), count, criterion, per_group
            ),
        )

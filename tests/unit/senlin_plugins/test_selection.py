# SPDX-License-Identifier: Apache-2.0

"""Which nodes are chosen, by which criterion."""

import dataclasses
import datetime
import random
import unittest

import ddt
import hypothesis
from hypothesis import strategies as st

from senlin_plugins.planning import selection
from senlin_plugins.planning.selection import Criterion


def at(second):
    """Return a time of creation."""
    return datetime.datetime(2026, 11, 1, 0, 0, second, tzinfo=datetime.UTC)


@dataclasses.dataclass(frozen=True)
class Node:
    """As much of a node as the selection reads, and where it is."""

    id: str
    group: str | None = None
    index: int = -1
    created_at: datetime.datetime | None = at(0)
    profile_created_at: str | None = None
    status: str = 'ACTIVE'
    tainted: bool = False


NODES = (
    Node('n1', 'A', 1, at(3), '2'),
    Node('n2', 'A', 2, at(1), '3'),
    Node('n3', 'B', 3, at(2), '1'),
    Node('n4', 'B', 4, at(1), '3'),
)

CLUSTERS = st.lists(
    st.builds(
        Node,
        id=st.integers(0, 20).map(str),
        group=st.sampled_from(['A', 'B', 'C', None]),
        index=st.integers(-1, 3),
        created_at=st.sampled_from([None, at(0), at(1), at(2)]),
        profile_created_at=st.sampled_from([None, '1', '2']),
        status=st.sampled_from(['ACTIVE', 'ACTIVE', 'ERROR', 'WARNING']),
        tainted=st.sampled_from([False, False, False, True]),
    ),
    max_size=12,
    unique_by=lambda node: node.id,
)
GROUPS = st.dictionaries(st.sampled_from('ABCD'), st.integers(0, 5))
BY_AGE = [c for c in Criterion if c is not Criterion.RANDOM]


def chosen(nodes, count, criterion, per_group=None, seed=1):
    """Select with a reproducible source of chance."""
    return selection.select(
        nodes,
        count,
        criterion,
        random.Random(seed),
        [node.group for node in nodes],
        per_group,
    )


def fitness(node):
    """Tell what a node is worth: 0 when bad, 1 when not created, 2 else."""
    if node.tainted or node.status in ('ERROR', 'WARNING'):
        return 0
    return 1 if node.created_at is None else 2


def ranked(nodes, criterion):
    """Return the nodes in the order in which they should go: by sorting."""
    nodes = sorted(nodes, key=lambda node: (node.index, node.id))
    good = [node for node in nodes if fitness(node) == 2]
    if criterion is Criterion.OLDEST_PROFILE_FIRST:
        good.sort(key=lambda node: node.profile_created_at or '')
    else:
        good.sort(
            key=lambda node: node.created_at,
            reverse=criterion is Criterion.YOUNGEST_FIRST,
        )
    useless = [node for node in nodes if fitness(node) < 2]
    return sorted(useless, key=fitness) + good


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
        nodes = [
            *NODES,
            Node('unborn', index=5, created_at=None, status='INIT'),
            Node('tainted', index=6, created_at=at(2), tainted=True),
            Node('warning', index=7, created_at=at(2), status='WARNING'),
            Node('error', index=8, created_at=None, status='ERROR'),
        ]
        self.assertEqual(
            ('tainted', 'warning', 'error', 'unborn'),
            chosen(nodes, 4, criterion).candidates,
        )

    @ddt.data(*BY_AGE)
    def test_nodes_without_any_difference_go_by_id(self, criterion):
        nodes = [Node(name) for name in 'cab']
        self.assertEqual(('a', 'b'), chosen(nodes, 2, criterion).candidates)


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
        CLUSTERS, st.integers(0, 15), st.sampled_from(Criterion), GROUPS
    )
    def test_never_too_many_never_one_twice_and_groups_get_their_count(
        self, nodes, count, criterion, per_group
    ):
        picked = chosen(nodes, count, criterion, per_group)
        ids = picked.candidates
        self.assertEqual(len(set(ids)), len(ids))
        self.assertLessEqual(set(ids), {node.id for node in nodes})
        wanted = max(count, sum(per_group.values()))
        self.assertEqual(min(wanted, len(nodes)), len(ids))
        for group, number in per_group.items():
            there = [n.id for n in nodes if n.group == group]
            missing = picked.shortage.get(group, 0)
            self.assertEqual(max(0, number - len(there)), missing)
            self.assertGreaterEqual(
                len(set(there) & set(ids)), number - missing
            )

    @hypothesis.given(
        CLUSTERS, st.integers(0, 15), st.sampled_from(BY_AGE), GROUPS
    )
    def test_the_order_is_that_of_sorting_all_nodes(
        self, nodes, count, criterion, per_group
    ):
        wanted = []
        for group in sorted(per_group):
            there = [node for node in nodes if node.group == group]
            wanted += ranked(there, criterion)[: per_group[group]]
        missing = max(count, sum(per_group.values())) - len(wanted)
        rest = [node for node in nodes if node not in wanted]
        wanted += ranked(rest, criterion)[:missing]
        self.assertEqual(
            tuple(node.id for node in wanted),
            chosen(nodes, count, criterion, per_group).candidates,
        )

    @hypothesis.given(CLUSTERS, st.integers(0, 15), st.integers())
    def test_random_takes_those_of_no_use_first(self, nodes, count, seed):
        picked = chosen(nodes, count, Criterion.RANDOM, seed=seed).candidates
        worth = {node.id: fitness(node) for node in nodes}
        self.assertEqual(
            sorted(worth.values())[:count],
            [worth[node_id] for node_id in picked],
        )

    @hypothesis.given(
        CLUSTERS,
        st.integers(0, 15),
        st.sampled_from(BY_AGE),
        GROUPS,
        st.randoms(),
    )
    def test_the_order_of_the_nodes_does_not_matter(
        self, nodes, count, criterion, per_group, rng
    ):
        self.assertEqual(
            chosen(nodes, count, criterion, per_group),
            chosen(rng.sample(nodes, len(nodes)), count, criterion, per_group),
        )

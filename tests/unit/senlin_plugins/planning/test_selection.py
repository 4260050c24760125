# SPDX-License-Identifier: Apache-2.0

import datetime
import functools
import unittest

import ddt
import hypothesis
from hypothesis import strategies as st

from senlin_plugins.planning import selection
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.selection import Criterion, select_nodes


def at(second):
    return datetime.datetime(2026, 11, 1, 0, 0, second, tzinfo=datetime.UTC)


#: A node that was created.
Node = functools.partial(selection.Node, created_at=at(0))

CLUSTERS = st.lists(
    st.builds(
        selection.Node,
        id=st.integers(0, 20).map(str),
        region=st.sampled_from(['A', 'B', 'C', '']),
        zone=st.sampled_from(['A', 'B', 'C', None]),
        position=st.integers(-1, 3),
        created_at=st.sampled_from([None, at(0), at(1), at(2)]),
        profile_created_at=st.sampled_from([None, '1', '2']),
        status=st.sampled_from(['ACTIVE', 'ACTIVE', 'ERROR', 'WARNING']),
        tainted=st.sampled_from([False, False, False, True]),
        lot=st.sampled_from([0.1, 0.2, 0.3]),
    ),
    max_size=12,
    unique_by=lambda node: node.id,
)
GROUPS = st.dictionaries(st.sampled_from('ABCD'), st.integers(0, 5))
CRITERIA = st.sampled_from(Criterion)
STRANGERS = "The 'candidates' 'x, y' are not in the cluster."


def fitness(node):
    """Tell what a node is worth: bad ones first, those never created first."""
    bad = node.tainted or node.status in ('ERROR', 'WARNING')
    return not bad, node.created_at is not None


def ranked(nodes, criterion):
    """Return the nodes in the order in which they should go: by comparing."""
    sign = -1 if criterion is Criterion.YOUNGEST_FIRST else 1

    def worth(node):
        age = (node.created_at or at(0)).timestamp() * sign
        criteria = {
            Criterion.RANDOM: node.lot,
            Criterion.OLDEST_PROFILE_FIRST: node.profile_created_at or '',
        }
        key = criteria.get(criterion, age)
        return fitness(node), key, node.position, node.id

    return sorted(nodes, key=worth)


@ddt.ddt
class PerGroup(unittest.TestCase):
    @ddt.data(
        ('a', {}),
        ('b', {'regions': {'B': 1}}),
        ('b', {'region': {'B': 1}}),
        ('b', {'zones': {'Y': 1}}),
        ('b', {'regions': {'B': 1}, 'zones': {'X': 1}}),
    )
    @ddt.unpack
    def test_s6_both_spellings_of_regions_and_then_zones(
        self, candidate, deletion
    ):
        nodes = [Node('a', 'A', 'X'), Node('b', 'B', 'Y'), Node('c', 'B', 'Y')]
        decision = select_nodes(nodes, 1, Criterion.OLDEST_FIRST, deletion)
        self.assertEqual((candidate,), decision.candidates)


@ddt.ddt
class Accept(unittest.TestCase):
    @ddt.data(
        ('bxab', Decision(candidates=('b', 'a'))),
        ('xyx', Decision(refusal=STRANGERS)),
        ('', Decision()),
    )
    @ddt.unpack
    def test_each_node_of_the_cluster_leaves_once(self, named, decision):
        accepted = selection.accept_nodes([*named], (name for name in 'abc'))
        self.assertEqual(decision, accepted)


class Useless(unittest.TestCase):
    def test_nodes_that_go_before_healthy_ones_are_counted(self):
        nodes = [
            Node('1', 'A', status='ERROR'),
            Node('2', 'A', tainted=True),
            Node('3', 'A', created_at=None),
            Node('4', 'A'),
            Node('5', 'B', status='WARNING'),
            Node('6', 'C'),
        ]
        self.assertEqual({'A': 3, 'B': 1}, selection.count_useless(nodes))
        decision = select_nodes(nodes, 4, Criterion.OLDEST_FIRST, {})
        self.assertEqual({'1', '2', '3', '5'}, {*decision.candidates})


class Properties(unittest.TestCase):
    @hypothesis.given(
        CLUSTERS, st.integers(0, 15), CRITERIA, GROUPS, st.randoms()
    )
    def test_the_order_is_that_of_sorting_all_nodes(
        self, nodes, count, criterion, per_region, rng
    ):
        candidates, shortage = [], {}
        for region in sorted(per_region):
            there = [node for node in nodes if node.region == region]
            candidates += ranked(there, criterion)[: per_region[region]]
            if missing := max(0, per_region[region] - len(there)):
                shortage[region] = missing
        missing = max(count, sum(per_region.values())) - len(candidates)
        rest = [node for node in nodes if node not in candidates]
        candidates += ranked(rest, criterion)[:missing]
        # The order in which the nodes come does not matter.
        shuffled = rng.sample(nodes, len(nodes))
        decision = select_nodes(
            shuffled, count, criterion, {'regions': per_region}
        )
        ids = tuple(node.id for node in candidates)
        self.assertEqual(ids, decision.candidates)
        self.assertEqual(shortage, decision.shortage)

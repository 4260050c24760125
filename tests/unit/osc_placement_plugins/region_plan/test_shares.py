# SPDX-License-Identifier: Apache-2.0

import unittest

import ddt
import hypothesis
from hypothesis import strategies as st

from osc_placement_plugins.region_plan import shares
from senlin_plugins.planning import apportionment
from senlin_plugins.planning.apportionment import NO_FEASIBLE_PLAN
from senlin_plugins.planning.plan import Snapshot, plan_change
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.spec import Region
from tests.unit.senlin_plugins.planning.clusters import (
    FEW,
    GONE,
    NODES,
    REGIONS,
    snapshot,
)

EQUAL = [Region('a'), Region('b')]
CAPPED = [Region('a', 100, 2), Region('b')]
HEAVY = [Region('a', 300, 2), Region('b')]
BOTH_CAPPED = [Region('a', 1, 2), Region('b', 1, 2)]
WEIGHTLESS = [Region('a', 0), Region('b')]
AT_CAP = 'at its cap of 2: gets no more nodes'
AT_CAP_0 = 'at its cap of 0: gets no more nodes'
KEEPS = 'past its cap of 2: keeps its nodes, gets none'
STRAY_GROWING = 'not in the policy: gets no nodes'
STRAY_SHRINKING = 'not in the policy: its nodes leave first'
OUT_OF_REACH = 'out of reach: left as it is'
LAST_RESORT = 'weight 0: gets nodes only when the others are full'
LEAVES_EARLY = 'weight 0: its nodes leave before those of the others'
LEAVE = 'past its cap of 2: its nodes above the cap leave early'


def shares_of(before):
    """Return what is said of each region, by its name."""
    listed = shares.list_shares(before, plan_change(before))
    return {share.name: share for share in listed}


class SharesPropertyTest(unittest.TestCase):
    @hypothesis.given(REGIONS, NODES, GONE, FEW, st.booleans())
    def test_results_and_targets_add_up_to_the_plan(
        self, regions, nodes, gone, count, growing
    ):
        before = snapshot(regions, nodes, gone, Change(growing, count))
        decision = plan_change(before)
        hypothesis.assume(not decision.refusal)
        after = before.after(decision.plan)
        listed = shares.list_shares(before, decision)
        total = sum(after.current.values())
        self.assertEqual(total, sum(share.result for share in listed))
        if any(region.weight for region in regions):
            self.assertEqual(total, sum(share.target for share in listed))
        else:
            self.assertIn(None, {share.target for share in listed})


@ddt.ddt
class SharesTest(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        # (regions, current, nodes that come or go, region, why, out of reach)
        (CAPPED, {'a': 1}, 5, 'a', AT_CAP),
        # It is at its cap before the change.
        (CAPPED, {'a': 2}, 3, 'a', AT_CAP),
        (CAPPED, {'a': 2, 'b': 9}, -1, 'a', ''),
        (CAPPED, {'a': 4}, 6, 'a', KEEPS),
        ([Region('a', 100, 0), Region('b')], {}, 2, 'a', AT_CAP_0),
        (WEIGHTLESS, {}, 1, 'a', LAST_RESORT),
        (WEIGHTLESS, {'a': 1, 'b': 1}, -1, 'a', LEAVES_EARLY),
        (EQUAL, {'c': 1}, 1, 'c', STRAY_GROWING),
        (EQUAL, {'c': 1}, -1, 'c', STRAY_SHRINKING),
        (EQUAL, {'a': 1}, 1, 'a', OUT_OF_REACH, ('a',)),
        (EQUAL, {'c': 1, 'a': 1}, -1, 'c', OUT_OF_REACH, ('c',)),
        (CAPPED, {'a': 1}, 1, 'a', ''),
        (HEAVY, {'a': 5, 'b': 5}, -2, 'a', LEAVE),
        (EQUAL, {'a': 3}, 1, 'a', ''),
    )
    def test_a_region_is_told_what_keeps_it_from_its_share(
        self, regions, current, count, name, why, gone=()
    ):
        change = Change(count > 0, abs(count))
        snapshot = Snapshot(change, regions, current, gone)
        self.assertEqual(why, shares_of(snapshot)[name].why)

    def test_each_region_has_a_line_and_strays_follow_by_name(self):
        regions = [Region('b', 300, 9), Region('a'), Region('none', 100, 0)]
        strays = dict.fromkeys('fdcehg', 1)
        current = {'b': 1, 'gone': 0, **strays}
        snapshot = Snapshot(Change(True, 3), regions, current)
        listed = shares.list_shares(snapshot, plan_change(snapshot))
        rows = [
            ('b', 300, 9, 1, 3, 6, ''),
            ('a', 100, None, 0, 1, 2, ''),
            ('none', 100, 0, 0, 0, 2, AT_CAP_0),
        ]
        for name in sorted(strays):
            row = (name, None, None, 1, 1, 0, STRAY_GROWING)
            rows.append(row)
        self.assertEqual(rows, listed)

    @ddt.unpack
    @ddt.data(
        # (nodes that come or go, regions, current, out of reach, text)
        (
            *(5, BOTH_CAPPED, {'a': 1}, ()),
            f'{NO_FEASIBLE_PLAN} The caps leave room for 3.',
        ),
        (
            *(1, [Region('a', 1, 0)], {}, ()),
            f'{NO_FEASIBLE_PLAN} The caps leave room for 0.',
        ),
        (
            *(-3, EQUAL, {'a': 2, 'b': 4}, ('b',)),
            f'{NO_FEASIBLE_PLAN} 2 can be removed.',
        ),
        (
            *(1, [Region('a')], {'a': 2}, ('a',)),
            f'{apportionment.NO_USABLE_REGION} All regions of the policy are '
            'out of reach.',
        ),
    )
    def test_a_refusal_says_the_numbers_behind_it(
        self, count, regions, current, gone, text
    ):
        change = Change(count > 0, abs(count))
        before = Snapshot(change, regions, current, gone)
        refusal = plan_change(before).refusal
        self.assertEqual(text, shares.explain_refusal(before, refusal))

    def test_the_reason_of_another_refusal_has_no_numbers(self):
        snapshot = Snapshot(Change(True, 1), EQUAL, {})
        self.assertEqual('why', shares.explain_refusal(snapshot, 'why'))

# SPDX-License-Identifier: Apache-2.0

"""Whatever flavors and aggregates hold, there is a verdict, and one only."""

import dataclasses
import unittest
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nova_filters import batch, matching
from testing.nova import strategies

_EXEMPT = st.sampled_from([(), ('k',), ('*:*',), ('*',), ('[', '')])


@dataclasses.dataclass
class AggregateLike:
    """An aggregate, as far as the filter looks at it."""

    name: str
    metadata: Any


@dataclasses.dataclass
class HostLike:
    """A host, as far as the filter looks at it."""

    aggregates: list[AggregateLike] | None


class FuzzTest(unittest.TestCase):
    """The evaluator, and the judge of many hosts, on anything at all."""

    def check(self, extra_specs, metadata, exempt) -> None:
        """Assert one verdict, its reason, and what is said of problems.

        The hosts are in none, in each, and in all of the aggregates.
        """
        flavor = matching.read_flavor(extra_specs)
        aggregates = [
            AggregateLike(f'a{number}', data)
            for number, data in enumerate(metadata)
        ]
        hosts = [
            HostLike(None),
            HostLike([]),
            *(HostLike([aggregate]) for aggregate in aggregates),
            HostLike(aggregates),
        ]
        reasons = [
            matching.evaluate(
                flavor,
                [
                    matching.Aggregate(a.name, a.metadata or {})
                    for a in host.aggregates or ()
                ],
                exempt,
            ).reason
            for host in hosts
        ]
        sifted = batch.Batch(flavor, exempt).sift(hosts)
        passed = [id(host) for host in sifted.passed]
        self.assertEqual(
            [reason is None for reason in reasons],
            [id(host) in passed for host in hosts],
            reasons,
        )
        counts = batch.summarize(sifted.refused, flavor, exempt)
        self.assertEqual(
            sum(reason is not None for reason in reasons),
            sum(number for number, _ in counts),
        )
        lines = [*sifted.problems, *(text for _, text in counts)]
        lines += [str(reason) for reason in reasons if reason is not None]
        for line in lines:
            self.assertTrue(line.isprintable(), line)
            self.assertLess(len(line), 2500)

    @given(
        strategies.any_texts(),
        st.lists(strategies.any_texts(), max_size=3),
        _EXEMPT,
    )
    def test_any_text_has_a_verdict(
        self, extra_specs, metadata, exempt
    ) -> None:
        self.check(extra_specs, metadata, exempt)

    @given(
        st.none() | strategies.anything(),
        st.lists(st.none() | strategies.anything(), max_size=3),
        _EXEMPT,
    )
    def test_what_is_no_text_has_a_verdict(
        self, extra_specs, metadata, exempt
    ) -> None:
        self.check(extra_specs, metadata, exempt)

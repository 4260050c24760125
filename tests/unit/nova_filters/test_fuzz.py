# SPDX-License-Identifier: Apache-2.0

"""Whatever flavors and aggregates hold, there is a verdict, and one only."""

import unittest

from hypothesis import given
from hypothesis import strategies as st

from nova_filters.advice import inventory
from nova_filters.matching import inputs, report
from nova_filters.matching.request import Request
from testing.nova import strategies

_EXEMPT = st.sampled_from([(), ('k',), ('*:*',), ('*',), ('[', '')])
#: The numbers of the aggregates of further hosts. New aggregates of one host
#: may be read together.
_MEMBERSHIPS = st.lists(st.lists(st.integers(0, 11), max_size=12), max_size=6)


_TEXTS = strategies.extra_specs() | strategies.any_texts()
_METADATA = st.lists(
    strategies.metadata() | strategies.any_texts(), max_size=12
) | st.lists(st.none() | strategies.anything(), max_size=3)


class FuzzTest(unittest.TestCase):
    """One host alone, and many hosts, with anything at all."""

    @given(
        *(_TEXTS | st.none() | strategies.anything(), _METADATA),
        *(_MEMBERSHIPS, _EXEMPT),
    )
    def test_anything_has_one_verdict(
        self, extra_specs, metadata, memberships, exempt
    ) -> None:
        """Assert one verdict, its reason, and what is said of problems.

        The hosts are in none, in each, in all, and in some of the aggregates.
        """
        flavor = inputs.read_flavor(extra_specs)
        aggregates = [
            inventory.HostAggregate(f'a{number}', data)
            for number, data in enumerate(metadata)
        ]
        sets = [None, [], *([one] for one in aggregates), aggregates]
        for numbers in memberships if aggregates else ():
            sets.append([aggregates[n % len(aggregates)] for n in numbers])
        hosts = [inventory.Host('h', own) for own in sets]
        alone = [
            next(Request(flavor, exempt).reasons(host.aggregates or ()), None)
            for host in hosts
        ]
        request = Request(flavor, exempt)
        passing, refused = request.sift(hosts)
        self.assertEqual(
            [id(h) for h, r in zip(hosts, alone, strict=True) if r is None],
            [id(host) for host in passing],
            alone,
        )
        told = {
            id(host): reason.summary()
            for group, reason in report.explain(request, refused)
            for host in group
        }
        self.assertEqual(
            [reason and reason.summary() for reason in alone],
            [told.get(id(host)) for host in hosts],
        )
        counts = report.summarize(request, refused)
        self.assertEqual(
            sum(reason is not None for reason in alone),
            sum(number for number, _ in counts),
        )
        problems = report.problems(request, refused)
        lines = [*problems, *(text for _, text in counts)]
        lines += [str(reason) for reason in alone if reason is not None]
        for line in lines:
            self.assertTrue(line.isprintable(), line)
            self.assertLess(len(line), 2500)

# SPDX-License-Identifier: Apache-2.0

"""What Nova's own filter answers, in our words; see also the functional test
that compares them."""

import unittest

import ddt

from nova_filters.advice import in_tree, inventory
from nova_filters.matching.reason import Kind


@ddt.ddt
class InTreeTest(unittest.TestCase):
    @ddt.data(
        ({}, [], None),
        ({'k': '1'}, [{'k': '1'}], None),
        ({'k': '1'}, [{'k': '2, 1'}], None),
        ({'k': '1'}, [], Kind.MISSING),
        ({'k': '1'}, [{'k': '2'}], Kind.MISMATCH),
        ({'k': '<or> 1 <or> 2'}, [{'k': '2'}], None),
        # It skips every second word.
        ({'k': '<or> 1 2 3'}, [{'k': '2'}], Kind.MISMATCH),
        ({'k': '>= 2'}, [{'k': '3'}], None),
        # sentinels and the flag mean nothing to it
        ({'k': '*'}, [{'k': '1'}], Kind.MISMATCH),
        ({'k': '*'}, [{'k': '*'}], None),
        ({'k': '~'}, [{}], Kind.MISSING),
        ({'k': '!'}, [{}], Kind.MISSING),
        ({'k': '<or> 1 <or> ~'}, [{'k': '~'}], None),
        ({}, [{'k': '1', 'force_metadata_check': 'True'}], None),
        ({'force_metadata_check': 'True'}, [{}], Kind.MISSING),
        # namespaces
        ({'hw:k': '1'}, [{'hw:k': '2'}], None),
        ({'aggregate_instance_extra_specs:k': '1'}, [{'k': '1'}], None),
        # what makes it raise
        ({'k': '<or>'}, [{'k': '1'}], Kind.MALFORMED),
        ({'k': '>= two'}, [{'k': '1'}], Kind.MALFORMED),
        ({'k': '>= 2'}, [{'k': 'two'}], Kind.MALFORMED),
        ({'k': '>='}, [{'k': '1'}], Kind.MISMATCH),
        ({'k': '>= two'}, [{}], Kind.MISSING),
    )
    @ddt.unpack
    def test_verdict(
        self,
        extra_specs: dict[str, str],
        metadata: list[dict[str, str]],
        kind: Kind | None,
    ) -> None:
        host = inventory.Host(
            'h',
            tuple(
                inventory.HostAggregate(f'a{number}', own)
                for number, own in enumerate(metadata)
            ),
        )
        request = in_tree.Request(in_tree.read_flavor(extra_specs))
        passed, refused = request.sift([host])
        self.assertEqual(kind is None, passed == [host])
        reasons = [request.explain(one, host.aggregates) for one in refused]
        reason = reasons[0] if reasons else None
        self.assertIs(kind, reason.kind if reason else None)
        if kind is Kind.MALFORMED:
            self.assertEqual(in_tree.RAISES, reason.problem)

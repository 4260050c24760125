# SPDX-License-Identifier: Apache-2.0

"""What Nova's own filter answers, in our words; a functional test asks it."""

import unittest

import ddt

from nova_filters.matching.reason import Kind
from openstack_commands.aggregates.advice import in_tree, inventory


@ddt.ddt
class InTreeTest(unittest.TestCase):
    @ddt.data(
        ({'k': '1'}, {'k': '2, 1'}, None),
        ({'k': '1'}, {'k': '2'}, Kind.MISMATCH),
        ({'k': '1'}, {'k': '12'}, Kind.MISMATCH),
        ({'k': ''}, {'k': '1'}, Kind.MISMATCH),
        # It skips every second word.
        ({'k': '<or> 1 2 3'}, {'k': '2'}, Kind.MISMATCH),
        # Sentinels and the flag mean nothing to it.
        ({'k': '*'}, {'k': '1'}, Kind.MISMATCH),
        ({'k': '~'}, {}, Kind.MISSING),
        ({'k': '<or> 1 <or> ~'}, {'k': '~'}, None),
        ({}, {'k': '1', 'force_metadata_check': 'True'}, None),
        ({'force_metadata_check': 'True'}, {}, Kind.MISSING),
        # Namespaces.
        ({'hw:k': '1'}, {'hw:k': '2'}, None),
        ({'aggregate_instance_extra_specs:k': '1'}, {'k': '1'}, None),
        # What makes it raise.
        ({'k': '<or>'}, {'k': '1'}, Kind.RAISES),
        ({'k': '>= 2'}, {'k': 'two'}, Kind.RAISES),
        ({'k': '>='}, {'k': '1'}, Kind.MISMATCH),
        ({'k': '>= two'}, {}, Kind.MISSING),
        ({'k': '>= two'}, {'k': '1'}, Kind.RAISES),
        ({'k': '>= 2'}, {'k': '1, two'}, Kind.RAISES),
        ({'k': '>= 2'}, {'k': '3'}, None),
        ({'k': '>= 2'}, {'k': '1'}, Kind.MISMATCH),
        ({'k': 's== 2'}, {'k': 'two'}, Kind.MISMATCH),
        ({'k': '<or> 1'}, {'k': '1'}, None),
    )
    @ddt.unpack
    def test_verdict(self, extra_specs, metadata, kind: Kind | None) -> None:
        host = inventory.Host('h', (inventory.HostAggregate('a', metadata),))
        request = in_tree.Request(in_tree.read_flavor(extra_specs))
        passed, refused = request.sift([host])
        self.assertEqual([] if kind else [host], passed)
        self.assertEqual(
            [kind] * bool(kind), [reason.kind for reason in refused]
        )

    def test_it_reads_no_extra_spec_of_another_namespace(self) -> None:
        request = in_tree.Request(())
        specs = request.read(
            {
                'b': '*',
                'hw:k': '1',
                'aggregate_instance_extra_specs:hw:k': '~',
                'a': '1',
            }
        )
        # It skips none if no aggregate has the key.
        self.assertEqual(
            [('b', False, '*'), ('hw:k', False, '~'), ('a', False, '1')],
            [(key, optional, need.text) for key, optional, need in specs],
        )
        self.assertEqual((), request.read(None))

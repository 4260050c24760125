# SPDX-License-Identifier: Apache-2.0

"""The topology domains of hosts."""

import unittest

import ddt

from nova_filters.spread import topology


@ddt.ddt
class DomainTest(unittest.TestCase):
    @ddt.data(
        # Metadata of the host's aggregates, the key, the name.
        ([{'rack': 'b'}, {'rack': 'a'}, {'row': '1'}], 'rack', 'a'),
        ([{'rack': ''}, {}], 'rack', None),
        ([], 'rack', None),
        ([{'availability_zone': 'z'}], 'availability_zone', 'z'),
        ([{'rack': 'a'}], 'availability_zone', 'nova'),
        ([{'availability_zone': ''}], 'availability_zone', 'nova'),
        # A host is a domain of its own.
        ([{'host': 'a'}], 'host', None),
    )
    @ddt.unpack
    def test_a_domain_is_a_value_of_metadata(self, metadata, key, name):
        self.assertEqual(name, topology.find_domain(metadata, key, 'nova'))

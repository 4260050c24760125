# SPDX-License-Identifier: Apache-2.0

"""What Placement is asked for a flavor; a functional test asks Nova."""

import unittest

import ddt

from nova_filters.advice import demand, inventory

_SIZE = 2, 512
_PLAIN = 'MEMORY_MB:512,VCPU:2'


def _of(extra_specs: dict[str, str]) -> demand.Demand:
    """Return what is asked for a flavor."""
    return demand.of(inventory.Flavor('f', extra_specs, '', *_SIZE))


@ddt.ddt
class DemandTest(unittest.TestCase):
    @ddt.data(
        ({'hw:tpm_version': '2.0'}, 'hw:tpm_version', _PLAIN),
        ({'pci_passthrough:alias': 'n:1'}, 'pci_passthrough:alias', _PLAIN),
        # Nobody knows how many of the CPUs are dedicated.
        ({'hw:cpu_policy': 'mixed'}, 'hw:cpu_policy', 'MEMORY_MB:512'),
    )
    @ddt.unpack
    def test_what_is_not_asked_is_named(self, specs, key, asked) -> None:
        found = _of(specs)
        self.assertEqual((key,), found.unasked)
        self.assertEqual(asked, found.query['resources'])

    def test_the_query_is_told(self) -> None:
        found = _of({'trait:HW_A': 'forbidden'})
        self.assertEqual('!HW_A, MEMORY_MB=512, VCPU=2', str(found))

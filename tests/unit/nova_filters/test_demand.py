# SPDX-License-Identifier: Apache-2.0

"""What Placement is asked for a flavor."""

import unittest

import ddt

from nova_filters.advice import demand

_SIZE = demand.Size(vcpus=2, memory=512, disk=0)
_PLAIN = 'MEMORY_MB:512,VCPU:2'


@ddt.ddt
class DemandTest(unittest.TestCase):
    @ddt.data(
        ({}, {'resources': _PLAIN}),
        ({'k': '1', 'hw:cpu_policy': 'shared'}, {'resources': _PLAIN}),
        (
            {'hw:cpu_policy': 'dedicated'},
            {'resources': 'MEMORY_MB:512,PCPU:2'},
        ),
        # Zero takes a resource away.
        (
            {'resources:VCPU': '0', 'resources:CUSTOM_NODE': '1'},
            {'resources': 'CUSTOM_NODE:1,MEMORY_MB:512'},
        ),
        (
            {'trait:HW_A': 'required', 'trait:HW_B': 'forbidden'},
            {'resources': _PLAIN, 'required': '!HW_B,HW_A'},
        ),
        (
            {
                'resources1:VGPU': '1', 'trait1:CUSTOM_A': 'required',
                'resources_N:NIC': '2', 'group_policy': 'isolate',
            },
            {
                'resources': _PLAIN, 'resources1': 'VGPU:1',
                'required1': 'CUSTOM_A', 'resources_N': 'NIC:2',
                'group_policy': 'isolate',
            },
        ),
        (
            {'resources1:VGPU': '1', 'resources2:VGPU': '1'},
            {
                'resources': _PLAIN, 'resources1': 'VGPU:1',
                'resources2': 'VGPU:1', 'group_policy': 'none',
            },
        ),
    )  # fmt: skip
    @ddt.unpack
    def test_the_query_is_that_of_the_scheduler(
        self, extra_specs: dict[str, str], wanted: dict[str, str]
    ) -> None:
        found = demand.of(_SIZE, extra_specs)
        self.assertEqual((wanted, ()), (found.query, found.unasked))

    @ddt.data(
        ('resources:VGPU', 'many'),
        ('trait:HW_A', 'maybe'),
        ('hw:cpu_policy', 'mixed'),
        ('hw:tpm_version', '2.0'),
        ('pci_passthrough:alias', 'nic:1'),
    )
    @ddt.unpack
    def test_what_is_not_asked_is_named(self, key: str, text: str) -> None:
        found = demand.of(_SIZE, {key: text})
        self.assertEqual(
            ((key,), _PLAIN), (found.unasked, found.query['resources'])
        )

    def test_the_query_is_told(self) -> None:
        found = demand.of(_SIZE, {'trait:HW_A': 'forbidden'})
        self.assertEqual('!HW_A, MEMORY_MB=512, VCPU=2', str(found))

# SPDX-License-Identifier: Apache-2.0

"""What Placement is asked for a flavor."""

import unittest

import ddt

from nova_filters.advice import demand, inventory

_SIZE = inventory.Size(vcpus=2, memory=512)
_ALWAYS = {'root_required': '!COMPUTE_STATUS_DISABLED'}
_PLAIN = 'MEMORY_MB:512,VCPU:2'


def _of(extra_specs: dict[str, str]) -> demand.Demand:
    """Return what is asked for a flavor."""
    return demand.of(inventory.Flavor('f', extra_specs, '', _SIZE))


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
            {'resources': _PLAIN, 'required': 'HW_A,!HW_B'},
        ),
        (
            {
                'resources1:VGPU': '1', 'trait1:CUSTOM_A': 'required',
                'resources_N:CUSTOM_NIC': '2', 'group_policy': 'isolate',
            },
            {
                'resources': _PLAIN, 'resources1': 'VGPU:1',
                'required1': 'CUSTOM_A', 'resources_N': 'CUSTOM_NIC:2',
                'group_policy': 'isolate',
            },
        ),
        (
            {'resources1:VGPU': '1', 'resources2:VGPU': '1'},
            {
                'resources': _PLAIN, 'resources1': 'VGPU:1',
                'resources2': 'VGPU:1',
            },
        ),
    )  # fmt: skip
    @ddt.unpack
    def test_the_query_is_that_of_the_scheduler(
        self, extra_specs: dict[str, str], wanted: dict[str, str]
    ) -> None:
        found = _of(extra_specs)
        wanted = {**_ALWAYS, **wanted}
        self.assertEqual((wanted, ()), (found.query, found.unasked))

    @ddt.data(
        ('hw:tpm_version', '2.0'),
        ('pci_passthrough:alias', 'nic:1'),
    )
    @ddt.unpack
    def test_what_is_not_asked_is_named(self, key: str, text: str) -> None:
        found = _of({key: text})
        self.assertEqual(
            ((key,), _PLAIN), (found.unasked, found.query['resources'])
        )

    def test_who_does_not_know_how_many_cpus_asks_for_none(self) -> None:
        found = _of({'hw:cpu_policy': 'mixed', 'hw:cpu_dedicated_mask': '0'})
        self.assertEqual(('hw:cpu_policy',), found.unasked)
        self.assertEqual('MEMORY_MB:512', found.query['resources'])

    def test_the_query_is_told(self) -> None:
        found = _of({'trait:HW_A': 'forbidden'})
        self.assertEqual(
            '!HW_A, MEMORY_MB=512, VCPU=2',
            str(found),
        )

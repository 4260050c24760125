# SPDX-License-Identifier: Apache-2.0

"""What Placement is asked for a flavor; a functional test asks Nova."""

import unittest
from typing import Any

import ddt

from openstack_commands.aggregates.advice import demand, inventory

_SIZE = 2, 512
_PLAIN = 'MEMORY_MB:512,VCPU:2'


def _of(extra_specs: dict[str, str], **arguments: Any) -> demand.Demand:
    """Return what is asked for a flavor of two CPUs without disks."""
    return demand.of(
        inventory.Flavor('f', extra_specs, '', *_SIZE), **arguments
    )


@ddt.ddt
class DemandTest(unittest.TestCase):
    @ddt.data(
        ({'hw:tpm_version': '2.0'}, 'hw:tpm_version', _PLAIN),
        ({'pci_passthrough:alias': 'n:1'}, 'pci_passthrough:alias', _PLAIN),
        # Nobody knows how many of the CPUs are dedicated.
        ({'hw:cpu_policy': 'mixed'}, 'hw:cpu_policy', 'MEMORY_MB:512'),
    )
    @ddt.unpack
    def test_what_is_not_asked_is_named(self, specs, key, resources) -> None:
        request = _of(specs)
        self.assertEqual((key,), request.unasked)
        self.assertEqual(resources, request.query['resources'])

    @ddt.data(
        ({}, _PLAIN),
        ({'hw:cpu_policy': 'shared'}, _PLAIN),
        ({'hw:cpu_policy': 'dedicated'}, 'MEMORY_MB:512,PCPU:2'),
        # One CPU more runs the emulator.
        (
            {
                'hw:cpu_policy': 'dedicated',
                'hw:emulator_threads_policy': 'isolate',
            },
            'MEMORY_MB:512,PCPU:3',
        ),
        (
            {
                'hw:cpu_policy': 'dedicated',
                'hw:emulator_threads_policy': 'share',
            },
            'MEMORY_MB:512,PCPU:2',
        ),
        # An extra spec replaces the flavor's number, 0 included.
        ({'resources:VCPU': '4'}, 'MEMORY_MB:512,VCPU:4'),
        ({'resources:VCPU': '0'}, 'MEMORY_MB:512'),
        ({'resources:PCPU': '1'}, 'MEMORY_MB:512,PCPU:1'),
        ({'resources:MEMORY_MB': '64'}, 'MEMORY_MB:64,VCPU:2'),
        ({'resources:DISK_GB': '7'}, f'DISK_GB:7,{_PLAIN}'),
        # Classes of Placement, and custom ones; Nova ignores other names.
        ({'resources:VGPU': '1'}, 'MEMORY_MB:512,VCPU:2,VGPU:1'),
        ({'resources:CUSTOM_FPGA': '1'}, f'CUSTOM_FPGA:1,{_PLAIN}'),
        ({'resources:NO_CLASS': '1'}, _PLAIN),
        ({'resources:VGPU': 'one'}, _PLAIN),
        ({'resources:VGPU': '-1'}, _PLAIN),
        ({'other:VGPU': '1'}, _PLAIN),
    )
    @ddt.unpack
    def test_the_flavor_asks_for_resources(
        self, specs: dict[str, str], resources: str
    ) -> None:
        request = _of(specs)
        self.assertEqual(resources, request.query['resources'])
        self.assertEqual((), request.unasked)

    @ddt.data(
        ({'trait:HW_A': 'required'}, 'HW_A'),
        ({'trait:HW_A': 'forbidden'}, '!HW_A'),
        # The forbidden ones come last.
        (
            {
                'trait:HW_C': 'required',
                'trait:HW_A': 'forbidden',
                'trait:HW_B': 'required',
            },
            'HW_B,HW_C,!HW_A',
        ),
        ({'hw:cpu_thread_policy': 'isolate'}, '!HW_CPU_HYPERTHREADING'),
        ({'hw:cpu_thread_policy': 'require'}, 'HW_CPU_HYPERTHREADING'),
        ({'os:secure_boot': 'required'}, 'COMPUTE_SECURITY_UEFI_SECURE_BOOT'),
        ({'trait:HW_A': 'maybe'}, None),
        ({'hw:cpu_thread_policy': 'prefer'}, None),
        ({'trait': 'required'}, None),
    )
    @ddt.unpack
    def test_the_flavor_asks_for_traits(
        self, specs: dict[str, str], required: str | None
    ) -> None:
        self.assertEqual(required, _of(specs).query.get('required'))

    def test_a_group_asks_for_resources_and_traits_of_its_own(self) -> None:
        request = _of(
            {
                'resources1:VGPU': '1',
                'resources1:CUSTOM_A': '2',
                'trait1:HW_A': 'required',
                'resources_NET:SRIOV_NET_VF': '1',
                'trait_BARE:HW_B': 'required',
                'resources2:VGPU': '0',
                'group_policy': 'isolate',
            }
        )
        self.assertEqual(
            {
                'root_required': '!COMPUTE_STATUS_DISABLED',
                'group_policy': 'isolate',
                'resources': _PLAIN,
                'resources1': 'CUSTOM_A:2,VGPU:1',
                'required1': 'HW_A',
                'resources_NET': 'SRIOV_NET_VF:1',
                'resources_BARE': '',
                'required_BARE': 'HW_B',
            },
            request.query,
        )

    def test_a_class_in_a_group_replaces_the_flavors_number(self) -> None:
        query = _of(
            {'resources1:VCPU': '1', 'resources1:MEMORY_MB': '2'}
        ).query
        self.assertEqual('MEMORY_MB:2,VCPU:1', query['resources1'])
        self.assertNotIn('resources', query)

    @ddt.data(('none', True), ('isolate', True), ('other', False))
    @ddt.unpack
    def test_placement_knows_two_policies_of_groups(
        self, policy: str, is_sent: bool
    ) -> None:
        query = _of({'group_policy': policy}).query
        self.assertEqual(is_sent, query.get('group_policy') == policy)
        self.assertEqual(is_sent, 'group_policy' in query)

    def test_a_zone_is_one_of_its_aggregates(self) -> None:
        query = _of({}, zone=['u2', 'u1']).query
        self.assertEqual('in:u1,u2', query['member_of'])
        self.assertNotIn('member_of', _of({}).query)

    @ddt.data((False, 'DISK_GB:25'), (True, 'DISK_GB:5'))
    @ddt.unpack
    def test_a_root_disk_that_is_a_volume_is_no_disk_of_the_host(
        self, from_volume: bool, resources: str
    ) -> None:
        flavor = inventory.Flavor('f', {}, root=20, disk=5)
        request = demand.of(flavor, from_volume)
        self.assertEqual(resources, request.query['resources'])
        self.assertEqual('DISK_GB=25', str(demand.of(flavor)))

    def test_the_query_is_told(self) -> None:
        request = _of({'trait:HW_A': 'forbidden'})
        self.assertEqual('!HW_A, MEMORY_MB=512, VCPU=2', str(request))
        request = _of({'trait1:HW_A': 'required', 'group_policy': 'none'})
        self.assertEqual('HW_A, MEMORY_MB=512, VCPU=2', str(request))

    def test_nova_may_look_at_some_candidates_only(self) -> None:
        self.assertEqual('7', _of({}, limit=7).query['limit'])
        self.assertNotIn('limit', _of({}).query)

    def test_all_hosts_are_asked_for_with_the_same_resources(self) -> None:
        request = _of({'trait:HW_A': 'required'}, zone=['u'], limit=7)
        self.assertEqual(
            {'resources': _PLAIN, 'required': 'HW_A'}, request.anywhere
        )

    def test_each_class_and_trait_is_a_question_of_its_own(self) -> None:
        request = _of(
            {
                'trait:HW_A': 'forbidden',
                'trait:HW_B': 'required',
                # A part of a host may meet it.
                'trait1:HW_C': 'forbidden',
                'trait1:HW_D': 'required',
                'resources1:VGPU': '1',
                'resources2:VGPU': '3',
            }
        )
        self.assertEqual(
            {
                'MEMORY_MB': {'resources': 'MEMORY_MB:512'},
                'VCPU': {'resources': 'VCPU:2'},
                'VGPU': {'resources': 'VGPU:3'},
                'HW_B': {'required': 'HW_B'},
                '!HW_A': {'required': '!HW_A'},
                'HW_D': {'required': 'HW_D'},
            },
            request.parts,
        )
        bare = _of({'resources:VCPU': '0', 'resources:MEMORY_MB': '0'})
        self.assertEqual({}, bare.parts)

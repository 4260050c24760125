# SPDX-License-Identifier: Apache-2.0

"""``explain --server`` of a server in ERROR: the way of its request."""

from tests.functional.client import base

_FAULT = 'No valid host was found. There are not enough hosts available.'
_EXPLAIN = 'aggregate filter explain --server train'


class WalkTest(base.CloudTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.cloud.shown['train'] = {
            'status': 'ERROR', 'server_groups': [], 'hostId': '',
            'OS-EXT-SRV-ATTR:host': None, 'image': {'id': 'image'},
            'OS-EXT-AZ:availability_zone': '',
            'fault': {'message': _FAULT, 'code': 500},
        }  # fmt: skip
        self.cloud.free = {f'compute-{number}': {} for number in (1, 2, 3)}
        self.cloud.states['compute-2'] = ('disabled', 'down')

    def steps(self, *arguments: str) -> dict[str, tuple[int, str]]:
        """Return how many hosts are left after each step, and why."""
        return {
            row['Step']: (row['Left'], row['Reason'])
            for row in self.live(*_EXPLAIN.split(), *arguments)
        }

    def below(self, *arguments: str, status: int = 0) -> str:
        """Return what stands below the table, in one line."""
        told = self.told(_EXPLAIN, *arguments, status=status)
        return told.rpartition('-+\n')[2].replace('\n', ' ')

    def test_each_step_tells_how_many_hosts_are_left(self) -> None:
        self.assert_page_shows(_EXPLAIN)
        self.assertEqual(
            {
                'resources': ['DISK_GB:1,MEMORY_MB:512,VCPU:1'],
                'root_required': ['!COMPUTE_STATUS_DISABLED'],
            },
            self.cloud.asked,
        )
        methods = {method for method, _ in self.cloud.requests}
        self.assertEqual({'GET'}, methods)

    def test_the_enabled_filters_come_from_the_configuration(self) -> None:
        self.cloud.aggregates['disks'][0]['filter_tenant_id'] = 'p2'
        self.cloud.aggregates['disks'][0]['ssd'] = 'nvme'
        file = self.write(
            '[filter_scheduler]\nenabled_filters = '
            'AggregateMultiTenancyIsolation,NUMATopologyFilter,'
            'AggregateInstanceExtraSpecsFilter\n',
            'nova.conf',
        )
        self.assertEqual(
            {
                'All compute hosts': (6, ''),
                'Placement': (3, 'DISK_GB=1, MEMORY_MB=512, VCPU=1'),
                'AggregateMultiTenancyIsolation': (1, '2 for other projects'),
                'AggregateInstanceExtraSpecsFilter': (
                    0,
                    "1 'ssd' not in any aggregate",
                ),
            },
            self.steps('--config-file', file),
        )
        told = self.below('--config-file', file)
        self.assertIn('Not judged: NUMATopologyFilter, what the', told)

    def test_the_zone_and_the_traits_are_those_of_the_request(self) -> None:
        flavor = self.cloud.flavors['gpu.large']
        flavor |= {
            'trait:HW_CPU_X86_VMX': 'required', 'resources:VGPU': '1',
            'hw:tpm_version': '2.0',
        }  # fmt: skip
        self.cloud.shown['train']['OS-EXT-AZ:availability_zone'] = 'west'
        zone = {'availability_zone': 'west'}
        self.cloud.aggregates['west'] = (zone, [])
        steps = self.steps()
        self.assertEqual(
            (0, '4 in nova, 2 in east'), steps['Availability zone']
        )
        self.assertEqual(
            {
                'resources': ['DISK_GB:1,MEMORY_MB:512,VCPU:1,VGPU:1'],
                'required': ['HW_CPU_X86_VMX'],
                'root_required': ['!COMPUTE_STATUS_DISABLED'],
                'member_of': ['in:uuid-4'],
            },
            self.cloud.asked,
        )
        told = self.below()
        self.assertIn('and hw:tpm_version ask of Placement.', told)
        self.assertIn('Availability zone took the last of 6 hosts.', told)

    def test_swap_takes_whole_gib_of_the_disk(self) -> None:
        for swap, disk in ((0, 1), (1024, 2), (1025, 3)):
            self.cloud.swap = swap
            _, asked = self.steps()['Placement']
            self.assertIn(f'DISK_GB={disk},', asked)

    def test_a_placement_that_does_not_answer_is_no_step(self) -> None:
        self.cloud.refusal = 403, 'Placement says no'
        steps = self.steps()
        self.assertNotIn('Placement', steps)
        self.assertEqual(5, steps['ComputeFilter'][0])
        self.assertIn(' Not judged: Placement (', self.below())

    def test_hosts_may_be_left(self) -> None:
        self.cloud.states.clear()
        self.assertEqual(1, self.steps()['AggregateInstanceTypeFilter'][0])
        self.told(f'{_EXPLAIN} --fail-if-none')
        self.cloud.free = {}
        told = self.below('--fail-if-none', status=2)
        self.assertIn('Placement took the last of 6 hosts.', told)

    def test_two_numbered_groups_are_asked_for_as_nova_does(self) -> None:
        """Without a group policy Placement refuses, and so does Nova."""
        self.cloud.flavors['gpu.large'] |= {
            'resources1:VGPU': '1', 'resources2:VGPU': '1',
            'hw:cpu_policy': 'dedicated',
            'hw:emulator_threads_policy': 'isolate',
        }  # fmt: skip
        detail = 'The "group_policy" parameter is required'
        self.cloud.refusal = 400, detail
        told = self.below()
        self.assertEqual(
            {
                'resources': ['DISK_GB:1,MEMORY_MB:512,PCPU:2'],
                'resources1': ['VGPU:1'],
                'resources2': ['VGPU:1'],
                'root_required': ['!COMPUTE_STATUS_DISABLED'],
            },
            self.cloud.asked,
        )
        self.assertIn('Placement took the last of 6 hosts.', told)
        self.assertIn(f'refuses the question, and Nova: {detail}', told)

    def test_hosts_that_are_down_are_told_with_what_to_do(self) -> None:
        self.cloud.free = {'compute-2': {}}
        self.cloud.states['compute-2'] = ('disabled', 'up')
        told = self.told(_EXPLAIN)
        self.assertIn('\nComputeFilter took the last host.', told)
        self.assertIn(
            '\n  openstack compute service set --enable compute-2 '
            'nova-compute\n',
            told,
        )

    def test_another_question_gets_the_table_of_hosts(self) -> None:
        words = _EXPLAIN.split()
        for more in (('--long',), ('--host', 'compute-1')):
            self.assertIn('Host', self.live(*words, *more)[0])
        self.assertIn('Host', self.live(*words[:-1], 'web')[0])

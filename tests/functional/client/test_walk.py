# SPDX-License-Identifier: Apache-2.0

"""``explain --server`` of a server in ERROR: the way of its request."""

from urllib import parse

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
        output = self.run_command(_EXPLAIN, *arguments, status=status)
        return output.rpartition('-+\n')[2].replace('\n', ' ')

    def test_each_step_tells_how_many_hosts_are_left(self) -> None:
        self.assert_page_shows(_EXPLAIN)
        (question,) = self.cloud.questions
        self.assertEqual(
            {
                'resources': ['DISK_GB:1,MEMORY_MB:512,VCPU:1'],
                'root_required': ['!COMPUTE_STATUS_DISABLED'],
                'limit': ['1000'],
            },
            parse.parse_qs(parse.urlsplit(question).query),
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
                'AggregateMultiTenancyIsolation': (
                    1,
                    '2 reserved for other projects',
                ),
                'AggregateInstanceExtraSpecsFilter': (
                    0,
                    "1 'ssd' not in any aggregate",
                ),
            },
            self.steps('--config-file', file),
        )
        output = self.below('--config-file', file)
        self.assertIn('Not judged: NUMATopologyFilter, what the', output)

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
            (0, "4 in zone 'nova', 2 in zone 'east'"),
            steps['Availability zone'],
        )
        self.assertEqual(
            {
                'resources': ['DISK_GB:1,MEMORY_MB:512,VCPU:1,VGPU:1'],
                'required': ['HW_CPU_X86_VMX'],
                'root_required': ['!COMPUTE_STATUS_DISABLED'],
                'limit': ['1000'],
                'member_of': ['in:uuid-4'],
            },
            parse.parse_qs(parse.urlsplit(self.cloud.questions[0]).query),
        )
        output = self.below()
        self.assertIn('and hw:tpm_version ask of Placement.', output)
        self.assertIn(
            '1 host takes the flavor: compute-2 is disabled and down and in '
            "zone 'east' and lacks HW_CPU_X86_VMX.",
            output,
        )

    def test_swap_takes_whole_gib_of_the_disk(self) -> None:
        for swap, disk in ((0, 1), (1024, 2), (1025, 3)):
            self.cloud.swap = swap
            _, resources = self.steps()['Placement']
            self.assertIn(f'DISK_GB={disk},', resources)

    def test_a_placement_that_does_not_answer_is_no_step(self) -> None:
        self.cloud.refusal = 403, 'Placement says no'
        steps = self.steps()
        self.assertNotIn('Placement', steps)
        self.assertEqual(5, steps['ComputeFilter'][0])
        self.assertIn(' Not judged: Placement (', self.below())

    def test_hosts_may_be_left(self) -> None:
        self.cloud.states.clear()
        self.assertEqual(1, self.steps()['AggregateInstanceTypeFilter'][0])
        self.run_command(f'{_EXPLAIN} --fail-if-none')
        self.cloud.free = {}
        self.below('--fail-if-none', status=2)

    def test_two_numbered_groups_are_asked_for_as_nova_does(self) -> None:
        """Without a group policy Placement refuses, and so does Nova."""
        self.cloud.flavors['gpu.large'] |= {
            'resources1:VGPU': '1', 'resources2:VGPU': '1',
            'hw:cpu_policy': 'dedicated',
            'hw:emulator_threads_policy': 'isolate',
        }  # fmt: skip
        detail = 'The "group_policy" parameter is required'
        self.cloud.refusal = 400, detail
        output = self.below()
        self.assertEqual(
            {
                'resources': ['DISK_GB:1,MEMORY_MB:512,PCPU:2'],
                'resources1': ['VGPU:1'],
                'resources2': ['VGPU:1'],
                'root_required': ['!COMPUTE_STATUS_DISABLED'],
                'limit': ['1000'],
            },
            self.cloud.candidate_query,
        )
        self.assertIn(f'refuses the question, and Nova: {detail}', output)

    def gpus(self, *hosts: str) -> None:
        """Let hosts take the flavor, and have room; the others do not."""
        self.cloud.states.clear()
        for name in ('gpus', 'disks'):
            self.cloud.aggregates[name][1][:] = hosts
        self.cloud.free = {host: {} for host in self.cloud.hosts}

    def fill(self, host: str, name: str = 'MEMORY_MB') -> None:
        """Let a host be full."""
        self.cloud.free[host] = {name: (512, 512)}

    def test_the_right_hosts_are_full(self) -> None:
        self.gpus('compute-1', 'compute-2')
        self.fill('compute-1')
        self.fill('compute-2')
        output = self.below()
        self.assertIn(
            '2 hosts take the flavor: compute-1 and compute-2 lack MEMORY_MB.',
            output,
        )
        for command in ('add host', 'set --enable', 'flavor set', 'nearest'):
            self.assertNotIn(command, output)
        # Nova's question, the same for all hosts, three classes, who shares.
        self.assertEqual(6, len(self.cloud.questions), self.cloud.questions)

    def test_the_right_hosts_are_disabled_and_full(self) -> None:
        self.gpus('compute-1', 'compute-2')
        self.cloud.states['compute-1'] = ('disabled', 'up')
        self.cloud.traits['compute-1'] = {'COMPUTE_STATUS_DISABLED'}
        self.fill('compute-2')
        enable = (
            '  openstack compute service set --enable compute-1 nova-compute\n'
        )
        output = self.run_command(_EXPLAIN)
        self.assertIn(
            '\n2 hosts take the flavor: compute-1 is disabled; compute-2 '
            f'lacks MEMORY_MB.\n{enable}',
            output,
        )
        # To enable a host that has no room does not help.
        self.fill('compute-1', 'VCPU')
        output = self.run_command(_EXPLAIN)
        self.assertIn('compute-1 is disabled and lacks VCPU;', output)
        self.assertNotIn('set --enable', output)

    def test_the_right_hosts_are_down(self) -> None:
        self.gpus('compute-1', 'compute-2')
        self.cloud.states['compute-1'] = ('enabled', 'down')
        self.cloud.states['compute-2'] = ('enabled', 'down')
        output = self.below()
        self.assertIn(
            '2 hosts take the flavor: compute-1 and compute-2 are down.',
            output,
        )
        self.assertIn('start nova-compute on compute-1', output)

    def test_the_right_hosts_lack_traits(self) -> None:
        self.gpus('compute-1', 'compute-2')
        self.cloud.flavors['gpu.large'] |= {
            'trait:HW_A': 'required', 'trait:HW_B': 'forbidden',
        }  # fmt: skip
        self.cloud.traits = {'compute-1': {'HW_A', 'HW_B'}}
        self.assertIn(
            'compute-1 has HW_B; compute-2 lacks HW_A.', self.below()
        )

    def test_the_right_hosts_are_beyond_what_nova_looks_at(self) -> None:
        self.gpus('compute-4')
        conf = self.write(
            '[scheduler]\nmax_placement_results = 2\n[filter_scheduler]\n'
            'enabled_filters = AggregateInstanceTypeFilter\n',
            'conf',
        )
        output = self.below('--config-file', conf)
        self.assertIn(
            '1 host takes the flavor: compute-4 is beyond the first 2 '
            'candidates.',
            output,
        )
        # For a member of a server group, Nova looks at all.
        hints = {'scheduler_hints': {'group': ['g']}}
        self.cloud.shown['train'] |= hints
        self.below('--config-file', conf)
        self.assertNotIn('limit', self.cloud.candidate_query)

    def test_no_host_takes_the_flavor(self) -> None:
        self.gpus()
        self.assertIn(
            "None of 6 hosts takes the flavor: 6 'gpu' not in any aggregate. "
            "The nearest host is compute-1: 'gpu' not in any aggregate; 'ssd' "
            'not in any aggregate.',
            self.below(),
        )

    def test_a_host_that_nothing_keeps_is_left(self) -> None:
        self.gpus('compute-1')
        output = self.below()
        self.assertIn('Left: compute-1. What was not judged has', output)
        self.assertNotIn('takes the flavor', output)

    def test_another_question_gets_the_table_of_hosts(self) -> None:
        words = _EXPLAIN.split()
        for more in (('--long',), ('--host', 'compute-1')):
            self.assertIn('Host', self.live(*words, *more)[0])
        self.assertIn('Host', self.live(*words[:-1], 'web')[0])

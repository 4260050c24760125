# SPDX-License-Identifier: Apache-2.0

"""What the commands say about Nova, held against the Nova that is there."""

import collections
import random
import re
import unittest
from typing import Any
from urllib import parse

import ddt
from nova import context as nova_context
from nova import exception, objects
from nova.api.validation.extra_specs import validators
from nova.scheduler import host_manager, request_filter, utils

from nova_filters.matching import requirement
from openstack_commands.aggregates.advice import demand, inventory, mistakes
from testing.nova import states
from tests.functional.nova_filters import base

_SEED = 20260102


class AggregateTest(unittest.TestCase):
    """What the evaluator needs of Nova's Aggregates."""

    def test_a_dictionary_tells_them_apart_by_identity(self) -> None:
        base.cloud()
        aggregate, same = states.aggregates({'k': '1'}, {'k': '1'})
        same.id, same.name = aggregate.id, aggregate.name
        self.assertEqual(2, len({aggregate, same}))


class DemandTest(unittest.TestCase):
    """What Placement is asked, by us and by Nova."""

    #: The values that Nova's API takes, by key.
    KEYS = {
        'resources:VCPU': ('0', '2'), 'resources:PCPU': ('1',),
        'resources:CUSTOM_NODE': ('0', '1'), 'resources:MEMORY_MB': ('0',),
        'resources:VGPU': ('1',), 'resources1:VGPU': ('1',),
        'resources_N:NET_BW_EGR_KILOBIT_PER_SEC': ('100',),
        'resources_V:VCPU': ('1',), 'resources2:DISK_GB': ('5',),
        'resources:NOVAS_NEWEST': ('1',), 'group_policy': ('none', 'isolate'),
        'trait:HW_CPU_X86_VMX': ('required', 'forbidden'),
        'trait1:CUSTOM_A': ('required',), 'trait_X:CUSTOM_B': ('forbidden',),
        'hw:cpu_policy': ('shared', 'dedicated', 'mixed'),
        'hw:cpu_thread_policy': ('prefer', 'isolate', 'require'),
        'hw:emulator_threads_policy': ('share', 'isolate'),
        'hw:cpu_dedicated_mask': ('0', '^0'),
        'hw:pci_numa_affinity_policy': ('socket', 'legacy'),
        'hw:maxphysaddr_mode': ('emulate', 'passthrough'),
        'os:secure_boot': ('required', 'disabled', 'optional'),
        'hw:tpm_version': ('2.0',), 'hw:mem_encryption': ('true',),
        'hw:pmem': ('SMALL',), 'aggregate_instance_extra_specs:k': ('1',),
        'quota:cpu_shares': ('1',),
    }  # fmt: skip

    def query(
        self, flavor: inventory.Flavor, volume: bool, hints: dict[str, Any]
    ) -> dict[str, str]:
        """Return what Nova asks."""
        context = nova_context.get_admin_context()
        nova_flavor = objects.Flavor(
            vcpus=flavor.vcpus, memory_mb=flavor.memory, root_gb=flavor.root,
            ephemeral_gb=flavor.disk, swap=0, extra_specs=flavor.extra_specs,
        )  # fmt: skip
        image = objects.ImageMeta(properties=objects.ImageMetaProps())
        spec = objects.RequestSpec(
            flavor=nova_flavor,
            image=image,
            is_bfv=volume,
            scheduler_hints=hints,
        )
        spec.request_level_params = objects.RequestLevelParams()
        request_filter.compute_status_filter(context, spec)
        resources = utils.resources_from_request_spec(context, spec, None)
        return dict(parse.parse_qsl(resources.to_querystring(), True))

    def test_the_question_is_that_of_nova_for_1000_flavors(self) -> None:
        base.cloud()
        rng, kinds = random.Random(_SEED), collections.Counter[bool]()
        while kinds.total() < 1_000:
            keys = rng.sample(sorted(self.KEYS), rng.randint(0, 6))
            specs = {key: rng.choice(self.KEYS[key]) for key in keys}
            size = 2, 512, rng.choice((0, 10)), 3
            flavor = inventory.Flavor('f', specs, '', *size)
            volume = rng.random() < 0.5
            hint = rng.choice(('x', *demand.UNLIMITED))
            hints = {hint: ['1']}
            limit = None
            if hint == 'x':
                limit = 1_000
            try:
                query_of_nova = self.query(flavor, volume, hints)
            except exception.NovaException:
                # Its API refuses the flavor, or a server with it.
                continue
            resources = demand.of(flavor, volume, limit=limit)
            kinds[query_of_nova == resources.query] += 1
            # Where they differ, the keys are named that make the difference.
            if query_of_nova != resources.query:
                for key in resources.unasked:
                    del specs[key]
                self.assertNotIn('hw:tpm_version', specs)
                if 'hw:cpu_policy' not in resources.unasked:
                    less = self.query(flavor, volume, hints)
                    self.assertEqual(less, resources.query, specs)
        self.assertGreater(min(kinds.values()), 100, kinds)


@ddt.ddt
class LintTest(unittest.TestCase):
    """What the findings say of other parts of Nova."""

    def test_capabilities_are_what_nova_knows_of_a_host(self) -> None:
        state = host_manager.HostState('host', 'node', objects.ComputeNode())
        attributes = {
            name
            for name in dir(state)
            if name[0] != '_' and not callable(getattr(state, name))
        }
        # What a nova-compute reports of its load stands beside them.
        self.assertEqual(
            attributes | {'io_workload'}, {*mistakes.CAPABILITIES}
        )

    def test_the_api_refuses_sentinels_where_the_finding_says_so(self) -> None:
        kinds: collections.Counter[bool] = collections.Counter()
        for validator in validators.VALIDATORS.values():
            key = _example(validator)
            for text in ('*', '~', '!', '<or> 1 <or> ~'):
                codes = {
                    p.code
                    for p in mistakes.scope(key, requirement.parse(text))
                }
                is_refused = mistakes.FindingCode.REFUSED_BY_API in codes
                self.assertIs(_refused(key, text), is_refused, (key, text))
                kinds[is_refused] += 1
        self.assertGreater(min(kinds[True], kinds[False]), 10, kinds)

    def test_the_api_refuses_keys_that_it_does_not_know(self) -> None:
        for namespace, key in (
            ('capabilities', 'hypervisor_type'),
            ('accel', 'device_profile'),
            ('vmware', 'hw_version'),
        ):
            for text in ('1', '*', '~', '!'):
                self.assertFalse(_refused(f'{namespace}:{key}', text))
                self.assertTrue(_refused(f'{namespace}:gpu', text))

    @ddt.data('quota:no_such_key', 'unknown:key', 'bare', 'my:own:key')
    def test_the_api_takes_sentinels_on_the_remedy(self, key: str) -> None:
        self.assertFalse(
            _refused(f'aggregate_instance_extra_specs:{key}', '~')
        )


def _example(validator: Any) -> str:
    """Return a key that a validator is for."""
    for part in ('1', '_A', ':x', 'HW_CPU_X86_VMX'):
        key = re.sub(r'{\w+}', part, validator.name)
        if re.fullmatch(validator.name_regex, key):
            return key
    raise AssertionError(validator.name)


def _refused(key: str, text: str) -> bool:
    """Tell whether Nova's API refuses an extra spec."""
    try:
        validators.validate(key, text)
    except exception.ValidationError:
        return True
    return False

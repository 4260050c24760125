# SPDX-License-Identifier: Apache-2.0

"""The request of nova-scheduler to Placement for a flavor.

Nova also adds the requirements of the image and of the ports. This module
leaves them out. A functional test compares this module with Nova's code.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from openstack_commands.aggregates.advice import inventory

_KEY: Final = re.compile(r'(resources|trait)([a-zA-Z0-9_-]{1,64})?:(.*)')
#: If an extra spec requests one of these classes, Nova does not request the
#: vCPUs of the flavor.
_CPUS: Final = ('VCPU', 'PCPU')
#: Extra specs that Nova turns into a required or (with ``!``) forbidden trait.
_TRAITS: Final = {
    ('hw:cpu_thread_policy', 'isolate'): '!HW_CPU_HYPERTHREADING',
    ('hw:cpu_thread_policy', 'require'): 'HW_CPU_HYPERTHREADING',
    ('hw:pci_numa_affinity_policy', 'socket'): (
        'COMPUTE_SOCKET_PCI_NUMA_AFFINITY'
    ),
    ('hw:maxphysaddr_mode', 'emulate'): 'COMPUTE_ADDRESS_SPACE_EMULATED',
    ('hw:maxphysaddr_mode', 'passthrough'): (
        'COMPUTE_ADDRESS_SPACE_PASSTHROUGH'
    ),
    ('os:secure_boot', 'required'): 'COMPUTE_SECURITY_UEFI_SECURE_BOOT',
}
#: Extra specs from which some releases of Nova derive further resources and
#: traits.
_UNKNOWN: Final = """
    accel:device_profile hw:ephemeral_encryption hw:ephemeral_encryption_format
    hw:mem_encryption hw:mem_encryption_model hw:pmem hw:sound_model
    hw:tpm_model hw:tpm_secret_security hw:tpm_version hw:viommu_model
    hw:virtio_packed_ring pci_passthrough:alias
    """.split()  # noqa: SIM905
#: The standard resource classes. Nova ignores all other names, except custom
#: classes.
_STANDARD: Final = """
    VCPU MEMORY_MB DISK_GB PCI_DEVICE SRIOV_NET_VF NUMA_SOCKET NUMA_CORE
    NUMA_THREAD NUMA_MEMORY_MB IPV4_ADDRESS VGPU VGPU_DISPLAY_HEAD
    NET_BW_EGR_KILOBIT_PER_SEC NET_BW_IGR_KILOBIT_PER_SEC PCPU
    MEM_ENCRYPTION_CONTEXT FPGA PGPU NET_PACKET_RATE_KILOPACKET_PER_SEC
    NET_PACKET_RATE_EGR_KILOPACKET_PER_SEC
    NET_PACKET_RATE_IGR_KILOPACKET_PER_SEC
    """.split()  # noqa: SIM905


#: With one of these hints, Nova requests candidates without a limit.
UNLIMITED: Final = ('group', 'same_host', 'different_host')


class Demand(NamedTuple):
    """A request for allocation candidates.

    :param query: the parameters of ``GET /allocation_candidates``.
    :param unasked: the extra specs for which Nova may request resources or
        traits that are not in the query.
    """

    query: dict[str, str]
    unasked: tuple[str, ...]

    @property
    def anywhere(self) -> dict[str, str]:
        """Return the query for all hosts, without a limit.

        The hosts may be in any availability zone, and may be disabled.
        """
        return {
            key: value
            for key, value in self.query.items()
            if key not in ('root_required', 'member_of', 'limit')
        }

    @property
    def parts(self) -> dict[str, dict[str, str]]:
        """Return a query for each resource class and each trait alone.

        :returns: class or trait -> the parameters of
            ``GET /resource_providers``. A forbidden trait begins with ``!``.
        """
        amounts: dict[str, int] = {}
        traits = []
        for key, value in self.query.items():
            words = [word for word in value.split(',') if word]
            if key.startswith('resources'):
                for word in words:
                    name, _, amount = word.partition(':')
                    amounts[name] = max(amounts.get(name, 0), int(amount))
            elif key.startswith('required'):
                # A child provider may meet a group with a suffix. So even if
                # this group forbids a trait, the host may have the trait.
                plain = key == 'required'
                traits += [word for word in words if plain or word[0] != '!']
        parts = {}
        for name, number in sorted(amounts.items()):
            parts[name] = {'resources': f'{name}:{number}'}
        for trait in traits:
            parts[trait] = {'required': trait}
        return parts

    def __str__(self) -> str:
        """Return the resources and the traits as text."""
        return ', '.join(
            value.replace(':', '=').replace(',', ', ')
            for key, value in sorted(self.query.items())
            if key.startswith(('resources', 'required')) and value
        )


def of(
    flavor: inventory.Flavor,
    from_volume: bool = False,
    zone: Sequence[str] = (),
    limit: int | None = None,
) -> Demand:
    """Return the request of nova-scheduler to Placement.

    :param from_volume: whether the root disk is a volume.
    :param zone: the UUIDs of the aggregates of the requested availability
        zone.
    :param limit: how many candidates Nova requests at most; None for all.
    """
    specs = flavor.extra_specs
    amounts, traits = _named(specs)
    unasked = [key for key in specs if key in _UNKNOWN]
    if specs.get('hw:cpu_policy') == 'mixed':
        # The amounts of VCPU and PCPU depend on a CPU mask in another extra
        # spec, which is not read here. With 0, the query has neither class.
        unasked.append('hw:cpu_policy')
        amounts[''] |= dict.fromkeys(_CPUS, 0)
    _fill(amounts, flavor, from_volume)
    query = {'root_required': '!COMPUTE_STATUS_DISABLED'}
    if specs.get('group_policy') in ('none', 'isolate'):
        query['group_policy'] = specs['group_policy']
    if limit is not None:
        query['limit'] = str(limit)
    if zone:
        query['member_of'] = f'in:{",".join(sorted(zone))}'
    for group in {**amounts, **traits}:
        resources = []
        for name, number in amounts[group].items():
            if number:
                resources.append(f'{name}:{number}')
        if resources or traits[group]:
            query[f'resources{group}'] = ','.join(sorted(resources))
        if traits[group]:
            # The forbidden traits come last, as in Nova's request.
            query[f'required{group}'] = ','.join(
                sorted(traits[group], key=lambda t: (t[0] == '!', t))
            )
    return Demand(query, tuple(unasked))


def _named(
    specs: Mapping[str, str],
) -> tuple[defaultdict[str, dict[str, int]], defaultdict[str, set[str]]]:
    """Return the amounts and the traits that extra specs request.

    :returns: group -> resource class -> amount, and group -> traits. A group
        is the suffix in the key of the extra spec; empty without a suffix.
    """
    amounts: defaultdict[str, dict[str, int]] = defaultdict(dict)
    traits: defaultdict[str, set[str]] = defaultdict(set)
    for key, text in specs.items():
        match = _KEY.fullmatch(key)
        if match and match[1] == 'resources':
            name = match[3]
            is_class = name in _STANDARD or name.startswith('CUSTOM_')
            if is_class and text.isdecimal():
                amounts[match[2] or ''][name] = int(text)
        elif match and text in ('required', 'forbidden'):
            sign = '!' * (text == 'forbidden')
            traits[match[2] or ''].add(sign + match[3])
        elif (key, text) in _TRAITS:
            traits[''].add(_TRAITS[key, text])
    return amounts, traits


def _fill(
    amounts: defaultdict[str, dict[str, int]],
    flavor: inventory.Flavor,
    from_volume: bool,
) -> None:
    """Add the flavor's vCPUs, memory and disk, unless extra specs set them."""
    specs = flavor.extra_specs
    unnumbered = amounts['']
    if specs.get('hw:cpu_policy') == 'dedicated':
        isolated = specs.get('hw:emulator_threads_policy') == 'isolate'
        unnumbered['PCPU'] = flavor.vcpus + isolated
    named: set[str] = set().union(*amounts.values())
    if named.isdisjoint(_CPUS):
        unnumbered['VCPU'] = flavor.vcpus
    if 'MEMORY_MB' not in named:
        unnumbered['MEMORY_MB'] = flavor.memory
    if 'DISK_GB' not in named:
        unnumbered['DISK_GB'] = flavor.disk
        if not from_volume:
            unnumbered['DISK_GB'] += flavor.root

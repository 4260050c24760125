# SPDX-License-Identifier: Apache-2.0

"""What nova-scheduler asks of Placement for a flavor, as far as it shows.

Nova adds what comes from the image, from ports and from some extra specs.
"""

import collections
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

_KEY: Final = re.compile(r'(resources|trait)([a-zA-Z0-9_-]{0,64}):(.+)')
#: The extra specs of which Nova makes further resources and traits.
_TRANSLATED: Final = (
    *('hw:cpu_dedicated_mask', 'hw:cpu_thread_policy', 'hw:locked_memory'),
    *('hw:maxphysaddr_mode', 'hw:mem_encryption', 'hw:pmem', 'hw:tpm_version'),
    *('hw:viommu_model', 'os:secure_boot', 'pci_passthrough:alias'),
    'accel:device_profile',
)


class Size(NamedTuple):
    """The numbers of a flavor.

    :param vcpus: how many virtual CPUs.
    :param memory: MiB.
    :param disk: GiB on the host's disks, swap included.
    """

    vcpus: int
    memory: int
    disk: int


class Demand(NamedTuple):
    """A request for allocation candidates.

    :param query: the parameters of ``GET /allocation_candidates``.
    :param unasked: the extra specs that Nova asks for, too.
    """

    query: dict[str, str]
    unasked: tuple[str, ...]

    def __str__(self) -> str:
        """Return the resources and the traits."""
        return ', '.join(
            value.replace(':', '=').replace(',', ', ')
            for key, value in sorted(self.query.items())
            if key != 'group_policy'
        )


def of(size: Size, extra_specs: Mapping[str, str]) -> Demand:
    """Return what nova-scheduler asks of Placement."""
    amounts: dict[str, dict[str, int]] = collections.defaultdict(dict)
    traits: dict[str, list[str]] = collections.defaultdict(list)
    policy = extra_specs.get('hw:cpu_policy')
    cpu = 'PCPU' if policy == 'dedicated' else 'VCPU'
    amounts[''] = {
        cpu: size.vcpus,
        'MEMORY_MB': size.memory,
        'DISK_GB': size.disk,
    }
    unasked = [key for key in _TRANSLATED if key in extra_specs]
    if policy == 'mixed':
        unasked.append('hw:cpu_policy')
    for key, text in extra_specs.items():
        match = _KEY.fullmatch(key)
        if not match:
            continue
        kind, group, name = match.groups()
        if kind == 'resources' and text.isdecimal():
            amounts[group][name] = int(text)
        elif kind == 'trait' and text in ('required', 'forbidden'):
            traits[group].append('!' * (text == 'forbidden') + name)
        else:
            unasked.append(key)
    query = {
        f'resources{group}': ','.join(
            f'{name}:{amount}'
            for name, amount in sorted(own.items())
            if amount
        )
        for group, own in amounts.items()
    }
    query |= {f'required{g}': ','.join(sorted(t)) for g, t in traits.items()}
    if len(amounts) > 2:
        query['group_policy'] = extra_specs.get('group_policy', 'none')
    return Demand({k: v for k, v in query.items() if v}, tuple(unasked))

# SPDX-License-Identifier: Apache-2.0

"""Random clouds as operators build them: zones, hardware, licences."""

import random
from collections.abc import Sequence

from nova_filters.advice import inventory
from nova_filters.matching import inputs
from nova_filters.matching.inputs import FLAG, SCOPE

_VALUES = {
    'gpu': ('a100', 'h100', 'l4', 'a100,l4'),
    'ssd': ('nvme', 'sata', 'nvme,sata'),
    'cpu': ('2', '3', '4'),
    'os': ('windows', 'rhel', '<or> windows <or> ~', '!'),
    'tier': ('gold', 'silver', '*'),
    'net': ('10', '25', '100'),
}
_WANTED = {
    'gpu': ('a100', '<or> h100 <or> l4', '*', '!', '<or> a100 <or> ~', 'v100'),
    'ssd': ('nvme', '*', '<or> nvme <or> sata', '!'),
    'cpu': ('>= 3', '== 4', '>= 5', '<or> 2 <or> 3'),
    'os': ('windows', 'rhel', '~', '<or> rhel <or> ~'),
    'tier': ('gold', 'silver', '!', '*'),
    'net': ('>= 25', '100', '<or> 10 <or> ~'),
}


def stock(
    flavors: Sequence[inventory.Flavor],
    aggregates: Sequence[inventory.HostAggregate],
    exempt: inputs.Exempt = (),
    others: Sequence[inventory.Host] | None = None,
) -> inventory.Stock:
    """Return what is judged together.

    :param others: all hosts; None if nobody knows.
    """
    hosts = inventory.hosts_of(aggregates, others)
    return inventory.Stock(flavors, aggregates, hosts, exempt)


def draw(
    rng: random.Random, hosts: int, aggregates: int, flavors: int
) -> tuple[
    list[inventory.Flavor], list[inventory.HostAggregate], list[inventory.Host]
]:
    """Return a random cloud.

    :param aggregates: the number of aggregates: one in eight has no host, one
        in four is forced.
    :param flavors: the number of flavors, of up to three extra specs.
    :returns: the flavors, the aggregates, and all hosts.
    """
    names = [f'compute-{number:04}.cloud.test' for number in range(hosts)]
    made = []
    for number in range(aggregates):
        keys = rng.sample(sorted(_VALUES), rng.randint(1, 2))
        metadata = {key: rng.choice(_VALUES[key]) for key in keys}
        if rng.random() < 0.25:
            metadata[FLAG] = 'True'
        share = (
            rng.randint(1, max(1, hosts // 8)) if rng.random() < 0.88 else 0
        )
        members = tuple(rng.sample(names, share))
        made.append(inventory.HostAggregate(f'a{number}', metadata, members))
    wanted = []
    for number in range(flavors):
        keys = rng.sample(sorted(_WANTED), rng.randint(0, 3))
        specs = {SCOPE + key: rng.choice(_WANTED[key]) for key in keys}
        wanted.append(inventory.Flavor(f'f{number}', specs))
    return wanted, made, [inventory.Host(name, state='up') for name in names]

# SPDX-License-Identifier: Apache-2.0
"""Hosts that share aggregates, as in the clouds that most operators run.

Each host is in five aggregates of ten keys. The aggregates tell of hardware
and places, and some are forced.
"""

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

SEED = 20_261_127
PER_HOST = 5
#: The values of each key of an aggregate.
VALUES = {
    'gpu': ('a100', 'h100', 'l4', 'a100,h100'),
    'disk': ('ssd', 'hdd'),
    'os': ('linux', 'windows'),
    'rack': tuple(f'r{number}' for number in range(40)),
    **{f'key{number}': ('1', '2', '3', '4', '5') for number in range(6)},
}
FLAVORS = ({'gpu': 'a100'}, {'gpu': 'a100', 'disk': 'ssd', 'os': 'linux'})


class Sets(NamedTuple):
    """Which aggregates the hosts are in.

    :param hosts: how many hosts.
    :param aggregates: how many aggregates there are.
    :param shared: whether there are only 20 sets of aggregates. Otherwise,
        each host is in five random aggregates.
    :param forced: whether half of the aggregates are forced.
    """

    hosts: int
    aggregates: int
    shared: bool
    forced: bool

    @property
    def kind(self) -> str:
        """Return the name of the kind of sets."""
        if self.forced:
            return 'random, half forced'
        return 'shared' if self.shared else 'random'


#: The kinds of sets, with 20 and with 200 aggregates.
CASES = tuple(
    (aggregates, shared, forced)
    for shared, forced in ((True, False), (False, False), (False, True))
    for aggregates in (20, 200)
)


def put(sets: Sets, hosts: Sequence[Any], states: Any, *flags: str) -> None:
    """Put hosts into new aggregates.

    :param states: the module that makes Nova's aggregates.
    :param flags: metadata keys that are on in all aggregates.
    """
    rng = random.Random(SEED)
    pool = []
    for number in range(sets.aggregates):
        # Not every aggregate has every key.
        keys = rng.sample(sorted(VALUES), 9)
        metadata = {key: rng.choice(VALUES[key]) for key in keys}
        metadata[f'customer{number}'] = 'x'
        metadata.update(dict.fromkeys(flags, 'true'))
        if sets.forced and rng.random() < 0.5:
            metadata['force_metadata_check'] = 'true'
        pool.append(states.aggregates(metadata)[0])
    choices = [rng.sample(pool, PER_HOST) for _ in range(20)]
    for host in hosts:
        if sets.shared:
            host.aggregates = rng.choice(choices)
        else:
            host.aggregates = rng.sample(pool, PER_HOST)

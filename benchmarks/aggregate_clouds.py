# SPDX-License-Identifier: Apache-2.0
"""Clouds of any shape, and Nova's filters, for the benchmarks of hosts."""

import dataclasses
import itertools
import logging
import os
import random
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks import common

SEED = 20_261_122
#: The smallest and the largest number of aggregates per host.
PER_HOST = (1, 300)
OURS = 'AggregateInstanceTypeFilter'
IN_TREE = 'AggregateInstanceExtraSpecsFilter'


def configure() -> None:
    """Load Nova in this process and configure it."""
    warnings.simplefilter('ignore')
    from nova import config, objects

    config.parse_args(['nova-scheduler'], default_config_files=[])
    objects.register_all()
    # INFO is on, as it is by default; the lines go nowhere.
    logging.basicConfig(
        level=logging.INFO,
        handlers=[logging.StreamHandler(open(os.devnull, 'w'))],  # noqa: SIM115
        force=True,
    )


@dataclasses.dataclass(frozen=True)
class Shape:
    """A cloud and a flavor.

    :param hosts: how many hosts.
    :param per_host: how many aggregates each host is in.
    :param keys: how many keys an aggregate has beside those below.
    :param own_keys: whether each aggregate has other keys than the rest; it
        then has one more, which all have.
    :param own_values: whether each aggregate has other values than the rest.
    :param flags: whether the aggregates have ``force_metadata_check`` on.
    :param suits: whether the aggregates meet the flavor's extra specs.
    :param shared: whether the hosts draw their aggregates from a few, or each
        has aggregates of its own.
    :param specs: whether the flavor has extra specs: the common keys.
    """

    hosts: int
    per_host: int
    keys: int
    own_keys: bool
    own_values: bool
    flags: bool
    suits: bool = True
    shared: bool = False
    specs: bool = True

    @property
    def common_keys(self) -> list[str]:
        """Return the keys that all aggregates have."""
        return [f'key{i}' for i in range(1 if self.own_keys else self.keys)]

    @property
    def passing(self) -> int:
        """Return how many hosts pass."""
        demanded = self.own_keys or not self.specs
        met = not self.specs or self.suits
        return self.hosts if met and not (self.flags and demanded) else 0

    def cells(self) -> tuple[Any, ...]:
        """Return what tells this shape from the others."""
        return (
            *(self.hosts, self.per_host, self.keys),
            'own' if self.own_keys else 'same',
            'own' if self.own_values else 'same',
            'on' if self.flags else 'off',
            'shared' if self.shared else 'own',
            ('suits' if self.suits else 'does not') if self.specs else 'empty',
        )


class Clouds:
    """Hosts in clouds of any shape, and the filters."""

    def __init__(self) -> None:
        """Load the filters as nova-scheduler does."""
        configure()
        from nova.scheduler import filters

        from testing.nova import states

        self.states = states
        self._handler = filters.HostFilterHandler()
        names = ('nova.scheduler.filters', 'nova_filters')
        loaded = self._handler.get_matching_classes(
            [f'{name}.all_filters' for name in names]
        )
        classes = {cls.__name__: cls for cls in loaded}
        self.in_tree = classes[IN_TREE]()
        self.ours = classes[OURS]()
        self._hosts: list[Any] = []

    def hosts(self, count: int) -> list[Any]:
        """Return so many HostStates; the same ones each time."""
        for number in range(len(self._hosts), count):
            self._hosts.append(self.states.host_state(f'host-{number}'))
        return self._hosts[:count]

    def run(self, host_filter: Any, hosts: list[Any], spec: Any) -> list[Any]:
        """Return the hosts that a filter leaves, the way Nova asks it."""
        left: list[Any] = self._handler.get_filtered_objects(
            [host_filter], hosts, spec
        )
        return left

    def time(self, what: str, hosts: list[Any], spec: Any) -> float:
        """Return the seconds that a filter takes for one request."""
        return common.seconds(
            lambda: self.run(getattr(self, what), hosts, spec)
        )

    def put(self, shape: Shape, hosts: Sequence[Any]) -> None:
        """Put hosts into new aggregates."""
        rng = random.Random(SEED)
        if shape.shared:
            pool = [self.aggregate(shape, n) for n in range(max(PER_HOST))]
            for host in hosts:
                host.aggregates = rng.sample(pool, shape.per_host)
            return
        numbers = itertools.count()
        for host in hosts:
            host.aggregates = [
                self.aggregate(shape, next(numbers))
                for _ in range(shape.per_host)
            ]

    def aggregate(self, shape: Shape, number: int) -> Any:
        """Return a new aggregate."""
        value = 'ssd' if shape.suits else 'hdd'
        if shape.own_values:
            value += f',disk-{number}'
        names = shape.common_keys
        if shape.own_keys:
            names += [f'customer-{number}-{i}' for i in range(shape.keys)]
        data = dict.fromkeys(names, value)
        if shape.flags:
            data['force_metadata_check'] = 'True'
        (found,) = self.states.aggregates(new_texts(data.items()))
        return found


def new_texts(items: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return a dictionary of new strings, as a database returns them."""
    return {''.join([*key]): ''.join([*value]) for key, value in items}

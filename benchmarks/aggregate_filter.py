# SPDX-License-Identifier: Apache-2.0
"""Time the aggregate filter beside the one that comes with Nova.

``python -m benchmarks.aggregate_filter`` sends the same real HostStates and
the same RequestSpec through Nova's ``HostFilterHandler`` with both filters,
in clouds of many shapes: hosts may have aggregates, keys and values of their
own, as with one aggregate for each customer. All run in one process, so that
the ratios mean something on any machine. It needs Nova, and prints what
``doc/source/benchmarks.rst`` shows.
"""

import dataclasses
import functools
import gc
import itertools
import logging
import os
import random
import statistics
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from benchmarks import common

SEED = 20_261_122

#: The smallest and the largest number of hosts, of aggregates per host, and of
#: keys per aggregate.
HOSTS = (100, 10_000)
PER_HOST = (1, 300)
KEYS = (1, 10)
#: How many shapes are drawn between the corners.
RANDOM = 32
#: So many aggregates of their own the hosts of a cloud have at the most: a
#: larger cloud has fewer hosts. 300 for each of 10,000 hosts would be three
#: million, which take about 10 GiB.
LIMIT = 30_000
QUICK_LIMIT = 3_000
#: The best of so many measurements counts; with few hosts, of more.
ROUNDS = 3
#: The cost per host is compared between these numbers of hosts.
SCALE = (100, 3_000)
#: The ratio that is promised, by whether the flag is on.
PROMISED = {False: 1.0, True: 0.5}
#: How many of the worst shapes are shown.
SHOWN = 12
COLUMNS = ('hosts', 'per host', 'keys', 'names', 'values', 'flags')
COLUMNS += ('aggregates', 'flavor', 'in-tree', 'ours', 'ratio')


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
        warnings.simplefilter('ignore')
        from nova import config, objects
        from nova.scheduler import filters

        config.parse_args(['nova-scheduler'], default_config_files=[])
        objects.register_all()
        # INFO is on, as it is by default; the lines go nowhere.
        nowhere = logging.StreamHandler(open(os.devnull, 'w'))  # noqa: SIM115
        logging.basicConfig(level=logging.INFO, handlers=[nowhere], force=True)
        from testing.nova import states

        self.states = states
        self._handler = filters.HostFilterHandler()
        loaded = self._handler.get_matching_classes(
            ['nova.scheduler.filters.all_filters', 'nova_filters.all_filters']
        )
        classes = {cls.__name__: cls for cls in loaded}
        self.in_tree = classes['AggregateInstanceExtraSpecsFilter']()
        self.ours = classes['AggregateInstanceTypeFilter']()
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

    def put(self, shape: Shape, hosts: Sequence[Any]) -> None:
        """Put hosts into new aggregates."""
        rng = random.Random(SEED)
        if shape.shared:
            pool = [self.aggregate(shape, n) for n in range(max(PER_HOST))]
            for host in hosts:
                host.aggregates = rng.sample(pool, shape.per_host)
            return
        for number, host in enumerate(hosts):
            first = number * shape.per_host
            host.aggregates = [
                self.aggregate(shape, first + n) for n in range(shape.per_host)
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
        # New strings, as a database returns them.
        data = {''.join([*k]): ''.join([*v]) for k, v in data.items()}
        (found,) = self.states.aggregates(data)
        return found


@dataclasses.dataclass(frozen=True)
class Row:
    """What a shape took, in microseconds per host."""

    shape: Shape
    in_tree: float
    ours: float

    @property
    def ratio(self) -> float:
        """How many times as long Nova's own filter takes."""
        return self.in_tree / self.ours

    def cells(self) -> tuple[Any, ...]:
        """Return a row of the table."""
        numbers = (self.in_tree, self.ours, self.ratio)
        return (*self.shape.cells(), *(f'{n:.2f}' for n in numbers))


def corners(limit: int) -> Iterator[Shape]:
    """Yield the corners of the parameters."""
    truths = itertools.product((False, True), repeat=4)
    for sizes in itertools.product(HOSTS, PER_HOST, KEYS, truths):
        hosts, per_host, keys, (own_keys, own_values, flags, suits) = sizes
        hosts = min(hosts, limit // per_host)
        yield Shape(hosts, per_host, keys, own_keys, own_values, flags, suits)
    for hosts, per_host, flags in itertools.product(
        HOSTS, PER_HOST, (False, True)
    ):
        yield Shape(hosts, per_host, 10, True, True, flags, shared=True)


def drawn(limit: int) -> Iterator[Shape]:
    """Yield random shapes between the corners."""
    rng = random.Random(SEED)
    for _ in range(RANDOM):
        per_host = round(300 ** rng.random())
        hosts = round(100 ** (1 + rng.random()))
        hosts = min(hosts, limit // per_host)
        truths = [rng.random() < 0.5 for _ in range(5)]
        yield Shape(hosts, per_host, rng.randint(*KEYS), *truths)


def scaled(hosts: int) -> Iterator[Shape]:
    """Yield shapes that are measured at two numbers of hosts."""
    truths = itertools.product((False, True), repeat=4)
    for keys, four in itertools.product(KEYS, truths):
        yield Shape(hosts, 1, keys, *four)


def time(clouds: Clouds, shape: Shape) -> Row:
    """Time one shape.

    :raises BenchmarkError: when a filter does not do its work.
    """
    hosts = clouds.hosts(shape.hosts)
    clouds.put(shape, hosts)
    wanted = dict.fromkeys(shape.common_keys if shape.specs else (), 'ssd')
    spec = clouds.states.request(wanted)
    left = [len(clouds.run(clouds.ours, hosts, spec))]
    left.append(len(clouds.run(clouds.in_tree, hosts, spec)))
    # The in-tree filter does not know the flag.
    met = shape.hosts if shape.suits or not shape.specs else 0
    if left != [shape.passing, met]:
        raise common.BenchmarkError(f'{shape}: {left} hosts pass.')
    times = []
    for _ in range(max(ROUNDS, 1_000 // shape.hosts)):
        for one in (clouds.in_tree, clouds.ours):
            run = functools.partial(clouds.run, one, hosts, spec)
            times.append(common.seconds(run) / shape.hosts * 1e6)
    for host in hosts:
        host.aggregates = []
    return Row(shape, min(times[::2]), min(times[1::2]))


def table(rows: Iterable[Row]) -> str:
    """Return rows as a table."""
    return common.table(COLUMNS, [row.cells() for row in rows])


def report(
    rows: Sequence[Row],
    pairs: Sequence[tuple[Row, Row]],
    bare: Sequence[Row],
) -> str:
    """Return the report as text.

    :param rows: corners and random shapes.
    :param pairs: the same shape with few and with many hosts.
    :param bare: shapes whose flavor has no extra specs.
    """
    lines = [f'{len(rows)} shapes of clouds. Microseconds per host.']
    for flags, promised in PROMISED.items():
        own = [row for row in rows if row.shape.flags is flags]
        worst = sorted(own, key=lambda row: row.ratio)[:SHOWN]
        median = statistics.median(row.ratio for row in own)
        lines += [
            f'{len(own)} with flags {"on" if flags else "off"}: the least '
            f'ratio is {worst[0].ratio:.2f} (wanted: at least {promised}), '
            f'the median {median:.1f}. The worst:',
            table(worst),
        ]
    few, many = max(pairs, key=lambda pair: pair[1].ours / pair[0].ours)
    lines += [
        f'{len(pairs)} shapes with {SCALE[0]} and with {SCALE[1]} hosts: a '
        f'host takes at most {many.ours / few.ours:.2f} times as long among '
        'the many (wanted: at most 2):',
        table((few, many)),
        'A flavor without extra specs: Nova does not look at aggregates then.',
        table(bare),
    ]
    return '\n'.join(lines)


def measure(quick: bool) -> str:
    """Run all shapes and return the report."""
    clouds = Clouds()
    # New aggregates by the ten thousand would be looked through at each turn.
    gc.disable()
    limit = QUICK_LIMIT if quick else LIMIT
    # A corner with too many aggregates may be another corner then.
    shapes = [*dict.fromkeys((*corners(limit), *drawn(limit)))]
    common.say(f'{len(shapes)} shapes')
    rows = [time(clouds, shape) for shape in shapes]
    common.say(f'{2 * len([*scaled(0)])} shapes to compare numbers of hosts')
    pairs = [
        (time(clouds, few), time(clouds, many))
        for few, many in zip(*map(scaled, SCALE), strict=True)
    ]
    bare = [
        time(clouds, Shape(300, per_host, 1, True, True, flags, specs=False))
        for per_host, flags in itertools.product(PER_HOST, (False, True))
    ]
    from nova import version

    where = common.machine(f'Nova {version.version_string()}')
    return f'{where}\n\n{report(rows, pairs, bare)}'


if __name__ == '__main__':
    sys.exit(
        common.command(
            'Nova',
            'Time AggregateInstanceTypeFilter beside the filter that comes '
            'with Nova, through its HostFilterHandler. Takes minutes.',
            'only small shapes: a minute',
            measure,
        )
    )

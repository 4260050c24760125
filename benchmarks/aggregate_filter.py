# SPDX-License-Identifier: Apache-2.0
"""Time the aggregate filter beside the one that comes with Nova.

``python -m benchmarks.aggregate_filter`` sends the same real HostStates and
the same RequestSpec through Nova's ``HostFilterHandler`` with both filters,
in clouds of many shapes: hosts may have aggregates, keys and values of their
own, as with one aggregate for each customer. All run in one process, so that
the ratios mean something on any machine. It needs Nova, and prints what
``doc/source/benchmarks.rst`` shows.
"""

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
from importlib import metadata
from typing import Any, NamedTuple

from benchmarks import aggregate_sets, common

SEED = 20_261_122

#: The smallest and the largest number of hosts, of aggregates per host, and of
#: keys per aggregate.
HOSTS = (100, 10_000)
PER_HOST = (1, 300)
KEYS = (1, 10)
FLAVORS = ('suits', 'does not')
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
PROMISED = {False: 0.6, True: 0.6}
#: The ratio that is promised for hosts that share aggregates.
PROMISED_OF_SETS = {'shared': 6, 'random': 14, 'random, half forced': 5}
#: How many of the worst shapes are shown.
SHOWN = 12
COLUMNS = ('hosts', 'per host', 'keys', 'names', 'values', 'flags')
COLUMNS += ('aggregates', 'flavor', 'in-tree', 'ours', 'ratio')


#: What the table shows of the truths of a shape.
WORDS = (('same', 'own'), ('same', 'own'), ('off', 'on'), ('own', 'shared'))


class Shape(NamedTuple):
    """A cloud and a flavor, in the order of the table's columns.

    :param hosts: how many hosts.
    :param per_host: how many aggregates each host is in.
    :param keys: how many keys an aggregate has beside those below.
    :param own_keys: whether each aggregate has other keys than the rest; it
        then has one more, which all have.
    :param own_values: whether each aggregate has other values than the rest.
    :param flags: whether the aggregates have ``force_metadata_check`` on.
    :param shared: whether the hosts draw their aggregates from a few, or each
        has aggregates of its own.
    :param flavor: whether the aggregates meet the flavor's extra specs, which
        are the common keys, or "empty" for none.
    """

    hosts: int
    per_host: int
    keys: int
    own_keys: bool
    own_values: bool
    flags: bool
    shared: bool = False
    flavor: str = 'suits'

    def common_keys(self) -> list[str]:
        """Return the keys that all aggregates have."""
        if self.own_keys:
            return ['key0']
        return [f'key{i}' for i in range(self.keys)]

    def passing(self) -> tuple[int, int]:
        """Return how many hosts pass in-tree, and how many pass our filter."""
        if self.flavor == 'does not':
            return 0, 0
        # With the flag, a flavor must ask for all keys of an aggregate. The
        # in-tree filter does not know the flag.
        if self.flags and (self.own_keys or self.flavor == 'empty'):
            return self.hosts, 0
        return self.hosts, self.hosts


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
        value = 'hdd' if shape.flavor == 'does not' else 'ssd'
        if shape.own_values:
            value += f',disk-{number}'
        names = shape.common_keys()
        if shape.own_keys:
            names += [f'customer-{number}-{i}' for i in range(shape.keys)]
        pairs = dict.fromkeys(names, value)
        if shape.flags:
            pairs['force_metadata_check'] = 'True'
        # New strings, as a database returns them.
        pairs = {''.join([*k]): ''.join([*v]) for k, v in pairs.items()}
        (aggregate,) = self.states.aggregates(pairs)
        return aggregate


class Row(NamedTuple):
    """What a shape took, in microseconds per host."""

    shape: Shape
    in_tree: float
    ours: float

    @property
    def ratio(self) -> float:
        """How many times as long Nova's own filter takes."""
        return self.in_tree / self.ours


def corners(limit: int) -> Iterator[Shape]:
    """Yield the corners of the parameters."""
    truths = [*itertools.product((False, True), repeat=3)]
    for hosts, per_host, keys in itertools.product(HOSTS, PER_HOST, KEYS):
        hosts = min(hosts, limit // per_host)
        for three, flavor in itertools.product(truths, FLAVORS):
            yield Shape(hosts, per_host, keys, *three, False, flavor)
    for sizes in itertools.product(HOSTS, PER_HOST):
        for flags in (False, True):
            yield Shape(*sizes, 10, True, True, flags, True)


def drawn(limit: int) -> Iterator[Shape]:
    """Yield random shapes between the corners."""
    rng = random.Random(SEED)
    for _ in range(RANDOM):
        per_host = round(300 ** rng.random())
        hosts = round(100 ** (1 + rng.random()))
        hosts = min(hosts, limit // per_host)
        keys = rng.randint(*KEYS)
        *three, suits, shared = [rng.random() < 0.5 for _ in range(5)]
        yield Shape(hosts, per_host, keys, *three, shared, FLAVORS[not suits])


def scaled(hosts: int) -> Iterator[Shape]:
    """Yield shapes that are measured at two numbers of hosts."""
    truths = itertools.product((False, True), repeat=3)
    for keys, three, flavor in itertools.product(KEYS, truths, FLAVORS):
        yield Shape(hosts, 1, keys, *three, False, flavor)


def time(clouds: Clouds, shape: Shape) -> Row:
    """Time one shape.

    :raises BenchmarkError: when a filter does not do its work.
    """
    hosts = clouds.hosts(shape.hosts)
    clouds.put(shape, hosts)
    extra_specs = {}
    if shape.flavor != 'empty':
        extra_specs = dict.fromkeys(shape.common_keys(), 'ssd')
    spec = clouds.states.request(extra_specs)
    in_tree = functools.partial(clouds.run, clouds.in_tree, hosts, spec)
    ours = functools.partial(clouds.run, clouds.ours, hosts, spec)
    passing = len(in_tree()), len(ours())
    if passing != shape.passing():
        raise common.BenchmarkError(f'{shape}: {passing} hosts pass.')
    in_tree_times = []
    our_times = []
    for _ in range(max(ROUNDS, 1_000 // shape.hosts)):
        in_tree_times.append(common.seconds(in_tree))
        our_times.append(common.seconds(ours))
    for host in hosts:
        host.aggregates = []
    per_host = 1e6 / shape.hosts
    return Row(shape, min(in_tree_times) * per_host, min(our_times) * per_host)


def time_sets(clouds: Clouds, sets: aggregate_sets.Sets) -> list[Any]:
    """Return a row of the table of hosts that share aggregates.

    :raises BenchmarkError: when a filter does not do its work.
    """
    hosts = clouds.hosts(sets.hosts)
    aggregate_sets.put(sets, hosts, clouds.states)
    ratios = []
    for extra_specs in aggregate_sets.FLAVORS:
        spec = clouds.states.request(extra_specs)
        in_tree = functools.partial(clouds.run, clouds.in_tree, hosts, spec)
        ours = functools.partial(clouds.run, clouds.ours, hosts, spec)
        # The in-tree filter does not know the flag.
        passing = in_tree()
        if not sets.forced and ours() != passing or not passing:
            raise common.BenchmarkError(f'{sets}, {extra_specs}')
        rounds = range(max(ROUNDS, 10_000 // sets.hosts))
        in_tree_time = min(common.seconds(in_tree) for _ in rounds)
        our_time = min(common.seconds(ours) for _ in rounds)
        ratios.append(in_tree_time / our_time)
    cells = [f'{ratio:.1f}' for ratio in ratios]
    return [sets.hosts, sets.aggregates, sets.kind, *cells]


def measure_sets(clouds: Clouds, quick: bool) -> str:
    """Return the table of hosts that share aggregates."""
    rows = []
    for hosts in (1_000,) if quick else (1_000, 10_000):
        for case in aggregate_sets.CASES:
            sets = aggregate_sets.Sets(hosts, *case)
            common.say(str(sets))
            rows.append(time_sets(clouds, sets))
    lines = []
    for kind, promised in PROMISED_OF_SETS.items():
        ratios = [
            float(cell) for row in rows if row[2] == kind for cell in row[3:]
        ]
        lines.append(
            f'{kind}: the least ratio is {min(ratios)} (wanted: at least '
            f'{promised})'
        )
    heads = ['hosts', 'aggregates', 'sets', '1 key', '3 keys']
    return '\n'.join([*lines, common.table(heads, rows, 'sets')])


def table(rows: Iterable[Row]) -> str:
    """Return rows as a table."""
    cells = []
    for row in rows:
        hosts, per_host, keys, *truths, flavor = row.shape
        words = [
            pair[truth] for pair, truth in zip(WORDS, truths, strict=True)
        ]
        times = (f'{n:.2f}' for n in (row.in_tree, row.ours, row.ratio))
        cells.append([hosts, per_host, keys, *words, flavor, *times])
    return common.table(COLUMNS, cells)


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
    lines = [
        common.machine(f'Nova {metadata.version("nova")}'),
        '\nEach host is in five aggregates of ten keys, and the flavor asks '
        'for one key or three: the in-tree time divided by ours.',
        measure_sets(clouds, quick),
        f'\n{len(rows)} shapes of clouds. Microseconds per host.',
    ]
    for flags, promised in PROMISED.items():
        with_flags = [row for row in rows if row.shape.flags is flags]
        worst = sorted(with_flags, key=lambda row: row.ratio)[:SHOWN]
        median = statistics.median(row.ratio for row in with_flags)
        word = 'on' if flags else 'off'
        lines += [
            f'{len(with_flags)} with flags {word}: the least '
            f'ratio is {worst[0].ratio:.2f} (wanted: at least {promised}), '
            f'the median {median:.1f}. The worst:',
            table(worst),
        ]
    common.say(f'{2 * len([*scaled(0)])} shapes to compare numbers of hosts')
    pairs = [
        (time(clouds, few), time(clouds, many))
        for few, many in zip(*map(scaled, SCALE), strict=True)
    ]
    few, many = max(pairs, key=lambda pair: pair[1].ours / pair[0].ours)
    lines += [
        f'{len(pairs)} shapes with {SCALE[0]} and with {SCALE[1]} hosts: a '
        f'host takes at most {many.ours / few.ours:.2f} times as long among '
        'the many (wanted: at most 2):',
        table((few, many)),
        'A flavor without extra specs: Nova does not look at aggregates then.',
        table(
            time(clouds, Shape(300, n, 1, True, True, flags, False, 'empty'))
            for n, flags in itertools.product(PER_HOST, (False, True))
        ),
    ]
    return '\n'.join(lines)


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

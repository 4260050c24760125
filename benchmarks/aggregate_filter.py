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
import gc
import itertools
import random
import statistics
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from benchmarks import common
from benchmarks.aggregate_clouds import PER_HOST, SEED, Clouds, Shape

#: The smallest and the largest number of hosts, and of keys per aggregate.
HOSTS = (100, 10_000)
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
    for keys in KEYS:
        for truths in itertools.product((False, True), repeat=4):
            yield Shape(hosts, 1, keys, *truths)


def without_specs() -> Iterator[Shape]:
    """Yield shapes whose flavor has no extra specs."""
    for per_host, flags in itertools.product(PER_HOST, (False, True)):
        yield Shape(300, per_host, 1, True, True, flags, specs=False)


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
    times: dict[str, list[float]] = {'in_tree': [], 'ours': []}
    for _ in range(max(ROUNDS, 1_000 // shape.hosts)):
        for what, taken in times.items():
            taken.append(clouds.time(what, hosts, spec))
    for host in hosts:
        host.aggregates = []
    return Row(
        shape,
        *(min(taken) / shape.hosts * 1e6 for taken in times.values()),
    )


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


def measure(quick: bool) -> tuple[str, Any]:
    """Run all shapes.

    :returns: the report, and the numbers.
    """
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
    bare = [time(clouds, shape) for shape in without_specs()]
    from nova import version

    where = common.machine(f'Nova {version.version_string()}')
    everything = [*rows, *itertools.chain(*pairs), *bare]
    return f'{where}\n\n{report(rows, pairs, bare)}', {
        'machine': where,
        'times': [dataclasses.asdict(row) for row in everything],
    }


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

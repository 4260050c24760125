# SPDX-License-Identifier: Apache-2.0
"""The grid of usual clouds: shared aggregates, and what is promised there.

Four filters are timed: ``AggregateInstanceExtraSpecsFilter`` of Nova,
``AggregateInstanceTypeFilter`` of this package, and two that accept every
host, through ``host_passes`` and through ``filter_all``: what Nova's
scheduler itself takes.
"""

import dataclasses
import functools
import itertools
import operator
import random
import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from benchmarks import common
from benchmarks.aggregate_bench import Bench, new_texts

#: Hosts, and how many rounds; the median of the rounds counts.
ROUNDS = {1_000: 5, 10_000: 3}
#: A round lasts so many seconds for each of the filters, but has one request
#: at least: what takes no time is measured more often.
PATIENCE = 0.002
#: How often a filter is asked in one round, at the most.
REQUESTS = 9
QUICK_ROUNDS = {1_000: 3}
#: The whole grid is measured at this many hosts; at more, its corners.
WHOLE = 1_000

AGGREGATES = (1, 20, 200)
PER_HOST = (1, 3, 5)
SPECS = (1, 3, 10)
#: Hosts share so few combinations of aggregates, or each draws its own.
FEW = 10
#: Which hosts pass, and how many halves of them all.
ALL, HALF, NONE = 'all', 'half', 'none'
SHARES = {ALL: 2, HALF: 1, NONE: 0}
SEED = 20_261_121

#: An extra spec, the metadata values that meet it, and one that does not.
KINDS = (
    ('ssd', ('ssd', 'ssd,nvme'), 'hdd'),
    ('<or> red <or> blue', ('red', 'blue'), 'green'),
    ('>= 2', ('2', '4', '8'), '1'),
)
#: What Nova itself keeps in the metadata of aggregates.
NOVAS_OWN = {'availability_zone': 'zone-1', 'cpu_allocation_ratio': '4.0'}
#: What is timed, and the titles of the table.
MEDIANS = ('in_tree', 'ours', 'host_passes', 'filter_all')
COLUMNS = ('hosts', 'per host', 'specs', 'flags', 'sets', 'in-tree')
COLUMNS += (*MEDIANS[1:], 'ratio', 'worst', 'alone')
#: Demanded by the aggregates that refuse, when flags are on.
DEMANDED = 'license'


@dataclasses.dataclass(frozen=True)
class Config:
    """What is filtered.

    :param hosts: how many hosts.
    :param aggregates: how many aggregates there are.
    :param per_host: how many of them each host is in.
    :param specs: how many extra specs the flavor has.
    :param own: whether each host draws its own combination of aggregates.
    :param flags: whether the aggregates have ``force_metadata_check`` on.
    :param passing: ALL, HALF or NONE.
    """

    hosts: int
    aggregates: int
    per_host: int
    specs: int
    own: bool
    flags: bool
    passing: str

    def __str__(self) -> str:
        """Return what tells this configuration from the others."""
        return (
            f'{self.hosts} hosts, {self.per_host} of {self.aggregates} '
            f'aggregates each, {self.specs} extra specs, '
            f'{"own" if self.own else "few"} combinations, '
            f'flags {"on" if self.flags else "off"}, {self.passing} pass'
        )


@dataclasses.dataclass(frozen=True)
class Row:
    """What a configuration took, in microseconds per host.

    :param config: the configuration.
    :param in_tree: Nova's own filter.
    :param ours: this package's filter, which keeps nothing of a request.
    :param host_passes: a filter that accepts everything host by host.
    :param filter_all: one that accepts everything at once.
    """

    config: Config
    in_tree: float
    ours: float
    host_passes: float
    filter_all: float

    @property
    def ratio(self) -> float:
        """How many times as long Nova's own filter takes."""
        return self.in_tree / self.ours

    @property
    def alone(self) -> float:
        """How many times as long, without what Nova takes with any filter."""
        return (self.in_tree - self.filter_all) / (self.ours - self.filter_all)

    @property
    def share(self) -> float:
        """How much of the time of accepting everything host by host."""
        return self.ours / self.host_passes


def grid(hosts: int) -> Iterator[Config]:
    """Yield what is measured with so many hosts.

    :returns: every sensible combination, or the corners of them.
    """
    whole = hosts <= WHOLE
    for aggregates, per_host, specs, own, flags, passing in itertools.product(
        AGGREGATES if whole else (AGGREGATES[0], AGGREGATES[-1]),
        PER_HOST,
        SPECS if whole else (SPECS[0], SPECS[-1]),
        (False, True),
        (False, True),
        (ALL, HALF, NONE) if whole else (ALL, HALF),
    ):
        # HALF needs aggregates of both kinds, enough for each host.
        room = aggregates if passing != HALF else aggregates // 2
        if per_host <= room and (aggregates > 1 or not own):
            yield Config(
                hosts, aggregates, per_host, specs, own, flags, passing
            )


class Grid(Bench):
    """Hosts, and the filters."""

    def request(self, config: Config) -> Any:
        """Return a RequestSpec with a flavor."""
        return self.states.request(
            {f'key{i}': KINDS[i % len(KINDS)][0] for i in range(config.specs)}
        )

    def aggregates(self, config: Config) -> list[Any]:
        """Return new aggregates; in the first half are those that suit."""
        rng = random.Random(SEED)
        suiting = SHARES[config.passing] * config.aggregates // 2
        return self.states.aggregates(
            *(
                new_texts(metadata(config, number < suiting, rng).items())
                for number in range(config.aggregates)
            )
        )

    def put(
        self, config: Config, hosts: Sequence[Any], aggregates: list[Any]
    ) -> None:
        """Put hosts into aggregates; the same ones each time."""
        rng = random.Random(SEED)
        middle = len(aggregates) // 2
        pools = [aggregates]
        if config.passing == HALF:
            pools = [aggregates[:middle], aggregates[middle:]]
        combinations = [
            [rng.sample(pool, config.per_host) for _ in range(FEW)]
            for pool in pools
        ]
        for number, host in enumerate(hosts):
            which = number % len(pools)
            if config.own:
                host.aggregates = rng.sample(pools[which], config.per_host)
            else:
                # A list of its own, as Nova makes one for each host.
                host.aggregates = [*rng.choice(combinations[which])]

    def measure(self, config: Config, rounds: int) -> Row:
        """Time one configuration.

        :returns: the medians.
        :raises BenchmarkError: when a filter does not do its work.
        """
        hosts = self.hosts(config.hosts)
        spec = self.request(config)
        times: dict[str, list[float]] = {what: [] for what in MEDIANS}
        for _ in range(rounds):
            self.put(config, hosts, self.aggregates(config))
            left = len(self.run(self.ours, hosts, spec))
            for what in ('ours', 'in_tree', 'host_passes', 'filter_all'):
                host_filter = getattr(self, what)
                times[what] += common.repeated(
                    lambda one=host_filter: self.run(one, hosts, spec),
                    REQUESTS,
                    PATIENCE,
                )
        wanted = SHARES[config.passing] * config.hosts // 2
        in_tree = len(self.run(self.in_tree, hosts, spec))
        # The in-tree filter does not know the flag.
        if (left, in_tree) != (wanted, config.hosts if config.flags else left):
            raise common.BenchmarkError(
                f'{config}: {left} hosts pass, {in_tree} in-tree.'
            )
        return Row(
            config,
            **{
                what: statistics.median(taken) / config.hosts * 1e6
                for what, taken in times.items()
            },
        )


def metadata(
    config: Config, suiting: bool, rng: random.Random
) -> dict[str, str]:
    """Return the metadata of one aggregate.

    :param suiting: whether the flavor may use it.
    :returns: the flavor's keys and what Nova keeps there; with flags, an
        aggregate that refuses demands one key more, and without, the key in
        the middle has another value.
    """
    found = {}
    for i in range(config.specs):
        _, good, bad = KINDS[i % len(KINDS)]
        refuses = not (suiting or config.flags) and i == config.specs // 2
        found[f'key{i}'] = bad if refuses else rng.choice(good)
    found.update(NOVAS_OWN)
    if config.flags:
        found['force_metadata_check'] = 'True'
        if not suiting:
            found[DEMANDED] = 'windows'
    return found


def _few(config: Config) -> bool:
    return config.per_host == 3 and not config.own and config.passing != NONE


def _own(config: Config, flags: bool = False) -> bool:
    return config.own and config.flags == flags and config.passing != NONE


#: What is promised: the text, the number in a row, the configurations that it
#: is about, and which of the numbers is the worst.
PROMISES: tuple[tuple[str, str, Callable[[Config], bool], Any], ...] = (
    (
        'times as fast as the in-tree filter, 3 aggregates per host, few '
        'distinct sets (wanted: at least 25)',
        *('ratio', _few, min),
    ),
    ('the same, without what Nova itself takes', 'alone', _few, min),
    (
        'times as fast, each host in a set of its own, flags off '
        '(wanted: at least 15)',
        *('ratio', _own, min),
    ),
    ('the same, without what Nova itself takes', 'alone', _own, min),
    (
        'times as fast, each host in a set of its own, flags on '
        '(wanted: at least 6)',
        *('ratio', functools.partial(_own, flags=True), min),
    ),
    (
        'times as fast, no host passes, and the log says why',
        *('ratio', lambda config: config.passing == NONE, min),
    ),
    (
        'of the time of accepting everything through host_passes, few '
        'distinct sets (wanted: less than 1)',
        'share',
        lambda config: not config.own and config.passing != NONE,
        max,
    ),
)


def claims(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the worst of each number that is promised, and where that is."""
    for text, number, about, worst in PROMISES:
        value = operator.attrgetter(number)
        those = [row for row in rows if about(row.config) and value(row)]
        if those:
            row = worst(those, key=value)
            yield f'{value(row):6.2f} {text}\n       {row.config}'


def report(rows: Sequence[Row]) -> str:
    """Return the report as text: one line per group of configurations."""
    groups: dict[tuple[int, int, int, str, str], list[Row]] = {}
    for row in rows:
        config = row.config
        flags = 'on' if config.flags else 'off'
        sets = 'own' if config.own else 'few'
        key = (config.hosts, config.per_host, config.specs, flags, sets)
        groups.setdefault(key, []).append(row)
    table = [
        (
            *key,
            *(
                f'{statistics.median(getattr(row, name) for row in group):.2f}'
                for name in MEDIANS
            ),
            f'{statistics.median(row.ratio for row in group):.1f}',
            f'{min(row.ratio for row in group):.1f}',
            f'{statistics.median(row.alone for row in group):.1f}',
        )
        for key, group in sorted(groups.items())
    ]
    lines = [
        f'{len(rows)} configurations. Microseconds of processor time per '
        'host, median of the group;',
        'ratio: in-tree / ours, median and worst of the group; alone: the '
        'median without filter_all on both sides',
        common.table(COLUMNS, table),
        '',
        'The worst of all:',
        *claims(rows),
    ]
    return '\n'.join(lines)


def measure(quick: bool) -> tuple[str, Any]:
    """Run the whole grid.

    :returns: the report, and the numbers.
    """
    bench, rows = Grid(), []
    for hosts, rounds in (QUICK_ROUNDS if quick else ROUNDS).items():
        configs = list(grid(hosts))
        common.say(f'{hosts} hosts, {len(configs)} configurations')
        rows += [bench.measure(config, rounds) for config in configs]
    return report(rows), [dataclasses.asdict(row) for row in rows]

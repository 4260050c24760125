# SPDX-License-Identifier: Apache-2.0

"""Time PreferenceWeigher beside the filter and Nova's RAMWeigher.

``python -m benchmarks.preferences`` sends the same HostStates through Nova's
handlers of filters and weighers. It needs Nova, and prints what
``doc/source/benchmarks.rst`` shows.
"""

import functools
import itertools
import sys
from collections.abc import Callable
from typing import Any

from benchmarks import aggregate_sets, common
from benchmarks.aggregate_filter import Clouds, Shape

HOSTS = (1_000, 10_000)
ROUNDS = 5
#: What prefers.
CASES = ('nothing', 'the flavor', 'the aggregates')
#: Whether the hosts draw their three aggregates from 300, or have their own.
SHARED = (True, False)


class Preferences(Clouds):
    """Hosts, the filter, and two weighers."""

    def __init__(self) -> None:
        super().__init__()
        from nova.scheduler import weights
        from nova.scheduler.weights import ram

        from nova_filters.weighers import host_weighers

        self._weights = weights.HostWeightHandler()
        self._weighers = ram.RAMWeigher(), host_weighers.PreferenceWeigher()

    def row(self, count: int, what: str, shared: bool) -> list[Any]:
        """Return a row of the table."""
        shape = Shape(count, 3, 3, False, False, False, shared=shared)
        hosts = self.hosts(count)
        self.put(shape, hosts)
        if what == 'the aggregates':
            for host in hosts:
                for aggregate in host.aggregates:
                    aggregate.metadata['prefer_metadata_check'] = 'true'
        scope = 'aggregate_preferred:' if what == 'the flavor' else ''
        demand = self.states.request({'key0': 'ssd'})
        spec = self.states.request({f'{scope}key0': 'ssd'})
        filtering = self._best(
            lambda: self.run(self.ours, hosts, demand), count
        )
        times = filtering, *self._weighing(hosts, spec)
        return [
            count,
            what,
            'shared' if shared else 'own',
            *(f'{taken:.2f}' for taken in times),
        ]

    def sets_row(self, sets: aggregate_sets.Sets) -> list[Any]:
        """Return a row of the table of hosts that share soft aggregates."""
        hosts = self.hosts(sets.hosts)
        aggregate_sets.put(sets, hosts, self.states, 'prefer_metadata_check')
        cells = []
        for extra_specs in (
            aggregate_sets.FLAVORS[1],
            {'aggregate_preferred:gpu': 'a100', 'aggregate_avoided:os': '*'},
        ):
            spec = self.states.request(extra_specs)
            ram, preference = self._weighing(hosts, spec)
            cells.append(f'{preference / ram:.2f}')
        return [sets.hosts, sets.aggregates, sets.kind, *cells]

    def _weighing(self, hosts: list[Any], spec: Any) -> list[float]:
        """Return the times of the two weighers."""
        return [
            self._best(
                functools.partial(
                    self._weights.get_weighed_objects, [weigher], hosts, spec
                ),
                len(hosts),
            )
            for weigher in self._weighers
        ]

    def _best(self, run: Callable[[], object], count: int) -> float:
        """Return the least time of several runs, in microseconds per host."""
        return min(common.seconds(run) for _ in range(ROUNDS)) / count * 1e6


def measure(quick: bool) -> str:
    """Return the table."""
    bench = Preferences()
    from nova import version

    counts = HOSTS[:1] if quick else HOSTS
    rows = []
    for case in itertools.product(counts, CASES, SHARED):
        common.say(' '.join(map(str, case)))
        rows.append(bench.row(*case))
    heads = ('hosts', 'what prefers', 'aggregates')
    heads += ('filter', 'RAMWeigher', 'PreferenceWeigher')
    sets_rows = []
    for count in counts:
        # A forced aggregate is not soft.
        for aggregates, shared, forced in aggregate_sets.CASES:
            if not forced:
                sets = aggregate_sets.Sets(count, aggregates, shared, forced)
                common.say(str(sets))
                sets_rows.append(bench.sets_row(sets))
    sets_heads = ('hosts', 'aggregates', 'sets', 'demands', 'preferences')
    where = common.machine(f'Nova {version.version_string()}')
    return (
        f'{where}\n\nMicroseconds of processor time per host; each host is in '
        f'three aggregates.\n{common.table(heads, rows, "what prefers")}\n\n'
        'Each host is in five soft aggregates of ten keys. The time of '
        'PreferenceWeigher, divided by that of RAMWeigher, for a flavor with '
        'three extra specs, and for one with two preferences.\n'
        f'{common.table(sets_heads, sets_rows, "sets")}'
    )


if __name__ == '__main__':
    sys.exit(
        common.command(
            'Nova', str(__doc__).splitlines()[0], '1,000 hosts only', measure
        )
    )

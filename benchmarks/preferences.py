# SPDX-License-Identifier: Apache-2.0

"""Time PreferenceWeigher beside the filter and Nova's RAMWeigher.

``python -m benchmarks.preferences`` sends the same HostStates through Nova's
handlers of filters and weighers. It needs Nova, and prints what
``doc/source/benchmarks.rst`` shows.
"""

import functools
import itertools
import sys
from typing import Any

from benchmarks import common
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
            for aggregate in {
                one for host in hosts for one in host.aggregates
            }:
                aggregate.metadata['prefer_metadata_check'] = 'true'
        scope = 'aggregate_preferred:' if what == 'the flavor' else ''
        demand = self.states.request({'key0': 'ssd'})
        spec = self.states.request({f'{scope}key0': 'ssd'})
        runs = [lambda: self.run(self.ours, hosts, demand)]
        runs += [
            functools.partial(
                self._weights.get_weighed_objects, [one], hosts, spec
            )
            for one in self._weighers
        ]
        times = (
            min(common.seconds(run) for _ in range(ROUNDS)) for run in runs
        )
        return [
            *(count, what, 'shared' if shared else 'own'),
            *(f'{taken / count * 1e6:.2f}' for taken in times),
        ]


def measure(quick: bool) -> str:
    """Return the table."""
    bench = Preferences()
    from nova import version

    rows = []
    for case in itertools.product(
        HOSTS[: 1 if quick else None], CASES, SHARED
    ):
        common.say(' '.join(map(str, case)))
        rows.append(bench.row(*case))
    heads = ('hosts', 'what prefers', 'aggregates')
    heads += ('filter', 'RAMWeigher', 'PreferenceWeigher')
    where = common.machine(f'Nova {version.version_string()}')
    return (
        f'{where}\n\nMicroseconds of processor time per host; each host is in '
        f'three aggregates.\n{common.table(heads, rows, "what prefers")}'
    )


if __name__ == '__main__':
    sys.exit(
        common.command(
            'Nova', str(__doc__).splitlines()[0], '1,000 hosts only', measure
        )
    )

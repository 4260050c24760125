# SPDX-License-Identifier: Apache-2.0

"""Time the aggregate filter and the preferences beside Nova's own parts.

``python -m benchmarks.aggregate_filter`` sends the same real HostStates and
the same RequestSpec through Nova's handlers with both filters, and with
PreferenceWeigher and Nova's RAMWeigher.
"""

import dataclasses
import functools
import logging
import os
import random
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks import common

SEED = 20_261_122
HOSTS = (1_000, 10_000)
#: How many times each call is measured.
TURNS = 7
#: The values of each key of an aggregate.
VALUES = {
    'gpu': ('a100', 'h100', 'l4', 'a100,h100'),
    'disk': ('ssd', 'hdd'),
    'os': ('linux', 'windows'),
    'rack': tuple(f'r{number}' for number in range(40)),
    **{f'key{number}': ('1', '2', '3', '4', '5') for number in range(6)},
}
ONE_KEY = {'gpu': 'a100'}
THREE_KEYS = {'gpu': 'a100', 'disk': 'ssd', 'os': 'linux'}
PREFERENCES = {'aggregate_preferred:gpu': 'a100', 'aggregate_avoided:os': '*'}
SHARED, RANDOM, HALF_FORCED = 'shared', 'random', 'half forced'
OWN, OWN_FORCED, OWN_SOFT = 'own', 'own, forced', 'own, soft'
#: What the aggregates have beside their keys, and how many of them have it.
FLAGS = {
    HALF_FORCED: ('force_metadata_check', 0.5),
    OWN_FORCED: ('force_metadata_check', 1.0),
    OWN_SOFT: ('prefer_metadata_check', 1.0),
}
#: The ratio of the filter that is wanted at least, by the kind of sets.
WANTED = {SHARED: 6.0, RANDOM: 14.0, HALF_FORCED: 5.0}
WANTED_OWN = 0.8
#: The ratio of the weigher that is wanted at most.
WANTED_OF_WEIGHER = 20.0
HEADS = (
    'sets',
    'hosts',
    'aggregates of each',
    'keys of each',
    'filter, 1 key',
    'filter, 3 keys',
    'wanted',
    'PreferenceWeigher',
    'limit',
)


@dataclasses.dataclass(frozen=True)
class Cloud:
    """Which aggregates the hosts are in.

    :param sets: 20 sets of 200 aggregates ("shared"); random ones of these
        ("random"), half of them forced ("half forced"); or aggregates that no
        other host is in ("own"), all of them forced ("own, forced") or with
        the flag for preferences ("own, soft").
    :param hosts: how many hosts there are.
    :param per_host: how many aggregates each host is in.
    :param keys: how many keys an aggregate has, 1 or 10.
    """

    sets: str
    hosts: int
    per_host: int = 5
    keys: int = 10


class Bench:
    """Hosts, filters and weighers, as nova-scheduler loads them."""

    def __init__(self) -> None:
        cloud = common.nova_cloud()
        from nova_filters import plugin
        from testing.nova import engine, states

        # INFO is on, as it is by default; the lines go nowhere.
        nowhere = logging.StreamHandler(open(os.devnull, 'w'))  # noqa: SIM115
        logging.basicConfig(level=logging.INFO, handlers=[nowhere], force=True)
        self._states = states
        # By default, the weigher is off.
        plugin.CONF.set_override(
            'preference_weight_multiplier', 1.0, group='nova_filters'
        )
        manager = cloud.scheduler(engine.IN_TREE, engine.OURS).host_manager
        self._filters = manager.enabled_filters[-2:]
        self._filter = manager.filter_handler.get_filtered_objects
        weighers = {type(each).__name__: each for each in manager.weighers}
        self._weighers = weighers['PreferenceWeigher'], weighers['RAMWeigher']
        self._weigh = manager.weight_handler.get_weighed_objects

    def row(self, cloud: Cloud) -> list[Any]:
        """Return a row of the table.

        :raises AssertionError: if the filters do not agree.
        """
        hosts = self._hosts(cloud)
        cells = [*dataclasses.astuple(cloud)]
        for extra_specs in (ONE_KEY, THREE_KEYS):
            request = self._states.request(extra_specs)
            in_tree, ours = (
                functools.partial(self._filter, [tried], hosts, request)
                for tried in self._filters
            )
            # The in-tree filter does not know force_metadata_check.
            is_forced = cloud.sets in (HALF_FORCED, OWN_FORCED)
            if not is_forced and in_tree() != ours():
                raise AssertionError(f'{cloud}, {extra_specs}')
            cells.append(ratio(in_tree, ours))
        request = self._states.request(PREFERENCES)
        preference, ram = (
            functools.partial(self._weigh, [weigher], hosts, request)
            for weigher in self._weighers
        )
        cells.append(WANTED.get(cloud.sets, WANTED_OWN))
        return [*cells, ratio(preference, ram), WANTED_OF_WEIGHER]

    def _hosts(self, cloud: Cloud) -> list[Any]:
        """Return new HostStates in their aggregates."""
        rng = random.Random(SEED)  # noqa: S311
        host_states = [
            self._states.host_state(f'host-{number}')
            for number in range(cloud.hosts)
        ]
        if cloud.sets in (OWN, OWN_FORCED, OWN_SOFT):
            for host in host_states:
                host.aggregates = self._aggregates(rng, cloud, cloud.per_host)
            return host_states
        pool = self._aggregates(rng, cloud, 200)
        shared = [rng.sample(pool, cloud.per_host) for _ in range(20)]
        for host in host_states:
            host.aggregates = rng.sample(pool, cloud.per_host)
            if cloud.sets == SHARED:
                host.aggregates = rng.choice(shared)
        return host_states

    def _aggregates(
        self, rng: random.Random, cloud: Cloud, count: int
    ) -> list[Any]:
        """Return new aggregates; with ten keys, not all have the same."""
        all_metadata = []
        flag, share = FLAGS.get(cloud.sets, ('', 0.0))
        for number in range(count):
            pairs = {'gpu': f'a100,gpu-{number}'}
            if cloud.keys > 1:
                keys = rng.sample(sorted(VALUES), 9)
                pairs = {key: rng.choice(VALUES[key]) for key in keys}
                pairs[f'customer{number}'] = 'x'
            if flag and rng.random() < share:
                pairs[flag] = 'true'
            all_metadata.append(pairs)
        return list(self._states.aggregates(*all_metadata))


def ratio(run: Callable[[], Any], other: Callable[[], Any]) -> str:
    """Return how many times longer a call takes than another.

    Both take turns, so that a busy machine slows both. The shortest time of
    each counts.
    """
    times = []
    times_of_other = []
    for _ in range(TURNS):
        times.append(common.seconds(run))
        times_of_other.append(common.seconds(other))
    return f'{min(times) / min(times_of_other):.1f}'


def clouds(quick: bool) -> Iterator[Cloud]:
    """Yield the clouds, the fastest first."""
    for hosts in HOSTS[:1] if quick else HOSTS:
        for sets in SHARED, RANDOM, HALF_FORCED:
            yield Cloud(sets, hosts)
    for sets in OWN, OWN_FORCED, OWN_SOFT:
        for per_host in (1, 30) if quick else (1, 30, 300):
            for keys in (10, 1):
                yield Cloud(sets, hosts=100, per_host=per_host, keys=keys)


def measure(quick: bool) -> str:
    bench = Bench()
    rows = []
    for cloud in clouds(quick):
        common.say(str(cloud))
        rows.append(bench.row(cloud))
    return (
        "\nFilter: the time of Nova's own filter divided by the time of this "
        'one.\nPreferenceWeigher: its time divided by that of RAMWeigher.\n'
        + common.table(HEADS, rows, 'sets')
    )


if __name__ == '__main__':
    common.command('nova', __doc__, 'fewer hosts: some seconds', measure)

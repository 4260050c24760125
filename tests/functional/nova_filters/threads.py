# SPDX-License-Identifier: Apache-2.0

"""Sixteen native threads over one filter object, while aggregates change.

Runs in a process of its own, whose environment keeps Nova 29 from replacing
threads by greenlets, which take turns only where they want to. Prints what is
wrong.
"""

import functools
import itertools
import logging
import os
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

from nova_filters.matching import inputs
from nova_filters.matching.request import Request
from testing.nova import engine, states

#: How many requests each thread makes while aggregates change.
REQUESTS = 60
#: How many rounds of changes there are between requests.
ROUNDS = 30
_HOSTS = 10
_TIMEOUT = 600
_ON = {'force_metadata_check': 'on'}

#: What an aggregate goes through, round and round. From each state to the
#: next, one key changes: in place, there is nothing in between.
CYCLES: tuple[tuple[dict[str, str], ...], ...] = (
    (
        {'k': '1', 'l': '1'},
        {'k': '2', 'l': '1'},
        {'k': '2', 'l': '1', **_ON},
        {'k': '2', 'l': '2', **_ON},
        {'k': '2', 'l': '2'},
        {'k': '1', 'l': '2'},
    ),
    (
        {'k': '1,3'},
        {'k': '1,3', 'm': '~'},
        {'k': '1,3', 'm': '~', **_ON},
        {'k': '1,3', **_ON},
    ),
    ({'l': '>= 2', **_ON}, {'l': '<or> 1 <or> ~', **_ON}),
    ({}, {**_ON}, {'m': '!', **_ON}, {'m': '!'}),
    ({'n:x': '1'}, {'n:x': '2'}),
    ({'k': '*', **_ON}, {'k': '>= x', **_ON}, {'k': '!', **_ON}),
)

#: One for each thread.
FLAVORS: tuple[dict[str, str], ...] = (
    *({}, {'k': '1'}, {'k': '2'}, {'k': '*'}, {'k': '~'}, {'k': '!'}),
    *({'k': '<or> 1 <or> ~'}, {'k': '>= 2'}, {'l': '1'}, {'l': '>= 2'}),
    *({'l': '<or> 1 <or> 2', 'k': '1'}, {'m': '!'}, {'m': '~', 'l': '1'}),
    *({'n:x': '1'}, {'aggregate_instance_extra_specs:n:x': '2'}),
    {'k': '>= two'},
)


class Changing:
    """An aggregate of several hosts that changes while they are judged.

    :param number: which cycle it goes through.
    :param way: how it changes: ``key`` changes one key in place,
        ``metadata`` replaces the metadata, ``object`` puts a new aggregate
        into the place of the old one, host by host.
    :param hosts: its hosts.
    """

    def __init__(self, number: int, way: str, hosts: list[Any]) -> None:
        self.cycle = CYCLES[number]
        self.name = f'a{number}-{way}'
        self.hosts = hosts
        self._way = way
        #: How many changes began, and how many are over.
        self.announced = 0
        self.done = 0
        self._aggregate = self._new()
        for host in hosts:
            host.aggregates.append(self._aggregate)

    def _state(self) -> dict[str, str]:
        """Return the state that was announced last."""
        return self.cycle[self.announced % len(self.cycle)]

    def _new(self) -> Any:
        """Return a new aggregate in the state that was announced."""
        (aggregate,) = states.aggregates(self._state())
        aggregate.name = self.name
        return aggregate

    def change(self) -> None:
        """Go on to the next state; one thread at a time may do so."""
        self.announced += 1
        state = self._state()
        if self._way == 'metadata':
            self._aggregate.metadata = state
        elif self._way == 'key':
            metadata = self._aggregate.metadata
            for key in metadata.keys() - state.keys():
                del metadata[key]
            metadata.update(state)
        else:
            old, self._aggregate = self._aggregate, self._new()
            for host in self.hosts:
                host.aggregates = [
                    self._aggregate if aggregate is old else aggregate
                    for aggregate in host.aggregates
                ]
        self.done += 1


@functools.cache
def _evaluated(flavor: int, chosen: tuple[tuple[Changing, int], ...]) -> bool:
    """Return the evaluator's verdict on aggregates in these states."""
    aggregates = [
        inputs.Aggregate(c.name, c.cycle[state]) for c, state in chosen
    ]
    specs = inputs.read_flavor(FLAVORS[flavor])
    return next(Request(specs).reasons(aggregates), None) is None


class Scene:
    """Hosts, changing aggregates, one filter, and what was wrong."""

    def __init__(self) -> None:
        manager = engine.Cloud().scheduler(engine.OURS).host_manager
        self.filter = manager.enabled_filters[-1]
        self.hosts = [states.host_state(f'h{n}') for n in range(_HOSTS)]
        self.changing = [
            Changing(
                number,
                ('key', 'metadata', 'object')[(number + turn) % 3],
                self.hosts[(number + 3 * turn) % 5 :: 5],
            )
            for turn in range(2)
            for number in range(len(CYCLES))
        ]
        #: Not the aggregates themselves: those of hosts are replaced.
        self.aggregates_of = {
            host.host: [c for c in self.changing if host in c.hosts]
            for host in self.hosts
        }
        self.wrong: list[str] = []

    def change(self) -> None:
        """Change every aggregate once."""
        for changing in self.changing:
            changing.change()

    def judge(self, flavor: int, request: Any) -> None:
        """Make one request, and compare each verdict."""
        first = [(c, c.done) for c in self.changing]
        passed = self.filter.filter_all(self.hosts, request)
        # From what was surely there at the beginning to what may have been
        # there at the end.
        possible = {
            c: {n % len(c.cycle) for n in range(done, c.announced + 1)}
            for c, done in first
        }
        names = {host.host for host in passed}
        for host in self.hosts:
            wanted = {
                _evaluated(flavor, chosen)
                for chosen in itertools.product(
                    *(
                        [(c, state) for state in possible[c]]
                        for c in self.aggregates_of[host.host]
                    )
                )
            }
            if (host.host in names) not in wanted:
                self.wrong.append(f'{FLAVORS[flavor]}, {host.host}')

    def run(
        self,
        rounds: int,
        before: Callable[[], object] = lambda: None,
        after: Callable[[], object] = lambda: None,
    ) -> list[threading.Thread]:
        """Let a thread for each flavor make requests.

        :param before: what each does before each request.
        :param after: what each does after each request, whatever came of it.
        """

        def work(number: int) -> None:
            request = states.request(FLAVORS[number])
            for _ in range(rounds):
                try:
                    before()
                    self.judge(number, request)
                except Exception:
                    self.wrong.append(traceback.format_exc())
                after()

        threads = [
            threading.Thread(target=work, args=(number,))
            for number in range(len(FLAVORS))
        ]
        for thread in threads:
            thread.start()
        if len({thread.native_id for thread in threads}) < len(threads):
            self.wrong.append('these are no native threads')
        return threads

    def change_during_requests(self) -> None:
        """Change an aggregate for each request that is through."""
        through = threading.Semaphore(0)
        threads = self.run(REQUESTS, after=through.release)
        changing = itertools.cycle(self.changing)
        for _ in range(REQUESTS * len(threads)):
            if not through.acquire(timeout=_TIMEOUT):
                raise TimeoutError
            next(changing).change()

    def change_between_requests(self) -> None:
        """Let the last thread to arrive change all; then all go on."""
        gate = threading.Barrier(len(FLAVORS), self.change, _TIMEOUT)
        for thread in self.run(ROUNDS, before=gate.wait):
            thread.join()


def main() -> None:
    """Change aggregates during requests, then between them."""
    sys.setswitchinterval(1e-5)
    logger = logging.getLogger(engine.LOGGER)
    logger.addHandler(logging.StreamHandler(open(os.devnull, 'w')))  # noqa: SIM115
    # At DEBUG the reasons are looked for while the aggregates change.
    logger.setLevel(logging.DEBUG)
    scene = Scene()
    scene.change_during_requests()
    scene.change_between_requests()
    print(*scene.wrong, sep='\n', end='')

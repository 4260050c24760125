# SPDX-License-Identifier: Apache-2.0

"""Sixteen native threads over one filter object, while aggregates change.

Runs in a process of its own, whose environment keeps Nova 29 from replacing
threads by greenlets, which take turns only where they want to. Prints what it
found as JSON.
"""

import collections
import itertools
import json
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from nova_filters import matching
from testing.nova import engine, states
from tests.functional.nova_filters import LOGGER

THREADS = 16
#: How many requests each thread makes while aggregates change.
REQUESTS = 120
#: How many rounds of changes there are between requests.
ROUNDS = 60
_HOSTS = 10
_PAUSE = 0.0005
_TIMEOUT = 120
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
    {},
    {'k': '1'},
    {'k': '2'},
    {'k': '*'},
    {'k': '~'},
    {'k': '!'},
    {'k': '<or> 1 <or> ~'},
    {'k': '>= 2'},
    {'l': '1'},
    {'l': '>= 2'},
    {'l': '<or> 1 <or> 2', 'k': '1'},
    {'m': '!'},
    {'m': '~', 'l': '1'},
    {'n:x': '1'},
    {'aggregate_instance_extra_specs:n:x': '2'},
    {'k': '>= two'},
)

#: Which states an aggregate may have had, by its name.
_Possible = dict[str, set[int]]


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
        self._change = {
            'key': self._change_key,
            'metadata': self._change_metadata,
            'object': self._change_object,
        }[way]
        #: How many changes began, and how many are over.
        self.announced = 0
        self.done = 0
        self._aggregate = self._new()
        for host in hosts:
            host.aggregates.append(self._aggregate)

    def state(self) -> dict[str, str]:
        """Return the state that was announced last."""
        return self.cycle[self.announced % len(self.cycle)]

    def change(self) -> None:
        """Go on to the next state; one thread at a time may do so."""
        self.announced += 1
        self._change(self.state())
        self.done += 1

    def _new(self) -> Any:
        """Return a new aggregate in the state that was announced."""
        (aggregate,) = states.aggregates(self.state())
        aggregate.name = self.name
        return aggregate

    def _change_key(self, state: dict[str, str]) -> None:
        """Change one key of the metadata in place."""
        metadata = self._aggregate.metadata
        for key in metadata.keys() - state.keys():
            del metadata[key]
        for key, value in state.items():
            if metadata.get(key) != value:
                metadata[key] = value

    def _change_metadata(self, state: dict[str, str]) -> None:
        """Replace the metadata."""
        self._aggregate.metadata = state

    def _change_object(self, state: dict[str, str]) -> None:
        """Replace the aggregate, host by host."""
        old, self._aggregate = self._aggregate, self._new()
        for host in self.hosts:
            host.aggregates = [
                self._aggregate if aggregate is old else aggregate
                for aggregate in host.aggregates
            ]


class Scene:
    """Hosts, changing aggregates, one filter, and what was found."""

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
        self.found: collections.Counter[str] = collections.Counter()
        self.wrong: list[str] = []
        self._verdicts: dict[Any, bool] = {}
        self._lock = threading.Lock()

    def change(self, pause: float = 0) -> None:
        """Change every aggregate once.

        :param pause: how long to wait after each, in seconds.
        """
        for changing in self.changing:
            changing.change()
            time.sleep(pause)

    def _evaluated(
        self, flavor: int, chosen: tuple[tuple[Changing, int], ...]
    ) -> bool:
        """Return the evaluator's verdict on aggregates in these states."""
        verdict = self._verdicts.get((flavor, chosen))
        if verdict is None:
            aggregates = [
                matching.Aggregate(c.name, c.cycle[state])
                for c, state in chosen
            ]
            specs = matching.read_flavor(FLAVORS[flavor])
            verdict = matching.evaluate(specs, aggregates).passed
            self._verdicts[flavor, chosen] = verdict
        return verdict

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
            alternatives = [
                [(c, state) for state in possible[c]]
                for c in self.aggregates_of[host.host]
            ]
            wanted = {
                self._evaluated(flavor, chosen)
                for chosen in itertools.product(*alternatives)
            }
            verdict = host.host in names
            with self._lock:
                self.found['passed' if verdict else 'refused'] += 1
                self.found['one verdict' if len(wanted) == 1 else 'two'] += 1
                changed = any(len(states) > 1 for states in alternatives)
                self.found['changed' if changed else 'unchanged'] += 1
                if verdict not in wanted:
                    self.wrong.append(f'{FLAVORS[flavor]}, {host.host}')

    def run(
        self,
        rounds: int,
        before: Callable[[], object],
        meanwhile: Callable[[], object],
    ) -> dict[str, Any]:
        """Let every thread make requests.

        :param rounds: how many each makes.
        :param before: what each does before each request.
        :param meanwhile: what this thread does until they are through.
        :returns: what was found.
        """
        self.found.clear()

        def work(number: int) -> None:
            try:
                request = states.request(FLAVORS[number])
                for _ in range(rounds):
                    before()
                    self.judge(number, request)
            except Exception:
                self.wrong.append(traceback.format_exc())

        threads = [
            threading.Thread(target=work, args=(number,))
            for number in range(THREADS)
        ]
        for thread in threads:
            thread.start()
        self.found['native threads'] = len({t.native_id for t in threads})
        while any(thread.is_alive() for thread in threads):
            meanwhile()
        changes = sum(c.done for c in self.changing)
        return {**self.found, 'changes': changes, 'wrong': self.wrong[:5]}


class _Format(logging.Handler):
    """Make the text of every line, as a log file would."""

    def emit(self, record: logging.LogRecord) -> None:
        """Make one line's text."""
        self.format(record)


def main() -> None:
    """Change aggregates during requests, then between them."""
    sys.setswitchinterval(1e-5)
    logging.getLogger(LOGGER).addHandler(_Format())
    # At DEBUG the reasons are looked for while the aggregates change.
    logging.getLogger(LOGGER).setLevel(logging.DEBUG)
    scene = Scene()
    during = scene.run(REQUESTS, lambda: None, lambda: scene.change(_PAUSE))
    # The last thread to arrive changes the aggregates; then all go on.
    gate = threading.Barrier(THREADS, scene.change, _TIMEOUT)
    between = scene.run(ROUNDS, gate.wait, lambda: time.sleep(_PAUSE))
    print(json.dumps({'during': during, 'between': between}))

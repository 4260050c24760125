# SPDX-License-Identifier: Apache-2.0

"""How much the filter writes: by reason and aggregates, never by host."""

import collections
import itertools
import logging
import unittest

from testing.nova import engine, states
from tests.functional.nova_filters import base

HOSTS = 1000


class BoundTest(unittest.TestCase):
    """Requests over a thousand hosts, none of which is left."""

    def lines(
        self, extra_specs: dict[str, str], sets: list[list[object]]
    ) -> tuple[list[logging.LogRecord], logging.LogRecord]:
        """Return the DEBUG lines and the INFO line."""
        hosts = [
            states.host_state(f'h{number}', sets[number % len(sets)])
            for number in range(HOSTS)
        ]
        request = states.request(extra_specs)
        with base.records() as found:
            passed = base.loaded_filter().filter_all(hosts, request)
        self.assertEqual([], passed)
        by_level = collections.defaultdict(list)
        for record in found:
            by_level[record.levelno].append(record)
        self.assertEqual({logging.DEBUG, logging.INFO}, set(by_level))
        (info,) = by_level[logging.INFO]
        return by_level[logging.DEBUG], info

    def test_a_line_per_reason_and_aggregate_set(self) -> None:
        aggregates = states.aggregates(
            {'k': '2'},
            {'k': '3', 'l': '1'},
            {'os': 'windows', **base.ON},
            {'k': '1', 'os': '!,x', **base.ON},
            {'k': '1', 'os': 'linux', **base.ON},
            {'l': '1'},
        )
        sets = [
            list(chosen)
            for size in range(3)
            for chosen in itertools.combinations(aggregates, size)
        ]
        debug, info = self.lines({'k': '1', 'os': '<or> bsd <or> ~'}, sets)
        told = [
            (str(r.args['reason']), tuple(r.args['aggregates'])) for r in debug
        ]
        self.assertEqual(len(told), len(set(told)))
        self.assertEqual(len(sets), len({names for _, names in told}))
        self.assertEqual(len(sets), len(told))
        self.assertGreater(len({reason for reason, _ in told}), 4)
        self.assertEqual(HOSTS, sum(r.args['count'] for r in debug))
        self.assertEqual(HOSTS, info.args['total'])

    def test_the_info_line_is_short_whatever_the_number_of_aggregates(
        self,
    ) -> None:
        aggregates = states.aggregates(
            *({f'k{number}': 'x', **base.ON} for number in range(HOSTS))
        )
        _, info = self.lines({}, [[aggregate] for aggregate in aggregates])
        self.assertLess(len(info.getMessage()), 1000)

    def test_without_debug_there_is_one_line_of_reasons(self) -> None:
        hosts = [states.host_state(f'h{n}') for n in range(HOSTS)]
        with engine.records(logging.INFO) as found:
            base.loaded_filter().filter_all(hosts, states.request({'k': '1'}))
        self.assertEqual([logging.INFO], [r.levelno for r in found])

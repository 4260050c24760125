# SPDX-License-Identifier: Apache-2.0

"""How much the filter writes: by reason and aggregates, never by host."""

import collections
import itertools
import logging
import unittest

from testing.nova import engine, states
from tests import processes
from tests.functional.nova_filters import cloud, records

HOSTS = 1000
_ON = {'force_metadata_check': 'True'}

#: A cloud larger than what Placement returns by default, in a process of its
#: own: other tests would have to read these hosts, too.
PROGRAM = """
from testing.nova import engine
from tests.functional.nova_filters import cloud, records

cloud = cloud()
limit = engine.CONF.scheduler.max_placement_results
for number in range(limit + 5):
    cloud.add_host(f'h{number}')
scheduler = cloud.scheduler(engine.OURS)
request = cloud.request(cloud.add_flavor('f', {'k': '1'}))
with records() as found:
    boot = cloud.boot(scheduler, request)
print(limit, len(cloud.hosts), boot.host)
for record in found:
    text = record.getMessage().replace(request.instance_uuid, 'UUID')
    print(record.levelname, text)
"""


class BoundTest(unittest.TestCase):
    """Requests over a thousand hosts, none of which is left."""

    def setUp(self) -> None:
        super().setUp()
        manager = cloud().scheduler(engine.OURS).host_manager
        self.filter = manager.enabled_filters[-1]

    def lines(
        self, extra_specs: dict[str, str], sets: list[list[object]]
    ) -> tuple[list[logging.LogRecord], list[logging.LogRecord]]:
        """Return the DEBUG and INFO lines over hosts in these aggregates."""
        hosts = [
            states.host_state(f'h{number}', sets[number % len(sets)])
            for number in range(HOSTS)
        ]
        request = states.request(extra_specs)
        with records() as found:
            self.assertEqual([], self.filter.filter_all(hosts, request))
        by_level = collections.defaultdict(list)
        for record in found:
            by_level[record.levelno].append(record)
        self.assertEqual({logging.DEBUG, logging.INFO}, set(by_level))
        return by_level[logging.DEBUG], by_level[logging.INFO]

    def test_a_line_per_reason_and_aggregate_set(self) -> None:
        aggregates = states.aggregates(
            {'k': '2'},
            {'k': '3', 'l': '1'},
            {'os': 'windows', **_ON},
            {'k': '1', 'os': '!,x', **_ON},
            {'k': '1', 'os': 'linux', **_ON},
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
        self.assertEqual(1, len(info))
        self.assertEqual(HOSTS, info[0].args['total'])

    def test_one_reason_and_no_aggregate_give_one_line(self) -> None:
        debug, info = self.lines({'k': '1'}, [[]])
        self.assertEqual([HOSTS], [record.args['count'] for record in debug])
        self.assertEqual(1, len(info))

    def test_the_info_line_is_one_whatever_the_number_of_aggregates(
        self,
    ) -> None:
        aggregates = states.aggregates(
            *({f'k{number}': 'x', **_ON} for number in range(HOSTS))
        )
        _, info = self.lines({}, [[aggregate] for aggregate in aggregates])
        self.assertEqual(1, len(info))
        self.assertLess(len(info[0].getMessage()), 1000)

    def test_without_debug_there_is_one_line_of_reasons(self) -> None:
        hosts = [states.host_state(f'h{n}') for n in range(HOSTS)]
        with records(logging.INFO) as found:
            self.filter.filter_all(hosts, states.request({'k': '1'}))
        self.assertEqual([logging.INFO], [r.levelno for r in found])


class LargeCloudTest(unittest.TestCase):
    """More hosts than ``[scheduler] max_placement_results``, its default."""

    def test_the_filter_sees_what_placement_returns(self) -> None:
        lines = processes.run_python(PROGRAM)
        reason = "'k' not in any aggregate"
        self.assertEqual(
            [
                '1000 1005 None',
                'DEBUG Instance UUID: 1000 host(s) in aggregates [] refused: '
                f'{reason}',
                f'INFO Instance UUID: 0 of 1000 hosts: 1000 {reason}',
            ],
            lines,
        )

# SPDX-License-Identifier: Apache-2.0

"""The hard limit for uneven stacks and groups, in the real scheduler."""

import collections
import logging
from typing import Any

import ddt
import sqlalchemy as sa
from nova.db.api import api as api_db
from nova.db.api import models

from nova_filters.filters import team_spread
from tests.functional.nova_filters import test_weigher
from tests.functional.nova_filters.test_weigher import of_stack

_FILTER = 'TeamSpreadFilter'
_LOGGER = team_spread.__name__


@ddt.ddt
class TeamSpreadTest(test_weigher.StackTestCase):
    """Two racks of two hosts; Nova's weighers prefer the first host."""

    def setUp(self) -> None:
        super().setUp()
        self.set_option('stack_spread_over', ['rack', 'host'])
        self.set_multiplier(0.0)
        for number, rack in enumerate(('r1', 'r1', 'r2', 'r2')):
            self.add_aggregate([self.hosts[number]], {'rack': rack})
        self.restart()

    def restart(self) -> None:
        """Start a scheduler with the filter."""
        self.scheduler = self.cloud.scheduler(_FILTER)

    def racks(self, *requests: Any) -> list[str]:
        """Return the racks in which servers start, in the requests' order."""
        racks = dict(zip(self.hosts, ['r1', 'r1', 'r2', 'r2'], strict=True))
        found = [
            self.scheduler._get_sorted_hosts(one, self.states(one), 0)
            for one in requests
        ]
        return [racks[hosts[0].host] for hosts in found]

    def passing(self, request: Any) -> set[str]:
        """Return the hosts that pass."""
        return set(self.cloud.filtered(self.scheduler, request))

    def asking(self, limit: str = '', extra_spec: str = '') -> Any:
        """Return a request of a stack, with limits in hint and flavor."""
        hints = of_stack('a') | ({'max_skew': limit} if limit else {})
        spec = {'nova_filters:max_skew': extra_spec} if extra_spec else {}
        self.flavor = self.add_flavor(spec)
        return self.request(hints)

    @ddt.data(('0', '', ''), ('1', '', ''), ('0', '1', ''), ('0', '', '1'))
    @ddt.unpack
    def test_everybody_who_may_can_ask_for_a_limit(self, option, *limits):
        self.set_option('max_skew', int(option))
        found = collections.Counter(
            self.racks(*(self.asking(*limits) for _ in range(8)))
        )
        limited = '1' in (option, *limits)
        self.assertEqual({'r1': 4, 'r2': 4} if limited else {'r1': 8}, found)
        # A request without a stack has no limit.
        self.assertEqual(set(self.hosts), self.passing(self.request({})))

    def test_a_place_may_have_as_many_more_as_the_smallest_limit(self) -> None:
        self.place(of_stack('a'), 2, 1, 1)
        self.set_option('max_skew', 9)
        for limits, count in (
            (('1', ''), 2),
            (('3', ''), 2),
            (('4', ''), 4),
            (('', '3'), 2),
            (('3', '9'), 2),
            (('9', '3'), 2),
            (('9', '4'), 4),
            (('', ''), 4),
        ):
            request = self.asking(*limits)
            self.assertEqual(count, len(self.passing(request)), limits)
            self.cloud.forget(request)

    def test_groups_have_a_limit_and_packed_groups_have_none(self) -> None:
        self.set_option('server_group_weight_multiplier', 10.0)
        self.set_option('max_skew', 1)
        self.restart()
        for policy, wanted in (
            ('soft-anti-affinity', {'r1': 4, 'r2': 4}),
            ('soft-affinity', {'r1': 8}),
        ):
            group = self.cloud.add_group(policy)
            requests = [
                self.cloud.request(self.flavor, self.hosts, group=group)
                for _ in range(8)
            ]
            found = collections.Counter(self.racks(*requests))
            self.assertEqual(
                sorted(wanted.values()), sorted(found.values()), policy
            )

    def test_what_is_no_limit_lets_no_host_pass(self) -> None:
        for text in ('0', '-1', 'x', '1.5'):
            with self.assertLogs(_LOGGER, logging.WARNING) as logs:
                self.assertEqual(set(), self.passing(self.asking(text)))
            told = f"'{text}', which is no number above 0"
            self.assertIn(told, logs.output[0])

    def test_what_cannot_be_read_lets_no_host_pass(self) -> None:
        self.set_option('max_skew', 1)
        request = self.request(of_stack('a'))
        with (
            test_weigher.failing('FROM instance_mappings', OSError('gone')),
            self.assertLogs(_LOGGER, logging.ERROR) as logs,
        ):
            boot = self.cloud.boot(self.scheduler, request)
        self.assertIsNone(boot.host)
        (line,) = logs.output
        self.assertIn('refuses every host', line)

    def test_a_cell_that_is_not_read_lets_no_host_pass(self) -> None:
        self.set_option('max_skew', 1)
        request = self.asking()
        states = self.states(request)
        *_, own = self.scheduler.host_manager.enabled_filters
        cell = self.cloud.cell_database()
        with (
            test_weigher.failing('FROM instances', OSError('gone'), cell),
            self.assertLogs(_LOGGER, logging.WARNING) as logs,
        ):
            self.assertEqual([], [*own.filter_all(states, request)])
        self.assertIn('refuses every host', logs.output[-1])
        self.assertNotIn('Traceback', logs.output[-1])
        self.assertEqual(2, len([*own.filter_all(states, request)]))
        states[0].cell_uuid = 'unlisted'
        with self.assertLogs(_LOGGER, logging.ERROR) as logs:
            self.assertEqual([], [*own.filter_all(states, request)])
        self.assertIn('Incomplete: unlisted', logs.output[0])

    def test_a_member_that_cannot_be_read_lets_no_host_pass(self) -> None:
        self.set_option('max_skew', 1)
        self.place(of_stack('stack-1'), 1)
        with api_db.get_engine().begin() as connection:
            table = models.RequestSpec.__table__
            # The closing brackets are missing.
            text = sa.func.rtrim(table.c.spec, '}')
            connection.execute(sa.update(table).values(spec=text))
        with self.assertLogs(_LOGGER, logging.ERROR) as logs:
            found = self.passing(self.request(of_stack('stack-1')))
        self.assertEqual(set(), found)
        self.assertIn('refuses every host', logs.output[0])
        # Other teams are not affected.
        other = self.passing(self.request(of_stack('stack-2')))
        self.assertEqual(2, len(other))

    def test_one_request_reads_once_for_filter_and_weigher(self) -> None:
        self.set_option('max_skew', 1)
        self.set_multiplier(-10.0)
        self.restart()
        manager = self.scheduler.host_manager
        counts: collections.Counter[str] = collections.Counter()
        for _ in range(8):
            request = self.request(of_stack('a'))
            states = self.states(request)
            with test_weigher.statements() as found:
                hosts = list(manager.get_filtered_hosts(states, request))
                best, *_ = manager.get_weighed_hosts(hosts, request)
            read = [one for one in found if 'FROM instance_mappings' in one]
            self.assertEqual(1, len(read))
            counts[best.obj.host] += 1
        # The weigher still spreads over the hosts.
        self.assertEqual([2] * 4, list(counts.values()))

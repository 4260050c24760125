# SPDX-License-Identifier: Apache-2.0

"""The hard limit for uneven stacks and groups, in the real scheduler."""

import collections
import logging
from typing import Any

import ddt
import sqlalchemy as sa
from nova.db.api import api as api_db
from nova.db.api import models
from nova.db.main import api as main_db

from nova_filters.filters import team_spread
from testing.nova import engine
from tests.functional.nova_filters import test_weigher

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

    @ddt.data('option', 'hint', 'extra spec')
    def test_everybody_who_may_can_ask_for_a_limit(self, how) -> None:
        hints = test_weigher.of_stack('a')
        if how == 'option':
            self.set_option('max_skew', 1)
        elif how == 'hint':
            hints['max_skew'] = '1'
        else:
            self.flavor = self.add_flavor({'nova_filters:max_skew': '1'})
        requests = [self.request(hints) for _ in range(8)]
        found = collections.Counter(self.racks(*requests))
        self.assertEqual({'r1': 4, 'r2': 4}, found)

    def test_nobody_else_has_a_limit(self) -> None:
        self.place(test_weigher.of_stack('a'), 3)
        request = self.request(test_weigher.of_stack('a'))
        self.assertEqual(set(self.hosts), self.passing(request))
        self.set_option('max_skew', 1)
        self.assertEqual(set(self.hosts), self.passing(self.request({})))

    def test_a_place_may_have_as_many_more(self) -> None:
        self.place(test_weigher.of_stack('a'), 2, 1, 1)
        for limit, count in ((1, 2), (2, 2), (3, 2), (4, 4)):
            hints = {**test_weigher.of_stack('a'), 'max_skew': str(limit)}
            request = self.request(hints)
            self.assertEqual(count, len(self.passing(request)), limit)
            self.cloud.forget(request)

    def test_the_smallest_limit_applies(self) -> None:
        self.place(test_weigher.of_stack('a'), 1)
        self.set_option('max_skew', 3)
        hints = test_weigher.of_stack('a')
        self.assertEqual(4, len(self.passing(self.request(hints))))
        for limit, extra_spec in (('2', '3'), ('9', '1')):
            hints['max_skew'] = limit
            self.flavor = self.add_flavor(
                {'nova_filters:max_skew': extra_spec}
            )
            self.assertEqual(
                set(self.hosts[2:]), self.passing(self.request(hints))
            )

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

    @ddt.data('0', '-1', 'x', '1.5', '')
    def test_what_is_no_limit_lets_no_host_pass(self, text) -> None:
        hints = {**test_weigher.of_stack('a'), 'max_skew': text}
        request = self.request(hints)
        with self.assertLogs(_LOGGER, logging.WARNING) as logs:
            self.assertEqual(set(), self.passing(request))
        self.assertIn(f"'{text}', which is no number above 0", logs.output[0])

    def test_what_cannot_be_read_lets_no_host_pass(self) -> None:
        self.set_option('max_skew', 1)
        request = self.request(test_weigher.of_stack('a'))
        with (
            test_weigher.failing('FROM instance_mappings', OSError('gone')),
            self.assertLogs(_LOGGER, logging.ERROR) as logs,
        ):
            boot = self.cloud.boot(self.scheduler, request)
        self.assertIsNone(boot.host)
        (line,) = logs.output
        self.assertIn('refuses every host', line)

    def test_a_cell_that_fails_lets_no_host_pass(self) -> None:
        self.set_option('max_skew', 1)
        request = self.request(test_weigher.of_stack('a'))
        states = self.states(request)
        *_, own = self.scheduler.host_manager.enabled_filters
        with (
            self.cloud.in_cell() as context,
            test_weigher.failing(
                'FROM instances',
                OSError('gone'),
                main_db.get_engine(context=context),
            ),
            self.assertLogs(_LOGGER, logging.WARNING) as logs,
        ):
            self.assertEqual([], [*own.filter_all(states, request)])
        self.assertIn('refuses every host', logs.output[-1])
        self.assertNotIn('Traceback', logs.output[-1])
        self.assertEqual(2, len([*own.filter_all(states, request)]))

    def test_a_cell_that_nobody_lists_lets_no_host_pass(self) -> None:
        self.set_option('max_skew', 1)
        request = self.request(test_weigher.of_stack('a'))
        states = self.states(request)
        states[0].cell_uuid = 'unlisted'
        *_, own = self.scheduler.host_manager.enabled_filters
        with self.assertLogs(_LOGGER, logging.ERROR) as logs:
            self.assertEqual([], [*own.filter_all(states, request)])
        self.assertIn('Incomplete: unlisted', logs.output[0])

    def test_a_member_that_cannot_be_read_lets_no_host_pass(self) -> None:
        self.set_option('max_skew', 1)
        self.place(test_weigher.of_stack('stack-1'), 1)
        with api_db.get_engine().begin() as connection:
            table = models.RequestSpec.__table__
            # The closing brackets are missing.
            text = sa.func.rtrim(table.c.spec, '}')
            connection.execute(sa.update(table).values(spec=text))
        with self.assertLogs(_LOGGER, logging.ERROR) as logs:
            found = self.passing(
                self.request(test_weigher.of_stack('stack-1'))
            )
        self.assertEqual(set(), found)
        self.assertIn('refuses every host', logs.output[0])
        # Other teams are not affected.
        other = self.passing(self.request(test_weigher.of_stack('stack-2')))
        self.assertEqual(2, len(other))

    def test_the_weigher_still_spreads_over_the_hosts(self) -> None:
        self.set_option('max_skew', 1)
        self.set_multiplier(-10.0)
        self.restart()
        counts = collections.Counter(
            self.cloud.boot(
                self.scheduler, self.request(test_weigher.of_stack('a'))
            ).host
            for _ in range(8)
        )
        self.assertEqual([2] * 4, list(counts.values()))

    def test_one_request_reads_once(self) -> None:
        self.set_option('max_skew', 1)
        self.set_multiplier(-10.0)
        self.restart()
        request = self.request(test_weigher.of_stack('a'))
        manager = self.scheduler.host_manager
        states = self.states(request)
        with test_weigher.statements() as found:
            hosts = list(manager.get_filtered_hosts(states, request))
            manager.get_weighed_hosts(hosts, request)
        read = [one for one, _ in found if 'FROM instance_mappings' in one]
        self.assertEqual(1, len(read))


class LoadingTest(test_weigher.StackTestCase):
    def test_nova_conf_enables_it(self) -> None:
        self.scheduler = self.cloud.scheduler(_FILTER)
        found = self.scheduler.host_manager.enabled_filters[-1]
        self.assertIsInstance(found, team_spread.TeamSpreadFilter)
        self.assertIs(engine.CONF.nova_filters.max_skew, 0)

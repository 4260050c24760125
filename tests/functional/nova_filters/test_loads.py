# SPDX-License-Identifier: Apache-2.0

"""How full hosts were, as a scheduler reads it at any time later."""

import datetime
import logging
import random
from typing import Any

import ddt
from nova.db.api import api as api_db
from oslo_utils import timeutils

import tests
from nova_filters.members import loads
from testing.nova import other_servers, spread_case
from tests.functional.nova_filters import base

_MINUTE = datetime.datetime(2026, 11, 29, 12)
_BEFORE = _MINUTE - datetime.timedelta(minutes=1)
_LATER = _MINUTE + datetime.timedelta(minutes=5)
_SEEDS = range(30 if tests.ALL else 3)


@ddt.ddt
class LoadsTest(base.StackTestCase):
    """Four hosts, and a clock that is set."""

    def setUp(self) -> None:
        super().setUp()
        timeutils.set_time_override(_BEFORE)
        self.addCleanup(timeutils.clear_time_override)
        self.loads = loads.Loads()

    def find(self, time: datetime.datetime = _MINUTE) -> Any:
        """Return what is found for the time of a request, by host."""
        return self.loads.of_cells({self.cloud.cell.uuid})(time)

    def read(self) -> list[float]:
        """Return what a scheduler reads that has just started."""
        self.loads = loads.Loads()
        found = self.find()
        return [found[host] for host in self.hosts]

    @ddt.data(
        ({}, 0.25),
        ({'launched_at': None}, 0),
        ({'launched_at': _LATER}, 0),
        ({'deleted': 1, 'terminated_at': _BEFORE}, 0),
        ({'deleted': 1, 'terminated_at': _LATER}, 0.25),
        ({'hidden': True}, 0),
        ({'host': None}, 0),
    )
    @ddt.unpack
    def test_servers_that_were_running_count(self, values, load) -> None:
        flavor = self.cloud.add_flavor('large', {}, 256 * 1024)
        request = self.cloud.request(flavor)
        self.cloud.place(request, self.hosts[0], 'active')
        values = {'launched_at': timeutils.utcnow()} | values
        self.cloud.update(request, **values)
        self.assertEqual([load, 0, 0, 0], self.read())

    def test_whoever_reads_later_finds_the_same(self) -> None:
        for seed in _SEEDS:
            self.cloud.clear()
            case = spread_case.Case(0, 4, filled=(5, 5, 5, 5), others=2.0)
            draw = random.Random(seed)  # noqa: S311
            others = other_servers.OtherServers(
                self.cloud, case, self.hosts, draw, lambda host: None
            )
            now = _BEFORE
            timeutils.set_time_override(now)
            others.set_up()
            expected: list[float] = []
            for delay in others.change():
                now += datetime.timedelta(seconds=delay)
                timeutils.set_time_override(now)
                if now < _MINUTE or draw.random() < 0.7:
                    continue
                found = self.read()
                expected = expected or found
                self.assertEqual(expected, found, (seed, now))
                if now > _LATER:
                    break

    @ddt.data(
        # The database, and the statement that fails.
        ('cell', 'FROM compute_nodes'),
        ('API', 'FROM cell_mappings'),
    )
    @ddt.unpack
    def test_loads_that_cannot_be_read_are_none_and_told(
        self, database, words
    ) -> None:
        bind = api_db.get_engine()
        if database == 'cell':
            bind = self.cloud.cell_database()
        with (
            base.failing(words, OSError('gone'), bind),
            self.assertLogs('nova_filters', logging.WARNING) as logs,
        ):
            self.assertEqual({}, self.find())
        (line,) = logs.output
        self.assertIn('OperationalError', line)
        # The failure is not kept.
        self.assertIn(self.hosts[0], self.find())

    def test_a_cell_without_a_mapping_is_told(self) -> None:
        cell = 'that-the-database-lacks'
        with self.assertLogs('nova_filters', logging.WARNING) as logs:
            self.assertEqual({}, self.loads.of_cells({cell})(_MINUTE))
        (line,) = logs.output
        self.assertIn(f'cell {cell} (no mapping)', line)

    def test_a_request_waits_once_for_a_cell_that_fails(self) -> None:
        cell = self.cloud.cell_database()
        find = self.loads.of_cells({self.cloud.cell.uuid})
        with (
            base.failing('FROM compute_nodes', OSError('gone'), cell),
            self.assertLogs('nova_filters', logging.WARNING) as logs,
        ):
            for time in _BEFORE, _MINUTE, _LATER:
                self.assertEqual({}, find(time))
        self.assertEqual(1, len(logs.output))

    def test_without_one_cell_there_are_none(self) -> None:
        """Otherwise, its hosts would be the emptiest."""
        cell = self.add_cell('sqlite:////nowhere/at/all')
        cells = {self.cloud.cell.uuid, cell.uuid}
        with self.assertLogs('nova_filters', logging.WARNING) as logs:
            self.assertEqual({}, self.loads.of_cells(cells)(_MINUTE))
        (line,) = logs.output
        self.assertIn(f'cell {cell.uuid} (', line)
        self.assertNotIn(self.cloud.cell.uuid, line)

    def test_loads_are_read_once_a_minute_and_forgotten(self) -> None:
        statements: list[str] = []
        with base.listening(statements.append, self.cloud.cell_database()):
            for second in range(0, 7_200, 20):
                self.find(_MINUTE + datetime.timedelta(seconds=second))
        self.assertEqual(3 * 120, len(statements))
        self.assertLess(len(self.loads._kept), 30)

# SPDX-License-Identifier: Apache-2.0

"""The hard limit for uneven stacks and groups, in the real scheduler."""

import logging
import tempfile
from typing import Any
from unittest import mock

import sqlalchemy as sa
from nova import context as nova_context
from nova import objects
from nova.db.api import api as api_db
from nova.db.api import models
from nova.db.main import models as main_models
from oslo_utils import uuidutils
from sqlalchemy import orm

from nova_filters.filters import team_spread
from tests.functional.nova_filters import base
from tests.functional.nova_filters.base import of_stack

_LOGGER = team_spread.__name__


class TeamSpreadTest(base.StackTestCase):
    """Two racks of two hosts; Nova's weighers prefer the first host."""

    def setUp(self) -> None:
        super().setUp()
        self.set_option('stack_spread_over', ['rack', 'host'])
        self.set_option(base.MULTIPLIER, 0.0)
        self.add_aggregate(self.hosts[:2], {'rack': 'r1'})
        self.add_aggregate(self.hosts[2:], {'rack': 'r2'})
        self.restart()

    def restart(self) -> None:
        """Start a scheduler with the filter."""
        self.scheduler = self.cloud.scheduler('TeamSpreadFilter')

    def passing(self, request: Any) -> set[str]:
        """Return the hosts that pass."""
        return set(self.cloud.filtered(self.scheduler, request))

    def asking(self, limit: str = '', extra_spec: str = '') -> Any:
        """Return a request of a stack, with limits in hint and flavor."""
        hints = of_stack('a')
        if limit:
            hints = hints | {'max_skew': limit}
        extra_specs = {}
        if extra_spec:
            extra_specs['nova_filters:max_skew'] = extra_spec
        self.flavor = self.add_flavor(extra_specs)
        return self.request(hints)

    def test_a_place_may_have_as_many_more_as_the_smallest_limit(self) -> None:
        self.place(of_stack('a'), 2, 1, 1)
        for option, hint, extra_spec, count in (
            (0, '', '', 4),
            (1, '', '', 2),
            (0, '3', '', 2),
            (9, '4', '', 4),
            (0, '', '3', 2),
            (9, '3', '9', 2),
            (9, '9', '3', 2),
        ):
            self.set_option('max_skew', option)
            request = self.asking(hint, extra_spec)
            passing = len(self.passing(request))
            self.assertEqual(count, passing, (option, hint, extra_spec))
            self.cloud.forget(request)

    def test_what_the_page_guarantees(self) -> None:
        """The words of the guarantee, one after another."""
        self.set_option('max_skew', 1)
        first_rack, second_rack = {*self.hosts[:2]}, {*self.hosts[2:]}
        with self.subTest('whose host stands in a cell'):
            self.place(of_stack('cell'), 1)
            request = self.request(of_stack('cell'))
            self.assertEqual(second_rack, self.passing(request))
        with self.subTest('in flight, earlier in the order'):
            earlier, later = (self.request(of_stack('b')) for _ in range(2))
            place = self.passing(earlier)
            self.assertIn(place, (first_rack, second_rack))
            self.assertEqual({*self.hosts} - place, self.passing(later))
            # The later one does not count for the earlier one.
            self.assertEqual(place, self.passing(earlier))
        with self.subTest('as if it had the same candidates'):
            self.flavor = self.add_flavor({'trait:CUSTOM_X': 'required'})
            place = self.passing(self.request(of_stack('c')))
            self.flavor = self.add_flavor({})
            passing = self.passing(self.request(of_stack('c')))
            self.assertEqual({*self.hosts} - place, passing)
        with self.subTest('that still has candidates'):
            self.place(of_stack('full'), 3, 0, 0, 0)
            request = self.request(of_stack('full'))
            request.ignore_hosts += self.hosts[2:]
            self.assertEqual(first_rack, self.passing(request))
        with self.subTest('at most max_skew members more'):
            self.set_option('max_skew', 3)
            for count, hosts in (
                # One more server may get there at the same moment.
                (1, {*self.hosts}),
                (2, second_rack),
            ):
                self.place(of_stack('d'), 1)
                request = self.request(of_stack('d'))
                self.assertEqual(hosts, self.passing(request), count)
                self.cloud.forget(request)

    def test_groups_have_a_limit_and_packed_groups_have_none(self) -> None:
        self.set_option('max_skew', 1)
        for policy, count in ('soft-anti-affinity', 2), ('soft-affinity', 4):
            group = self.cloud.add_group(policy)
            self.cloud.place(self.request({}, group=group), self.hosts[0])
            request = self.request({}, group=group)
            self.assertEqual(count, len(self.passing(request)), policy)

    def test_the_weigher_knows_the_candidates_of_the_filter(self) -> None:
        self.set_option('max_skew', 1)
        self.set_option('server_group_weight_multiplier', base.STRONG)
        self.restart()
        group = self.cloud.add_group('soft-anti-affinity')
        requests = [self.request({}, group=group) for _ in range(8)]
        # Those in the other rack are no members of the hosts that pass.
        self.assertEqual([2, 2, 2, 2], self.choose_all(requests))

    def test_what_is_no_limit_lets_no_host_pass(self) -> None:
        for text in ('0', '-1', 'x', '1.5', '9' * 5_000, '\u0663'):
            with self.assertLogs(_LOGGER, logging.WARNING) as logs:
                self.assertEqual(set(), self.passing(self.asking(text)))
            self.assertIn('is no number from 1 to', logs.output[0])
            self.assertIn(text[:9], logs.output[0])

    def test_what_cannot_be_read_lets_no_host_pass(self) -> None:
        self.set_option('max_skew', 1)
        request = self.request(of_stack('a'))
        states = self.states(request)
        *_, spread_filter = self.scheduler.host_manager.enabled_filters
        silence = {self.cloud.cell.uuid: nova_context.did_not_respond_sentinel}
        for fault, words in (
            (
                base.failing('FROM instance_mappings', OSError('gone')),
                'refuses every host',
            ),
            (
                mock.patch.object(
                    nova_context, 'scatter_gather_cells', return_value=silence
                ),
                f'{self.cloud.cell.uuid} (no answer)',
            ),
        ):
            with fault, self.assertLogs(_LOGGER, logging.ERROR) as logs:
                passing = [*spread_filter.filter_all(states, request)]
            self.assertEqual([], passing)
            (line,) = logs.output
            self.assertIn(words, line)
            self.assertNotIn('Traceback', line)
        # The database answers again.
        self.assertEqual(2, len([*spread_filter.filter_all(states, request)]))

    def test_a_member_that_cannot_be_read_lets_no_host_pass(self) -> None:
        self.set_option('max_skew', 1)
        self.place(of_stack('stack-1'), 1)
        # The closing brackets are missing.
        text = sa.func.rtrim(models.RequestSpec.spec, '}')
        base.change(models.RequestSpec, spec=text)
        with self.assertLogs(_LOGGER, logging.ERROR) as logs:
            passing = self.passing(self.request(of_stack('stack-1')))
        self.assertEqual(set(), passing)
        self.assertIn('refuses every host', logs.output[0])
        # Other teams are not affected.
        other = self.passing(self.request(of_stack('stack-2')))
        self.assertEqual(2, len(other))

    def test_several_servers_in_one_request_are_refused(self) -> None:
        self.set_option('max_skew', 1)
        request = self.request(of_stack('a'))
        request.num_instances = 2
        with self.assertLogs(_LOGGER, logging.WARNING) as logs:
            self.assertEqual(set(), self.passing(request))
        (line,) = logs.output
        self.assertIn('asks for 2 servers', line)
        self.assertIn('one by one', line)
        # One of them moves later; its request is still the old one.
        self.cloud.place(request, self.hosts[0], 'active')
        self.cloud.start_action(request, 'migrate', 'resize_prep')
        self.assertEqual(2, len(self.passing(request)))
        # Whoever has no limit may have as many as he likes.
        self.set_option('max_skew', 0)
        other = self.request(of_stack('a'))
        other.num_instances = 2
        self.assertEqual(set(self.hosts), self.passing(other))

    def add_cell(self, url: str) -> Any:
        """Add another cell with a host in the first rack."""
        cell = objects.CellMapping(
            self.cloud.context,
            uuid=uuidutils.generate_uuid(),
            name='cell2',
            transport_url='none:///',
            database_connection=url,
        )
        cell.create()
        self.addCleanup(cell.destroy)
        return cell

    def test_members_in_a_cell_without_candidates_count(self) -> None:
        self.set_option('max_skew', 1)
        folder = tempfile.TemporaryDirectory(prefix='opp-cell-')
        self.addCleanup(folder.cleanup)
        cell = self.add_cell(f'sqlite:///{folder.name}/cell2')
        far = 'far-away'
        with mock.patch.object(self.cloud, 'cell', cell):
            bind = self.cloud.cell_database()
            self.addCleanup(bind.dispose)
            main_models.BASE.metadata.create_all(bind)
            for _ in range(4):
                self.cloud.place(self.request(of_stack('a')), far, 'active')
        first, _ = objects.AggregateList.get_all(self.cloud.context)
        row = models.AggregateHost(aggregate_id=first.id, host=far)
        with orm.Session(api_db.get_engine()) as session, session.begin():
            session.add(row)
        self.restart()
        requests = [self.request(of_stack('a')) for _ in range(12)]
        racks = [
            self.passing(request) <= {*self.hosts[:2]} for request in requests
        ]
        # The first rack has four members, which the candidates do not show.
        self.assertEqual([False] * 4, racks[:4])
        self.assertEqual(4, racks.count(True))

    def test_a_dead_cell_with_members_lets_no_host_pass(self) -> None:
        self.set_option('max_skew', 1)
        cell = self.add_cell('sqlite:////nowhere/at/all')
        self.request(of_stack('a'))
        base.change(models.InstanceMapping, cell_id=cell.id)
        request = self.request(of_stack('a'))
        with self.assertLogs('nova_filters', logging.WARNING) as logs:
            self.assertEqual(set(), self.passing(request))
        (line,) = logs.output
        self.assertIn('refuses every host', line)
        self.assertIn(cell.uuid, line)
        # Nova does not ask a disabled cell, either.
        cell.disabled = True
        cell.save()
        self.assertEqual(2, len(self.passing(request)))

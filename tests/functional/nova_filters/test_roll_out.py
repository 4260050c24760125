# SPDX-License-Identifier: Apache-2.0

"""The weighers while some services have been changed, and without them."""

import collections
from typing import Any
from unittest import mock

from nova.scheduler import utils

from nova_filters.members import reader, rows
from tests import signing
from tests.functional.nova_filters import base


class RollOutTest(base.StackTestCase):
    def start_nova_alone(self) -> None:
        """Start a scheduler without the weighers of this package."""
        weighers = ['nova.scheduler.weights.all_weighers']
        self.set_option('weight_classes', weighers, 'filter_scheduler')
        self.scheduler = self.cloud.scheduler()

    def test_heat_before_nova(self) -> None:
        hints = signing.signed(base.of_stack('a'))
        self.place(hints, 2, 0, 1, 1)
        self.start_nova_alone()
        weights = []
        for stored in {}, hints:
            request = self.request(stored)
            weighed = self.scheduler.host_manager.get_weighed_hosts(
                self.states(request), request
            )
            weights.append({host.obj.host: host.weight for host in weighed})
        self.assertEqual(*weights)

    def test_nova_before_heat(self) -> None:
        self.set_option('signing_key', [signing.KEY], 'heat_hints')
        self.restart()
        unsigned = base.of_stack('a')
        self.place(unsigned, 2)
        self.assertIsNone(self.weigher().find_team(self.request(unsigned)))
        signed = self.request(signing.signed(unsigned))
        # Those that came before Heat's restart do not count now, either.
        self.assertEqual([0, 0, 0, 0], self.members(signed))

    def test_nova_alone_spreads_the_servers_of_one_request(self) -> None:
        group = self.cloud.add_group('soft-anti-affinity')
        self.start_nova_alone()
        requests = [self.request({}, group=group) for _ in range(8)]
        request = requests[0]
        with self.cloud.in_cell() as context:
            utils.setup_instance_group(context, request)
        request.num_instances = len(requests)
        selected = self.scheduler.select_destinations(
            self.cloud.context,
            spec_obj=request,
            instance_uuids=[request.instance_uuid for request in requests],
            return_objects=True,
            return_alternates=False,
        )
        hosts = collections.Counter(
            alternatives[0].service_host for alternatives in selected
        )
        self.assertEqual(dict.fromkeys(self.hosts, 2), hosts)


class DatabaseTest(base.StackTestCase):
    def test_a_weigher_only_reads(self) -> None:
        self.place(base.of_stack('a'), 1)
        request = self.request(base.of_stack('a'))
        statements: list[str] = []
        states = self.states(request)
        with base.listening(statements.append):
            self.weigh(request, states)
        self.assertNotEqual([], statements)
        for statement in statements:
            self.assertTrue(statement.startswith('SELECT'), statement)

    def test_few_stored_requests_of_running_members_are_read(self) -> None:
        self.set_option('server_group_weight_multiplier', base.STRONG)
        group = self.cloud.add_group('soft-anti-affinity')
        for _ in range(5):
            request = self.request({}, group=group)
            self.cloud.place(request, self.hosts[0])
        starting = [self.request({}, group=group) for _ in range(3)]
        read: list[str] = []
        texts = rows.request_texts

        def read_texts(context: Any, uuids: Any, word: str = '') -> Any:
            read.extend(uuids)
            return texts(context, uuids, word)

        with (
            mock.patch.object(reader, 'FIRST', 2),
            mock.patch.object(rows, 'request_texts', read_texts),
        ):
            states = self.states(starting[0])
            self.scheduler.host_manager.get_weighed_hosts(states, starting[0])
        self.assertEqual(2 + len(starting), len({*read}))

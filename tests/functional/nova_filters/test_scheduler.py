# SPDX-License-Identifier: Apache-2.0

"""Requests through the real scheduler, and what the filter logs."""

import logging
from typing import Any
from unittest import mock

from nova import objects
from nova.compute import api as compute_api

from testing.nova import engine, states
from tests.functional.nova_filters import base


class BootTest(base.CloudTestCase):
    """One request among several hosts."""

    def test_scoped_keys_pass_novas_default_filters(self) -> None:
        hosts = [self.add_host({'os': 'linux'}), self.add_host()]
        default = engine.CONF.filter_scheduler.enabled_filters
        self.assertIn('ComputeCapabilitiesFilter', default)
        scheduler = self.cloud.scheduler(*default, engine.OURS)
        flavor = self.add_flavor(
            {'aggregate_instance_extra_specs:os': '<or> linux <or> bsd'}
        )
        request = self.cloud.request(flavor, hosts)
        self.assertEqual(hosts[0], self.cloud.boot(scheduler, request).host)

    def test_malformed_values_give_one_line_per_request(self) -> None:
        hosts = [self.add_host({'k': '!,1', **base.ON}) for _ in range(3)]
        scheduler = self.cloud.scheduler(engine.OURS)
        request = self.cloud.request(self.add_flavor({'k': '>= two'}), hosts)
        with self.assertLogs(engine.LOGGER, logging.INFO) as logs:
            boot = self.cloud.boot(scheduler, request)
        self.assertIsNone(boot.host)
        (line,) = logs.output
        self.assertIn("0 of 3 hosts: 'k' is malformed in the flavor (3)", line)

    def test_a_change_of_an_aggregate_needs_no_restart(self) -> None:
        hosts = [self.add_host(), self.add_host()]
        aggregate = self.add_aggregate(hosts[:1], {})
        requests = [
            self.cloud.request(self.add_flavor(specs), hosts)
            for specs in (
                {'aggregate_instance_extra_specs:os': 'windows'},
                {},
            )
        ]
        self.restart()

        def filtered() -> list[list[str]]:
            return [
                self.cloud.filtered(self.scheduler, request)
                for request in requests
            ]

        before = filtered()
        # Without the message queue between the API and the scheduler.
        api = compute_api.AggregateAPI()
        with mock.patch.object(api, 'query_client', self.scheduler):
            api.update_aggregate_metadata(
                self.cloud.context, aggregate.id, {'os': 'windows', **base.ON}
            )
        after = filtered()
        self.assertEqual([[], hosts], before)
        self.assertEqual([hosts[:1], hosts[1:]], after)


class MoveTest(base.CloudTestCase):
    """Requests for servers that run already, as Nova's conductor makes them.

    One runs on a host that its flavor no longer suits.
    """

    def setUp(self) -> None:
        super().setUp()
        self.host = self.add_host({'k': '2'})
        self.target = self.add_host({'k': '1'})
        self.other = self.add_host({'k': '2'})
        self.flavor = self.add_flavor({'k': '1'})
        self.restart()
        self.request = self.cloud.request(
            self.flavor, [self.host, self.target, self.other]
        )

    def left(self, **fields: Any) -> list[str]:
        """Return the hosts that pass a request that differs in some fields."""
        request = self.request.obj_clone()
        for name, value in fields.items():
            setattr(request, name, value)
        return self.cloud.filtered(self.scheduler, request)

    def test_a_move_is_judged_like_a_boot(self) -> None:
        away = [*self.request.ignore_hosts, self.host]
        two = self.add_flavor({'k': '2'})
        # The operator changes the flavor of the server.
        self.flavor.extra_specs = {'k': '2'}
        self.flavor.save()
        stored = objects.RequestSpec.get_by_instance_uuid(
            self.cloud.context, self.request.instance_uuid
        )
        bad = objects.Destination(host=self.other, node=self.other)
        for what, fields, passing in (
            ('migrate or evacuate', {'ignore_hosts': away}, [self.target]),
            ('with a target', {'requested_destination': bad}, []),
            ('resize', {'ignore_hosts': away, 'flavor': two}, [self.other]),
            ('the copy of a flavor', {'flavor': stored.flavor}, [self.target]),
        ):
            self.assertEqual(passing, self.left(**fields), what)

    def test_nova_asks_no_filter_about_a_forced_host(self) -> None:
        self.assertEqual([self.host], self.left(force_hosts=[self.host]))

    def test_only_a_rebuild_on_its_own_host_is_believed(self) -> None:
        own, both = [self.host], [self.host, self.other]
        for value, hosts, nodes, passing in (
            (['rebuild'], [self.host.upper()], own, own),
            (['rebuild'], own, None, []),
            (['rebuild'], None, own, []),
            (['rebuild'], both, own, []),
            (['rebuild'], own, both, []),
            (['rebuild'], None, None, [self.target]),
            (['rebuild', 'rebuild'], own, own, []),
        ):
            left = self.left(
                scheduler_hints={'_nova_check_type': value},
                force_hosts=hosts,
                force_nodes=nodes,
            )
            self.assertEqual(passing, left, (value, hosts, nodes))


class DirectTest(base.OptionTestCase):
    """The filter that the scheduler loaded, asked for what Nova never asks."""

    def test_what_cannot_be_read_refuses_every_host(self) -> None:
        our_filter = base.loaded_filter()
        state = states.host_state('h')
        unread = states.request({})
        unread.flavor._obj_extra_specs = 'unread'
        for request in None, objects.RequestSpec(), unread:
            with self.assertLogs(engine.LOGGER) as logs:
                self.assertEqual([], our_filter.filter_all([state], request))
            (record,) = logs.records
            self.assertIn('refuses every host', record.getMessage())
            self.assertIsNotNone(record.exc_info)
            self.assertFalse(our_filter.host_passes(state, request))

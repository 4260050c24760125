# SPDX-License-Identifier: Apache-2.0

"""Boot requests through the real scheduler, and what the log says."""

import logging
import unittest

import ddt
from nova import objects
from nova.scheduler import host_manager, utils, weights
from nova.scheduler.filters import (
    aggregate_instance_extra_specs as in_tree_filter,
)
from oslo_utils import uuidutils

import nova_filters
from testing.nova import cases, engine, states
from tests.functional.nova_filters import base


class LoadingTest(unittest.TestCase):
    """The lines of nova.conf that the documentation gives."""

    def test_nova_conf_enables_the_plugins_beside_novas_own(self) -> None:
        scheduler = base.cloud().scheduler(engine.IN_TREE, engine.OURS)
        self.assertEqual(
            [
                'nova.scheduler.filters.compute_filter',
                in_tree_filter.__name__,
                'nova_filters.filters.aggregate_instance_type',
            ],
            [
                type(filter_).__module__
                for filter_ in scheduler.host_manager.enabled_filters
            ],
        )
        (ours,) = nova_filters.all_weighers()
        self.assertEqual('StackAffinityWeigher', ours.__name__)
        found = [type(found) for found in scheduler.host_manager.weighers]
        self.assertEqual({ours, *weights.all_weighers()}, set(found))


@ddt.ddt
class SpecificationTest(base.CloudTestCase):
    """Every example of the specification, booted."""

    @ddt.data(*cases.examples())
    def test_the_example_boots_where_it_is_written(
        self, example: cases.Example
    ) -> None:
        hosts = {
            name: self.add_host(metadata)
            for name, metadata in example.aggregates.items()
        }
        scheduler = self.cloud.scheduler(engine.OURS)
        for name, row in example.wanted.items():
            flavor = self.add_flavor(example.flavors[name])
            for aggregate, wanted in row.items():
                request = self.cloud.request(flavor, [hosts[aggregate]])
                with base.records() as found:
                    boot = self.cloud.boot(scheduler, request)
                what = f'{example.section}, {name}, {aggregate}'
                host = hosts[aggregate] if wanted is None else None
                self.assertEqual(host, boot.host, what)
                self.assertEqual(
                    [wanted], base.refusals(found) or [None], what
                )


class BootTest(base.CloudTestCase):
    """One request among several hosts."""

    def test_the_server_lands_where_the_aggregates_suit(self) -> None:
        hosts = [
            self.add_host({'disk': 'hdd'}),
            self.add_host({'disk': 'ssd'}, {'os': 'linux', **base.ON}),
            self.add_host({'disk': 'ssd'}),
            self.add_host(),
        ]
        with self.assertNoLogs(engine.LOGGER, logging.INFO):
            boot = self.boot({'disk': 'ssd'}, hosts)
        self.assertEqual(hosts[2], boot.host)

    def test_scoped_keys_pass_novas_default_filters(self) -> None:
        hosts = [self.add_host({'os': 'linux'}), self.add_host()]
        engine.CONF.clear_override('enabled_filters', 'filter_scheduler')
        default = engine.CONF.filter_scheduler.enabled_filters
        self.assertIn('ComputeCapabilitiesFilter', default)
        scheduler = self.cloud.scheduler(*default, engine.OURS)
        flavor = self.add_flavor(
            {'aggregate_instance_extra_specs:os': '<or> linux <or> bsd'}
        )
        request = self.cloud.request(flavor, hosts)
        self.assertEqual(hosts[0], self.cloud.boot(scheduler, request).host)

    def test_no_valid_host_gives_one_info_line_of_reasons(self) -> None:
        hosts = [self.add_host({'gpu': 'a100'}), self.add_host()]
        forced = self.add_aggregate(hosts[1:], {'os': 'linux', **base.ON})
        hosts += [self.add_host() for _ in range(3)]
        forced.add_host(hosts[2])
        flavor = self.add_flavor({'gpu': '<or> h100 <or> ~'})
        scheduler = self.cloud.scheduler(engine.OURS)
        for host in hosts[3:]:
            forced.add_host(host)
        scheduler.update_aggregates(None, [forced])
        with self.assertLogs(engine.LOGGER, logging.INFO) as logs:
            request = self.cloud.request(flavor, hosts)
            boot = self.cloud.boot(scheduler, request)
        self.assertIsNone(boot.host)
        self.assertEqual(
            [
                f'Instance {request.instance_uuid}: 0 of 5 hosts: '
                f"4 aggregate '{forced.name}' demands 'os', "
                "1 'gpu' does not match '<or> h100 <or> ~'"
            ],
            [record.getMessage() for record in logs.records],
        )

    def test_the_filter_sees_what_placement_returns(self) -> None:
        for _ in range(4):
            self.add_host()
        limit = len(self.cloud.hosts) - 1
        self.set_option('max_placement_results', limit, 'scheduler')
        scheduler = self.cloud.scheduler(engine.OURS)
        request = self.cloud.request(self.add_flavor({'k': '1'}))
        with base.records() as found:
            self.assertIsNone(self.cloud.boot(scheduler, request).host)
        instance = f'Instance {request.instance_uuid}'
        reason = "'k' not in any aggregate"
        self.assertEqual(
            [
                f'{instance}: {limit} host(s) in aggregates [] refused: '
                f'{reason}',
                f'{instance}: 0 of {limit} hosts: {limit} {reason}',
            ],
            [record.getMessage() for record in found],
        )

    def test_malformed_values_give_one_warning_per_request(self) -> None:
        hosts = [self.add_host({'k': '!,1', **base.ON}) for _ in range(3)]
        with self.assertLogs(engine.LOGGER, logging.WARNING) as logs:
            boot = self.boot({'k': '>= two', 'l': '<or>'}, hosts)
        self.assertIsNone(boot.host)
        self.assertEqual(1, len(logs.records))
        text = logs.records[0].getMessage()
        self.assertIn("the flavor has 'k': 'two' is not a number", text)
        self.assertIn("the flavor has 'l': nothing follows <or>", text)

    def test_a_metadata_update_is_seen_by_the_next_request(self) -> None:
        host = self.add_host()
        aggregate = self.add_aggregate([host], {'k': '1'})
        flavor = self.add_flavor({'k': '2'})
        scheduler = self.cloud.scheduler(engine.OURS)

        def boot() -> str | None:
            request = self.cloud.request(flavor, [host])
            return self.cloud.boot(scheduler, request).host

        self.assertIsNone(boot())
        aggregate.update_metadata({'k': '2'})
        scheduler.update_aggregates(None, [aggregate])
        self.assertEqual(host, boot())
        # In place, as nothing in Nova forbids.
        held = scheduler.host_manager.aggs_by_id[aggregate.id]
        held.metadata['k'] = '3'
        self.assertIsNone(boot())

    def test_an_availability_zone_is_not_demanded(self) -> None:
        host = self.add_host({'availability_zone': 'az1', **base.ON})
        self.assertEqual(host, self.boot({}, [host]).host)
        # Without exemptions the specification holds literally.
        self.set_option('exempt_metadata_keys', [])
        self.assertIsNone(self.boot({}, [host]).host)


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
        self.scheduler = self.cloud.scheduler(engine.OURS)
        self.request = self.cloud.request(
            self.flavor, [self.host, self.target, self.other]
        )

    def chosen(self) -> str | None:
        """Return the host that the scheduler chooses."""
        return self.cloud.boot(self.scheduler, self.request).host

    def test_a_live_migration_leaves_for_a_host_that_suits(self) -> None:
        self.request.ignore_hosts = [*self.request.ignore_hosts, self.host]
        self.assertEqual(self.target, self.chosen())

    def test_a_live_migration_to_a_host_is_filtered(self) -> None:
        for host, wanted in (
            (self.other, None),
            (self.target, self.target),
        ):
            self.request.requested_destination = objects.Destination(host=host)
            self.assertEqual(wanted, self.chosen())

    def test_a_resize_is_judged_by_the_new_flavor(self) -> None:
        self.request.ignore_hosts = [*self.request.ignore_hosts, self.host]
        for value, wanted in (('2', self.other), ('3', None)):
            self.request.flavor = self.add_flavor({'k': value})
            self.assertEqual(wanted, self.chosen())

    def test_a_rebuild_stays_where_it_is(self) -> None:
        self.request.requested_destination = objects.Destination(
            host=self.host, node=self.host
        )
        self.assertIsNone(self.chosen())
        self.request.scheduler_hints = {'_nova_check_type': ['rebuild']}
        with base.records() as found:
            self.assertEqual(self.host, self.chosen())
        self.assertEqual([], found)

    def test_odd_hints_mean_what_they_mean_to_nova(self) -> None:
        for hints in (
            {},
            {'_nova_check_type': ['other']},
            {'_nova_check_type': ['rebuild', 'rebuild']},
            {'_nova_check_type': []},
            {'rebuild': ['_nova_check_type']},
            {'_nova_check_type': ['rebuild'], 'x': ['y']},
        ):
            self.request.scheduler_hints = hints
            wanted = [self.target]
            if utils.request_is_rebuild(self.request):
                wanted = sorted([self.host, self.target, self.other])
            left = self.cloud.filtered(self.scheduler, self.request)
            self.assertEqual(wanted, left, hints)

    def test_servers_of_one_request_are_judged_once(self) -> None:
        uuids = [uuidutils.generate_uuid() for _ in range(3)]
        self.request.num_instances = len(uuids)
        selected = self.scheduler.select_destinations(
            self.cloud.context,
            spec_obj=self.request,
            instance_uuids=uuids,
            return_objects=True,
            return_alternates=True,
        )
        hosts = {found.service_host for found, *_ in selected}
        self.assertEqual({self.target}, hosts)
        # No host that does not suit is kept in reserve.
        self.assertEqual([1, 1, 1], [len(found) for found in selected])


class DirectTest(base.OptionTestCase):
    """The filter that the scheduler loaded, asked for what Nova never asks."""

    def setUp(self) -> None:
        super().setUp()
        self.filter = base.loaded_filter()

    def test_hints_that_are_none_are_no_rebuild(self) -> None:
        request = states.request({'k': '1'})
        request.scheduler_hints = None
        hosts = [
            states.host_state('h', states.aggregates({'k': value}))
            for value in ('1', '2')
        ]
        self.assertEqual(hosts[:1], self.filter.filter_all(hosts, request))

    def test_a_bare_request_is_judged(self) -> None:
        bare = objects.RequestSpec(flavor=objects.Flavor())
        state = host_manager.HostState('h', 'n', None)
        self.assertEqual([state], self.filter.filter_all([state], bare))
        state.aggregates = [objects.Aggregate(name='a')]
        with self.assertLogs(engine.LOGGER, logging.WARNING) as logs:
            self.assertEqual([], self.filter.filter_all([state], bare))
        self.assertIn('could not be read', logs.output[0])

    def test_a_request_that_cannot_be_read_is_refused(self) -> None:
        request = states.request({'k': '1'})
        del request._obj_flavor
        with self.assertLogs(engine.LOGGER, logging.ERROR) as logs:
            self.assertEqual([], self.filter.filter_all([object()], request))
        self.assertIn('refuses every host', logs.output[0])

# SPDX-License-Identifier: Apache-2.0

"""Servers with a planned place, placed by the real scheduler."""

import logging

import ddt
from nova import objects

from nova_filters.weighers import host_weighers
from tests import signing
from tests.functional.nova_filters import base

_LOGGER = host_weighers.__name__
_PLACE = 'heat_group_place'


@ddt.ddt
class PlaceTest(base.StackTestCase):
    """Two hosts in each of two racks, and a host that is in none."""

    weigher_name = 'StackPlaceWeigher'

    def setUp(self) -> None:
        super().setUp()
        self.set_option('stack_spread_over', ['rack', 'host'])
        self.add_aggregate(self.hosts[:2], {'rack': 'r1', 'os': 'linux'})
        self.add_aggregate(self.hosts[2:], {'rack': 'r2'})
        self.hosts.append(self.add_host())
        self.restart()

    @ddt.data(-10.0, 10.0)
    def test_the_plan_is_kept_whatever_other_weighers_say(
        self, multiplier
    ) -> None:
        self.set_option(base.MULTIPLIER, multiplier)
        schedulers = self.scheduler, self.cloud.scheduler()
        plan = ['r1', 'r1', 'r2', 'r1', 'r2', 'r1', 'r1', 'r1']
        hosts = []
        for number, place in enumerate(plan):
            self.scheduler = schedulers[number % 2]
            request = self.request({**base.of_stack('a'), _PLACE: place})
            hosts.append(self.choose(request))
            self.cloud.place(request, hosts[-1])
        racks = ['r1', 'r1', 'r2', 'r2', 'none']
        places = [racks[self.hosts.index(host)] for host in hosts]
        self.assertEqual(plan, places)
        # Within a place, the stack is spread or packed as before.
        first = [hosts.count(host) for host in self.hosts[:2]]
        expected = [0, 6]
        if multiplier < 0:
            expected = [3, 3]
        self.assertEqual(expected, sorted(first))

    def test_a_place_without_candidates_is_told(self) -> None:
        request = self.request({_PLACE: 'r1', 'heat_resource_name': 'a\nb'})
        request.ignore_hosts = [*request.ignore_hosts, *self.hosts[:2]]
        with self.assertLogs(_LOGGER, logging.INFO) as logs:
            boot = self.cloud.boot(self.scheduler, request)
        self.assertIn(boot.host, self.hosts[2:])
        (line,) = logs.output
        self.assertIn(r"'a\nb' of stack 'None' is in the planned", line)
        self.assertIn("place 'r1'", line)

    def test_hosts_in_the_place_are_preferred(self) -> None:
        for place in ('r1', ['r1']):
            weights = self.weigh(self.request({_PLACE: place}))
            self.assertEqual([1.0, 1.0, 0.0, 0.0, 0.0], weights)

    def test_the_weigher_has_no_say_without_a_place(self) -> None:
        states = self.states(self.request({}))
        # No level lists the key of "linux", nor is a host's name a place.
        places = None, '', ['r1', 'r2'], 'linux', self.hosts[0]
        requests = [self.request({_PLACE: p} if p else {}) for p in places]
        for request in (*requests, objects.RequestSpec()):
            self.assertEqual([0.0] * 5, self.weigh(request, states))

    def test_forged_hints_are_not_believed(self) -> None:
        self.set_option('signing_key', [signing.KEY], 'heat_hints')
        self.restart()
        hints = {**base.of_stack('a'), _PLACE: 'r1'}
        signed = signing.signed(hints)
        for sent_hints, project, preferred in (
            (signed, 'p1', 2.0),
            (signed, 'p2', 0.0),
            (hints, 'p1', 0.0),
            ({**signed, _PLACE: 'r2'}, 'p1', 0.0),
        ):
            weights = self.weigh(self.request(sent_hints, project))
            self.assertEqual(preferred, sum(weights))

    def test_what_is_broken_costs_the_weigher_its_say_only(self) -> None:
        request = self.request({_PLACE: 'r1'})
        states = self.states(request)
        states[0].aggregates = [objects.Aggregate(name='unread')]
        for broken in (states, [object()] * 5):
            with self.assertLogs(
                host_weighers.__name__, logging.ERROR
            ) as logs:
                self.assertEqual([0.0] * 5, self.weigh(request, broken))
            (line,) = logs.output
            self.assertIn('is left out of this request', line)

# SPDX-License-Identifier: Apache-2.0

"""Preferences in the real scheduler, beside Nova's weighers."""

import collections
import logging

import ddt

from nova_filters.weighers import preference
from tests.functional.nova_filters import base

_OPTION = 'preference_weight_multiplier'
_AVOIDS, _LIKES = 'aggregate_avoided', 'aggregate_preferred'


@ddt.ddt
class PreferenceTest(base.CloudTestCase):
    """One host that all of Nova's weighers prefer, and another one."""

    def setUp(self) -> None:
        super().setUp()
        self.hosts = [self.add_host(), 'large']
        if 'large' not in self.cloud.hosts:
            self.cloud.add_host('large', memory_gib=4096)
        self.set_option(_OPTION, 10.0)

    def assert_chosen(self, host: str, extra_specs: dict[str, str]) -> None:
        """Assert the host of a new server, and that no host is refused."""
        self.restart()
        flavor = self.add_flavor(extra_specs)
        request = self.cloud.request(flavor, self.hosts)
        self.assertEqual(host, self.choose(request), extra_specs)
        passing = self.cloud.filtered(self.scheduler, request)
        self.assertEqual(self.hosts, passing)

    def test_one_point_outweighs_novas_weighers(self) -> None:
        self.add_aggregate(['large'], {'generation': 'old'})
        self.assert_chosen('large', {})
        self.assert_chosen('host-0', {f'{_AVOIDS}:generation': 'old'})

    @ddt.data('acme,beta', '<or> acme <or> beta')
    def test_an_aggregate_that_reserves_hosts_has_one_reader(
        self, value: str
    ) -> None:
        reserving = {'reserved': value, 'prefer_metadata_check': 'true'}
        self.add_aggregate(['host-0'], reserving)
        owner = {
            'aggregate_instance_extra_specs:reserved': '<or> acme <or> ~',
            f'{_LIKES}:reserved': 'acme',
        }
        # The owner goes there first, and everybody else last.
        self.assert_chosen('host-0', owner)
        self.assert_chosen('large', {})
        # Only the reserved host has what this flavor asks for.
        flavor = self.add_flavor({'reserved': 'beta'})
        request = self.cloud.request(flavor, self.hosts)
        passing = self.cloud.filtered(self.scheduler, request)
        self.assertEqual(['host-0'], passing)

    def test_what_is_malformed_is_told_once(self) -> None:
        extra_specs = {f'{_LIKES}:disk': '<or>', f'{_AVOIDS}.0:a': '1'}
        with self.assertLogs(preference.__name__, logging.WARNING) as logs:
            self.assert_chosen('large', extra_specs)
        (line,) = logs.output
        self.assertIn("'aggregate_preferred:disk': nothing follows <or>", line)
        self.assertIn("'0' is no number from 1 to 100", line)


@ddt.ddt
class SpreadTest(base.StackTestCase):
    """Six servers of a stack, beside preferences."""

    @ddt.data(
        # The default, at which a team is spread.
        (1.0, 'aggregate_preferred.100:disk', [2, 2, 2]),
        (20.0, 'aggregate_preferred:disk', [6, 0, 0]),
    )
    @ddt.unpack
    def test_a_host_is_preferred(self, multiplier, spec, counts) -> None:
        self.set_option(_OPTION, multiplier)
        self.set_option(base.MULTIPLIER, -base.STRONG)
        del self.hosts[3:]
        self.flavor = self.add_flavor({spec: 'ssd'})
        self.add_aggregate(self.hosts[:1], {'disk': 'ssd'})
        self.restart()
        chosen: collections.Counter[str] = collections.Counter()
        for _ in range(6):
            request = self.request(base.of_stack('a'))
            host = self.choose(request)
            self.cloud.place(request, host)
            chosen[host] += 1
        self.assertEqual(counts, [chosen[host] for host in self.hosts])

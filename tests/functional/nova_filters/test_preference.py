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

    def test_an_aggregate_reserves_hosts(self) -> None:
        reserving = {
            'reserved': 'acme,beta',
            'prefer_metadata_check': 'true',
        }
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
    """Six servers of a stack or a group, beside preferences for two hosts."""

    @ddt.data(
        # With 1, a team is spread over all hosts.
        ('stack', -1, 1.0, 'aggregate_preferred.100', [2, 2, 1, 1]),
        ('stack', -1, 20.0, 'aggregate_preferred', [3, 3]),
        ('stack', 1, 20.0, 'aggregate_preferred', [6]),
        ('soft-anti-affinity', -1, 20.0, 'aggregate_preferred', [3, 3]),
        ('soft-affinity', -1, 20.0, 'aggregate_preferred', [6]),
        ('affinity', -1, 1000.0, 'aggregate_preferred', [6]),
    )
    @ddt.unpack
    def test_a_host_is_preferred(
        self, policy, sign, multiplier, name, counts
    ) -> None:
        chosen = self.choose_six(policy, sign, multiplier, name)
        self.assertEqual(counts, sorted(chosen.values(), reverse=True))
        if multiplier >= 20:
            self.assertLessEqual(chosen.keys(), {*self.hosts[2:]})

    @ddt.data(20.0, 1000.0)
    def test_a_hard_policy_is_stronger(self, multiplier) -> None:
        chosen = self.choose_six(
            'anti-affinity', -1, multiplier, 'aggregate_preferred'
        )
        self.assertEqual([2, 2, 1, 1], sorted(chosen.values(), reverse=True))

    def choose_six(
        self, policy: str, sign: int, multiplier: float, name: str
    ) -> collections.Counter[str]:
        """Return how many of six servers are on each host.

        :param sign: that of the multiplier for stacks.
        :param name: the extra spec that prefers the last two hosts.
        """
        self.set_option(_OPTION, multiplier)
        self.set_option(base.MULTIPLIER, sign * base.STRONG)
        self.set_option('server_group_weight_multiplier', base.STRONG)
        self.flavor = self.add_flavor({f'{name}:disk': 'ssd'})
        self.add_aggregate(self.hosts[2:], {'disk': 'ssd'})
        hints = base.of_stack('a')
        group = None
        if policy == 'anti-affinity':
            group = self.cloud.add_group(policy, max_server_per_host='2')
        elif policy != 'stack':
            group = self.cloud.add_group(policy)
        self.restart()
        chosen: collections.Counter[str] = collections.Counter()
        for _ in range(6):
            request = self.request(hints, group=group)
            host = self.choose(request)
            self.cloud.place(request, host)
            chosen[host] += 1
        return chosen

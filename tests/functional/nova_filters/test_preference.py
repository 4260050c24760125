# SPDX-License-Identifier: Apache-2.0

"""Preferences in the real scheduler, beside Nova's weighers."""

import collections
import itertools
import logging
from typing import Any

import ddt
import jsonschema
from nova.api.openstack.compute.schemas import flavors_extraspecs
from nova.api.validation.extra_specs import validators

from nova_filters.weighers import host_weighers
from tests.functional.nova_filters import base

_OPTION = 'preference_weight_multiplier'
_SOFT = {'prefer_metadata_check': 'true'}
#: A host with four times the memory: all of Nova's weighers want it.
_LARGE_GIB = 4096

_LEAVING = _SOFT | {'leaving': 'true'}
_RESERVED = _SOFT | {'reserved': 'acme'}
_OLD, _SSD = {'generation': 'old'}, {'disk': 'ssd'}
_AVOIDS, _LIKES = 'aggregate_avoided', 'aggregate_preferred'

#: For each recipe of the page, an aggregate's metadata and its host, and the
#: host that each flavor gets.
_RECIPES: dict[str, tuple[dict[str, str], str, dict[str, Any]]] = {
    'decommissioning': (
        _LEAVING,
        'large',
        {'host-0': {}, 'large': {'leaving': 'true'}},
    ),
    'old hardware last': (
        _OLD,
        'large',
        {'large': {}, 'host-0': {f'{_AVOIDS}:generation': 'old'}},
    ),
    'reserved first': (
        _RESERVED,
        'host-0',
        {
            'large': {},
            'host-0': {f'{_LIKES}:reserved': 'acme'}
            | {'reserved': '<or> acme <or> ~'},
        },
    ),
}


@ddt.ddt
class PreferenceTest(base.CloudTestCase):
    """One host that all of Nova's weighers prefer, and another one."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        validators.load_validators()

    def setUp(self) -> None:
        super().setUp()
        self.hosts = [self.add_host(), 'large']
        if 'large' not in self.cloud.hosts:
            self.cloud.add_host('large', _LARGE_GIB)
        self.set_option(_OPTION, 10.0)

    def assert_chosen(self, host: str, extra_specs: dict[str, str]) -> None:
        """Assert the host of a new server."""
        self.restart()
        flavor = self.add_flavor(extra_specs)
        self.request = self.cloud.request(flavor, self.hosts)
        self.assertEqual(host, self.choose(self.request), extra_specs)

    @ddt.data(*_RECIPES)
    def test_recipe(self, name) -> None:
        metadata, host, goals = _RECIPES[name]
        self.add_aggregate([host], metadata)
        for goal, extra_specs in goals.items():
            self.assert_chosen(goal, extra_specs)

    def test_nothing_is_refused(self) -> None:
        self.add_aggregate(self.hosts, _LEAVING)
        self.assert_chosen('large', {f'{_AVOIDS}:leaving': 'true'})
        passing = self.cloud.filtered(self.scheduler, self.request)
        self.assertEqual(self.hosts, passing)

    def test_nova_accepts_the_extra_specs(self) -> None:
        names = f'{_LIKES}:hw:cpu', f'{_AVOIDS}.10:disk'
        specs = dict.fromkeys(names, '<or> ssd <or> ~')
        jsonschema.validate({'extra_specs': specs}, flavors_extraspecs.create)
        for name, value in specs.items():
            # From microversion 2.86 on.
            validators.validate(name, value)

    def test_what_is_malformed_is_told_once(self) -> None:
        extra_specs = {f'{_LIKES}:disk': '<or>', f'{_AVOIDS}.0:a': '1'}
        with self.assertLogs(host_weighers.__name__, logging.WARNING) as logs:
            self.assert_chosen('large', extra_specs)
        (line,) = logs.output
        self.assertIn("'aggregate_preferred:disk': nothing follows <or>", line)
        self.assertIn("'0' is no number from 1 to 100", line)


#: Extra specs and metadata of the first of three hosts, which it may prefer or
#: avoid.
_STRONG: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    'a hundred points': ({f'{_LIKES}.100:disk': 'ssd'}, _SSD),
    'twelve soft keys': ({}, _SOFT | {f'key{n}': '1' for n in range(12)}),
}


@ddt.ddt
class SpreadTest(base.StackTestCase):
    """Six servers of a stack or a server group, beside preferences."""

    def boot_six(
        self, extra_specs: dict[str, str], metadata: dict[str, str], team: str
    ) -> list[int]:
        """Return how many servers each of three hosts gets."""
        del self.hosts[3:]
        self.flavor = self.add_flavor(extra_specs)
        self.add_aggregate(self.hosts[:1], metadata)
        hints, group = base.of_stack('a'), None
        if team == 'group':
            hints, group = None, self.cloud.add_group('soft-anti-affinity')
        self.restart()
        chosen: collections.Counter[str] = collections.Counter()
        for _ in range(6):
            request = self.request(hints, group=group)
            host = self.choose(request)
            self.cloud.place(request, host)
            chosen[host] += 1
        return [chosen[host] for host in self.hosts]

    @ddt.data(*itertools.product(_STRONG, ('stack', 'group')))
    @ddt.unpack
    def test_at_the_default_a_team_is_spread(self, name, team) -> None:
        self.set_option(base.MULTIPLIER, -base.STRONG)
        self.set_option('server_group_weight_multiplier', base.STRONG)
        extra_specs, metadata = _STRONG[name]
        counts = self.boot_six(extra_specs, metadata, team)
        self.assertEqual([2, 2, 2], counts)

    def test_at_twenty_one_point_outweighs_a_stack(self) -> None:
        self.set_option(base.MULTIPLIER, -base.STRONG)
        self.set_option(_OPTION, 20.0)
        counts = self.boot_six({f'{_LIKES}:disk': 'ssd'}, _SSD, 'stack')
        self.assertEqual([6, 0, 0], counts)

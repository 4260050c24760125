# SPDX-License-Identifier: Apache-2.0

"""Preferences in the real scheduler, beside Nova's weighers."""

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
_TAINTED = _SOFT | {'taint': 'maintenance'}
_OLD, _SSD = {'generation': 'old'}, {'disk': 'ssd'}
_AVOIDS, _LIKES = 'aggregate_avoided', 'aggregate_preferred'

#: For each recipe of the page, an aggregate's metadata and its host, and the
#: host that each flavor gets.
_RECIPES: dict[str, tuple[dict[str, str], str, dict[str, Any]]] = {
    'decommissioning': (
        *(_LEAVING, 'large'),
        {'host-0': {}, 'large': {'leaving': 'true'}},
    ),
    'old hardware last': (
        *(_OLD, 'large'),
        {'large': {}, 'host-0': {f'{_AVOIDS}:generation': 'old'}},
    ),
    'reserved first': (
        *(_RESERVED, 'host-0'),
        {
            'large': {},
            'host-0': {f'{_LIKES}:reserved': 'acme'}
            | {'reserved': '<or> acme <or> ~'},
        },
    ),
    'SSD if there is one': (
        *(_SSD, 'host-0'),
        {'large': {}, 'host-0': {f'{_LIKES}:disk': 'ssd'}},
    ),
    'PreferNoSchedule': (
        *(_TAINTED, 'large'),
        {'host-0': {}, 'large': {'taint': '<or> maintenance <or> ~'}},
    ),
    'a preference that matters more': (
        *(_OLD | _SSD, 'host-0'),
        {
            'host-0': {f'{_LIKES}.10:disk': 'ssd'}
            | {f'{_AVOIDS}:generation': 'old'},
            'large': {f'{_LIKES}:disk': 'ssd'}
            | {f'{_AVOIDS}.10:generation': 'old'},
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

    def assert_chosen(self, wanted: str, extra_specs: dict[str, str]) -> None:
        """Assert the host of a new server."""
        self.restart()
        flavor = self.add_flavor(extra_specs)
        self.request = self.cloud.request(flavor, self.hosts)
        self.assertEqual(wanted, self.choose(self.request), extra_specs)

    @ddt.data(*_RECIPES)
    def test_recipe(self, name) -> None:
        metadata, host, wanted = _RECIPES[name]
        self.add_aggregate([host], metadata)
        for goal, extra_specs in wanted.items():
            self.assert_chosen(goal, extra_specs)

    def test_nothing_is_refused(self) -> None:
        self.add_aggregate(self.hosts, _LEAVING)
        self.assert_chosen('large', {f'{_AVOIDS}:leaving': 'true'})
        found = self.cloud.filtered(self.scheduler, self.request)
        self.assertEqual(self.hosts, found)

    def test_a_weigher_with_more_weight_wins(self) -> None:
        self.add_aggregate(['large'], _LEAVING)
        self.set_option(_OPTION, 1.0)
        self.set_option('ram_weight_multiplier', 2.0, 'filter_scheduler')
        self.assert_chosen('large', {})

    def test_an_aggregate_may_have_its_own_multiplier(self) -> None:
        self.set_option(_OPTION, 0.0)
        self.add_aggregate(['host-0'], _SSD | {_OPTION: '10'})
        self.assert_chosen('host-0', {f'{_LIKES}:disk': 'ssd'})

    def test_nova_accepts_the_extra_specs(self) -> None:
        names = f'{_LIKES}:hw:cpu', f'{_AVOIDS}.10:disk'
        specs = dict.fromkeys(names, '<or> ssd <or> ~')
        jsonschema.validate({'extra_specs': specs}, flavors_extraspecs.create)
        for name, value in specs.items():
            # From microversion 2.86 on.
            validators.validate(name, value)

    def test_what_is_malformed_is_told_once(self) -> None:
        wanted = {f'{_LIKES}:disk': '<or>', f'{_AVOIDS}.0:a': '1'}
        with self.assertLogs(host_weighers.__name__, logging.WARNING) as logs:
            self.assert_chosen('large', wanted)
        (line,) = logs.output
        self.assertIn("'aggregate_preferred:disk': nothing follows <or>", line)
        self.assertIn("'0' is no number from 1 to 100", line)

# SPDX-License-Identifier: Apache-2.0

"""Preferences in the real scheduler, beside Nova's weighers."""

import logging
from typing import Any

import ddt
import jsonschema
from nova.api.openstack.compute.schemas import flavors_extraspecs
from nova.api.validation.extra_specs import validators

from nova_filters.weighers import preference
from testing.nova import engine
from tests.functional.nova_filters import base

_OPTION = 'preference_weight_multiplier'
_SOFT = {'prefer_metadata_check': 'true'}
_BOTH = ['host-0', 'large']
#: A host with four times the memory: all of Nova's weighers want it.
_LARGE_GIB = 4096

#: For each recipe of the page: the aggregate's metadata, the hosts in the
#: aggregate, and for each flavor the host that gets its servers.
_RECIPES: dict[str, tuple[dict[str, str], str, Any]] = {
    'decommissioning': (
        _SOFT | {'leaving': 'true'},
        'large',
        (({}, 'host-0'), ({'leaving': 'true'}, 'large')),
    ),
    'old hardware last': (
        {'generation': 'old'},
        'large',
        (({}, 'large'), ({'aggregate_avoided:generation': 'old'}, 'host-0')),
    ),
    'reserved first': (
        _SOFT | {'reserved': 'acme'},
        'host-0',
        (
            ({}, 'large'),
            (
                {
                    'aggregate_preferred:reserved': 'acme',
                    'reserved': '<or> acme <or> ~',
                },
                'host-0',
            ),
        ),
    ),
    'SSD if there is one': (
        {'disk': 'ssd'},
        'host-0',
        (({}, 'large'), ({'aggregate_preferred:disk': 'ssd'}, 'host-0')),
    ),
    'PreferNoSchedule': (
        _SOFT | {'taint': 'maintenance'},
        'large',
        (({}, 'host-0'), ({'taint': '<or> maintenance <or> ~'}, 'large')),
    ),
    'a preference that matters more': (
        {'disk': 'ssd', 'generation': 'old'},
        'host-0',
        (
            (
                {
                    'aggregate_preferred.10:disk': 'ssd',
                    'aggregate_avoided:generation': 'old',
                },
                'host-0',
            ),
            (
                {
                    'aggregate_preferred:disk': 'ssd',
                    'aggregate_avoided.10:generation': 'old',
                },
                'large',
            ),
        ),
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
        self.scheduler = self.cloud.scheduler(engine.OURS)

    def add_aggregate(self, hosts: list[str], metadata: dict[str, str]) -> Any:
        """Return a new aggregate, which the scheduler knows."""
        found = super().add_aggregate(hosts, metadata)
        self.scheduler = self.cloud.scheduler(engine.OURS)
        return found

    def boot(self, extra_specs: dict[str, str]) -> str | None:
        """Return the host of a new server."""
        request = self.cloud.request(self.add_flavor(extra_specs), self.hosts)
        return self.cloud.boot(self.scheduler, request).host

    @ddt.data(*_RECIPES)
    def test_recipe(self, name) -> None:
        metadata, host, wanted = _RECIPES[name]
        self.add_aggregate([host], metadata)
        for extra_specs, goal in wanted:
            self.assertEqual(goal, self.boot(extra_specs), extra_specs)

    def test_nothing_is_refused(self) -> None:
        self.add_aggregate(self.hosts, _SOFT | {'leaving': 'true'})
        request = self.cloud.request(
            self.add_flavor({'aggregate_avoided:leaving': 'true'}), self.hosts
        )
        found = self.cloud.filtered(self.scheduler, request)
        self.assertEqual(_BOTH, found)
        self.assertEqual(
            'large', self.cloud.boot(self.scheduler, request).host
        )

    def test_a_weigher_with_more_weight_wins(self) -> None:
        self.add_aggregate(['large'], _SOFT | {'leaving': 'true'})
        self.set_option(_OPTION, 1.0)
        self.set_option('ram_weight_multiplier', 2.0, 'filter_scheduler')
        self.assertEqual('large', self.boot({}))

    def test_an_aggregate_may_have_its_own_multiplier(self) -> None:
        self.set_option(_OPTION, 0.0)
        self.add_aggregate(['host-0'], {'disk': 'ssd', _OPTION: '10'})
        wanted = {'aggregate_preferred:disk': 'ssd'}
        self.assertEqual('host-0', self.boot(wanted))

    def test_nova_accepts_the_extra_specs(self) -> None:
        names = ('aggregate_preferred:hw:cpu', 'aggregate_avoided.10:disk')
        specs = dict.fromkeys(names, '<or> ssd <or> ~')
        jsonschema.validate({'extra_specs': specs}, flavors_extraspecs.create)
        for name, value in specs.items():
            # From microversion 2.86 on.
            validators.validate(name, value)

    def test_what_is_malformed_is_told_once(self) -> None:
        wanted = {
            'aggregate_preferred:disk': '<or>',
            'aggregate_avoided.0:a': '1',
        }
        with self.assertLogs(preference.__name__, logging.WARNING) as logs:
            self.assertEqual('large', self.boot(wanted))
        (line,) = logs.output
        self.assertIn("'aggregate_preferred:disk': nothing follows <or>", line)
        self.assertIn("'0' is no number from 1 to 100", line)

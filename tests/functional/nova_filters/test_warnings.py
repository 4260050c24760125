# SPDX-License-Identifier: Apache-2.0

"""What the upgrade check warns of is what a real scheduler then does."""

import configparser
import sys

import ddt

from nova_filters.weighers import preference
from tests import upgrade_checks
from tests.functional.nova_filters import base
from tests.functional.nova_filters.test_status import (
    ACME,
    ALL,
    FILTER,
    GOOD,
    OF_NOVA,
    OURS,
    PREFERENCES,
)

_PLUGIN = 'preference_weight_multiplier = 10'
#: Lines of [filter_scheduler] with which a point does not decide, and the row
#: of the check that warns.
WEAKENED = (
    ('build_failure_weight_multiplier = inf', ALL),
    ('build_failure_weight_multiplier = nan', ALL),
    ('cross_cell_move_weight_multiplier = inf', ALL),
    ('ram_weight_multiplier = nan', ALL),
    (f'weight_classes = acme.RAMWeigher,{OF_NOVA},{OURS}', PREFERENCES),
    (
        f'weight_classes = acme.BuildFailureWeigher,{OF_NOVA},{OURS}',
        PREFERENCES,
    ),
)


@ddt.ddt
class WarningTest(upgrade_checks.UpgradeCheckCase, base.CloudTestCase):
    """The check of a file, and a scheduler with the same options."""

    command = 'nova-filters-status'
    file = 'nova.conf'

    def setUp(self) -> None:
        super().setUp()
        (self.folder / 'acme.py').write_text(ACME)
        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.modules.pop, 'acme', None)
        self.addCleanup(sys.path.remove, str(self.folder))

    def start(self, row: str, result: str, *lines: str) -> None:
        """Start a scheduler with these lines, and check them."""
        text = '\n'.join([_PLUGIN, *lines, ''])
        self.check_details(f'{GOOD}{text}', row, result)
        sections = configparser.ConfigParser()
        sections.read_string(f'[nova_filters]\n{text}')
        for group, options in sections.items():
            for name, value in options.items():
                self.set_option(name, value, group)
        self.restart()

    def add_two_hosts(self) -> None:
        if 'large' not in self.cloud.hosts:
            self.cloud.add_host('large', memory_gib=4096)
        self.hosts = [self.add_host({'disk': 'ssd'}), 'large']

    def list_chosen(self) -> set[str]:
        """Return which hosts are chosen, in either order of the hosts."""
        flavor = self.add_flavor({'aggregate_preferred:disk': 'ssd'})
        chosen = set()
        for hosts in self.hosts, self.hosts[::-1]:
            self.hosts = hosts
            chosen.add(self.choose(self.cloud.request(flavor, hosts)))
        return chosen

    @ddt.data(*WEAKENED)
    @ddt.unpack
    def test_a_point_does_not_decide(self, line, row) -> None:
        self.add_two_hosts()
        self.start(PREFERENCES, 'SUCCESS')
        self.assertEqual({self.hosts[0]}, self.list_chosen())
        self.start(row, 'WARNING', '[filter_scheduler]', line)
        self.assertIn('large', self.list_chosen())

    def test_a_weigher_that_is_named_twice_counts_twice(self) -> None:
        self.add_two_hosts()
        flavor = self.add_flavor({'aggregate_preferred:disk': 'ssd'})
        weights = []
        for names in f'{OF_NOVA},{OURS}', f'{OF_NOVA},{OURS},{OURS}':
            result = 'WARNING' if weights else 'SUCCESS'
            self.start(
                ALL, result, '[filter_scheduler]', f'weight_classes = {names}'
            )
            manager = self.scheduler.host_manager
            ours = [
                weigher
                for weigher in manager.weighers
                if isinstance(weigher, preference.PreferenceWeigher)
            ]
            request = self.cloud.request(flavor, self.hosts)
            best, *_ = manager.weight_handler.get_weighed_objects(
                ours, self.states(request), request
            )
            weights.append(best.weight)
        self.assertEqual([10.0, 20.0], weights)

    @ddt.data('**', 'k?,*')
    def test_no_demand_is_left(self, patterns) -> None:
        hosts = [self.add_host({'os': 'windows', **base.ON})]
        request = self.cloud.request(self.add_flavor({}), hosts)
        for line, result, passing in (
            ('', 'SUCCESS', []),
            (f'exempt_metadata_keys = {patterns}', 'WARNING', hosts),
        ):
            self.start(FILTER, result, line)
            filtered = self.cloud.filtered(self.scheduler, request)
            self.assertEqual(passing, filtered)

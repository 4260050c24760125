# SPDX-License-Identifier: Apache-2.0

"""Numbers of the pages, from the Nova and the weighers that are there."""

import pathlib
import re
import subprocess
import sys

from nova import context as nova_context
from nova.conf import scheduler as scheduler_conf
from oslo_messaging import server as messaging

from testing.nova import engine
from tests import pages
from tests.functional.nova_filters import base
from tests.pages import NUMBERS

MILLION = 1_000_000


class NovaTest(base.StackTestCase):
    """What Nova does by default."""

    def test_how_often_a_build_is_tried(self) -> None:
        attempts = engine.CONF.scheduler.max_attempts
        self.assert_page_says(
            'soft-anti-affinity',
            f'After {NUMBERS[attempts]} attempts (``[scheduler] '
            'max_attempts``), the server is in ERROR.',
        )

    def test_how_many_hosts_placement_returns(self) -> None:
        limit = engine.CONF.scheduler.max_placement_results
        self.assert_page_says(
            'nova',
            'Placement returns up to ``[scheduler] max_placement_results`` '
            f'hosts ({limit:,} by default).',
        )

    def test_how_many_hosts_nova_chooses_from(self) -> None:
        subset = engine.CONF.filter_scheduler.host_subset_size
        self.assert_page_says(
            'soft-anti-affinity',
            f'Set ``[filter_scheduler] host_subset_size`` back to {subset}',
        )

    def test_options_beside_the_spread(self) -> None:
        nova = engine.CONF
        self.assertFalse(nova.workarounds.disable_group_policy_check_upcall)
        self.assertIn('mysql_wsrep_sync_wait', nova.api_database)
        self.assert_page_says(
            'nova-spread',
            f'Nova itself waits {nova_context.CELL_TIMEOUT} seconds',
        )
        database = nova.api_database
        connections = database.max_pool_size + database.max_overflow
        self.assert_page_says(
            'nova-spread',
            '``[api_database] max_pool_size`` plus ``max_overflow`` '
            f'connections, which are {connections} by default.',
        )
        (pool_size,) = messaging._pool_opts
        self.assert_page_says(
            'soft-anti-affinity',
            f'up to {pool_size.default} requests at once',
        )

    def test_the_command_that_disables_a_cell(self) -> None:
        program = pathlib.Path(sys.executable).with_name('nova-manage')
        command = [program, 'cell_v2', 'update_cell', '--help']
        printed = subprocess.check_output(command, text=True)
        self.assertIn('--disable', printed)
        self.assert_page_says('nova-spread', '``nova-manage cell_v2 update_ce')

    def test_the_filters_of_nova_and_ours(self) -> None:
        (default,) = (
            option.default
            for option in scheduler_conf.filter_scheduler_opts
            if option.name == 'enabled_filters'
        )
        (block,) = (
            block
            for block in pages.read('doc/source/quickstart-nova.rst')
            if block.marks.get('file') == 'nova.conf'
        )
        *_, names = block.text.partition('enabled_filters =')
        self.assertEqual(
            [*default, 'AggregateInstanceTypeFilter'],
            names.replace(',', ' ').split(),
        )
        self.assert_page_says(
            'quickstart-nova',
            "``enabled_filters`` is Nova's default with "
            '``AggregateInstanceTypeFilter`` at the end.',
        )

    def test_the_weighers_that_are_stronger(self) -> None:
        state, *_ = self.states(self.request({}))

        def stronger() -> set[str]:
            return {
                type(weigher).__name__
                for weigher in self.scheduler.host_manager.weighers
                if abs(weigher.weight_multiplier(state)) == MILLION
            }

        before = stronger()
        number = NUMBERS[len(before)].capitalize()
        self.assert_page_says(
            'preferences', f"{number} of Nova's weighers outweigh all"
        )
        (option,) = re.findall(
            r'than a failed build, set ``\[filter_scheduler\] (\w+) = 1``',
            pages.prose('preferences'),
        )
        self.set_option(option, 1, 'filter_scheduler')
        self.assertEqual({'BuildFailureWeigher'}, before - stronger())

# SPDX-License-Identifier: Apache-2.0

"""Numbers of the pages, from the Nova and the weighers that are there."""

import re

from nova.conf import scheduler as scheduler_conf

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
            f'After {NUMBERS[attempts]} attempts, the server is in ERROR.',
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
            'Keep ``[filter_scheduler] host_subset_size`` at its default of '
            f'{subset}.',
        )

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

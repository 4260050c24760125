# SPDX-License-Identifier: Apache-2.0

"""``nova-filters-status upgrade check`` on good and bad nova.conf files."""

import ddt

from tests import console, signing, upgrade_checks

PAGE = 'upgrade-checks.rst'

GOOD = f"""
[filter_scheduler]
available_filters = nova.scheduler.filters.all_filters
available_filters = nova_filters.all_filters
enabled_filters = ComputeFilter,AggregateInstanceTypeFilter
weight_classes = nova.scheduler.weights.all_weighers,nova_filters.all_weighers
[heat_hints]
signing_key = {signing.KEY}
[nova_filters]
"""

#: For each check and result, what is replaced in the good file (what replaces
#: nothing stands at the end), and words of what is told.
CASES = {
    ('Filter', 'FAILURE'): (
        (
            'available_filters = nova_filters.all_filters\n',
            '',
            'names AggregateInstanceTypeFilter',
            'and "available_filters = nova_filters.all_filters".',
        ),
        (
            'available_filters = nova.scheduler.filters.all_filters\n',
            '',
            'names ComputeFilter',
            '"available_filters = nova.scheduler.filters.all_filters" and',
        ),
    ),
    ('Filter', 'WARNING'): (
        (
            ',AggregateInstanceTypeFilter',
            '',
            'available but not enabled',
            'enabled_filters',
        ),
    ),
    ('In-tree filter', 'WARNING'): (
        (
            'ComputeFilter',
            'AggregateInstanceExtraSpecsFilter',
            'Remove it from enabled_filters',
        ),
    ),
    ('Weigher', 'WARNING'): (
        (
            'weight_classes = nova.scheduler.weights.all_weighers,'
            'nova_filters.all_weighers',
            'weight_classes =',
            'no weigher',
            'nova.scheduler.weights.all_weighers',
        ),
        (
            'nova.scheduler.weights.all_weighers,',
            '',
            'only weigher',
            'nova.scheduler.weights.all_weighers',
        ),
        (
            ',nova_filters.all_weighers',
            '',
            'nothing reads it',
            'weight_classes',
        ),
        (
            'nova.scheduler.weights.all_weighers,nova_filters.all_weighers',
            'nova_filters.all_weighers,nova.scheduler.weights.all_weighers',
            'is not the last name in weight_classes',
        ),
    ),
    ('Spread', 'WARNING'): (
        ('', 'max_skew = 1', 'max_skew: add TeamSpreadFilter'),
        (
            ',nova_filters.all_weighers\n',
            '\n[nova_filters]\npreference_weight_multiplier = 10\n',
            'preference_weight_multiplier: add nova_filters.all_weighers',
        ),
    ),
    ('Multipliers', 'WARNING'): (
        (
            '',
            'server_group_weight_multiplier = 5',
            'server_group_weight_multiplier is 5, but other weighers can add '
            'up to 8',
            'ram_weight_multiplier 1',
            'Set it to 9 or more',
        ),
        (
            '',
            'stack_affinity_weight_multiplier = -10\n'
            'preference_weight_multiplier = 20\n',
            'stack_affinity_weight_multiplier is -10',
            ': preference_weight_multiplier 20, ',
            'Set it to 30 or more',
        ),
    ),
    ('Signature', 'SUCCESS'): (
        (f'signing_key = {signing.KEY}', '', 'no signing_key'),
    ),
    ('Option names', 'WARNING'): (
        (
            'enabled_filters = ComputeFilter,',
            'enabled_filters = ComputeFilter\nenabled_filters = ',
            '[filter_scheduler] enabled_filters',
            '2 lines',
        ),
    ),
    ('Option values', 'FAILURE'): (
        (
            signing.KEY,
            'short-secret',
            'nova-scheduler stops',
        ),
    ),
    ('Exempt metadata keys', 'WARNING'): (
        (
            '',
            'exempt_metadata_keys = a,*',
            'force_metadata_check (AggregateInstanceTypeFilter)',
            'prefer_metadata_check (PreferenceWeigher)',
        ),
        # Without the filter, the weigher alone reads it.
        (
            ',AggregateInstanceTypeFilter',
            '\n[nova_filters]\nexempt_metadata_keys = *\n[filter_scheduler]',
            'through prefer_metadata_check (PreferenceWeigher): name',
        ),
        (
            '',
            'exempt_metadata_keys = rack',
            'exempt_metadata_keys = availability_zone,filter_tenant_id*,'
            'trait:*,*_weight_multiplier,*_allocation_ratio,'
            'max_io_ops_per_host,max_instances_per_host,instance_type,rack',
        ),
        (
            '',
            'stack_spread_over = rack,host',
            'stack_spread_over',
            'instance_type,rack',
        ),
    ),
}


@ddt.ddt
class NovaFiltersStatusTest(
    upgrade_checks.FileTests, upgrade_checks.UpgradeCheckCase
):
    command = 'nova-filters-status'
    file = 'nova.conf'
    misspelled = (
        'nova_filters',
        'nova_filter',
        'exempt_metadata_keys',
        'exempt_metadata_key',
    )

    def good(self):
        return GOOD

    @ddt.data(*CASES)
    def test_a_wrong_line_is_told_with_its_remedy(self, row):
        for old, new, *words in CASES[row]:
            self.assertIn(old, GOOD)
            text = GOOD + new
            if old:
                text = GOOD.replace(old, new)
            answer = self.check_details(text, *row, *words)
            self.assertNotIn('secret', answer.output)

    def test_options_of_nova_that_cannot_be_read_are_told(self):
        answer = self.check_details(
            GOOD.replace('= ComputeFilter', '= $nowhere'),
            'Option values',
            'FAILURE',
            '[filter_scheduler] Value for option enabled_filters ',
        )
        self.assert_details(answer, 'Filter', 'FAILURE', 'Not checked')

    @ddt.data(
        ('filter_scheduler', 'pci_in_placement = enabled'),
        ('filter_scheduler', 'pci_in_placement = $foo'),
        ('filter_scheduler', 'host_subset_size = 0'),
        ('filter_scheduler', 'host_subset_size = 10%'),
        ('filter_scheduler', 'shuffle_best_same_weighed_hosts = treu'),
        ('scheduler', 'enable_isolated_aggregate_filtering = ture'),
        ('scheduler', 'max_placement_results = 0'),
        ('scheduler', 'workers = auto'),
    )
    @ddt.unpack
    def test_each_option_of_the_scheduler_is_read(self, section, line):
        name = line.partition(' ')[0]
        self.check_details(
            f'{GOOD}[{section}]\n{line}\n',
            'Option values',
            'FAILURE',
            f'[{section}]',
            name,
        )

    def test_lines_in_two_files_are_no_repetition(self):
        folder = self.folder / 'conf.d'
        folder.mkdir()
        (folder / 'a.conf').write_text(
            '[filter_scheduler]\nenabled_filters = '
            'ComputeFilter,AggregateInstanceTypeFilter\n'
        )
        path = self.write(GOOD)
        answer = self.execute(
            '--config-file',
            path,
            '--config-dir',
            folder,
            'upgrade',
            'check',
        )
        self.assertEqual(0, answer.code, answer.output)

    def test_a_configuration_without_the_plugins_is_a_warning(self):
        answer = self.check_details('', 'Filter', 'WARNING', 'is not enabled')
        self.assert_details(answer, 'Weigher', 'SUCCESS', 'are not used')
        self.assertEqual(1, answer.code)

    def test_novas_own_filter_makes_soft_rules_hard(self):
        weigher = (
            'weight_classes = nova.scheduler.weights.all_weighers,'
            'nova_filters.all_weighers\n'
        )
        text = (
            '[filter_scheduler]\n'
            'enabled_filters = AggregateInstanceExtraSpecsFilter\n'
        )
        answer = self.check_details(
            text + weigher,
            'In-tree filter',
            'SUCCESS',
            'soft rule of PreferenceWeigher',
        )
        self.assertEqual(0, answer.code, answer.output)
        # The filter alone counts for itself.
        self.check_details(text, 'In-tree filter', 'SUCCESS')

    def test_the_example_of_the_page_prints_what_stands_there(self):
        (text,) = console.blocks(PAGE, 'ini')
        path = self.write(text.text)
        answers = []
        for example in console.examples(PAGE):
            command = example.command.replace('./nova.conf', str(path))
            if command.startswith(self.command):
                answers.append(self.execute(*command.split()[1:]))
        table, data = answers
        self.assertEqual((2, '', 2), (table.code, table.error, data.code))
        shown, _ = console.examples(PAGE)
        *lines, dots = shown.output.splitlines()
        self.assertEqual('...', dots)
        self.assertEqual(lines, table.output.splitlines()[: len(lines)])
        # The same as data.
        self.assertIn('Configuration file', data.checks)

# SPDX-License-Identifier: Apache-2.0

"""``nova-filters-status upgrade check`` on good and bad nova.conf files."""

import json
import re
import textwrap

import ddt

from tests import processes, upgrade_checks

PAGE = processes.ROOT / 'doc' / 'source' / 'upgrade-checks.rst'

KEY = 'an example key of 32 characters.'

GOOD = f"""
[filter_scheduler]
available_filters = nova.scheduler.filters.all_filters
available_filters = nova_filters.all_filters
enabled_filters = ComputeFilter,AggregateInstanceTypeFilter
weight_classes = nova.scheduler.weights.all_weighers,nova_filters.all_weighers
[heat_hints]
signing_key = {KEY}
"""

#: The lines that differ from the good file; the check that says so, its
#: result, and words of it.
CASES = (
    (
        'the second line of available_filters is missing',
        'available_filters = nova_filters.all_filters\n',
        '',
        'Filter',
        'FAILURE',
        ('does not start', 'Add the line "available_filters = nova_filters'),
    ),
    (
        'the second line is the only one',
        'available_filters = nova.scheduler.filters.all_filters\n',
        '',
        'Filter',
        'FAILURE',
        (
            'names ComputeFilter',
            'Add the line "available_filters = nova.scheduler.filters',
        ),
    ),
    (
        'both names are in one line',
        'all_filters\navailable_filters = ',
        'all_filters,',
        'Filter',
        'FAILURE',
        ('does not start', 'one line for each name'),
    ),
    (
        'a module that is not there',
        'nova_filters.all_filters',
        'nova_filter.all_filters',
        'Filter',
        'FAILURE',
        ('does not start', 'nova_filter'),
    ),
    (
        'a filter with a slip of the pen',
        'ComputeFilter',
        'ComputFilter',
        'Filter',
        'FAILURE',
        ('names ComputFilter', 'Correct or remove ComputFilter'),
    ),
    (
        'available but not enabled',
        ',AggregateInstanceTypeFilter',
        '',
        'Filter',
        'WARNING',
        ('available but not enabled', 'enabled_filters'),
    ),
    (
        "Nova's own filter is enabled as well",
        'ComputeFilter',
        'AggregateInstanceExtraSpecsFilter',
        'In-tree filter',
        'WARNING',
        ('Remove it from enabled_filters',),
    ),
    (
        "only this package's weigher",
        'nova.scheduler.weights.all_weighers,',
        '',
        'Weigher',
        'WARNING',
        ('only weigher', 'nova.scheduler.weights.all_weighers'),
    ),
    (
        'a key but no weigher',
        ',nova_filters.all_weighers',
        '',
        'Weigher',
        'WARNING',
        ('nothing reads it', 'weight_classes'),
    ),
    (
        'a weigher that is not there',
        'nova_filters.all_weighers',
        'nova_filters.weighers.gone',
        'Weigher',
        'FAILURE',
        ('does not start', 'weight_classes'),
    ),
    (
        'a key that is too short',
        KEY,
        'short-secret',
        'Options of the weigher',
        'FAILURE',
        ('number 1', '32 characters', 'Write longer keys'),
    ),
    (
        'a key that cannot be read',
        KEY,
        '$secret-of-32-characters-and-more',
        'Options of the weigher',
        'FAILURE',
        ('cannot be read', 'without "$"'),
    ),
    (
        'no key',
        f'signing_key = {KEY}',
        '',
        'Options of the weigher',
        'SUCCESS',
        ('no signing_key',),
    ),
    (
        'an option that is no number',
        '[heat_hints]',
        '[nova_filters]\nstack_map_size = plenty\n[heat_hints]',
        'Options of the weigher',
        'FAILURE',
        ('stack_map_size', 'plenty', 'correct nova.conf'),
    ),
    (
        'a number that is none',
        '[heat_hints]',
        '[nova_filters]\nstack_affinity_weight_multiplier = nan\n[heat_hints]',
        'Options of the weigher',
        'FAILURE',
        ('stack_affinity_weight_multiplier', 'finite'),
    ),
    (
        'a pattern for all keys',
        '[heat_hints]',
        '[nova_filters]\nexempt_metadata_keys = a,*\n[heat_hints]',
        'Exempt metadata keys',
        'WARNING',
        ('"*" matches every key', 'name the keys'),
    ),
    (
        'a pattern with the scope',
        '[heat_hints]',
        '[nova_filters]\n'
        'exempt_metadata_keys = aggregate_instance_extra_specs:a*\n'
        '[heat_hints]',
        'Exempt metadata keys',
        'WARNING',
        ('matches nothing', 'without the scope'),
    ),
    (
        'a pattern in quotation marks',
        '[heat_hints]',
        '[nova_filters]\nexempt_metadata_keys = a,"b*\n[heat_hints]',
        'Exempt metadata keys',
        'WARNING',
        ('quotation mark', 'remove it'),
    ),
    (
        'half a bracket',
        '[heat_hints]',
        '[nova_filters]\nexempt_metadata_keys = a,[b*\n[heat_hints]',
        'Exempt metadata keys',
        'WARNING',
        ('bracket', '[abc]'),
    ),
)


@ddt.ddt
class NovaFiltersStatusTest(
    upgrade_checks.FileTests, upgrade_checks.UpgradeCheckCase
):
    command = 'nova-filters-status'
    file = 'nova.conf'

    def test_the_documented_lines_need_nothing(self):
        self.assert_clean(self.check(GOOD))

    @ddt.unpack
    @ddt.data(*CASES)
    def test_a_wrong_line_is_told_with_its_remedy(
        self, title, old, new, name, code, words
    ):
        self.assertIn(old, GOOD, title)
        answer = self.check(GOOD.replace(old, new))
        self.assert_details(answer, name, code, *words)
        self.assertNotIn('secret', answer.output)

    def test_a_configuration_without_the_plugins_is_a_warning(self):
        answer = self.check('')
        self.assert_details(answer, 'Filter', 'WARNING', 'is not enabled')
        self.assert_details(answer, 'Weigher', 'SUCCESS', 'is not used')
        self.assertEqual(1, answer.code)

    def test_the_weigher_alone_is_right(self):
        answer = self.check(
            '[filter_scheduler]\n'
            'weight_classes = nova.scheduler.weights.all_weighers,'
            'nova_filters.all_weighers\n'
        )
        self.assertEqual(0, answer.code, answer.output)
        self.assert_details(answer, 'Filter', 'SUCCESS', 'is not enabled')

    def test_another_class_of_the_same_name_is_told(self):
        (self.folder / 'others.py').write_text(
            'from nova.scheduler import filters\n'
            'class AggregateInstanceTypeFilter(filters.BaseHostFilter):\n'
            '    pass\n'
        )
        answer = self.check(
            GOOD.replace(
                'nova_filters.all_filters\n',
                'nova_filters.all_filters\navailable_filters = '
                'others.AggregateInstanceTypeFilter\n',
            )
        )
        self.assert_details(
            answer, 'Filter', 'FAILURE', 'class of others', 'after the other'
        )

    def test_the_example_of_the_page_prints_what_stands_there(self):
        blocks = re.findall(
            r'\.\. code-block:: (ini|console)\n\n((?:   .*\n|\n)+)',
            PAGE.read_text('utf-8'),
        )
        (text,) = (block for kind, block in blocks if kind == 'ini')
        table, data = (block for kind, block in blocks if kind == 'console')
        path = self.write(textwrap.dedent(text))
        command, *wanted = textwrap.dedent(table).strip().splitlines()
        self.assertEqual('...', wanted.pop())
        words = command.replace('./nova.conf', str(path)).split()
        self.assertEqual(['$', self.command], words[:2])
        answer = self.execute(*words[2:])
        self.assertEqual((2, ''), (answer.code, answer.error))
        self.assertEqual(wanted, answer.output.splitlines()[: len(wanted)])
        # The same as data.
        words = data.replace('./nova.conf', str(path)).split()
        self.assertEqual(['$', self.command], words[:2])
        answer = self.execute(*words[2:])
        self.assertEqual(2, answer.code)
        self.assertEqual(
            'Configuration file',
            json.loads(answer.output)['checks'][0]['check'],
        )

# SPDX-License-Identifier: Apache-2.0

"""``nova-filters-status upgrade check`` on good and bad nova.conf files."""

import ddt
import sqlalchemy as sa
from nova.db.api import models
from nova.scheduler import filters
from sqlalchemy import orm

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
            'does not start',
            'Add the line "available_filters = nova_f',
        ),
        (
            'available_filters = nova.scheduler.filters.all_filters\n',
            '',
            'names ComputeFilter',
            'Add the line "available_filters = nova.scheduler.filters',
        ),
        (
            'all_filters\navailable_filters = ',
            'all_filters,',
            'does not start',
            'one line for each name',
        ),
        # One has a name like it, and the other has none.
        (
            'ComputeFilter',
            'ComputFilter,Unheard',
            'the nearest is ComputeFilter), Unheard in enabled_filters',
        ),
    ),
    ('Filter', 'WARNING'): (
        (
            '= nova_filters.all_filters\n',
            '= nova_filters.all_filters\navailable_filters = '
            'nova_filters.all_weighers\n',
            'offers PreferenceWeigher',
            'no filters',
        ),
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
    ('Two candidate hosts', 'FAILURE'): (
        (
            'nova_filters.all_weighers',
            'nova_filters.all_filters',
            'first boot',
            'AggregateInstanceTypeFilter',
            'weigh_objects',
        ),
        (
            'ComputeFilter,AggregateInstanceTypeFilter',
            'RAMWeigher\n'
            'available_filters = nova.scheduler.weights.all_weighers',
            'first boot',
            'RAMWeigher',
        ),
        (
            'nova_filters.all_weighers',
            'nova.scheduler.weights.BaseHostWeigher',
            'does not start',
            'BaseHostWeigher',
        ),
        (
            'weight_classes =',
            'ram_weight_multiplier = $nowhere\nweight_classes =',
            'RAMWeigher',
            'nowhere',
        ),
    ),
    ('Weigher', 'WARNING'): (
        (
            'nova_filters.all_weighers',
            'nova_filters.all_weighers,nova_filters.all_weighers',
            'PreferenceWeigher',
            'more than once',
        ),
        (
            'nova_filters.all_weighers',
            'nova_filters.all_weighers,nova.scheduler.weights.ram.RAMWeigher',
            'names RAMWeigher more than once',
        ),
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
    ),
    ('Spread', 'WARNING'): (
        ('', 'max_skew = 1', 'max_skew: add TeamSpreadFilter'),
        (
            ',nova_filters.all_weighers\n',
            '\n[nova_filters]\npreference_weight_multiplier = 10\n',
            'preference_weight_multiplier: add nova_filters.all_weighers',
        ),
    ),
    ('Places', 'WARNING'): (
        (
            '',
            'stack_spread_over = rack',
            'could not be read',
            'connection is not set',
            '[api_database]',
        ),
    ),
    ('Weigher', 'FAILURE'): (
        (
            'nova_filters.all_weighers',
            'nova_filters.all_filters',
            'AggregateInstanceTypeFilter',
            'no weighers',
            'boot',
        ),
        (
            'nova_filters.all_weighers',
            'nova_filters.weighers.gone',
            'does not start',
            'weight_classes',
        ),
    ),
    ('Signature', 'SUCCESS'): (
        (f'signing_key = {signing.KEY}', '', 'no signing_key'),
    ),
    ('Option names', 'WARNING'): (
        (
            '[filter_scheduler]\n',
            '[filter_scheduler]\nexempt_metadata_keys = rack\n',
            '[filter_scheduler] exempt_metadata_keys (it belongs to '
            '[nova_filters])',
            'in nova.conf',
        ),
        (
            'enabled_filters = ComputeFilter,',
            'enabled_filters = ComputeFilter\nenabled_filters = ',
            '[filter_scheduler] enabled_filters',
            '2 lines',
            'the last',
            'with commas between them',
        ),
        (
            '[nova_filters]\n',
            '[nova_filters]\nmax_skew = 0\nmax_skew = 0\n',
            'max_skew has 2 lines',
            'keep one line.',
        ),
    ),
    ('Option values', 'FAILURE'): (
        (
            signing.KEY,
            'short-secret',
            'nova-scheduler stops',
            'number 1',
            '32 characters',
        ),
    ),
    ('Exempt metadata keys', 'WARNING'): (
        (
            '',
            'exempt_metadata_keys = a,*',
            '"*" matches every key',
            'name the keys',
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
            'availability_zone',
            'refuses every flavor',
            'exempt_metadata_keys = availability_zone,filter_tenant_id*,'
            'trait:*,*_weight_multiplier,*_allocation_ratio,'
            'max_io_ops_per_host,max_instances_per_host,instance_type,rack',
        ),
        (
            '',
            'stack_spread_over = rack,host',
            '"rack"',
            'stack_spread_over',
            'every flavor',
            'instance_type,rack',
        ),
    ),
}


@ddt.ddt
class NovaFiltersStatusTest(
    upgrade_checks.FileTests,
    upgrade_checks.DatabaseTests,
    upgrade_checks.UpgradeCheckCase,
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

    def ask(self, url):
        answer = self.check_details(
            f'[api_database]\nconnection = {url}\n'
            f'{GOOD}stack_spread_over = rack,host\n',
            'Places',
            'WARNING',
            'The aggregates could not be read',
        )
        return answer, answer.checks['Places'][1]

    def test_the_documented_lines_need_nothing(self):
        self.assert_clean(GOOD)

    @ddt.data(*CASES)
    def test_a_wrong_line_is_told_with_its_remedy(self, row):
        for old, new, *words in CASES[row]:
            self.assertIn(old, GOOD)
            text = GOOD + new
            if old:
                text = GOOD.replace(old, new)
            answer = self.check_details(text, *row, *words)
            self.assertNotIn('secret', answer.output)

    def test_what_cannot_be_loaded_is_told_in_one_sentence(self):
        for name in ('nova_filters.all_filter', 'nova_filter.all_filters'):
            answer = self.check_details(
                GOOD.replace('nova_filters.all_filters', name),
                'Filter',
                'FAILURE',
                name.rpartition('.')[0],
            )
            self.assertNotIn('Traceback', answer.output)
            self.assertNotIn('importutils', answer.output)

    def test_options_of_nova_that_cannot_be_read_are_told(self):
        good = 'ComputeFilter,AggregateInstanceTypeFilter'
        for option, old, new, word in (
            ('enabled_filters', good, f'{good},$nowhere', 'nowhere'),
            (
                'enabled_filters',
                good,
                f'$filter_scheduler.enabled_filters,{good}',
                'recursion',
            ),
            (
                'available_filters',
                'nova_filters.all_filters',
                '$nowhere',
                'nowhere',
            ),
            (
                'weight_classes',
                'nova_filters.all_weighers',
                '$nowhere',
                'nowhere',
            ),
        ):
            answer = self.check_details(
                GOOD.replace(old, new),
                'Option values',
                'FAILURE',
                f'[filter_scheduler] Value for option {option} ',
                word,
            )
            self.assert_details(answer, 'Filter', 'FAILURE', 'Not checked')

    def test_what_is_no_class_is_told_in_one_line(self):
        (self.folder / 'others.py').write_text(
            'class Thing:\n'
            '    def __repr__(self):\n'
            '        return "a\\nthing"\n'
            'def all_things():\n'
            '    return [Thing()]\n'
        )
        for old, row in (
            ('nova_filters.all_filters', 'Filter'),
            ('nova_filters.all_weighers', 'Weigher'),
        ):
            self.check_details(
                GOOD.replace(old, 'others.all_things'),
                row,
                'FAILURE',
                'does not start',
                'no class: a thing.',
            )

    def test_a_misspelled_option_of_nova_is_told(self):
        self.check_details(
            GOOD.replace('weight_classes', 'weight_class'),
            'Option names',
            'WARNING',
            '[filter_scheduler] weight_class (the nearest is weight_classes)',
        )

    def test_patterns_that_keep_the_default_ones_are_right(self):
        self.assert_clean(
            self.database({'rack': 'r1'}, {'zone': 'z'})
            + 'exempt_metadata_keys = availability_zone,filter_*,trait:*,'
            '*_weight_multiplier,*_ratio,max_i*,instance_type,rack\n'
            'stack_spread_over = rack,availability_zone,host\n'
        )
        # Every key is demanded, as in the specification.
        self.assert_clean(GOOD + 'exempt_metadata_keys =\n')

    def database(self, *aggregates: dict[str, str]) -> str:
        """Return a good file whose API database has aggregates of one host.

        :param aggregates: the metadata of each.
        """
        url = f'sqlite:///{self.folder / "api.sqlite"}'
        bind = sa.create_engine(url)
        self.addCleanup(bind.dispose)
        models.BASE.metadata.create_all(bind)
        with orm.Session(bind) as session:
            for number, metadata in enumerate(aggregates, 1):
                name = f'{number}'
                session.add(models.Aggregate(id=number, uuid=name, name=name))
                session.add(
                    models.AggregateHost(aggregate_id=number, host='c1')
                )
                session.add_all(
                    models.AggregateMetadata(
                        aggregate_id=number, key=key, value=value
                    )
                    for key, value in metadata.items()
                )
            session.commit()
        return f'[api_database]\nconnection = {url}\n' + GOOD

    def test_a_host_in_two_racks_is_told(self):
        text = self.database({'rack': 'r2'}, {'rack': 'r1'}, {'os': 'x'})
        self.check_details(
            text + 'stack_spread_over = rack,os,host\n',
            'Places',
            'WARNING',
            'c1 (rack: r1, r2).',
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

    def test_all_filters_and_weighers_of_nova_need_nothing(self):
        names = ','.join(cls.__name__ for cls in filters.all_filters())
        self.assertIn('NUMATopologyFilter', names)
        self.assert_clean(
            '[filter_scheduler]\n'
            f'enabled_filters = {names}\n'
            'weight_classes = nova.scheduler.weights.all_weighers,'
            'nova_filters.all_weighers\n'
            # Asks the database of a cell.
            'image_props_weight_multiplier = 2.0\n'
            '[metrics]\nweight_setting = cpu.frequency=1.0\n'
        )

    @ddt.data(
        ('raise KeyError(host.rack)', 'no attribute'),
        ('raise oslo_db.exception.DBConnectionError("s3cretpw")', 'DBConn'),
        ('time.sleep(600)', 'no answer within'),
    )
    @ddt.unpack
    def test_what_somebody_elses_weigher_raises_is_no_failure(
        self, statement, words
    ):
        (self.folder / 'others.py').write_text(
            'import time\nimport oslo_db.exception\n'
            'from nova.scheduler import weights\n'
            'class RackWeigher(weights.BaseHostWeigher):\n'
            '    def _weigh_object(self, host, request):\n'
            f'        {statement}\n'
        )
        answer = self.check_details(
            GOOD.replace(
                'nova_filters.all_weighers',
                'nova_filters.all_weighers,others.RackWeigher',
            ),
            'Two candidate hosts',
            'WARNING',
            'RackWeigher',
            words,
        )
        self.assertNotIn('s3cretpw', answer.output)

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

    def test_another_class_of_the_same_name_is_told(self):
        (self.folder / 'others.py').write_text(
            'from nova.scheduler import filters\n'
            'class AggregateInstanceTypeFilter(filters.BaseHostFilter):\n'
            '    pass\n'
        )
        self.check_details(
            GOOD.replace(
                'nova_filters.all_filters\n',
                'nova_filters.all_filters\navailable_filters = '
                'others.AggregateInstanceTypeFilter\n',
            ),
            'Filter',
            'FAILURE',
            'class of others',
            'after the other',
        )

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

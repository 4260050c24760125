# SPDX-License-Identifier: Apache-2.0

"""``nova-filters-status upgrade check`` on good and bad nova.conf files."""

from tests import signing, upgrade_checks

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
OF_NOVA = 'nova.scheduler.weights.all_weighers'
OURS = 'nova_filters.all_weighers'
OUR_FILTERS = 'available_filters = nova_filters.all_filters\n'
ALL = 'Filters and weighers'
STACKS = 'Spread of stacks'
GROUPS = 'Spread of groups'
AFFINITY = 'stack_affinity_weight_multiplier'

#: What is replaced in the good file (what replaces nothing stands at the end),
#: the row with its result, and words of what is told.
CASES = (
    # What nothing reads.
    (
        '',
        'stack_spread_ove = x',
        'Option names',
        'WARNING',
        'is stack_spread_over',
    ),
    # What is loaded.
    (OUR_FILTERS, '', ALL, 'FAILURE', 'no AggregateInstanceTypeFilter'),
    (OURS, 'acme.Gone', ALL, 'FAILURE', 'acme.Gone: ImportError: Class Gone'),
    (OURS, 'acme.Old', ALL, 'FAILURE', 'acme.Old.weight_multiplier(host_stat'),
    (f'{OF_NOVA},{OURS}', OURS, ALL, 'WARNING', 'RAM'),
    # What is on.
    (',AggregateInstanceTypeFilter', '', 'Filter', 'SUCCESS', 'Off. To switc'),
    (
        'ComputeFilter',
        'AggregateInstanceExtraSpecsFilter',
        'Filter',
        'WARNING',
        'On, but AggregateInstanceExtraSpecsFilter is enabled as well',
    ),
    # What is stronger.
    ('', '', 'Preferences', 'SUCCESS', '1 point is 1, and of 100 points 3. '),
    (
        '',
        'preference_weight_multiplier = 10',
        'Preferences',
        'SUCCESS',
        'of 100 points 30. Other weighers can add up to 7. BuildFailureWeigher'
        ' (build_failure_weight_multiplier = 1000000) and CrossCellWeigher '
        '(cross_cell_move_weight_multiplier = 1000000) outweigh all',
    ),
    ('', '', STACKS, 'SUCCESS', 'is -1. Other weighers can add up to 8'),
    ('', f'{AFFINITY} = 0', STACKS, 'WARNING', 'Nothing '),
    (
        '',
        f'{AFFINITY} = -10\npreference_weight_multiplier = 20\n',
        STACKS,
        'WARNING',
        'can add up to 27',
        ': preference_weight_multiplier 20, ',
        'to 30 or more',
    ),
    ('', f'{AFFINITY} = -9', STACKS, 'SUCCESS', 'is -9.'),
    (f'signing_key = {signing.KEY}', '', STACKS, 'SUCCESS', 'are believed'),
    (
        f'{OF_NOVA},{OURS}',
        f'{OURS},{OF_NOVA}',
        STACKS,
        'WARNING',
        'the later weighers refuse: ',
        'Move it to the end of weight_classes',
    ),
    # A class path loads one weigher.
    (
        f'{OURS}\n',
        'nova_filters.weighers.host_weighers.StackAffinityWeigher\n'
        '[nova_filters]\nserver_group_weight_multiplier = 9\n',
        GROUPS,
        'WARNING',
        'Off, so server_group_weight_multiplier = 9 has no effect',
    ),
)

#: A module with a weigher of another vendor.
ACME = """
from nova.scheduler import weights

class Old(weights.BaseHostWeigher):
    def __init__(self):
        print('secret')

    def _weigh_object(self, obj, weight_properties):
        return 0.0

    def weight_multiplier(self):
        return 1.0
"""


class NovaFiltersStatusTest(upgrade_checks.UpgradeCheckCase):
    command = 'nova-filters-status'
    file = 'nova.conf'

    def setUp(self):
        super().setUp()
        (self.folder / 'acme.py').write_text(ACME)

    def test_each_row_says_what_the_file_does(self):
        for old, new, row, code, *words in CASES:
            with self.subTest(old=old, new=new, row=row):
                self.assertIn(old, GOOD)
                text = GOOD.replace(old, new) if old else GOOD + new
                answer = self.check_details(text, row, code, *words)
                self.assertNotIn('secret', answer.output)
                self.assertNotIn('Traceback', answer.output)

    def test_a_password_in_another_option_is_not_told(self):
        url = 'mysql+pymysql://nova:secret@db/nova'
        text = GOOD.replace(OURS, '$database.connection')
        answer = self.check(f'{text}[database]\nconnection = {url}\n')
        self.assertEqual(2, answer.code, answer.output)
        self.assertIn('://***@', answer.output)
        self.assertNotIn('secret', answer.output)

    def test_a_configuration_without_the_plugins_is_a_warning(self):
        answer = self.check_details('', 'Filter', 'WARNING', 'Off. ')
        for row in 'Preferences', STACKS, GROUPS:
            self.assert_details(answer, row, 'SUCCESS', 'Off. To switch it on')

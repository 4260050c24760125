# SPDX-License-Identifier: Apache-2.0

"""``nova-filters-status upgrade check`` on good and bad nova.conf files."""

import collections

import tests
from tests import signing, upgrade_checks
from tests.functional.nova_filters import starts

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
VALUES = 'Option values'
FILTER = 'AggregateInstanceTypeFilter'
PREFERENCES = 'PreferenceWeigher'
STACKS = 'StackAffinityWeigher'
GROUPS = 'ServerGroupWeigher'
KEY = 'Signed hints'
AFFINITY = 'stack_affinity_weight_multiplier'
PREFERENCE = 'preference_weight_multiplier = 10'
SUBSET = '[filter_scheduler]\nhost_subset_size = 5\n'

#: What is replaced in the good file (what replaces nothing stands at the end),
#: the row with its result, and words of what is told.
CASES = (
    # What is loaded.
    (OUR_FILTERS, '', ALL, 'FAILURE', "no 'AggregateInstanceTypeFilter'"),
    (
        'enabled_filters = ComputeFilter',
        'enabled_filters = RetryFilter',
        ALL,
        'FAILURE',
        "no 'RetryFilter'. available_filters must name the package of each",
    ),
    (
        'enabled_filters = ComputeFilter',
        'enabled_filters = A\n B',
        ALL,
        'FAILURE',
        "no 'A\\nB'",
    ),
    (OURS, 'acme.Gone', ALL, 'FAILURE', "'acme.Gone': ImportError: Class Go"),
    (OURS, 'acme.Old', ALL, 'FAILURE', 'acme.Old.weight_multiplier(host_stat'),
    (
        OURS,
        'acme.Text',
        ALL,
        'FAILURE',
        'acme.Text.weight_multiplier(host_sta',
    ),
    (f'{OF_NOVA},{OURS}', OURS, ALL, 'WARNING', 'RAM'),
    # What is on.
    (',AggregateInstanceTypeFilter', '', FILTER, 'SUCCESS', 'Off. To switch'),
    (
        'ComputeFilter',
        'AggregateInstanceExtraSpecsFilter',
        FILTER,
        'WARNING',
        'On. AggregateInstanceExtraSpecsFilter is enabled, too. It takes ',
    ),
    (
        OUR_FILTERS,
        f'{OUR_FILTERS}available_filters = acme.all_filters\n',
        FILTER,
        'WARNING',
        'Off, because acme.AggregateInstanceTypeFilter has the same name',
    ),
    # The remedy, followed.
    (
        OUR_FILTERS,
        f'available_filters = acme.all_filters\n{OUR_FILTERS}',
        FILTER,
        'SUCCESS',
        'On.',
    ),
    (
        '',
        'exempt_metadata_keys = rack',
        FILTER,
        'WARNING',
        'does not cover availability_zone',
    ),
    (
        '',
        'exempt_metadata_keys = rack,**',
        FILTER,
        'WARNING',
        'covers all key',
    ),
    ('', 'exempt_metadata_keys = rack,avail*', FILTER, 'SUCCESS', 'On.'),
    # What is stronger.
    ('', '', PREFERENCES, 'SUCCESS', 'preference_weight_multiplier in [nova_'),
    (
        '',
        PREFERENCE,
        PREFERENCES,
        'SUCCESS',
        'On: preference_weight_multiplier is 10.',
    ),
    (
        '',
        f'{PREFERENCE}\n[filter_scheduler]\nram_weight_multiplier = -1e6',
        PREFERENCES,
        'WARNING',
        'RAMWeigher (1e+06) can outweigh a point',
    ),
    (
        '',
        '[filter_scheduler]\nram_weight_multiplier = nan',
        ALL,
        'WARNING',
        'multiplier of RAMWeigher (nan), the weights of hosts cannot be comp',
    ),
    # Also those that are meant to be stronger.
    (
        '',
        '[filter_scheduler]\nbuild_failure_weight_multiplier = inf',
        ALL,
        'WARNING',
        'multiplier of BuildFailureWeigher (inf), the weights of hosts can',
    ),
    (
        '',
        '[filter_scheduler]\ncross_cell_move_weight_multiplier = -inf',
        ALL,
        'WARNING',
        'multiplier of CrossCellWeigher (inf), the weights of hosts cannot',
    ),
    # A class is known by its full name.
    (
        OF_NOVA,
        f'acme.RAMWeigher,acme.BuildFailureWeigher,{OF_NOVA}',
        ALL,
        'SUCCESS',
        'can be loaded',
    ),
    (
        f'{OF_NOVA},{OURS}',
        f'acme.RAMWeigher,{OF_NOVA},{OURS}\n[nova_filters]\n{PREFERENCE}\n',
        PREFERENCES,
        'WARNING',
        'RAMWeigher (1e+09) can outweigh a point',
    ),
    (
        f'{OF_NOVA},{OURS}',
        f'acme.BuildFailureWeigher,{OF_NOVA},{OURS}\n[nova_filters]\n'
        f'{AFFINITY} = -30\n',
        STACKS,
        'WARNING',
        'can add up to 1e+09, so they may choose another place: BuildFailure',
    ),
    (
        OURS,
        f'{OURS},{OURS}',
        ALL,
        'WARNING',
        'more than once: nova_filters.weighers.preference.PreferenceWeigher,',
    ),
    (
        OURS,
        f'{OURS},acme.Strong\n[nova_filters]\n{PREFERENCE}\n',
        PREFERENCES,
        'WARNING',
        'Strong (1e+09) can outweigh a point',
    ),
    (
        'AggregateInstanceTypeFilter\n',
        f'AggregateInstanceExtraSpecsFilter\n[nova_filters]\n{PREFERENCE}\n'
        '[filter_scheduler]\n',
        FILTER,
        'WARNING',
        'Off. To switch it on, ',
        'AggregateInstanceExtraSpecsFilter is enabled, too.',
    ),
    (
        '',
        f'{PREFERENCE}\n{SUBSET}',
        PREFERENCES,
        'WARNING',
        'any of the 5 best hosts.',
    ),
    ('', f'{AFFINITY} = -10\n{SUBSET}', STACKS, 'WARNING', 'of the 5 best'),
    (
        '',
        f'{AFFINITY} = -1',
        STACKS,
        'WARNING',
        'is -1. Other weighers can ad',
    ),
    ('', f'{AFFINITY} = 0', KEY, 'WARNING', 'Nothing '),
    (
        '',
        f'{AFFINITY} = -10\npreference_weight_multiplier = 20\n',
        STACKS,
        'WARNING',
        # A preference can have 100 points, which weigh 3.
        'can add up to 6',
        ': PreferenceWeigher (60), ',
        'It is stronger from 70 on.',
    ),
    ('', f'{AFFINITY} = -30', STACKS, 'SUCCESS', 'is -30.'),
    (
        f'signing_key = {signing.KEY}',
        f'[nova_filters]\n{AFFINITY} = -10',
        KEY,
        'SUCCESS',
        'are believed',
    ),
    (
        f'{OF_NOVA},{OURS}',
        f'{OURS},{OF_NOVA}\n[nova_filters]\n{AFFINITY} = -10',
        STACKS,
        'WARNING',
        'the later weighers refuse: ',
        'Move it to the end of weight_classes',
    ),
    # A class path loads one weigher.
    (
        f'{OURS}\n',
        'nova_filters.weighers.preference.PreferenceWeigher\n'
        '[nova_filters]\nserver_group_weight_multiplier = 9\n',
        GROUPS,
        'WARNING',
        'server_group_weight_multiplier has no effect. Off.',
    ),
)

#: A module with the plug-ins of another vendor.
ACME = """
from nova.scheduler import filters, weights

class Old(weights.BaseHostWeigher):
    def __init__(self):
        print('secret')

    def _weigh_object(self, obj, weight_properties):
        return 0.0

    def weight_multiplier(self):
        return 1.0

class Strong(Old):
    def weight_multiplier(self, host_state):
        return 1e9

class RAMWeigher(weights.BaseHostWeigher):
    def _weigh_object(self, obj, weight_properties):
        return obj.free_ram_mb

    def weight_multiplier(self, host_state):
        return 1e9

class BuildFailureWeigher(RAMWeigher):
    pass

class Text(Old):
    def weight_multiplier(self, host_state):
        return 'strong'

class AggregateInstanceTypeFilter(filters.BaseHostFilter):
    pass

def all_filters():
    return [AggregateInstanceTypeFilter]
"""

#: What another file or folder adds: its name, below the home folder of the
#: user that runs nova-scheduler.
PLACES = (
    'nova.conf',
    'nova-scheduler.conf',
    '.nova/nova.conf',
    '.nova/nova-scheduler.conf',
    'nova.conf.d/50-x.conf',
    'nova-scheduler.conf.d/50-x.conf',
    '.nova/nova.conf.d/50-x.conf',
    '.nova/nova-scheduler.conf.d/50-x.conf',
    # oslo.config reads neither of these.
    'nova-scheduler.conf.d/.50-x.conf',
    'nova-filters-status.conf',
    'nova-compute.conf.d/50-x.conf',
)
#: Lines that make nova-scheduler start, or not.
LINES = (
    '[filter_scheduler]\nenabled_filters = Gone\n',
    '[filter_scheduler]\nweight_classes = acme.Strong\n',
    '[filter_scheduler]\nweight_classes = acme.Old\n',
    '[nova_filters]\nstack_spread_over =\n',
    '[DEFAULT]\nservice_down_time = maybe\n',
)


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
                for word in 'secret', 'Traceback', 'LocationInfo':
                    self.assertNotIn(word, answer.output)

    def test_the_files_are_those_that_the_scheduler_reads(self):
        outcomes = collections.Counter()
        for place in PLACES:
            for lines in LINES if tests.ALL else LINES[:1]:
                with self.subTest(place=place, lines=lines):
                    self.write(GOOD)
                    path = self.folder / place
                    path.parent.mkdir(parents=True, exist_ok=True)
                    text = lines
                    if path.name.startswith('nova.conf'):
                        text = GOOD + lines
                    path.write_text(text)
                    answer = self.execute('upgrade', 'check', '--json')
                    problem = starts.start(self.folder)
                    self.assertEqual(problem != '', answer.code == 2, problem)
                    outcomes[answer.code] += 1
                    path.unlink()
        self.assertGreater(min(outcomes[1], outcomes[2]), 2, outcomes)

    def test_a_file_for_the_scheduler_alone_is_enough(self):
        (self.folder / 'nova-scheduler.conf').write_text(GOOD)
        self.assertEqual('', starts.start(self.folder))
        answer = self.execute('upgrade', 'check', '--json')
        self.assertEqual((1, ''), (answer.code, answer.error))

    def test_a_value_of_another_section_is_told_with_its_file(self):
        answer = self.check_details(
            f'{GOOD}[DEFAULT]\nservice_down_time = maybe\n',
            ALL,
            'FAILURE',
            'service_down_time',
            str(self.folder / self.file),
        )
        self.assertNotIn('LocationInfo', answer.output)
        self.assertNotIn('needs a line of its own', answer.output)

    def test_a_password_in_another_option_is_not_told(self):
        url = 'mysql+pymysql://nova:secret@db/nova'
        text = GOOD.replace(OURS, '$database.connection')
        answer = self.check(f'{text}[database]\nconnection = {url}\n')
        self.assertEqual(2, answer.code, answer.output)
        self.assertIn('://***@', answer.output)
        self.assertNotIn('secret', answer.output)

    def test_a_configuration_without_the_plugins_is_a_warning(self):
        answer = self.check_details('', FILTER, 'WARNING', 'Off. ')
        for row in PREFERENCES, STACKS, GROUPS:
            self.assert_details(answer, row, 'SUCCESS', 'Off. To switch it on')

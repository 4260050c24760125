# SPDX-License-Identifier: Apache-2.0

"""``nova-filters-status`` and nova-scheduler, on random nova.conf files."""

from nova.conf import scheduler

from nova_filters import conf
from tests import status_fuzz
from tests.status_fuzz import KEY, MARK

#: Other people's classes. Each is a filter and a weigher.
FOREIGN = """
import os, signal
from nova import conf
from nova.scheduler import filters, weights

class Lacks(filters.BaseHostFilter, weights.BaseHostWeigher):
    pass

class Fine(Lacks):
    def host_passes(self, host_state, spec_obj):
        return True

    def _weigh_object(self, host_state, spec_obj):
        return 0.0

class Old(Fine):
    def weight_multiplier(self):
        return 1.0

class RaisesInBoot(Fine):
    def filter_all(self, hosts, spec_obj):
        raise RuntimeError('it raises')

    weigh_objects = filter_all

class Raises(Fine):
    def __init__(self):
        raise RuntimeError(conf.CONF.database.connection)

class Ends(Fine):
    def __init__(self):
        os._exit(0)

class Sleeps(Fine):
    def __init__(self):
        signal.pause()

def raises():
    raise RuntimeError('it raises')

number = 3
"""
NAMES = (
    *('Fine', 'Old', 'Lacks', 'RaisesInBoot', 'Raises', 'Ends'),
    *('raises', 'number', 'Nowhere'),
)

AVAILABLE = ('filter_scheduler', 'available_filters')
ENABLED = ('filter_scheduler', 'enabled_filters')
WEIGHERS = ('filter_scheduler', 'weight_classes')
FILTERS = 'ComputeFilter,AggregateInstanceTypeFilter,TeamSpreadFilter'
NOVA_WEIGHERS = 'nova.scheduler.weights.all_weighers'
OUR_WEIGHERS = 'nova_filters.all_weighers'
BASE = {
    ('DEFAULT', 'transport_url'): ('fake://',),
    # Nothing reports that the hosts are up.
    ('DEFAULT', 'service_down_time'): ('86400',),
    ('database', 'connection'): (f'mysql://nova:{MARK}@db/x',),
    ('api_database', 'connection'): (f'mysql://nova:{MARK}@db/x',),
    ('heat_hints', 'signing_key'): (KEY,),
    AVAILABLE: (
        'nova.scheduler.filters.all_filters',
        'nova_filters.all_filters',
    ),
    ENABLED: (FILTERS,),
    WEIGHERS: (f'{NOVA_WEIGHERS},{OUR_WEIGHERS}',),
}


def one_more_filter(name):
    """Return what makes one more filter available, and enables it."""
    lines = (*BASE[AVAILABLE], f'foreign.{name}')
    return {AVAILABLE: lines, ENABLED: (f'{FILTERS},{name}',)}


SLEEPER = one_more_filter('Sleeps')

#: What keeps nova-scheduler from starting, and what it logs.
WRONG = (
    (
        {('nova_filters', 'exempt_metadata_keys'): ('$nowhere',)},
        ('[nova_filters] Value for option exempt_metadata_keys ', 'nowhere'),
    ),
    (
        {('heat_hints', 'signing_key'): (MARK,)},
        ('[heat_hints] Value for option signing_key ', 'number 1'),
    ),
    (
        {AVAILABLE: BASE[AVAILABLE][:1]},
        ('AggregateInstanceTypeFilter, TeamSpreadFilter could not be found',),
    ),
)


class StatusFuzzTest(status_fuzz.FuzzCase):
    command = 'nova-filters-status'
    file = 'nova.conf'
    most_files = 300
    program = 'from testing.nova import start\nstart.main()'
    base = BASE
    files = {
        'foreign.py': FOREIGN,
        'import_raises.py': 'raise RuntimeError("it raises")\n',
        'import_exits.py': 'raise SystemExit\n',
    }
    more = (
        *map(one_more_filter, NAMES),
        *(
            {WEIGHERS: (f'{NOVA_WEIGHERS},foreign.{name},{OUR_WEIGHERS}',)}
            for name in NAMES
        ),
        *(
            {key: (value,)}
            for key in (AVAILABLE, WEIGHERS)
            for value in (
                *('import_raises.X', 'import_exits.X', 'os.path', 'X', ' '),
                *(*BASE[AVAILABLE], ','.join(BASE[AVAILABLE])),
                *('nova_filters.all_filter', 'nova_filters.all_weigher'),
                'nova.scheduler.filters.compute_filter.ComputeFilter',
                'nova.scheduler.weights.ram.RAMWeigher',
                'nova_filters.weighers.host_weighers.StackAffinityWeigher',
                f'{NOVA_WEIGHERS},{NOVA_WEIGHERS},{OUR_WEIGHERS}',
                f'{OUR_WEIGHERS},{NOVA_WEIGHERS}',
            )
        ),
        *(
            {ENABLED: (value,)}
            for value in (
                *(f'{FILTERS},ComputeFiler', f'{FILTERS},computefilter'),
                *(f'{FILTERS},', f'{FILTERS},{FILTERS}', f'[{FILTERS}]'),
                *(FILTERS.replace(',', ' '), FILTERS.replace(',', ' , ')),
                *(f'{FILTERS},BaseHostFilter', f'{FILTERS},MetricsFilter'),
            )
        ),
        # As in the help of the option; no host has such metrics.
        {('metrics', 'weight_setting'): ('name1=1.0, name2=-1.3',)},
        SLEEPER,
    )
    sleeper = SLEEPER
    only_in_a_boot = ('foreign.', 'weight_setting')

    def options(self):
        groups = scheduler.list_opts() | dict(conf.list_opts())
        return {group.name: opts for group, opts in groups.items()}

    def test_a_wrong_option_stops_the_service_and_is_named(self):
        for changes, words in WRONG:
            self.assertEqual(1, self.start(changes), changes)
            log = (self.folder / 'service.log').read_text()
            for word in words:
                self.assertIn(word, log)
            self.assertNotIn(MARK, log)

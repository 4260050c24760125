# SPDX-License-Identifier: Apache-2.0

"""``nova-filters-status upgrade check`` on random nova.conf files."""

from nova_filters import conf
from tests import configuration_fuzz, signing, upgrade_checks
from tests.configuration_fuzz import Line

SCHEDULER = 'filter_scheduler'
FILTERS = 'nova.scheduler.filters.all_filters'
WEIGHERS = 'nova.scheduler.weights.all_weighers'


class NovaFiltersStatusFuzz(
    configuration_fuzz.FuzzTests, upgrade_checks.UpgradeCheckCase
):
    command = 'nova-filters-status'
    file = 'nova.conf'
    lines = (
        Line(SCHEDULER, 'available_filters', FILTERS),
        Line(SCHEDULER, 'available_filters', 'nova_filters.all_filters'),
        Line(
            SCHEDULER,
            'enabled_filters',
            'ComputeFilter,AggregateInstanceTypeFilter,TeamSpreadFilter',
        ),
        Line(
            SCHEDULER,
            'weight_classes',
            f'{WEIGHERS},nova_filters.all_weighers',
        ),
        Line('heat_hints', 'signing_key', signing.KEY),
        *configuration_fuzz.defaults([(conf.GROUP, conf.OPTS)]),
        Line(
            'api_database',
            'connection',
            'mysql+pymysql://nova:s3cretpw@127.0.0.1:1/x',
        ),
    )
    values = {
        'weight_classes': (
            WEIGHERS,
            f'{WEIGHERS},{WEIGHERS},nova_filters.all_weighers',
            f'{WEIGHERS},nova_filters.all_weighers,nova_filters.all_filters',
            f'{WEIGHERS},nova_filters.all_weighers,{FILTERS}',
            f'nova.scheduler.weights.ram.RAMWeigher,{WEIGHERS}',
            'nova.scheduler.weights.ram.RAMWeigher,nova_filters.all_weighers',
            'nova_filters.all_weighers,nova.scheduler.weights.BaseHostWeigher',
            'nova_filters',
            'nova_filters.gone',
        ),
        'available_filters': (
            f'{FILTERS},nova_filters.all_filters',
            FILTERS,
            'nova_filters.all_filters',
            WEIGHERS,
        ),
        'enabled_filters': (
            'ComputeFilter',
            'ComputeFilter,ComputeFilter',
            'AggregateInstanceTypeFilter',
            'AggregateInstanceTypeFilter,AggregateInstanceExtraSpecsFilter',
            'RAMWeigher',
            'BaseHostFilter',
            'Unheard',
        ),
        'stack_spread_over': ('rack,host', 'availability_zone', 'host,host'),
        'exempt_metadata_keys': ('*', 'rack', 'availability_zone,rack'),
    }

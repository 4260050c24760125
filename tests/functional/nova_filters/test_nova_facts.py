# SPDX-License-Identifier: Apache-2.0

"""What the commands say about Nova, held against the Nova that is there."""

import inspect
import pathlib
import re
import unittest
from typing import Any

import ddt
from nova import exception, objects, scheduler
from nova.api.validation.extra_specs import validators
from nova.scheduler import filters, weights
from nova.scheduler.filters import (
    aggregate_instance_extra_specs as aggregate_extra_specs,
)

import nova_filters
from nova_filters import conf, status
from nova_filters.matching import inputs
from testing.nova import states
from tests.functional.nova_filters import base

FILTER_NAMES = {
    'RUN_ON_REBUILD',
    'filter_all',
    'host_passes',
    'run_filter_for_index',
    'run_filter_once_per_request',
}
WEIGHER_NAMES = {'maxval', 'minval', 'weigh_objects', 'weight_multiplier'}
#: How Nova reads a key of the metadata of aggregates.
_READS = re.compile(
    r'(?:get_weight_multiplier|aggregate_values_from_key)\('
    r"\s*host_state,\s*'(\w+)'"
)


class AggregateTest(unittest.TestCase):
    """What the evaluator needs of Nova's Aggregates."""

    def test_a_dictionary_tells_them_apart_by_identity(self) -> None:
        base.cloud()
        aggregate, same = states.aggregates({'k': '1'}, {'k': '1'})
        same.id, same.name = aggregate.id, aggregate.name
        self.assertEqual(2, len({aggregate, same}))

    def test_what_nova_reads_from_aggregates_is_exempt(self) -> None:
        patterns = tuple(conf.DEFAULTS['exempt_metadata_keys'])
        is_exempt = inputs.compile_exemption(patterns)
        keys = set()
        for file in pathlib.Path(scheduler.__path__[0]).rglob('*.py'):
            keys.update(_READS.findall(file.read_text('utf-8')))
        self.assertGreater(len(keys), 10)
        self.assertEqual(set(), {key for key in keys if not is_exempt(key)})

    def test_exempt_image_properties_are_those_of_nova(self) -> None:
        for key in conf.DEFAULTS['exempt_metadata_keys']:
            if key.startswith(('os_', 'hw_', 'img_')):
                self.assertIn(key, objects.ImageMetaProps.fields)


@ddt.ddt
class SeamTest(unittest.TestCase):
    """What Nova asks our classes for."""

    @ddt.data(
        (filters.BaseHostFilter, FILTER_NAMES),
        (weights.BaseHostWeigher, WEIGHER_NAMES),
    )
    @ddt.unpack
    def test_a_base_class_has_what_ours_was_made_for(self, cls, names) -> None:
        public = {name for name in dir(cls) if name[0] != '_'}
        self.assertEqual(names, public)

    @ddt.data(*nova_filters.all_filters(), *nova_filters.all_weighers())
    def test_a_class_takes_what_its_base_class_takes(self, cls) -> None:
        base_class = filters.BaseHostFilter
        if not issubclass(cls, base_class):
            base_class = weights.BaseHostWeigher
        for name, method in inspect.getmembers(base_class, callable):
            if name[:2] != '__':
                ours = inspect.signature(getattr(cls, name))
                # Nova's own classes have other names for their parameters.
                self.assertEqual(
                    len(inspect.signature(method).parameters),
                    len(ours.parameters),
                    name,
                )


class ApiTest(unittest.TestCase):
    """What Nova's API makes of extra specs."""

    def test_the_scope_of_the_filter_takes_what_another_one_refuses(
        self,
    ) -> None:
        for sentinel in '*', '~', '!', '<or> 1 <or> ~':
            with self.assertRaises(exception.ValidationError):
                validators.validate('quota:cpu_shares', sentinel)
            key = 'aggregate_instance_extra_specs:quota:cpu_shares'
            validators.validate(key, sentinel)


class InsteadTest(base.StackTestCase):
    """For which rules Nova's own filter is enough."""

    def left(self, loaded: Any, value: str) -> list[int]:
        """Return which hosts pass a filter.

        The hosts have the values 1, 4 and 5, and the last one has none.

        :param value: the value of the key in the flavor.
        """
        for host, host_value in zip(self.hosts[:3], '145', strict=True):
            self.add_aggregate([host], {'k': host_value})
        self.flavor = self.add_flavor(
            {'aggregate_instance_extra_specs:k': value}
        )
        self.restart()
        request = self.request({})
        passed = [*loaded.filter_all(self.states(request), request)]
        self.cloud.clear()
        return [self.hosts.index(state.host) for state in passed]

    def test_a_missing_key_needs_this_package(self) -> None:
        nova = aggregate_extra_specs.AggregateInstanceExtraSpecsFilter()
        ours = base.loaded_filter()
        for value, hosts, nova_is_enough in (
            ('<or> 4 <or> 5', [1, 2], True),
            ('>= 4', [1, 2], True),
            ('*', [0, 1, 2], False),
            ('<or> 1 <or> ~', [0, 3], False),
        ):
            self.assertEqual(hosts, self.left(ours, value), value)
            is_enough = hosts == self.left(nova, value)
            self.assertIs(nova_is_enough, is_enough, value)

    def test_the_weighers_that_outweigh_all_preferences(self) -> None:
        state, *_ = self.states(self.request({}))
        strong = {
            f'{type(weigher).__module__}.{type(weigher).__name__}'
            for weigher in self.scheduler.host_manager.weighers
            if abs(weigher.weight_multiplier(state)) == 1_000_000
        }
        self.assertEqual({*status.VETOES}, strong)

# SPDX-License-Identifier: Apache-2.0

"""Nova loads the plug-ins by the names that the documentation gives."""

import unittest

from nova import exception
from nova.scheduler import filters, weights
from nova.scheduler.filters import (
    aggregate_instance_extra_specs as in_tree_filter,
)

import nova_filters
from testing.nova import engine
from tests.functional.nova_filters import cloud


class LoadingTest(unittest.TestCase):
    """The two functions, through Nova's own loaders."""

    def test_the_loader_finds_the_filter(self) -> None:
        classes = filters.HostFilterHandler().get_matching_classes(
            ['nova_filters.all_filters']
        )
        self.assertEqual([engine.OURS], [cls.__name__ for cls in classes])
        self.assertTrue(issubclass(classes[0], filters.BaseHostFilter))

    def test_the_loader_finds_the_weigher(self) -> None:
        classes = weights.HostWeightHandler().get_matching_classes(
            ['nova_filters.all_weighers']
        )
        self.assertEqual(
            ['StackAffinityWeigher'], [cls.__name__ for cls in classes]
        )
        self.assertTrue(issubclass(classes[0], weights.BaseHostWeigher))

    def test_the_name_is_not_one_of_novas(self) -> None:
        ours = {c.__name__ for c in nova_filters.all_filters()}
        ours |= {c.__name__ for c in nova_filters.all_weighers()}
        theirs = {c.__name__ for c in filters.all_filters()}
        theirs |= {c.__name__ for c in weights.all_weighers()}
        self.assertEqual(set(), ours & theirs)

    def test_nova_conf_enables_the_filter_beside_novas_own(self) -> None:
        scheduler = cloud().scheduler(engine.IN_TREE, engine.OURS)
        enabled = scheduler.host_manager.enabled_filters
        self.assertEqual(
            [
                'nova.scheduler.filters.compute_filter',
                in_tree_filter.__name__,
                'nova_filters.filters.aggregate_instance_type',
            ],
            [type(filter_).__module__ for filter_ in enabled],
        )

    def test_nova_conf_enables_the_weigher_beside_novas_own(self) -> None:
        weighers = cloud().scheduler(engine.OURS).host_manager.weighers
        names = {type(weigher).__name__ for weigher in weighers}
        self.assertLess(
            {c.__name__ for c in nova_filters.all_weighers()}, names
        )
        self.assertLess({c.__name__ for c in weights.all_weighers()}, names)

    def test_a_filter_that_is_not_made_available_stops_the_scheduler(
        self,
    ) -> None:
        with self.assertRaises(exception.SchedulerHostFilterNotFound):
            cloud().scheduler('AggregateInstanceTypeFliter')

    def test_the_options_are_registered_where_nova_reads_them(self) -> None:
        cloud().scheduler(engine.OURS)
        self.assertIn(
            'availability_zone',
            engine.CONF.nova_filters.exempt_metadata_keys,
        )

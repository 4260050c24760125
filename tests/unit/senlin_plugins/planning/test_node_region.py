# SPDX-License-Identifier: Apache-2.0

"""Where a node counts, and what its profile needs of a region."""

import types
import unittest

import ddt

from senlin_plugins.planning import node_region
from senlin_plugins.planning.node_region import NO_REGION

VOLUME = {'source_type': 'volume', 'destination_type': 'volume'}
SNAPSHOT = {'source_type': 'snapshot', 'destination_type': 'volume'}
IMAGE = {'source_type': 'image', 'destination_type': 'local'}
NEW_VOLUME = {'source_type': 'blank', 'destination_type': 'volume'}


@ddt.ddt
class Services(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        ({}, []),
        ({'image': None, 'networks': []}, []),
        ({'image': 'cirros'}, ['image']),
        ({'networks': [{'network': 'n'}]}, ['network']),
        ({'block_device_mapping_v2': None}, []),
        ({'block_device_mapping_v2': [IMAGE]}, []),
        ({'block_device_mapping_v2': [IMAGE, NEW_VOLUME]}, ['block-storage']),
        (
            {
                'image': 'cirros',
                'networks': [{'port': 'p'}],
                'block_device_mapping_v2': [VOLUME],
            },
            ['image', 'network', 'block-storage'],
        ),
    )
    def test_services_follow_from_the_properties(self, properties, services):
        for maker in ('compute', 'orchestration'):
            self.assertEqual(
                [maker, *services], node_region.services(maker, properties)
            )


@ddt.ddt
class Ties(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        ({}, []),
        ({'networks': None, 'block_device_mapping_v2': None}, []),
        ({'networks': [{'network': 'n', 'port': None}]}, []),
        (
            {'networks': [{'network': 'n'}, {'port': 'p'}]},
            ["'port' of 'networks'"],
        ),
        (
            {'networks': [{'floating_ip': 'f'}]},
            ["'floating_ip' of 'networks'"],
        ),
        ({'block_device_mapping_v2': [IMAGE, NEW_VOLUME]}, []),
        (
            {'block_device_mapping_v2': [IMAGE, SNAPSHOT]},
            ["a snapshot in 'block_device_mapping_v2'"],
        ),
        (
            {
                'networks': [{'port': 'p', 'floating_ip': 'f'}],
                'block_device_mapping_v2': [SNAPSHOT, VOLUME],
            },
            [
                "'port' of 'networks'",
                "'floating_ip' of 'networks'",
                "a volume in 'block_device_mapping_v2'",
                "a snapshot in 'block_device_mapping_v2'",
            ],
        ),
    )
    def test_what_one_region_has_ties_a_profile_to_it(self, properties, ties):
        self.assertEqual(ties, node_region.ties(properties))

    @ddt.unpack
    @ddt.data(
        ([], 'A', set()),
        ([], None, set()),
        (["'port' of 'networks'"], 'A', {'B', 'C'}),
        (["'port' of 'networks'"], 'D', {'A', 'B', 'C'}),
        (["'port' of 'networks'"], None, {'A', 'B', 'C'}),
    )
    def test_ties_exclude_all_regions_but_one(self, ties, region, excluded):
        self.assertEqual(
            excluded, node_region.excluded_by_ties('ABC', ties, region)
        )


def node_of(data, status='ACTIVE'):
    """Return a node as Senlin has it."""
    return types.SimpleNamespace(
        data=data, status=status, profile_id='profile'
    )


RECORDED = {'placement': {'region_name': 'A', 'zone': 'Z'}}


@ddt.ddt
class Recorded(unittest.TestCase):
    @ddt.data(None, {}, {'placement': None}, {'placement': {}}, {'other': 1})
    def test_data_without_a_placement_name_no_region(self, data):
        self.assertEqual({}, node_region.placement(node_of(data)))
        self.assertIsNone(node_region.recorded_region(node_of(data)))

    @ddt.unpack
    @ddt.data(
        (RECORDED, 'B', 'C', 'A'),
        (None, 'B', 'C', 'B'),
        (None, None, 'C', 'C'),
        (None, None, None, None),
    )
    def test_the_region_in_which_a_node_is_created(
        self, data, fixed, default, region
    ):
        context = {'region_name': fixed}
        for node in (node_of(data), None):
            expected = region
            if node is None:
                expected = fixed or default
            self.assertEqual(
                expected, node_region.target_region(node, context, default)
            )

    @ddt.unpack
    @ddt.data(
        # (data, status, region of the profile, default region, counts in)
        (RECORDED, 'ACTIVE', 'B', 'C', 'A'),
        (RECORDED, 'INIT', 'B', 'C', 'A'),
        ({}, 'ACTIVE', 'B', 'C', 'B'),
        ({}, 'INIT', 'B', 'C', 'B'),
        ({}, 'ACTIVE', None, 'C', 'C'),
        # Nobody has decided yet: the default does not count.
        ({}, 'INIT', None, 'C', NO_REGION),
        ({}, 'INIT', None, None, NO_REGION),
        ({}, 'ACTIVE', None, None, ''),
    )
    def test_the_region_in_which_a_node_counts(
        self, data, status, fixed, default, region
    ):
        node = node_of(data, status)
        contexts = {'profile': {'region_name': fixed}}
        counted = node_region.counted_regions([node], contexts, default)
        self.assertEqual([region], counted)

    @ddt.unpack
    @ddt.data(
        (None, None),
        ({}, None),
        ({'username': 'senlin'}, None),
        ({'region_name': None}, None),
        ({'region_name': ''}, None),
        ({'region_name': 'A'}, 'A'),
    )
    def test_the_region_that_a_profile_fixes(self, context, region):
        self.assertEqual(region, node_region.fixed_region(context))

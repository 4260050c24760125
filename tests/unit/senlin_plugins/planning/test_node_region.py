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
RECORDED = {'placement': {'region_name': 'A', 'zone': 'Z'}}


def node_of(data, status='ACTIVE'):
    """Return a node as Senlin has it."""
    return types.SimpleNamespace(
        data=data, status=status, profile_id='profile'
    )


@ddt.ddt
class Needs(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        ({}, [], []),
        ({'networks': None, 'block_device_mapping_v2': None}, [], []),
        (
            {'image': 'cirros', 'networks': [{'network': 'n', 'port': None}]},
            ['image', 'network'],
            [],
        ),
        ({'block_device_mapping_v2': [IMAGE]}, [], []),
        (
            {'block_device_mapping_v2': [IMAGE, NEW_VOLUME]},
            ['block-storage'],
            [],
        ),
        (
            {'networks': [{'network': 'n'}, {'port': 'p'}]},
            ['network'],
            ["'port' of 'networks'"],
        ),
        (
            {
                'networks': [{'port': 'p', 'floating_ip': 'f'}],
                'block_device_mapping_v2': [IMAGE, SNAPSHOT, VOLUME],
            },
            ['network', 'block-storage'],
            [
                "'port' of 'networks'",
                "'floating_ip' of 'networks'",
                "a volume in 'block_device_mapping_v2'",
                "a snapshot in 'block_device_mapping_v2'",
            ],
        ),
    )
    def test_services_and_ties_follow_from_the_properties(
        self, properties, services, ties
    ):
        needed = node_region.list_services('compute', properties)
        self.assertEqual(['compute', *services], needed)
        self.assertEqual(ties, node_region.list_ties(properties))


@ddt.ddt
class Regions(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        # (data, region of the profile, default region, region)
        (RECORDED, 'B', 'C', 'A'),
        ({}, 'B', 'C', 'B'),
        ({'placement': None}, 'B', 'C', 'B'),
        ({'placement': {}}, '', 'C', 'C'),
        (None, None, 'C', 'C'),
        (None, None, None, None),
    )
    def test_the_region_in_which_a_node_is_created_and_counts(
        self, data, fixed, default, region
    ):
        node = node_of(data)
        context = {'region_name': fixed}
        target = node_region.target_region(node, context, default)
        self.assertEqual(region, target)
        counted = node_region.counted_regions(
            [node], {'profile': context}, default
        )
        self.assertEqual([region or ''], counted)
        unrecorded = set() if region == 'A' else {'profile'}
        self.assertEqual(unrecorded, node_region.unrecorded_profiles([node]))

    @ddt.unpack
    @ddt.data(
        (RECORDED, 'B', 'A'),
        ({}, 'B', 'B'),
        # Nobody has decided yet: the default does not count.
        ({}, None, NO_REGION),
    )
    def test_the_region_in_which_a_waiting_node_counts(
        self, data, fixed, region
    ):
        node = node_of(data, 'INIT')
        contexts = {'profile': {'region_name': fixed}}
        counted = node_region.counted_regions([node], contexts, 'C')
        self.assertEqual([region], counted)

    def test_what_has_no_data_and_no_context_names_no_region(self):
        self.assertEqual({}, node_region.read_placement(object()))
        self.assertIsNone(node_region.target_region(object(), None, None))

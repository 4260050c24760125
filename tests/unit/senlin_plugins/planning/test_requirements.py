# SPDX-License-Identifier: Apache-2.0

"""What a profile needs of the region of a new node."""

import unittest

import ddt

from senlin_plugins.planning import requirements

VOLUME = {'source_type': 'volume', 'destination_type': 'volume'}
SNAPSHOT = {'source_type': 'snapshot', 'destination_type': 'volume'}
IMAGE = {'source_type': 'image', 'destination_type': 'local'}
NEW_VOLUME = {'source_type': 'blank', 'destination_type': 'volume'}


@ddt.ddt
class ServicesTest(unittest.TestCase):
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
                [maker, *services], requirements.services(maker, properties)
            )


@ddt.ddt
class TiesTest(unittest.TestCase):
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
        self.assertEqual(ties, requirements.ties(properties))

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
            excluded, requirements.excluded_by_ties('ABC', ties, region)
        )

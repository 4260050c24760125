# SPDX-License-Identifier: Apache-2.0

import tempfile
import unittest

from heat_hints.providers import asking, mapping_file
from tests.unit.heat_hints import requests


class TestLoad(unittest.TestCase):
    def test_the_reference_provider_is_found_by_its_name(self):
        with tempfile.NamedTemporaryFile('w') as file:
            file.write(requests.MAPPING)
            file.flush()
            loaded = asking.load(
                requests.configuration(file.name), ['mapping_file']
            )
        self.assertEqual(['mapping_file'], list(loaded))
        self.assertIsInstance(
            loaded['mapping_file'], mapping_file.MappingFileProvider
        )

    def test_an_unknown_name_leaves_a_gap_and_says_what_there_is(self):
        with self.assertLogs('heat_hints.providers', 'ERROR') as logs:
            loaded = asking.load(requests.configuration(), ['nobody'])
        self.assertEqual({'nobody': None}, loaded)
        (record,) = logs.records
        self.assertIn('"nobody"', record.getMessage())
        self.assertIn('mapping_file', record.getMessage())

    def test_one_that_cannot_be_made_leaves_a_gap_and_says_why(self):
        with self.assertLogs('heat_hints.providers', 'ERROR') as logs:
            loaded = asking.load(requests.configuration(), ['mapping_file'])
        self.assertEqual({'mapping_file': None}, loaded)
        (record,) = logs.records
        self.assertIn('mapping_file is not set', record.getMessage())

    def test_no_names_load_nothing(self):
        self.assertEqual({}, asking.load(requests.configuration(), []))

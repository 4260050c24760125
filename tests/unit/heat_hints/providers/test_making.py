# SPDX-License-Identifier: Apache-2.0

import tempfile
import threading
import unittest
from importlib import metadata

from oslo_config import cfg

from heat_hints.providers import ProviderError, making, mapping_file
from tests.unit.heat_hints import requests


class Racks:
    """A provider that cannot be made as long as ``reason`` says so."""

    reason: str | None = None
    made = 0

    def __init__(self, conf):
        Racks.made += 1
        if Racks.reason:
            raise RuntimeError(Racks.reason)


class Checked(Racks):
    @classmethod
    def check(cls, conf):
        raise ProviderError('[racks] url is not set')


def point(name):
    """Return the entry point of something in this module."""
    return metadata.EntryPoint('rack', f'{__name__}:{name}', making.NAMESPACE)


class TestFind(unittest.TestCase):
    def test_the_reference_provider_is_found_by_its_name(self):
        with tempfile.NamedTemporaryFile('w') as file:
            file.write(requests.MAPPING)
            file.flush()
            (maker,) = making.find(
                requests.configuration(file.name), ['mapping_file']
            )
            self.assertEqual('mapping_file', maker.name)
            self.assertIsInstance(
                maker.get(), mapping_file.MappingFileProvider
            )

    def test_an_unknown_name_stops_the_service_and_says_what_there_is(self):
        with self.assertRaisesRegex(
            cfg.ConfigFileValueError,
            'option providers .*"nobody": .* mapping_file',
        ):
            making.find(requests.configuration(), ['nobody'])

    def test_an_option_that_is_not_set_stops_the_service(self):
        with self.assertRaisesRegex(
            cfg.ConfigFileValueError, 'mapping_file is not set'
        ):
            making.find(requests.configuration(), ['mapping_file'])

    def test_no_names_find_nothing(self):
        self.assertEqual((), making.find(requests.configuration(), []))


class TestMaker(unittest.TestCase):
    def setUp(self):
        Racks.reason, Racks.made = None, 0
        self.now = 0.0

    def maker(self, name='Racks'):
        return making.Maker(
            point(name), requests.configuration(), lambda: self.now
        )

    def test_nothing_is_made_before_it_is_asked(self):
        maker = self.maker()
        maker.check()
        self.assertEqual(0, Racks.made)
        self.assertIs(maker.get(), maker.get())
        self.assertEqual(1, Racks.made)

    def test_threads_that_ask_at_once_get_the_same_provider(self):
        maker, found = self.maker(), []
        threads = [
            threading.Thread(target=lambda: found.append(maker.get()))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((8, 1), (len(found), Racks.made))

    def test_a_failure_is_told_once_and_tried_again_after_a_minute(self):
        maker, Racks.reason = self.maker(), 'no inventory\nERROR forged'
        with self.assertLogs('heat_hints.providers', 'ERROR') as logs:
            found = {maker.get() for _ in range(9)}
            self.now = making.RETRY_SECONDS - 1
            found.add(maker.get())
        self.assertEqual(({None}, 1), (found, Racks.made))
        (record,) = logs.records
        self.assertIn(
            '"rack" cannot be used: RuntimeError: no inventory ERROR forged',
            record.getMessage(),
        )
        self.now = making.RETRY_SECONDS
        with self.assertLogs('heat_hints.providers', 'ERROR') as logs:
            self.assertIsNone(maker.get())
        self.assertEqual(1, len(logs.records))
        self.now, Racks.reason = 2 * making.RETRY_SECONDS, None
        self.assertIsInstance(maker.get(), Racks)

    def test_its_own_check_refuses_wrong_options(self):
        with self.assertRaisesRegex(ProviderError, 'url is not set'):
            self.maker('Checked').check()

    def test_what_cannot_be_imported_is_told_at_the_start(self):
        with self.assertLogs('heat_hints.providers', 'ERROR') as logs:
            self.maker('NoSuchClass').check()
        self.assertIn('NoSuchClass', logs.records[0].getMessage())

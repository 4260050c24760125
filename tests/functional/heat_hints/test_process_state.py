# SPDX-License-Identifier: Apache-2.0

"""A loopback cloud that nobody closes fails the test or the class."""

import json
import unittest

import requests

from testing.heat import loopback
from tests import leaks


class LeakTest(unittest.TestCase):
    def leave(self):
        """Leave a cloud with a server."""
        self.cloud = loopback.Cloud()
        self.addCleanup(self.cloud.close)
        answer = requests.post(
            f'{self.cloud.url}/compute/v2.1/servers',
            data=json.dumps({'server': {'name': 'left'}}),
            headers={'Connection': 'close'},
            timeout=60,
        )
        self.assertEqual(202, answer.status_code)

    def assert_told(self, text):
        """Check that the cloud, its server and its thread are told."""
        name = f'loopback cloud {self.cloud.url}'
        self.assertIn(f"{name} is new: ['left']", text)
        self.assertIn(f'thread "{name}" still runs', text)

    def test_a_test_fails_by_its_name(self):
        ((name, text),) = leaks.planted(in_test=self.leave)
        self.assertTrue(name.endswith('.Planted.test_first'), name)
        self.assert_told(text)

    def test_a_class_fails_by_its_name(self):
        ((name, text),) = leaks.planted(in_class=self.leave)
        self.assertRegex(name, r'^tearDownClass \(.*\.Planted\)$')
        self.assert_told(text)

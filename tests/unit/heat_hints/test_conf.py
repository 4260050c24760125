# SPDX-License-Identifier: Apache-2.0

import unittest

from tests.unit.heat_hints import requests


class TestOptions(unittest.TestCase):
    def test_no_hints_are_sent_by_default(self):
        self.assertFalse(requests.configuration().heat_hints.enabled)

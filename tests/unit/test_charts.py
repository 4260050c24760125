# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The charts of the documentation show the numbers that lie beside them."""

import hashlib
import re
import unittest

from tests import processes

PAGES = processes.ROOT / 'doc' / 'source'
CHARTS = PAGES / 'charts'


class ChartsTest(unittest.TestCase):
    def test_each_picture_shows_the_numbers_beside_it(self):
        pictures = sorted(CHARTS.glob('*.svg'))
        self.assertTrue(pictures)
        for picture in pictures:
            numbers = picture.with_suffix('.json').read_bytes()
            self.assertIn(
                f'sha256:{hashlib.sha256(numbers).hexdigest()}',
                picture.read_text('utf-8'),
                f'{picture.name} is older than its numbers: run '
                '"make charts DRAW=only"',
            )

    def test_all_numbers_are_drawn_and_all_pictures_shown(self):
        page = (PAGES / 'charts.rst').read_text('utf-8')
        shown = set(re.findall(r'figure:: charts/(\w+)\.svg', page))
        self.assertEqual({file.stem for file in CHARTS.glob('*.json')}, shown)
        self.assertEqual({file.stem for file in CHARTS.glob('*.svg')}, shown)

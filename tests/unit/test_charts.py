# SPDX-License-Identifier: Apache-2.0

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

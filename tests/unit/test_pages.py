# SPDX-License-Identifier: Apache-2.0

"""Each block of a page runs, or the page says why not."""

from collections.abc import Callable

import ddt

from os_placement_plugins import signature
from tests import pages, signing


@ddt.ddt
class PagesTest(pages.Walk):
    suite = 'unit'

    def test_each_block_runs_or_says_why_not(self) -> None:
        self.assertEqual([], [*pages.problems()])

    @ddt.data(*pages.select('unit'))
    def test_the_page_is_true(self, page: str) -> None:
        self.walk(page)

    def check_signed_text(self, run: Callable[[], str]) -> None:
        hints = {
            'heat_path_in_stack': 'web',
            'heat_resource_uuid': 'u',
            'other': 'x',
        }
        text = ''.join(run().split())
        for shown, value in {
            '<keyid>': signing.digest(signing.KEY, 'key id')[:8],
            '<projectid>': 'p',
            '<heat_resource_uuid>': 'u',
            '["heat_...",[...]],...': '["heat_resource_uuid",["u"]]',
        }.items():
            self.assertIn(shown, text)
            text = text.replace(shown, value)
        signed = signature.Keys([signing.KEY]).sign(hints, 'p')
        digest = signing.digest(signing.KEY, text)
        self.assertEqual(digest, signed.rpartition(':')[2])

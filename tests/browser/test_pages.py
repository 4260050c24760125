# SPDX-License-Identifier: Apache-2.0

"""The built documentation in a real browser."""

import json
import pathlib
import unittest

from selenium import webdriver

PAGES = pathlib.Path(__file__).parents[2] / 'doc' / 'build' / 'html'
WIDTHS = (400, 800, 1200)

#: Pages that no other page needs to link.
MADE_BY_SPHINX = ('genindex.html', 'search.html', 'index.html')


class PagesTest(unittest.TestCase):
    """Chromium, which may ask no other host."""

    def setUp(self) -> None:
        options = webdriver.ChromeOptions()
        for argument in ('--headless', '--no-sandbox'):
            options.add_argument(argument)
        options.set_capability('goog:loggingPrefs', {'performance': 'ALL'})
        self.browser = webdriver.Chrome(options)
        self.addCleanup(self.browser.quit)

    def show(self, page: pathlib.Path, width: int, scheme: str) -> int:
        """Show a page, and return how wide its contents are."""
        run = self.browser.execute_cdp_cmd
        run(
            'Emulation.setDeviceMetricsOverride',
            {
                'width': width,
                'height': 800,
                'deviceScaleFactor': 1,
                'mobile': False,
            },
        )
        media = [{'name': 'prefers-color-scheme', 'value': scheme}]
        run('Emulation.setEmulatedMedia', {'features': media})
        self.browser.get(page.as_uri())
        measure = 'return document.documentElement.scrollWidth'
        return int(self.browser.execute_script(measure))

    def requests(self) -> set[str]:
        """Return what the browser has asked for since the last question."""
        log = self.browser.get_log('performance')
        events = [json.loads(entry['message'])['message'] for entry in log]
        return {
            event['params']['request']['url']
            for event in events
            if event['method'] == 'Network.requestWillBeSent'
        }

    def test_pages_fit_and_load_nothing_from_elsewhere(self) -> None:
        pages = sorted(PAGES.glob('**/*.html'))
        self.assertTrue(pages, f'{PAGES} is empty: run "make docs".')
        backgrounds = set()
        for page in pages:
            for width in WIDTHS:
                for scheme in ('light', 'dark'):
                    with self.subTest(page.name, width=width, scheme=scheme):
                        self.assertLessEqual(
                            self.show(page, width, scheme), width
                        )
                        backgrounds.add(
                            self.browser.execute_script(
                                'return getComputedStyle(document.body)'
                                '.backgroundColor'
                            )
                        )
            foreign = [
                url
                for url in self.requests()
                if not url.startswith(('file:', 'data:'))
            ]
            self.assertEqual([], foreign, page.name)
        self.assertEqual(2, len(backgrounds), backgrounds)

    def links(self, page: str) -> set[str]:
        """Return the addresses of the pages that a page links to."""
        self.browser.get(page)
        script = 'return Array.from(document.links, link => link.href)'
        links = self.browser.execute_script(script)
        return {
            link.split('#')[0]
            for link in links
            if link.startswith(PAGES.as_uri())
        }

    def words(self, page: pathlib.Path) -> int:
        """Return how many words the text of a page has, without menus."""
        self.browser.get(page.as_uri())
        script = 'return document.querySelector("article").innerText'
        return len(self.browser.execute_script(script).split())

    def test_each_page_is_at_most_two_clicks_away(self) -> None:
        first = self.links((PAGES / 'index.html').as_uri())
        reached = set(first)
        for page in first:
            if page.endswith('.html'):
                reached |= self.links(page)
        pages = {
            page.as_uri()
            for page in PAGES.glob('**/*.html')
            if page.name not in MADE_BY_SPHINX
        }
        self.assertEqual(set(), pages - reached)

    def test_no_generated_page_is_empty(self) -> None:
        options = sorted(PAGES.glob('configuration-*.html'))
        self.assertEqual(3, len(options))
        for page in (*options, PAGES / 'commands-reference.html'):
            self.assertGreater(self.words(page), 150, page.name)

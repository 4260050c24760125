# SPDX-License-Identifier: Apache-2.0

"""Each sentence of a specification has a test, or a page says otherwise."""

import unittest

import ddt
import yaml

from tests import pages, promises

FOLDER = pages.ROOT / 'testing' / 'specifications'


@ddt.ddt
class SpecificationTest(unittest.TestCase):
    @ddt.data('heat', 'nova', 'senlin-deletion', 'senlin-region-placement')
    def test_each_sentence_has_something_that_is_there(self, name) -> None:
        rows = yaml.safe_load((FOLDER / f'{name}.yaml').read_text('utf-8'))
        sentences = ' '.join(row['sentence'] for row in rows)
        text = (FOLDER / f'{name}.txt').read_text('utf-8').replace('•', '')
        self.assertEqual(text.split(), sentences.split())
        for row in rows:
            with self.subTest(row['sentence']):
                self.assertTrue(row.keys() & {'test', 'page', 'aside'})
                self.check_seen(**row)

    def check_seen(self, sentence='', test=(), page='', aside='') -> None:
        """Check that what a row names exists."""
        for name in [test] if isinstance(test, str) else test:
            self.assertTrue(promises.exists(name), name)
        if page:
            file, _, words = page.partition(': ')
            text = (pages.PAGES / file).read_text('utf-8')
            plain_text = ' '.join(text.replace('``', '').split())
            self.assertIn(words.replace('``', ''), plain_text)

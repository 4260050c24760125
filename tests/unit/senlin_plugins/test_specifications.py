# SPDX-License-Identifier: Apache-2.0

"""Each sentence of the two specifications is on the page of the sentences."""

import pathlib
import re
import unittest

import ddt

ROOT = pathlib.Path(__file__).parents[3]
PAGES = ROOT / 'doc/source'
SPECIFICATIONS = ROOT / 'testing/senlin/specifications'

#: Why a sentence needs no test.
REASONS = {'heading', 'history', 'introduction', 'motivation', 'pointer'}

#: An example, which belongs to the line above it.
_EXAMPLE = re.compile(r'\s*^( *)\{\n.*?^\1\}$', re.M | re.S)
_SENTENCE_END = re.compile(r'(?<=\.) +(?=[A-Z])')
_ROW = re.compile(
    r'^   \* - (.*?)\n     - (.*?)(?=\n   \* - |\n\n|\n\Z)', re.M | re.S
)
_TEST = re.compile(r'``(test_\w+\.[\w.\s]+)``')
_QUOTE = re.compile(r':doc:`/([\w-]+)`: "([^"]+)"')
_REASON = re.compile(r'\*(\w+)\*')


def join_lines(text: str) -> str:
    """Return a text as one line."""
    return ' '.join(text.split())


def read_sentences(file: pathlib.Path) -> list[str]:
    """Return the title of a specification, and then its sentences."""
    text = _EXAMPLE.sub(
        lambda example: f' {join_lines(example[0])}', file.read_text('utf-8')
    )
    sentences: list[str] = []
    for line in text.splitlines():
        content = line.strip(' •')
        if content:
            sentences += _SENTENCE_END.split(content)
    return sentences


def read_rows(title: str) -> list[tuple[str, str]]:
    """Return the rows of a table: a sentence, and what it is seen by."""
    page = PAGES / 'contributor/sentences-senlin.rst'
    _, _, rest = page.read_text('utf-8').partition(f'list-table:: {title}\n')
    table, _, _ = rest.partition('\n.. list-table:: ')
    _, *rows = _ROW.findall(table)
    return [(join_lines(says), join_lines(seen)) for says, seen in rows]


def has_test(name: str) -> bool:
    """Tell whether the Senlin plug-ins have a test ``module.Class.method``."""
    module, class_name, method = name.split('.')
    for file in (ROOT / 'tests').rglob(f'senlin_plugins/**/{module}.py'):
        _, _, rest = file.read_text('utf-8').partition(f'class {class_name}(')
        body, _, _ = rest.partition('\nclass ')
        if f'    def {method}(' in body:
            return True
    return False


def read_prose(name: str) -> str:
    """Return a page as one line without the marks of literals."""
    text = (PAGES / f'{name}.rst').read_text('utf-8')
    return join_lines(text.replace('``', ''))


@ddt.ddt
class Sentences(unittest.TestCase):
    @ddt.data('region-placement-policy-v1.0.txt', 'deletion-policy-v1.1.txt')
    def test_each_has_a_test_or_a_reason(self, name: str) -> None:
        title, *sentences = read_sentences(SPECIFICATIONS / name)
        rows = read_rows(title)
        self.assertEqual(sentences, [says for says, _ in rows])
        for says, seen in rows:
            with self.subTest(says):
                self.check_seen(seen)

    def check_seen(self, seen: str) -> None:
        """Check that what a row names exists."""
        reason = _REASON.fullmatch(seen)
        if reason:
            self.assertIn(reason[1], REASONS)
            return
        tests = [name.replace(' ', '') for name in _TEST.findall(seen)]
        quotes = _QUOTE.findall(seen)
        self.assertTrue(tests or quotes)
        for test in tests:
            self.assertTrue(has_test(test), test)
        for page, words in quotes:
            self.assertIn(words, read_prose(page))

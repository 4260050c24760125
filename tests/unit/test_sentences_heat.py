# SPDX-License-Identifier: Apache-2.0

"""Each sentence of Heat's specification has a test, or the page's words."""

import ast
import re
import unittest

import yaml

from tests import pages, processes

FOLDER = processes.ROOT / 'testing' / 'heat'
#: What this and the parts below it say is who does the work, and when.
LAST = 'Implementation'


def join_lines(text):
    return ' '.join(text.split())


def read_paragraphs():
    """Return the paragraphs of the specification that hold sentences."""
    text = (FOLDER / 'specification.txt').read_text()
    text = text.partition(f'\n{LAST}\n')[0]
    paragraphs = []
    for block in map(str.strip, re.split(r'\n\s*\n', text)):
        lines = block.split('\n')
        heading = any(re.fullmatch('[=-]{3,}', line) for line in lines)
        link = re.fullmatch(r'\S*', block)
        if not heading and not link and not block.startswith('..'):
            paragraphs.append(join_lines(block))
    return paragraphs


def defines(path, class_name, method):
    """Tell whether a class of a file, or a base of it there, has a method."""
    classes = {
        node.name: node
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef)
    }
    names = [class_name]
    while names:
        node = classes.get(names.pop())
        if node is not None:
            names += [ast.unparse(base) for base in node.bases]
            if method in [getattr(item, 'name', '') for item in node.body]:
                return True
    return False


class SentencesTest(unittest.TestCase):
    rows = yaml.safe_load((FOLDER / 'sentences.yaml').read_text())

    def test_no_sentence_is_missing_or_another(self):
        sentences = [join_lines(row['sentence']) for row in self.rows]
        self.assertEqual(' '.join(read_paragraphs()), ' '.join(sentences))

    def test_each_sentence_has_something_that_is_there(self):
        for row in self.rows:
            with self.subTest(row['sentence']):
                self.assertTrue(row.keys() & {'test', 'page', 'aside'})
                if 'test' in row:
                    module, name, method = row['test'].rsplit('.', 2)
                    file = module.replace('.', '/') + '.py'
                    path = processes.ROOT / 'tests' / file
                    self.assertTrue(defines(path, name, method), row['test'])
                if 'page' in row:
                    page, _, words = row['page'].partition(': ')
                    text = (pages.PAGES / page).read_text()
                    self.assertIn(words, join_lines(text))

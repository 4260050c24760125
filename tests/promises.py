# SPDX-License-Identifier: Apache-2.0

"""Find the promises on the pages and in the help, and hold them to tests.

A promise is a sentence with one of :data:`WORDS`. ``tests/promises.yaml`` has
each promise, and other sentences that a test shows, below the test that fails
if the sentence is false.

``python -m tests.promises`` prints what the file lacks.
"""

import ast
import itertools
import pathlib
import re
from collections.abc import Iterator

import yaml

from tests import pages

FILE = pathlib.Path(__file__).with_name('promises.yaml')
WORDS = re.compile(
    r'\b(never|always|at most|only|no (\w+ )?\w+ than)\b', re.IGNORECASE
)
#: The packages whose help is read.
PACKAGES = (
    'heat_hints',
    'nova_filters',
    'osc_placement_plugins',
    'os_placement_plugins',
    'senlin_plugins',
)

_SENTENCE_END = re.compile(r'(?<=[.:?])\*{0,2} +(?=[A-Z`*"])')
_LITERAL = re.compile('``.*?``')


def read_sentences() -> Iterator[str]:
    """Yield the sentences of all pages and of all help."""
    for page in ['SECURITY.rst', *pages.pages()]:
        yield from split_sentences((pages.ROOT / page).read_text('utf-8'))
    for package in PACKAGES:
        for file in sorted((pages.ROOT / package).rglob('*.py')):
            for text in read_help(file):
                yield from split_sentences(text)


def split_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text in reStructuredText, each as one line."""
    for paragraph in pages.paragraphs(text):
        yield from _SENTENCE_END.split(paragraph)


def read_help(file: pathlib.Path) -> Iterator[str]:
    """Yield the help of options and commands in a module."""
    for node in ast.walk(ast.parse(file.read_text('utf-8'))):
        if isinstance(node, ast.keyword) and node.arg in {'help', 'summary'}:
            for part in ast.walk(node.value):
                if isinstance(part, ast.Constant):
                    yield str(part.value)


def find_promises() -> list[str]:
    """Return each sentence that makes a promise, once."""
    promises = {}
    for sentence in read_sentences():
        if WORDS.search(_LITERAL.sub('', sentence)):
            promises[sentence] = True
    return [*promises]


def find_problems() -> Iterator[str]:
    """Yield a line for each promise without a test, and each stale entry."""
    shown: dict[str, list[str]] = yaml.safe_load(FILE.read_text('utf-8'))
    sentences = {*read_sentences()}
    with_test = set(itertools.chain(*shown.values()))
    for promise in find_promises():
        if promise not in with_test:
            yield f'tests/promises.yaml names no test for: {promise}'
    for test, texts in shown.items():
        if not exists(test):
            yield f'there is no test {test}'
        for text in texts:
            if text not in sentences:
                yield f'no page says this any more: {text} It is of {test}.'


def exists(test: str) -> bool:
    """Return whether a class of tests has a test.

    :param test: the test with its module and its class, below ``tests``.
    """
    module, class_name, method = test.rsplit('.', 2)
    file = pages.ROOT / 'tests' / f'{module.replace(".", "/")}.py'
    if not file.exists():
        return False
    for node in ast.walk(ast.parse(file.read_text('utf-8'))):
        if isinstance(node, ast.ClassDef) and node.name == class_name:
            names = [getattr(item, 'name', '') for item in node.body]
            return method in names
    return False


if __name__ == '__main__':
    print(*find_problems(), sep='\n')

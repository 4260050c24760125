# SPDX-License-Identifier: Apache-2.0

"""Find the promises on the pages and in the help.

A promise is a sentence with one of :data:`WORDS`. ``tests/promises.yaml`` has
each promise, below a test that fails if the code breaks the promise.
"""

import ast
import pathlib
import re
from collections.abc import Iterator

from tests import pages

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


def find_promises() -> Iterator[str]:
    """Yield each sentence that makes a promise, as one line."""
    for text in read_texts():
        for paragraph in pages.paragraphs(text):
            for sentence in _SENTENCE_END.split(paragraph):
                if WORDS.search(_LITERAL.sub('', sentence)):
                    yield sentence


def read_texts() -> Iterator[str]:
    """Yield the text of each page, and all help of options and commands."""
    for page in ['SECURITY.rst', *pages.pages()]:
        yield (pages.ROOT / page).read_text('utf-8')
    for package in PACKAGES:
        for file in sorted((pages.ROOT / package).rglob('*.py')):
            yield from read_help(file)


def read_help(file: pathlib.Path) -> Iterator[str]:
    """Yield the help of options and commands in a module."""
    for node in ast.walk(ast.parse(file.read_text('utf-8'))):
        if isinstance(node, ast.keyword) and node.arg in {'help', 'summary'}:
            for part in ast.walk(node.value):
                if isinstance(part, ast.Constant):
                    yield str(part.value)


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

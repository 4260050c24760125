# SPDX-License-Identifier: Apache-2.0

"""Find the promises on the pages and in the help, and hold them to tests.

A promise is a sentence with one of :data:`WORDS`. ``tests/promises.yaml``
names the test that fails without it, below the beginning of the sentence.

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
#: These pages quote the specifications, and name a test for each sentence.
_QUOTES = 'doc/source/contributor/sentences-'

_SENTENCE_END = re.compile(r'(?<=[.:?])\*{0,2} +(?=[A-Z`*"])')
#: What begins a paragraph of its own: an item, or a row of a list table.
_ITEM = re.compile(r'^ *(([*-] +)+|(\d+|#)\. +)')
_RULE = re.compile(r' *={3,}[= ]*$')
_LITERAL = re.compile('``.*?``')
_BLOCK = re.compile(r' *\.\. (code-block|literalinclude)::')


def read_sentences() -> Iterator[str]:
    """Yield the sentences of all pages and of all help."""
    for page in ['SECURITY.rst', *pages.pages()]:
        if not page.startswith(_QUOTES):
            for paragraph in read_paragraphs((pages.ROOT / page).read_text()):
                yield from _SENTENCE_END.split(paragraph)
    for package in PACKAGES:
        for file in sorted((pages.ROOT / package).rglob('*.py')):
            for text in read_help(file):
                for paragraph in read_paragraphs(text):
                    yield from _SENTENCE_END.split(paragraph)


def read_paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs, items and cells of a page, each as one line."""
    # Outside a table, a line is the only cell of its row.
    starts = [0]
    cells: list[list[str]] = [[]]
    for line in [*read_prose(text), '']:
        is_rule = _RULE.match(line)
        if is_rule or _begins(line, starts):
            yield from (' '.join(cell) for cell in cells if cell)
            if is_rule or not line:
                starts = [m.start() for m in re.finditer('=+', line)] or [0]
            cells = [[] for _ in starts]
        for cell, (start, end) in zip(
            cells, itertools.pairwise([*starts, None]), strict=True
        ):
            piece = line[start:end].strip()
            if piece and not is_rule:
                cell.append(' '.join(_ITEM.sub('', piece).split()))


def _begins(line: str, starts: list[int]) -> bool:
    """Return whether a line begins a paragraph, an item or a row."""
    is_row = len(starts) > 1 and line[: starts[1]].strip()
    return not line or bool(is_row or _ITEM.match(line))


def read_prose(text: str) -> Iterator[str]:
    """Yield the lines of a page, but none of its blocks and directives."""
    block_margin: int | None = None
    for line in text.splitlines():
        margin = len(line) - len(line.lstrip())
        if line.strip() and block_margin is not None:
            if margin > block_margin:
                continue
            block_margin = None
        if _BLOCK.match(line):
            block_margin = margin
        is_directive = line.lstrip().startswith(('.. ', ':'))
        yield '' if is_directive else line.rstrip()


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


def read_tests() -> dict[str, str]:
    """Return the test of each promise, by the beginning of the sentence."""
    tests: dict[str, str] = yaml.safe_load(FILE.read_text('utf-8'))
    return tests


def find_problems() -> Iterator[str]:
    """Yield a line for each promise without a test, and each stale entry."""
    tests = read_tests()
    used = set()
    for promise in find_promises():
        beginnings = [text for text in tests if promise.startswith(text)]
        used.update(beginnings)
        if not beginnings:
            yield f'tests/promises.yaml names no test for: {promise}'
    for beginning, test in tests.items():
        if beginning not in used:
            yield f'no page has this promise any more: {beginning}'
        if not exists(test):
            yield f'there is no test {test}'


def exists(test: str) -> bool:
    """Return whether a class of tests, or its base there, has a test.

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

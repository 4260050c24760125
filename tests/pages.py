# SPDX-License-Identifier: Apache-2.0

"""Read the blocks of the pages, and run them in the order of the page.

A block is a ``code-block`` or a ``literalinclude``. Comments directly above
the block are its marks:

``.. run: SUITE``
    This block, and those below it on the page, run in this suite.
``.. check: NAME``
    ``check_NAME`` in the module of the suite runs the block.
``.. file: NAME``
    The block is a file with this name, or a part of the file.
``.. not run: REASON``
    This block does not run.
"""

import collections
import dataclasses
import doctest
import functools
import itertools
import pathlib
import re
import textwrap
import unittest
from collections.abc import Callable, Iterator

from tests import signing

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ROOT / 'doc' / 'source'

#: Which tests run blocks.
SUITES = (
    'client',
    'cloud',
    'configuration',
    'example_filter',
    'example_provider',
    'demo',
    'heat',
    'nova',
    'senlin',
)

_MARK = re.compile(r' *\.\. (run|check|file|not run): (.+)')
_START = re.compile(r'( *)\.\. (code-block|literalinclude):: (\S+)')
_OPTION = re.compile(r' *:([\w-]+): (.*)')
_LITERAL = re.compile(r'``(.+?)``', re.S)
#: An indented text below a paragraph that ends with two colons.
_UNMARKED = re.compile(r'^(?! *\.\. ).*::\n\n( +)', re.M)

#: The prompts of a user and of root.
_USER, _ROOT = '$ ', '# '


@dataclasses.dataclass(frozen=True)
class Command:
    """A command as a reader types it.

    :param text: its lines, without the prompts.
    :param output: what the page shows of its output; empty if nothing.
    :param root: whether the page shows the prompt of root.
    """

    text: str
    output: str
    root: bool

    @property
    def words(self) -> str:
        """Return the command as one line."""
        return re.sub(r'\\\n *', '', self.text)


@dataclasses.dataclass(frozen=True)
class Block:
    """A piece of a page that is set off from its text.

    :param page: the file, relative to the checkout.
    :param line: the number of the line with the directive.
    :param kind: the language, such as ``console`` or ``ini``.
    :param text: its lines, without their margin.
    :param marks: the values of its marks by their names.
    """

    page: str
    line: int
    kind: str
    text: str
    marks: dict[str, str]

    def __str__(self) -> str:
        return f'{self.page}, line {self.line}'

    @property
    def suite(self) -> str:
        """Return the suite that runs the block; empty if none does."""
        return '' if 'not run' in self.marks else self.marks.get('run', '')

    @property
    def commands(self) -> list[Command]:
        commands = []
        for piece in re.split(r'^(?=[$#] )', self.text, flags=re.M):
            if piece:
                lines = piece.splitlines()
                if lines[0][:2] not in (_USER, _ROOT):
                    raise ValueError(f'{self}: no prompt before "{lines[0]}"')
                commands.append(_read_command(lines))
        return commands


def _read_command(lines: list[str]) -> Command:
    """Return the command that lines begin with, and its output."""
    prompt, text = lines[0][:2], [lines[0][2:]]
    rest = lines[1:]
    while rest and (text[-1].endswith('\\') or _is_open(text)):
        # A shell prompts for further lines with this.
        text.append(rest.pop(0).removeprefix('> '))
    return Command('\n'.join(text), '\n'.join(rest), prompt == _ROOT)


def _is_open(text: list[str]) -> bool:
    """Return whether a loop of the shell has not ended."""
    return text[0].startswith('for ') and 'done' not in text[-1]


def pages() -> list[str]:
    """Return the pages, relative to the checkout."""
    files = sorted(PAGES.rglob('*.rst'))
    return ['README.rst', *(str(file.relative_to(ROOT)) for file in files)]


def literals(page: str) -> list[str]:
    """Return what the text of a page marks as literal, each as one line."""
    text = (ROOT / page).read_text('utf-8')
    return [' '.join(words.split()) for words in _LITERAL.findall(text)]


@functools.cache
def read(page: str) -> tuple[Block, ...]:
    """Return the blocks of a page, in their order."""
    path = ROOT / page
    lines = path.read_text('utf-8').splitlines()
    blocks = []
    suite = ''
    marks: dict[str, str] = {}
    for number, line in enumerate(lines):
        if mark := _MARK.fullmatch(line):
            marks[mark[1]] = mark[2]
            suite = marks.get('run', suite)
        elif start := _START.fullmatch(line):
            margin, directive, argument = start.groups()
            body = _read_body(lines[number + 1 :], len(margin))
            options, text = _split(body)
            kind = argument
            if directive == 'literalinclude':
                file = path.parent / argument
                kind, text = options.get('language', 'none'), file.read_text()
                marks.setdefault('file', file.name)
            if suite:
                marks['run'] = suite
            blocks.append(Block(page, number + 1, kind, text, marks))
            marks = {}
        elif line.strip():
            marks = {}
    return tuple(blocks)


def _read_body(lines: list[str], margin: int) -> list[str]:
    """Return the lines that are further to the right than a directive."""
    body = []
    for line in lines:
        if line.strip() and len(line) - len(line.lstrip()) <= margin:
            break
        body.append(line)
    return body


def _split(body: list[str]) -> tuple[dict[str, str], str]:
    """Return the options of a directive, and its text without a margin."""
    options = [*itertools.takewhile(_OPTION.match, body)]
    text = textwrap.dedent('\n'.join(body[len(options) :]))
    return (
        dict(_OPTION.findall('\n'.join(options))),
        text.strip('\n') + '\n',
    )


def add_file(block: Block, texts: dict[str, str]) -> None:
    """Add what a block shows of a file, with a key to sign with.

    :param texts: what blocks have shown so far, by the names of the files.
    """
    if name := block.marks.get('file'):
        texts[name] += block.text.replace('REPLACE-ME', signing.KEY)


def files(page: str) -> dict[str, str]:
    """Return what a page shows of files, by their names."""
    texts: dict[str, str] = collections.defaultdict(str)
    for block in read(page):
        add_file(block, texts)
    return texts


def select(suite: str) -> dict[str, list[Block]]:
    """Return the pages with blocks of a suite, and these blocks."""
    selected = collections.defaultdict(list)
    for page in pages():
        for block in read(page):
            if block.suite == suite:
                selected[page].append(block)
    return dict(selected)


def problems() -> Iterator[str]:
    """Yield a line for each block that neither runs nor says why not."""
    for page in pages():
        text = (ROOT / page).read_text('utf-8')
        for match in _UNMARKED.finditer(text):
            line = text.count('\n', 0, match.start()) + 1
            yield f'{page}, line {line}: write a code-block, with its marks'
        for block in read(page):
            if 'not run' not in block.marks and block.suite not in SUITES:
                yield f'{block}: no mark says where it runs, or why not'


def agrees(shown: str, printed: str) -> bool:
    """Return whether a command printed what a page shows.

    Three dots on the page stand for anything. White space does not count, and
    neither do the widths of a table: both depend on what the dots stand for.
    """
    rule = re.compile(r'-{2,}')
    return doctest.OutputChecker().check_output(
        rule.sub('--', shown) + '\n',
        rule.sub('--', printed) + '\n',
        doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE,
    )


class Walk(unittest.TestCase):
    """Run the blocks of a suite on a page, in their order.

    A check gets a function that runs the block. So a check can prepare what
    the page assumes, and can look at what the block has done.
    """

    suite = ''

    def walk(self, page: str) -> None:
        """Run the blocks of a page, and their checks."""
        #: What the page has shown of files so far, with a key to sign with.
        self.files: dict[str, str] = collections.defaultdict(str)
        for block in read(page):
            add_file(block, self.files)
            if block.suite == self.suite:
                try:
                    self.run_and_check(block)
                except BaseException as exc:
                    exc.add_note(f'The block is in {block}.')
                    raise

    def run_and_check(self, block: Block) -> None:
        """Run a block as its check wants it to run."""
        self.block = block
        run = functools.partial(self.run_block, block)
        if check := block.marks.get('check'):
            method: Callable[..., None] = getattr(self, f'check_{check}')
            method(run)
        else:
            run()

    def run_block(self, block: Block, **placeholders: str) -> str:
        """Run a block.

        :param placeholders: the word of this page that stands for each name.
        :returns: what the commands of a console print, or the text of another
            block.
        """
        text = block.text
        for name, word in placeholders.items():
            text = re.sub(rf'\b{name}\b', word, text)
        block = dataclasses.replace(block, text=text)
        if block.kind != 'console':
            self.use(block)
            return block.text
        printed = ''
        for command in block.commands:
            if not command.root:
                output = self.type(command)
                self.compare(command, output)
                printed += output
        return printed

    def compare(self, command: Command, output: str) -> None:
        """Fail if a command has not printed what the page shows."""
        if '...' not in command.output:
            if command.output:
                self.assertEqual(command.output.strip(), output.strip())
        elif not agrees(command.output, output):
            self.fail(f'shown:\n{command.output}\nprinted:\n{output}')

    def type(self, command: Command) -> str:
        """Run one command; return what it prints."""
        raise NotImplementedError

    def use(self, block: Block) -> None:
        """Use a block that is not a console; by default, for its check."""

# SPDX-License-Identifier: Apache-2.0

"""Read what a page shows: files, and commands with what they print."""

import dataclasses
import doctest
import pathlib
import re
import textwrap

PAGES = pathlib.Path(__file__).resolve().parent.parent / 'doc' / 'source'

_BLOCK = re.compile(
    r'^( *)\.\. code-block:: (\w+)\n((?:\1   :.*\n)*)\n'
    r'((?:\1   .*\n|\n)+)',
    re.M,
)
_CAPTION = re.compile(r':caption: (.*)$', re.M)

#: A user's, or root's.
_PROMPT = re.compile(r'^[$#] ', re.M)


@dataclasses.dataclass(frozen=True)
class Block:
    """A piece of a page that is set off from its text.

    :param caption: what stands above it, such as the name of a file; empty
        without one.
    :param text: its lines, without their margin.
    """

    caption: str
    text: str


@dataclasses.dataclass(frozen=True)
class Example:
    """A command as a reader types it.

    :param command: its lines, without the prompts.
    :param output: what the page shows of its output; empty if nothing.
    """

    command: str
    output: str


def blocks(page: str, language: str) -> list[Block]:
    """Return the blocks of one language on a page, in order.

    :param page: its file below ``doc/source/``.
    :param language: for example ``console``.
    """
    text = (PAGES / page).read_text('utf-8')
    in_language = []
    for _, name, options, body in _BLOCK.findall(text):
        if name == language:
            caption = _CAPTION.search(options)
            in_language.append(
                Block(
                    caption[1] if caption else '',
                    textwrap.dedent(body).strip('\n') + '\n',
                )
            )
    return in_language


def examples(page: str) -> list[Example]:
    """Return the commands on a page, in order."""
    commands = []
    for block in blocks(page, 'console'):
        # What stands before the first prompt would be nobody's output.
        first, *pieces = _PROMPT.split(block.text)
        if first:
            raise ValueError(f'{page}: no prompt in front of "{first}"')
        commands += [_example(piece) for piece in pieces]
    return commands


def _example(piece: str) -> Example:
    """Return the command that a piece of a block begins with.

    :param piece: from behind one prompt to the next.
    """
    lines = piece.splitlines()
    command = [lines.pop(0)]
    while lines and (command[-1].endswith('\\') or lines[0].startswith('>')):
        # A shell prompts for further lines with this.
        command.append(lines.pop(0).removeprefix('> '))
    return Example('\n'.join(command), '\n'.join(lines))


def agrees(shown: str, printed: str) -> bool:
    """Return whether a command printed what a page shows.

    Three dots on the page stand for anything, and white space does not count,
    because the widths of a table depend on what three dots stand for.
    """
    # A table's rules are as wide as its columns.
    rule = re.compile(r'-{2,}')
    return doctest.OutputChecker().check_output(
        rule.sub('--', shown) + '\n',
        rule.sub('--', printed) + '\n',
        doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE,
    )

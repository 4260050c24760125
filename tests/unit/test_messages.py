# SPDX-License-Identifier: Apache-2.0

"""Whatever the packages say to an operator stands on the page for it.

What they say is read from their source: each text there that is a sentence or
a part of one, however it comes to be logged, stored or raised. The tables in a
page's section "Messages and what to do" name it with "..." in the place of
what varies.
"""

import ast
import dataclasses
import re
import unittest
from collections.abc import Iterator

import ddt

from tests import processes

PAGES = processes.ROOT / 'doc' / 'source'
TITLE = 'Messages and what to do'

#: What stands for a value in a text that is read from the source.
HOLE = '\0'

#: What does not hold messages: what is told to Senlin's API and to oslo.config
#: about properties and options, what is told at DEBUG, and the titles of the
#: upgrade checks, which have a test of their own.
_OTHER_CALLS = re.compile(r'(schema\.|common\.WholeNumber$|cfg\.)|.*\.debug$')
_OTHER_NAMES = {'_upgrade_checks', 'display_title', '_ATTACHED'}


@dataclasses.dataclass(frozen=True)
class Source:
    """Where the messages of one page come from.

    :param page: the page.
    :param files: patterns of the modules, below the checkout.
    :param without: patterns of those among them that do not count.
    :param logged: whether only what is logged counts.
    :param parts: texts that never stand alone: parts of other messages, and
        what is no message at all.
    """

    page: str
    files: tuple[str, ...]
    without: tuple[str, ...] = ()
    logged: bool = False
    parts: frozenset[str] = frozenset()


SOURCES = (
    Source(
        'senlin.rst',
        ('senlin_plugins/**/*.py',),
        # The planner's reasons are told by "apportionment"; these two explain
        # them to the shell only.
        without=(
            'senlin_plugins/client/*.py',
            'senlin_plugins/status.py',
            'senlin_plugins/projection.py',
            'senlin_plugins/region_spec.py',
        ),
        parts=frozenset(
            {
                'plans regions',
                'chooses candidates',
                f"{HOLE}' of '{HOLE}",
                # What the specification wants to be said of success.
                'Candidates generated',
            }
        ),
    ),
    Source(
        'nova.rst',
        (
            'nova_filters/filters/*.py',
            'nova_filters/weighers/*.py',
            'nova_filters/conf.py',
            'nova_filters/requirement.py',
            'nova_filters/matching.py',
            'nova_filters/batch.py',
            'nova_filters/judging.py',
            'nova_filters/memory.py',
            'nova_filters/stack_hints.py',
            'nova_filters/stack_map.py',
        ),
        parts=frozenset(
            {
                'the flavor',
                'an aggregate',
                'the aggregates of a host',
                f'aggregate {HOLE}',
                'the flavor has',
                f'aggregate {HOLE} has',
                f'{HOLE} has {HOLE}: {HOLE}',
                f'{HOLE} more',
                'it is not finite',
                # Types in quotation marks.
                'memory.Memory[_Key, Batch]',
                'memory.Memory[_Key, Batch] | None',
            }
        ),
    ),
    Source(
        'heat.rst',
        ('heat_hints/**/*.py',),
        without=('heat_hints/status.py',),
        parts=frozenset(
            {
                'There are no rules',
                'The rules read before stay in force',
                # No caller can reach it.
                'no stack was asked for',
            }
        ),
    ),
    Source(
        'commands.rst',
        ('nova_filters/client/*.py', 'senlin_plugins/client/*.py'),
        logged=True,
    ),
    Source(
        'upgrade-checks.rst',
        (
            'senlin_plugins/status.py',
            'nova_filters/status.py',
            'heat_hints/status.py',
        ),
        parts=frozenset(
            {
                'cluster ' + HOLE,
                'clusters ' + HOLE,
                f' and {HOLE} more',
                'it cannot be read',
            }
        ),
    ),
)


def template(node: ast.AST) -> str | None:
    """Return a text with holes for what varies; None if it is no text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.sub(r'%(\(\w+\))?[sdr]', HOLE, node.value)
    if isinstance(node, ast.JoinedStr):
        return ''.join(
            part.value
            if isinstance(part, ast.Constant) and isinstance(part.value, str)
            else HOLE
            for part in node.values
        )
    return None


def is_sentence(text: str) -> bool:
    """Tell whether a text holds words for people.

    :param text: a text with holes.
    """
    words = re.findall(r'[A-Za-z]{2,}', text)
    return ' ' in text.strip() and len(words) + (HOLE in text) > 1


def is_other(node: ast.AST) -> bool:
    """Tell whether what a node holds is no message."""
    if isinstance(node, ast.Expr):
        # A docstring.
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node]
        names = {ast.unparse(getattr(t, 'target', t)) for t in targets}
        return bool(names & _OTHER_NAMES)
    return isinstance(node, ast.Call) and bool(
        _OTHER_CALLS.match(ast.unparse(node.func))
    )


def is_logged(node: ast.AST) -> bool:
    """Tell whether a node is a call that writes a line of the log."""
    return isinstance(node, ast.Call) and bool(
        re.fullmatch(
            r'(LOG|self\.log)\.(info|warning|error|exception|critical)',
            ast.unparse(node.func),
        )
    )


def texts(tree: ast.AST, logged: bool) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a module, each with its line.

    :param tree: the module.
    :param logged: whether only what is logged counts.
    """
    if is_other(tree):
        return
    if logged:
        for node in ast.walk(tree):
            if is_logged(node):
                yield from texts(node.args[0], False)
        return
    text = template(tree)
    if text is not None and is_sentence(text):
        yield tree.lineno, text
    for child in ast.iter_child_nodes(tree):
        # What stands between the holes has been read with them; a hole may
        # hold a text of its own.
        if not isinstance(tree, ast.JoinedStr) or not isinstance(
            child, ast.Constant
        ):
            yield from texts(child, False)


def said(source: Source) -> dict[str, str]:
    """Return what the modules of a page say, and where.

    :param source: the page and its modules.
    :returns: file and line by text.
    """
    left_out = {
        file
        for pattern in source.without
        for file in processes.ROOT.glob(pattern)
    }
    found: dict[str, str] = {}
    for pattern in source.files:
        for file in sorted(processes.ROOT.glob(pattern)):
            if file not in left_out:
                for line, text in texts(
                    ast.parse(file.read_text('utf-8')), source.logged
                ):
                    place = f'{file.relative_to(processes.ROOT)}:{line}'
                    found.setdefault(text, place)
    return found


def rows(page: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the literals in each row of a page's tables of messages.

    :param page: the page's file name.
    :returns: those of the first column, and those of the others.
    """
    text = (PAGES / page).read_text('utf-8')
    section = re.search(
        rf'^{TITLE}\n([-=~])\1+\n(.*?)(?=^[^\n]+\n\1{{3,}}\n|\Z)',
        text,
        re.M | re.S,
    )
    if section is None:
        return
    for row in re.findall(
        r'^   \* - (.+?)(?=^   \* - |\n\n|\Z)', section[2], re.M | re.S
    ):
        first, *others = re.split(r'^     - ', row, flags=re.M)
        yield literals(first), literals(' '.join(others))


def literals(text: str) -> list[str]:
    """Return what stands in double backquotes, without line breaks."""
    return [
        ' '.join(literal.split())
        for literal in re.findall(r'``(.+?)``(?![`\w])', text, re.S)
    ]


def listed(page: str) -> list[str]:
    """Return the messages that the rows of a page are about.

    :param page: the page's file name.
    :returns: what stands in the first columns.
    """
    return [entry for first, _ in rows(page) for entry in first]


def mentioned(page: str) -> list[str]:
    """Return the messages that a page names anywhere in its tables.

    :param page: the page's file name.
    :returns: those of the first columns, and of the others what is longer
        than a name or an option.
    """
    others = [entry for _, found in rows(page) for entry in found]
    long = [e for e in others if len(re.findall(r'[A-Za-z]{2,}', e)) > 2]
    return listed(page) + long


def finds(entry: str, text: str) -> bool:
    """Tell whether an entry of a table is about a text of the source.

    :param entry: the entry; it may be the beginning of the text.
    :param text: the text, with holes.
    """
    pieces = [re.escape(piece.strip()) for piece in entry.split('...')]
    pattern = '.*'.join(pieces)
    return bool(re.match(pattern, ' '.join(text.split()), re.S))


@ddt.ddt
class MessagesTest(unittest.TestCase):
    @ddt.data(*SOURCES)
    def test_each_message_has_a_row_on_the_page(self, source):
        entries = mentioned(source.page)
        messages = said(source)
        self.assertEqual(set(), source.parts - set(messages))
        missing = [
            f'{place} says "{text.replace(HOLE, "...")}": add a row to '
            f'"{TITLE}" in doc/source/{source.page}'
            for text, place in messages.items()
            if text not in source.parts
            and not any(finds(entry, text) for entry in entries)
        ]
        self.assertEqual([], missing, '\n'.join(['', *missing]))

    @ddt.data(*SOURCES)
    def test_each_row_is_about_a_message_and_tells_it_from_others(
        self, source
    ):
        messages = said(source)
        entries = listed(source.page)
        self.assertTrue(entries)
        for entry in entries:
            found = [text for text in messages if finds(entry, text)]
            self.assertTrue(
                found,
                f'doc/source/{source.page}: nothing says "{entry}" any more',
            )
            self.assertLess(len(found), 4, f'"{entry}" is about all of these')
            self.assertGreater(len(re.findall(r'\w', entry)), 4, entry)

    def test_a_new_message_is_noticed(self):
        tree = ast.parse(
            '"""A docstring is none."""\n'
            "LOG.debug('Neither is this line.')\n"
            "LOG.error('Disk %(name)s is full.', {'name': name})\n"
            "raise Wrong(f'{key} is wrong')\n"
        )
        self.assertEqual(
            [(3, f'Disk {HOLE} is full.'), (4, f'{HOLE} is wrong')],
            list(texts(tree, False)),
        )
        self.assertEqual(
            [(3, f'Disk {HOLE} is full.')], list(texts(tree, True))
        )
        self.assertTrue(finds('Disk ... is full', f'Disk {HOLE} is full.'))
        self.assertFalse(finds('is full', f'Disk {HOLE} is full.'))
        self.assertTrue(finds('... is full', f'Disk {HOLE} is full.'))

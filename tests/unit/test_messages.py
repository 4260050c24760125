# SPDX-License-Identifier: Apache-2.0

"""Whatever the packages say to an operator stands on the page for it.

A message is each text in the source that is a sentence or a part of one,
however it comes to be logged, stored or raised. The tables in a page's section
"Messages and what to do" name it with "..." in the place of what varies.
"""

import ast
import re
import unittest
from collections.abc import Iterator

import ddt

from tests import processes

#: The modules whose messages are on a page. The commands of the shell answer
#: whoever typed them; only what they log is on a page.
SOURCES = {
    'senlin.rst': (
        'senlin_plugins/policies/*.py',
        'senlin_plugins/profiles/*.py',
        *(
            f'senlin_plugins/{name}.py'
            for name in (
                *('conf', 'planning/apportionment'),
                *('planning/selection', 'planning/sizing'),
            )
        ),
    ),
    'nova.rst': (
        'nova_filters/filters/*.py',
        'nova_filters/weighers/*.py',
        'nova_filters/matching/*.py',
        'nova_filters/conf.py',
    ),
    'heat.rst': ('heat_hints/[!s]*.py', 'heat_hints/*/*.py'),
    'upgrade-checks.rst': ('*/status.py', '*/upgrade_check.py'),
    'commands.rst': ('*/commands/*.py',),
}
#: Further pages with tables.
FURTHER = {'heat.rst': 'heat-providers.rst'}
LOGGED_ONLY = 'commands.rst'

#: Texts that never stand alone: parts of other messages, what no caller can
#: reach, and types in quotation marks.
PARTS = {
    'and ... more',
    "type' of 'hooks",
    '... has ...: ...',
    '... more',
    'Candidates generated',
    'The previous rules stay in force',
    'There are no rules',
    'aggregate ...',
    'aggregate ... has',
    'an aggregate',
    'chooses candidates',
    'cluster ...',
    'clusters ...',
    'it cannot be read',
    'it is not finite',
    'memory.Memory[_Key, Batch]',
    'memory.Memory[_Key, Batch] | None',
    'plans regions',
    'quota|no valid host',
    'the aggregates of a host',
    'the flavor',
    'the flavor has',
    'the number of nodes there is ..., and the cap ....',
    'the policy does not name this region.',
}

#: What holds no messages: what is told to Senlin's API and to oslo.config of
#: properties and options, what is told at DEBUG, and names.
_OTHER_CALLS = re.compile(r'(schema\.|WholeNumber$|cfg\.)|.*\.debug$')
_OTHER_NAMES = {'_upgrade_checks', 'display_title', '_ATTACHED'}
_LOGS = re.compile(
    r'(LOG|self\.log)\.(info|warning|error|exception|critical)'
    r'|self\.(warn|tell_no_effect)'
)


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


def texts(node: ast.AST) -> Iterator[str]:
    """Yield the sentences below a node, with "..." for what varies."""
    if is_other(node):
        return
    pieces = [node]
    if isinstance(node, ast.JoinedStr):
        pieces = node.values
        for piece in pieces:
            # What stands in a hole may be a text of its own.
            if not isinstance(piece, ast.Constant):
                yield from texts(piece)
    else:
        for child in ast.iter_child_nodes(node):
            yield from texts(child)
    words = [getattr(piece, 'value', None) for piece in pieces]
    if any(isinstance(word, str) for word in words):
        text = ''.join(w if isinstance(w, str) else '...' for w in words)
        text = re.sub(r'%(\(\w+\))?[sdr]', '...', text)
        count = len(re.findall(r'[A-Za-z]{2,}', text)) + ('...' in text)
        if ' ' in text.strip() and count > 1:
            yield ' '.join(text.split())


def messages(page: str) -> Iterator[str]:
    """Yield the messages of a page's modules."""
    for pattern in SOURCES[page]:
        for file in sorted(processes.ROOT.glob(pattern)):
            tree = ast.parse(file.read_text('utf-8'))
            if page != LOGGED_ONLY:
                yield from texts(tree)
                continue
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and _LOGS.fullmatch(
                    ast.unparse(node.func)
                ):
                    yield from texts(node.args[0])


def listed(page: str) -> Iterator[re.Pattern[str]]:
    """Yield a pattern of the start of each message that a page lists."""
    if page in FURTHER:
        yield from listed(FURTHER[page])
    text = (processes.ROOT / 'doc/source' / page).read_text('utf-8')
    _, _, section = text.partition('\nMessages and what to do\n')
    rows = re.findall(r'^   \* - .*?(?=\n\n|\Z)', section, re.M | re.S)
    for literal in re.findall(r'``(.+?)``(?![`\w])', '\n'.join(rows), re.S):
        # One word is the name of an option or a file.
        if ' ' in literal:
            pieces = ' '.join(literal.split()).split('...')
            pattern = '.*'.join(re.escape(piece.strip()) for piece in pieces)
            yield re.compile(pattern)


@ddt.ddt
class MessagesTest(unittest.TestCase):
    @ddt.data(*SOURCES)
    def test_each_message_has_a_row_on_the_page(self, page):
        patterns = list(listed(page))
        found = set(messages(page))
        self.assertTrue(found)
        missing = {
            text
            for text in found - PARTS
            if not any(p.match(text) for p in patterns)
        }
        self.assertEqual(set(), missing, f'not in the tables of {page}')

# SPDX-License-Identifier: Apache-2.0

"""Make random mistakes in the pure modules, and see that a unit test fails.

The contract in pyproject.toml names the modules. tests/mutants/equal.txt lists
the mistakes that change no behaviour.
"""

import ast
import collections
import concurrent.futures
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
import unittest
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
#: An endless loop ends after so many seconds of one processor, or bytes.
CPU_LIMIT, MEMORY_LIMIT = 60, 4 * 2**30
#: Operators that are mistaken for each other.
PAIRS: tuple[tuple[Any, Any], ...] = (
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.Eq, ast.NotEq),
    (ast.Is, ast.IsNot),
    (ast.In, ast.NotIn),
    (ast.And, ast.Or),
)
OPPOSITE = {**dict(PAIRS), **{second: first for first, second in PAIRS}}


class Mutant(NamedTuple):
    """One mistake: a text in place of a node of the syntax tree."""

    path: str
    node: Any
    text: str
    #: The file, the function, and the source before and after.
    change: str


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in place of a node by mistake."""
    match node:
        case ast.Compare():
            yield from comparisons(node)
        case ast.BoolOp(operator, values):
            yield ast.BoolOp(OPPOSITE[type(operator)](), values)
        case ast.UnaryOp(ast.Not(), operand):
            yield operand
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            yield ast.Constant(value + 1)
        case ast.Return(None | ast.Constant(None | bool())):
            pass
        case ast.Return():
            yield ast.Return(ast.Constant(None))
        case ast.Call(_, [first, *_]) if not isinstance(first, ast.Starred):
            yield first
        case ast.Call():
            yield ast.Constant(None)


def comparisons(node: ast.Compare) -> Iterator[ast.Compare]:
    """Yield a comparison with other operators, one at a time."""
    for number, operator in enumerate(node.ops):
        operators = [*node.ops]
        operators[number] = OPPOSITE[type(operator)]()
        yield ast.Compare(node.left, operators, node.comparators)


def places(
    node: ast.AST, function: str
) -> Iterator[tuple[str, ast.AST, ast.AST]]:
    """Yield the name of a function, a node, and a node in this node."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        function = f'{function}.{node.name}'.lstrip('.')
    for field, value in ast.iter_fields(node):
        if field in ('annotation', 'returns', 'decorator_list'):
            continue
        for child in value if isinstance(value, list) else [value]:
            match child:
                # Python 3.11 does not know where the parts stand; and zip()
                # is strict to find mistakes of another kind.
                case ast.JoinedStr() | ast.keyword('strict'):
                    pass
                case ast.AST():
                    yield function, node, child
                    yield from places(child, function)


def mutants() -> Iterator[Mutant]:
    """Yield all mistakes that can be made in the pure modules."""
    tools = tomllib.loads((ROOT / 'pyproject.toml').read_text())['tool']
    modules = []
    counts: collections.Counter[str] = collections.Counter()
    for contract in tools['importlinter']['contracts']:
        if contract['name'].startswith('Pure modules decide'):
            modules += contract['source_modules']
    for name in [module.replace('.', '/') for module in modules]:
        files = [*ROOT.glob(f'{name}.py'), *ROOT.glob(f'{name}/*.py')]
        for file in sorted(files):
            path = str(file.relative_to(ROOT))
            tree = ast.parse(file.read_bytes())
            for function, parent, node in places(tree, ''):
                for changed in changes(node):
                    change = describe(parent, node, changed)
                    change = f'{path} {function}: {change}'
                    counts[change] += 1
                    if counts[change] > 1:
                        change += f' (number {counts[change]})'
                    yield Mutant(path, node, ast.unparse(changed), change)


def describe(parent: ast.AST, node: ast.AST, changed: Any) -> str:
    """Return the source before and after."""
    if not isinstance(node, ast.Constant):
        return f'{ast.unparse(node)} -> {ast.unparse(changed)}'
    # A number alone does not say where it is.
    before, number = ast.unparse(parent), node.value
    node.value = changed.value
    after = ast.unparse(parent)
    node.value = number
    return f'{before} -> {after}'


def is_killed(mutant: Mutant) -> bool:
    """Tell whether a unit test fails in a copy with a mistake."""
    with tempfile.TemporaryDirectory() as copy:
        hidden = shutil.ignore_patterns('.*')
        shutil.copytree(ROOT, copy, ignore=hidden, dirs_exist_ok=True)
        make(mutant, pathlib.Path(copy, mutant.path))
        python = str(ROOT / '.tox/unit/bin/python')
        command = [python, '-m', 'tools.random_mutants', mutant.path]
        # The copy goes before the editable install, in child processes too.
        folders = {'PYTHONPATH': copy, 'PYTHONWARNINGS': 'ignore'}
        done = subprocess.run(
            command, cwd=copy, env=os.environ | folders, capture_output=True
        )
    return done.returncode != 0


def make(mutant: Mutant, file: pathlib.Path) -> None:
    """Put a mistake into a file, and leave all around it as it is."""
    node = mutant.node
    text = mutant.text
    if isinstance(node, ast.expr):
        text = f'({text})'
    lines = file.read_bytes().splitlines(keepends=True)
    head = lines[node.lineno - 1][: node.col_offset]
    tail = lines[node.end_lineno - 1][node.end_col_offset :]
    lines[node.lineno - 1 : node.end_lineno] = [head, text.encode(), tail]
    file.write_bytes(b''.join(lines))


def run_tests(path: str) -> bool:
    """Run the unit tests until one fails, those nearest to a module first."""
    import hypothesis

    import tests  # noqa: F401

    # What fails need not be made small.
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    steady = hypothesis.settings.get_profile('steady')
    hypothesis.settings.register_profile('mutants', steady, phases=phases)
    hypothesis.settings.load_profile('mutants')
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    module = pathlib.Path(path).with_suffix('').parts
    files = sorted(
        ROOT.glob('tests/unit/**/test_*.py'),
        key=lambda file: (
            file.stem != f'test_{module[-1]}',
            len({*module} - {*file.parts}),
        ),
    )
    for file in files:
        signal.setitimer(signal.ITIMER_PROF, CPU_LIMIT)
        dotted = '.'.join(file.relative_to(ROOT).with_suffix('').parts)
        suite = unittest.defaultTestLoader.loadTestsFromName(dotted)
        result = unittest.TestResult()
        result.failfast = True
        suite.run(result)
        if not result.wasSuccessful():
            print(*result.errors, *result.failures)
            return False
    return True


def main(count: int, seed: int, paths: Sequence[str]) -> bool:
    """Print which mistakes no test notices, of those that a seed chooses.

    :param paths: the files and folders to choose from; none stands for all.
    :returns: whether every mistake was noticed.
    """
    possible = list(mutants())
    # The reason for each stands below it, and is indented.
    lines = (ROOT / 'tests/mutants/equal.txt').read_text().splitlines()
    equal = {line for line in lines if line and line[0] not in '# '}
    outdated = equal.difference(mutant.change for mutant in possible)
    if outdated:
        print('equal.txt lists what cannot be made:', *outdated, sep='\n')
        return False
    if paths:
        possible = [m for m in possible if m.path.startswith(tuple(paths))]
    count = min(count, len(possible))
    chosen = random.Random(seed).sample(possible, count)  # noqa: S311
    tried = [mutant for mutant in chosen if mutant.change not in equal]
    killed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(is_killed, tried)
        for mutant, noticed in zip(tried, results, strict=True):
            killed += noticed
            if not noticed:
                print(
                    f'SURVIVED at line {mutant.node.lineno}: {mutant.change}'
                )
    print(f'{len(chosen) - len(tried)} equal')
    print(f'{killed} of {len(tried)} killed')
    return killed == len(tried)


if __name__ == '__main__':
    sys.exit(not run_tests(sys.argv[1]))

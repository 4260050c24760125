# SPDX-License-Identifier: Apache-2.0

"""Make random mistakes in the pure modules, and see that a unit test fails.

The contract in pyproject.toml names the modules. tests/mutants/equal.txt lists
the mistakes that change no behaviour.
"""

import ast
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
#: What a comparison may be by mistake.
COMPARISONS: dict[type, tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}


class Mutant(NamedTuple):
    """One mistake: a text in place of a node of the syntax tree."""

    path: str
    function: str
    node: Any
    after: str

    def __str__(self) -> str:
        change = f'{ast.unparse(self.node)} -> {self.after}'
        return f'{self.path} {self.function}: {change}'


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in place of a node by mistake."""
    match node:
        case ast.Compare():
            yield from comparisons(node)
        case ast.BoolOp(operator, values):
            is_and = isinstance(operator, ast.And)
            yield ast.BoolOp(ast.Or() if is_and else ast.And(), values)
        case ast.UnaryOp(ast.Not(), operand):
            yield operand
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            yield ast.Constant(value + 1)
        case ast.Return(ast.expr() as value) if not is_none_or_bool(value):
            yield ast.Return(ast.Constant(None))
        case ast.Call(_, [first, *_]) if not isinstance(first, ast.Starred):
            yield first
        case ast.Call():
            yield ast.Constant(None)


def comparisons(node: ast.Compare) -> Iterator[ast.Compare]:
    """Yield a comparison with other operators, one at a time."""
    for number, operator in enumerate(node.ops):
        for mistake in COMPARISONS[type(operator)]:
            operators = [*node.ops]
            operators[number] = mistake()
            yield ast.Compare(node.left, operators, node.comparators)


def is_none_or_bool(node: ast.expr) -> bool:
    """Tell whether returning None instead is no mistake of its own."""
    return isinstance(node, ast.Constant) and isinstance(
        node.value, bool | None
    )


def places(node: ast.AST, function: str) -> Iterator[tuple[str, ast.AST]]:
    """Yield all nodes below a node, each with the function that holds it."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        function = f'{function}.{node.name}'.lstrip('.')
    for field, value in ast.iter_fields(node):
        if field in ('annotation', 'returns', 'decorator_list'):
            continue
        for child in value if isinstance(value, list) else [value]:
            # Python 3.11 does not know where the parts of an f-string stand.
            if isinstance(child, ast.AST) and type(child) is not ast.JoinedStr:
                yield function, child
                yield from places(child, function)


def mutants() -> Iterator[Mutant]:
    """Yield all mistakes that can be made in the pure modules."""
    tools = tomllib.loads((ROOT / 'pyproject.toml').read_text())['tool']
    for contract in tools['importlinter']['contracts']:
        if not contract['name'].startswith('Pure modules decide'):
            continue
        for module in contract['source_modules']:
            name = module.replace('.', '/')
            files = [*ROOT.glob(f'{name}.py'), *ROOT.glob(f'{name}/*.py')]
            for file in sorted(files):
                path = str(file.relative_to(ROOT))
                tree = ast.parse(file.read_bytes())
                for function, node in places(tree, ''):
                    for changed in changes(node):
                        after = ast.unparse(changed)
                        yield Mutant(path, function, node, after)


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
    text = mutant.after
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
    outdated = equal.difference(map(str, possible))
    if outdated:
        print('equal.txt lists what cannot be made:', *outdated, sep='\n')
        return False
    if paths:
        possible = [m for m in possible if m.path.startswith(tuple(paths))]
    count = min(count, len(possible))
    chosen = random.Random(seed).sample(possible, count)  # noqa: S311
    tried = [mutant for mutant in chosen if str(mutant) not in equal]
    killed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(is_killed, tried)
        for mutant, noticed in zip(tried, results, strict=True):
            killed += noticed
            if not noticed:
                print(f'SURVIVED at line {mutant.node.lineno}: {mutant}')
    print(f'{len(chosen) - len(tried)} equal')
    print(f'{killed} of {len(tried)} killed')
    return killed == len(tried)


if __name__ == '__main__':
    sys.exit(not run_tests(sys.argv[1]))

# SPDX-License-Identifier: Apache-2.0

"""Make random mistakes in the pure modules, and see that unit tests fail.

The pure modules are those of the layering contract in ``pyproject.toml``. A
mistake is made in a copy; the unit tests of its package are run there. Some
mistakes change nothing that can be seen, so 100 % are not wanted.
"""

import argparse
import ast
import difflib
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from typing import Any, NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON = ROOT / '.tox' / 'unit' / 'bin' / 'python'
#: A mistake may make a loop endless.
SECONDS = 120
PAIRS = (
    (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn),
    (ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.And, ast.Or),
    (ast.Add, ast.Sub),
)  # fmt: skip
OPERATORS = dict((*PAIRS, *(pair[::-1] for pair in PAIRS)))
#: Arguments that are for the reader, and that no test can see.
UNSEEN = {'frozen', 'slots', 'strict', 'maxsize'}
REMOVABLE = ast.Expr | ast.AugAssign | ast.Raise | ast.Continue | ast.Return


class Mistake(NamedTuple):
    """What a field of a node becomes."""

    line: int
    node: Any
    field: str
    value: Any


def modules() -> list[pathlib.Path]:
    settings = tomllib.loads((ROOT / 'pyproject.toml').read_text())
    contracts = settings['tool']['importlinter']['contracts']
    (pure,) = (c for c in contracts if c['name'].startswith('Pure modules'))
    paths: list[pathlib.Path] = []
    for name in pure['source_modules']:
        path = name.replace('.', '/')
        paths += [*ROOT.glob(f'{path}.py'), *ROOT.glob(f'{path}/*.py')]
    return sorted(paths)


def mistakes(tree: ast.AST) -> Iterator[Mistake]:
    """Yield what may be made wrong in a tree."""
    unseen = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg in UNSEEN
    }
    for node in ast.walk(tree):
        if node in unseen:
            continue
        line = getattr(node, 'lineno', 0)
        match node:
            case ast.Compare(ops=[operator]) if type(operator) in OPERATORS:
                yield Mistake(line, node, 'ops', [OPERATORS[type(operator)]()])
            case ast.BoolOp() | ast.BinOp() if type(node.op) in OPERATORS:
                yield Mistake(line, node, 'op', OPERATORS[type(node.op)]())
            case ast.Constant(value=bool() | int() | float() as value):
                other = not value if isinstance(value, bool) else value + 1
                yield Mistake(line, node, 'value', other)
            case ast.If() | ast.IfExp() | ast.While():
                negated = ast.UnaryOp(ast.Not(), node.test)
                yield Mistake(line, node, 'test', negated)
        if isinstance(node, ast.FunctionDef | ast.For | ast.If | ast.While):
            yield from removals(node)


def removals(node: ast.AST) -> Iterator[Mistake]:
    """Yield the statements that may be removed from a node."""
    for field in 'body', 'orelse':
        statements = getattr(node, field, [])
        for place, statement in enumerate(statements):
            # A docstring and a constant have nothing to remove.
            constant = isinstance(getattr(statement, 'value', 0), ast.Constant)
            if isinstance(statement, REMOVABLE) and not constant:
                fewer = [*statements]
                fewer[place] = ast.Pass()
                yield Mistake(statement.lineno, node, field, fewer)


def notice(copy: str, package: str) -> bool:
    """Tell whether a unit test of a package fails in a copy."""
    options = f'-W ignore -m unittest discover -f -s tests/unit/{package} -t .'
    variables = {'PYTHONPATH': copy, 'PYTHONDONTWRITEBYTECODE': '1'}
    try:
        done = subprocess.run(
            [PYTHON, *options.split()],
            cwd=copy, env=os.environ | variables,
            capture_output=True, timeout=SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def kill(copy: str, path: pathlib.Path, number: int) -> bool:
    """Make a mistake in a copy; print it if no test notices it."""
    text = path.read_text()
    tree = ast.parse(text)
    before = ast.unparse(tree).splitlines()
    mistake = [*mistakes(tree)][number]
    setattr(mistake.node, mistake.field, mistake.value)
    after = ast.unparse(tree).splitlines()
    name = path.relative_to(ROOT)
    mutant = pathlib.Path(copy, name)
    mutant.write_text('\n'.join(after))
    noticed = notice(copy, name.parts[0])
    mutant.write_text(text)
    if not noticed:
        print(f'{name}:{mistake.line}')
        lines = difflib.ndiff(before, after)
        print(*(f'    {line}' for line in lines if line[0] in '-+'), sep='\n')
    return noticed


def main() -> None:
    """Draw mistakes, and print how many were noticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--random', type=int, default=200, metavar='N')
    parser.add_argument('--seed', type=int, default=1)
    args = parser.parse_args()
    paths = modules()
    possible = []
    for path in paths:
        there = [*mistakes(ast.parse(path.read_text()))]
        possible += [(path, number) for number in range(len(there))]
    chance = random.Random(args.seed)  # noqa: S311
    drawn = chance.sample(possible, min(args.random, len(possible)))
    with tempfile.TemporaryDirectory() as copy:
        hidden = shutil.ignore_patterns('.*', '__pycache__')
        shutil.copytree(ROOT, copy, ignore=hidden, dirs_exist_ok=True)
        for package in {path.relative_to(ROOT).parts[0] for path in paths}:
            if notice(copy, package):
                sys.exit(f'The tests of {package} fail without a mistake.')
        killed = sum(kill(copy, path, number) for path, number in drawn)
    share = 100 * killed / len(drawn)
    print(f'{killed} of {len(drawn)} killed, {share:.1f} %')


if __name__ == '__main__':
    main()

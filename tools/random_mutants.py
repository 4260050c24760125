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
import re
import shutil
import subprocess
import tempfile
import tomllib
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
#: An endless loop ends after so many seconds of one processor, or bytes.
LIMITS = ('prlimit', '--cpu=100', '--as=4294967296')
#: Operators that are mistaken for each other.
OPPOSITE: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.Gt: ast.GtE,
    ast.Eq: ast.NotEq,
    ast.Is: ast.IsNot,
    ast.In: ast.NotIn,
    ast.And: ast.Or,
}
OPPOSITE |= {second: first for first, second in OPPOSITE.items()}
#: Arguments that only help to find mistakes of another kind.
GUARDS = ('frozen', 'slots', 'strict')


def mistake_for(node: ast.AST) -> ast.AST | None:
    """Return what may stand in place of a node by mistake, if anything."""
    match node:
        case ast.cmpop() | ast.boolop():
            return OPPOSITE[type(node)]()
        case ast.UnaryOp(ast.Not(), operand):
            return operand
        case ast.Constant(bool() as value):
            return ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            return ast.Constant(value + 1)
        case ast.Return(None | ast.Constant()):
            return None
        case ast.Return():
            return ast.Return(ast.Constant(None))
        case ast.Call(_, [first, *_]) if not isinstance(first, ast.Starred):
            return first
        case ast.Call():
            return ast.Constant(None)
    return None


class Mutant(ast.NodeTransformer):
    """A module with the mistake of a number; 0 is no mistake."""

    def __init__(self, path: str, number: int) -> None:
        self.path = path
        self.number = number
        #: How many mistakes can be made.
        self.count = 0
        tree = ast.parse((ROOT / path).read_text())
        self.original = ast.unparse(tree)
        self.source = ast.unparse(self.visit(tree))

    def visit(self, node: ast.AST) -> Any:
        """Return what stands in place of a node."""
        if isinstance(node, ast.keyword) and node.arg in GUARDS:
            return node
        mistake = mistake_for(node)
        if mistake:
            self.count += 1
            if self.count == self.number:
                return mistake
        return self.generic_visit(node)

    def name(self) -> str:
        """Return the file, the definition, and the line before and after."""
        lines = self.original.splitlines()
        changed_lines = self.source.splitlines()
        number = 0
        while lines[number] == changed_lines[number]:
            number += 1
        above = '\n'.join(lines[: number + 1])
        definition = re.findall(r'(?:def|class) (\w+)', above)[-1:]
        place = ' '.join([self.path, *definition])
        before, after = lines[number].strip(), changed_lines[number].strip()
        return f'{place}\n- {before}\n+ {after}\n'

    def is_killed(self) -> bool:
        """Tell whether a unit test fails in a copy; the nearest run first."""
        folder, name = os.path.split(self.path)
        nearest = ROOT / f'tests/unit/{folder}/test_{name}'
        tests = sorted(
            ROOT.glob('tests/unit/**/test_*.py'),
            key=lambda test: -len(os.path.commonpath([test, nearest])),
        )
        python = str(ROOT / '.tox/unit/bin/python')
        command = [*LIMITS, python, '-m', 'unittest', '-f']
        command += [str(test.relative_to(ROOT)) for test in tests]
        package = self.path.partition('/')[0]
        with tempfile.TemporaryDirectory() as copy:
            for entry in ROOT.glob('[!.]*'):
                os.symlink(entry, f'{copy}/{entry.name}')
            os.unlink(f'{copy}/{package}')
            shutil.copytree(ROOT / package, f'{copy}/{package}')
            pathlib.Path(copy, self.path).write_text(self.source)
            # The copy goes before the editable install, in children too.
            variables = {'PYTHONPATH': copy, 'OPP_SHRINK': 'no'}
            done = subprocess.run(
                command,
                cwd=copy,
                env=os.environ | variables,
                capture_output=True,
            )
        return done.returncode != 0


def pure_modules() -> list[str]:
    """Return the path of each pure module."""
    tools = tomllib.loads((ROOT / 'pyproject.toml').read_text())['tool']
    files = []
    for contract in tools['importlinter']['contracts']:
        if contract['name'].startswith('Pure modules decide'):
            for module in contract['source_modules']:
                path = module.replace('.', '/')
                files += [*ROOT.glob(f'{path}.py'), *ROOT.glob(f'{path}/*.py')]
    return sorted(str(file.relative_to(ROOT)) for file in files)


def main(count: int, seed: int, folders: list[str]) -> bool:
    """Print which mistakes no test notices, of those that a seed chooses.

    :param folders: the files and folders to choose from; none stands for all.
    :returns: whether every mistake was noticed.
    """
    equal = (ROOT / 'tests/mutants/equal.txt').read_text()
    for entry in equal.split('\n\n')[1:]:
        place, before = entry.splitlines()[:2]
        if before[2:] not in Mutant(place.split()[0], 0).original:
            raise SystemExit(f'equal.txt lists what cannot be made:\n{entry}')
    possible = []
    for path in pure_modules():
        if not folders or path.startswith(tuple(folders)):
            numbers = range(1, Mutant(path, 0).count + 1)
            possible += [(path, number) for number in numbers]
    if not possible:
        raise SystemExit(f'There is no pure module in {" ".join(folders)}.')
    chance = random.Random(seed)  # noqa: S311
    chosen = chance.sample(possible, min(count, len(possible)))
    mutants = [Mutant(path, number) for path, number in chosen]
    tried = [mutant for mutant in mutants if mutant.name() not in equal]
    killed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        failing = pool.submit(Mutant(path, 0).is_killed)
        results = pool.map(Mutant.is_killed, tried)
        for mutant, is_killed in zip(tried, results, strict=True):
            killed += is_killed
            if not is_killed:
                print(f'SURVIVED: {mutant.name()}')
    if failing.result():
        raise SystemExit('The unit tests fail without a mistake, too.')
    print(f'{len(mutants) - len(tried)} equal')
    print(f'{killed} of {len(tried)} killed')
    return killed == len(tried)

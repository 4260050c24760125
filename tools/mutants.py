# SPDX-License-Identifier: Apache-2.0

"""Make each mistake of tests/mutants in a copy, and see that a test fails.

Above its diff, a patch says what goes wrong, which ``tests:`` notice it, and
in which ``env:`` of tox if that is not ``unit``. The tests must pass without
the mistake; --quick does not look.
"""

import argparse
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


@functools.cache
def run(env: str, tests: str, patch: pathlib.Path | None = None) -> str:
    """Return the first test that fails in a copy; empty if all pass."""
    with tempfile.TemporaryDirectory() as copy:
        hidden = shutil.ignore_patterns('.*')
        shutil.copytree(ROOT, copy, ignore=hidden, dirs_exist_ok=True)
        if patch:
            subprocess.run(['git', 'apply', patch], cwd=copy, check=True)
        python = str(ROOT / '.tox' / env / 'bin' / 'python')
        command = [python, '-m', 'unittest', '-f', *tests.split()]
        # The copy goes before the editable install, in child processes too.
        variables = {'PYTHONPATH': copy, 'PYTHONWARNINGS': 'ignore'}
        done = subprocess.run(
            command,
            cwd=copy,
            env=os.environ | variables,
            capture_output=True,
        )
    output = done.stderr.decode()
    failed = re.findall('(?m)^(?:FAIL|ERROR): (.*)', output)
    if '_FailedTest' in output or not re.search('(?m)^Ran [1-9]', output):
        raise ValueError(f'the tests could not run: {output[-999:]}')
    return str(failed[0]) if failed else ''


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument('name', nargs='*', help='a mistake; default: all')
parser.add_argument('--quick', action='store_true', help='trust the tests')
args = parser.parse_args()
patches = sorted(ROOT.glob('tests/mutants/*.patch'))
unknown = {*args.name} - {patch.stem for patch in patches}
if unknown:
    parser.error(f'tests/mutants has no {", ".join(sorted(unknown))}')
if args.name:
    patches = [patch for patch in patches if patch.stem in args.name]
killed = 0
for number, patch in enumerate(patches, 1):
    words = dict(re.findall('(?m)^(env|tests): (.*)', patch.read_text()))
    where = words.get('env', 'unit'), words['tests']
    try:
        broken = '' if args.quick else run(*where)
        if broken:
            verdict = f'{broken} fails without it'
        else:
            verdict = run(*where, patch)
            killed += bool(verdict)
    except (ValueError, subprocess.CalledProcessError) as exc:
        verdict = str(exc)
    print(f'{number}/{len(patches)} {patch.stem}: {verdict or "SURVIVED"}')
print(f'{killed} of {len(patches)} killed')
sys.exit(killed < len(patches))

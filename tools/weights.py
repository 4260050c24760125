# SPDX-License-Identifier: Apache-2.0

"""The seconds that classes of tests take, the same for each run.

stestr balances its workers by the times of the last run. Then a worker would
have other classes in each run, and a failure could not be repeated. So
``tests/weights.json`` stands in: one test of each class that takes long, with
the seconds of the whole class. Old numbers only cost time::

    python -m tools.weights FOLDER  # before each run of an environment
    python -m tools.weights         # write the file anew from what has run
"""

import collections
import dbm.dumb
import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WEIGHTS = ROOT / 'tests/weights.json'
#: Classes that take less time, in seconds, can be anywhere.
LEAST = 8.0


def give(environment: pathlib.Path) -> None:
    """Give the repository of stestr the weights, and no other times."""
    repository = environment / '.stestr'
    if not repository.exists():
        repository.mkdir()
        (repository / 'format').write_text('1\n')
        (repository / 'next-stream').write_text('0\n')
    with dbm.dumb.open(str(repository / 'times.dbm'), 'n') as times:
        for test, seconds in json.loads(WEIGHTS.read_text()).items():
            times[test] = str(seconds)


def keep() -> None:
    """Write down what the tests of all environments took last."""
    # Class -> its seconds where it took longest, and one of its tests.
    longest: dict[str, tuple[float, str]] = {}
    for repository in (ROOT / '.tox').glob('*/.stestr'):
        classes: dict[str, dict[str, float]] = collections.defaultdict(dict)
        with dbm.dumb.open(str(repository / 'times.dbm'), 'r') as times:
            for test, seconds in times.items():
                name = os.fsdecode(test)
                # The cloud's run one after the other.
                if name.startswith(('tests.functional', 'tests.unit')):
                    classes[name.rpartition('.')[0]][name] = float(seconds)
        for name, tests in classes.items():
            latest = round(sum(tests.values()), 1), min(tests)
            longest[name] = max(latest, longest.get(name, latest))
    weights = {
        test: seconds for seconds, test in longest.values() if seconds >= LEAST
    }
    WEIGHTS.write_text(json.dumps(weights, indent=0, sort_keys=True) + '\n')


if __name__ == '__main__':
    if sys.argv[1:]:
        give(pathlib.Path(sys.argv[1]))
    else:
        keep()

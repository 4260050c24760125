# SPDX-License-Identifier: Apache-2.0

"""Time ``openstack aggregate filter explain`` on a large cloud's files.

``python -m benchmarks.explain`` writes the files of a random cloud, and runs
the real shell in processes of its own: the command, and beside it
``openstack complete``, which does nothing but start the shell. It needs
python-openstackclient, such as in the environment ``.tox/client``.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
from typing import Any

SEED = 20_261_121
REPEATS = 3
#: How many of the hosts each aggregate has; each host is in some ten.
SHARE = 20
_KEYS = tuple(f'k{number}' for number in range(10))
_VALUES = ('1', '2', '<or> 1 <or> 2', '*', '>= 2', '<or> 1 <or> ~')


def write(folder: pathlib.Path, hosts: int, aggregates: int) -> list[str]:
    """Write the files of a random cloud.

    :param aggregates: the number of aggregates, every other one forced.
    :returns: the options that read the files.
    """
    rng = random.Random(SEED)
    names = [f'compute-{number}' for number in range(hosts)]
    files: dict[str, list[dict[str, Any]]] = {
        'hosts': [{'Host': name} for name in names],
        'aggregates': [],
    }
    for number in range(aggregates):
        metadata = {key: rng.choice(_VALUES) for key in rng.sample(_KEYS, 4)}
        if number % 2:
            metadata['force_metadata_check'] = 'True'
        members = rng.sample(names, max(1, hosts // SHARE))
        files['aggregates'].append(
            {'Name': f'a{number}', 'Properties': metadata, 'Hosts': members}
        )
    extra_specs = {key: rng.choice(_VALUES) for key in _KEYS[:4]}
    files['flavors'] = [{'Name': 'flavor', 'Properties': extra_specs}]
    options = []
    for option, data in files.items():
        file = folder / f'{option}.json'
        file.write_text(json.dumps(data))
        options += [f'--{option}', str(file)]
    return options


def run(*words: str) -> tuple[float, float, str]:
    """Run a command of the shell.

    :param words: the words after ``openstack``.
    :returns: the best of some runs: seconds on the clock, seconds of
        processor time, and what the command printed.
    """
    command = [sys.executable, '-W', 'ignore', '-m', 'openstackclient.shell']
    best = []
    for _ in range(REPEATS):
        before, started = os.times(), time.perf_counter()
        result = subprocess.run(  # noqa: S603
            [*command, *words], capture_output=True, text=True, check=True
        )
        elapsed, after = time.perf_counter() - started, os.times()
        spent = after.children_user - before.children_user
        spent += after.children_system - before.children_system
        best.append((elapsed, spent, result.stdout))
    return min(best)


def main(argv: list[str] | None = None) -> int:
    """Time the command and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--hosts', type=int, default=1_000)
    parser.add_argument('--aggregates', type=int, default=200)
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix='opp-explain-') as folder:
        options = write(pathlib.Path(folder), args.hosts, args.aggregates)
        words = ['aggregate', 'filter', 'explain', 'flavor', '-f', 'json']
        elapsed, spent, output = run(*words, *options)
    rows = json.loads(output)
    refused = sum(row['Result'] == 'refuse' for row in rows)
    start_elapsed, start_spent, _ = run('complete')
    print(
        f'{len(rows)} hosts ({refused} refused), {args.aggregates} '
        f'aggregates: {elapsed:.2f} s, of them {spent:.2f} s of processor '
        f'time; starting the shell alone: {start_elapsed:.2f} s, '
        f'{start_spent:.2f} s'
    )
    return 0


if __name__ == '__main__':
    sys.exit(main())

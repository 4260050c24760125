# SPDX-License-Identifier: Apache-2.0

"""Time the commands of the filter on a large cloud's files.

``python -m benchmarks.commands`` writes the files of two random clouds, and
runs the real shell in processes of its own, beside it ``openstack complete``,
which does nothing but start the shell. It needs python-openstackclient, such
as in the environment ``.tox/client``.

racks: each host is in a zone, in a rack and in an aggregate or two for its
hardware; one host in ten is in a forced aggregate.
scattered: each host is in some 25 aggregates of random keys, a quarter of them
forced, so that no two hosts are in the same ones.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from benchmarks import common

SEED = 20_261_121
_KEYS = tuple(f'k{number}' for number in range(10))
_VALUES = ('1', '2', '<or> 1 <or> 2', '*', '>= 2', '<or> 1 <or> ~')
_SCOPE = 'aggregate_instance_extra_specs:'
COMMANDS = ('explain --summary', 'lint', 'impact --replace-in-tree')

#: An aggregate's metadata and hosts.
Aggregate = tuple[dict[str, str], list[str]]


def racks(
    rng: random.Random, names: list[str], number: int
) -> list[Aggregate]:
    """Return aggregates as operators have them."""
    zones, forced, hardware = 5, number // 5, number // 4
    made: list[Aggregate] = [
        ({'availability_zone': f'zone-{n}'}, names[n::zones])
        for n in range(zones)
    ]
    rest = number - zones - forced - hardware
    made += [({'rack': f'r{n}'}, names[n::rest]) for n in range(rest)]
    for _ in range(hardware):
        metadata = {key: rng.choice('12') for key in rng.sample(_KEYS, 2)}
        share = min(len(names), 2 * len(names) // hardware)
        made.append((metadata, rng.sample(names, share)))
    for _ in range(forced):
        metadata = {rng.choice(_KEYS): rng.choice(_VALUES)}
        metadata['force_metadata_check'] = 'True'
        share = max(1, len(names) // (10 * forced))
        made.append((metadata, rng.sample(names, share)))
    return made


def scattered(
    rng: random.Random, names: list[str], number: int
) -> list[Aggregate]:
    """Return aggregates that have nothing to do with each other."""
    made = []
    for place in range(number):
        metadata = {key: rng.choice(_VALUES) for key in rng.sample(_KEYS, 2)}
        if place % 4 == 0:
            metadata['force_metadata_check'] = 'True'
        made.append((metadata, rng.sample(names, max(1, len(names) // 20))))
    return made


def write(
    folder: pathlib.Path,
    shape: Callable[[random.Random, list[str], int], list[Aggregate]],
    args: argparse.Namespace,
) -> list[str]:
    """Write the files of a random cloud.

    :returns: the options that read the files.
    """
    rng = random.Random(SEED)
    names = [f'compute-{number}' for number in range(args.hosts)]
    service = {'Binary': 'nova-compute', 'Status': 'enabled', 'State': 'up'}
    files: dict[str, list[dict[str, Any]]] = {
        'hosts': [{**service, 'Host': name} for name in names],
        'aggregates': [
            {'Name': f'a{place}', 'Properties': metadata, 'Hosts': members}
            for place, (metadata, members) in enumerate(
                shape(rng, names, args.aggregates)
            )
        ],
        'flavors': [
            {
                'Name': f'f{number}',
                'Properties': {
                    _SCOPE + key: rng.choice(_VALUES)
                    for key in rng.sample(_KEYS, rng.randint(0, 3))
                },
            }
            for number in range(args.flavors)
        ],
    }
    options = []
    for option, data in files.items():
        file = folder / f'{option}.json'
        file.write_text(json.dumps(data))
        options += [f'--{option}', str(file)]
    return options


def run(*words: str) -> tuple[float, float]:
    """Run a command of the shell.

    :param words: the words after ``openstack``.
    :returns: seconds of processor time, which other programs do not change
        much, and MB of memory at the most.
    """
    command = [sys.executable, '-W', 'ignore', '-m', 'openstackclient.shell']
    child = subprocess.Popen(  # noqa: S603
        [*command, *words], stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(child.pid, 0)
    # Findings end with 2.
    if os.waitstatus_to_exitcode(status) not in (0, 2):
        raise common.BenchmarkError(' '.join(words))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> int:
    """Time the commands and print what they took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--flavors', type=int, default=200)
    parser.add_argument('--hosts', type=int, default=5_000)
    parser.add_argument('--aggregates', type=int, default=500)
    args = parser.parse_args()
    rows = [('', 'openstack complete', *run('complete'))]
    for shape in (racks, scattered):
        with tempfile.TemporaryDirectory(prefix='opp-commands-') as folder:
            options = write(pathlib.Path(folder), shape, args)
            for words in COMMANDS:
                command = ('aggregate', 'filter', *words.split(), *options)
                rows.append((shape.__name__, words, *run(*command)))
    print(
        f'{args.flavors} flavors, {args.hosts} hosts, '
        f'{args.aggregates} aggregates'
    )
    print(
        common.table(
            ('Cloud', 'Command', 's', 'MB'),
            [
                (*names, f'{took:.1f}', f'{mb:.0f}')
                for *names, took, mb in rows
            ],
            left='Command',
        )
    )
    return 0


if __name__ == '__main__':
    sys.exit(main())

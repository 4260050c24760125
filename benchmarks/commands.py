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
FLAVORS, HOSTS, AGGREGATES = 200, 5_000, 500
NAMES = [f'compute-{number}' for number in range(HOSTS)]
_KEYS = tuple(f'k{number}' for number in range(10))
_VALUES = ('1', '2', '<or> 1 <or> 2', '*', '>= 2', '<or> 1 <or> ~')
_SCOPE = 'aggregate_instance_extra_specs:'
COMMANDS = ('explain --summary', 'lint', 'impact --replace-in-tree')

#: An aggregate's metadata and hosts.
Aggregate = tuple[dict[str, str], list[str]]


def racks(rng: random.Random) -> list[Aggregate]:
    """Return aggregates as operators have them."""
    zones, forced, hardware = 5, AGGREGATES // 5, AGGREGATES // 4
    rest = AGGREGATES - zones - forced - hardware
    made: list[Aggregate] = [
        *(
            ({'availability_zone': f'zone-{n}'}, NAMES[n::zones])
            for n in range(zones)
        ),
        *(({'rack': f'r{n}'}, NAMES[n::rest]) for n in range(rest)),
    ]
    for _ in range(hardware):
        metadata = {key: rng.choice('12') for key in rng.sample(_KEYS, 2)}
        made.append((metadata, rng.sample(NAMES, 2 * HOSTS // hardware)))
    for _ in range(forced):
        metadata = {rng.choice(_KEYS): rng.choice(_VALUES)}
        metadata['force_metadata_check'] = 'True'
        made.append((metadata, rng.sample(NAMES, HOSTS // (10 * forced))))
    return made


def scattered(rng: random.Random) -> list[Aggregate]:
    """Return aggregates that have nothing to do with each other."""
    made = []
    for place in range(AGGREGATES):
        metadata = {key: rng.choice(_VALUES) for key in rng.sample(_KEYS, 2)}
        if place % 4 == 0:
            metadata['force_metadata_check'] = 'True'
        made.append((metadata, rng.sample(NAMES, HOSTS // 20)))
    return made


def write(
    folder: pathlib.Path, shape: Callable[[random.Random], list[Aggregate]]
) -> list[str]:
    """Write the files of a random cloud; return the options to read them."""
    rng = random.Random(SEED)
    service = {'Binary': 'nova-compute', 'Status': 'enabled', 'State': 'up'}
    files: dict[str, list[dict[str, Any]]] = {
        'hosts': [{**service, 'Host': name} for name in NAMES],
        'aggregates': [
            {'Name': f'a{place}', 'Properties': metadata, 'Hosts': members}
            for place, (metadata, members) in enumerate(shape(rng))
        ],
        'flavors': [
            {
                'Name': f'f{number}',
                'Properties': {
                    _SCOPE + key: rng.choice(_VALUES)
                    for key in rng.sample(_KEYS, rng.randint(0, 3))
                },
            }
            for number in range(FLAVORS)
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


def main() -> None:
    """Time the commands and print what they took."""
    rows = [('', 'openstack complete', *run('complete'))]
    for shape in (racks, scattered):
        with tempfile.TemporaryDirectory(prefix='opp-commands-') as folder:
            options = write(pathlib.Path(folder), shape)
            for words in COMMANDS:
                command = ('aggregate', 'filter', *words.split(), *options)
                rows.append((shape.__name__, words, *run(*command)))
    print(f'{FLAVORS} flavors, {HOSTS} hosts, {AGGREGATES} aggregates')
    cells = [(*names, f'{s:.1f}', f'{mb:.0f}') for *names, s, mb in rows]
    print(common.table(('Cloud', 'Command', 's', 'MB'), cells, 'Command'))


if __name__ == '__main__':
    main()

# SPDX-License-Identifier: Apache-2.0

"""Time the commands of the filter on a large cloud's files.

``python -m benchmarks.commands`` writes the files of a random cloud, and runs
the real shell in processes of its own, beside it ``openstack complete``, which
does nothing but start the shell. It needs python-openstackclient, such as in
the environment ``.tox/client``.

Each host is in some 25 aggregates of random keys, a quarter of them forced, so
that no two hosts are in the same ones. A cloud of zones, racks and aggregates
for hardware takes less.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from benchmarks import common

SEED = 20_261_121
FLAVORS, HOSTS, AGGREGATES, SERVERS = 200, 5_000, 500, 20_000
NAMES = [f'compute-{number}' for number in range(HOSTS)]
_KEYS = tuple(f'k{number}' for number in range(10))
_VALUES = ('1', '2', '<or> 1 <or> 2', '*', '>= 2', '<or> 1 <or> ~')
_SCOPE = 'aggregate_instance_extra_specs:'
#: Each command, and the files that it reads.
COMMANDS = {
    'explain --summary': ('flavors', 'aggregates', 'hosts'),
    'lint': ('flavors', 'aggregates', 'hosts'),
    'audit': ('aggregates', 'hosts', 'servers'),
}


def aggregates(rng: random.Random) -> Iterator[dict[str, Any]]:
    """Yield aggregates that have nothing to do with each other."""
    for place in range(AGGREGATES):
        metadata = {key: rng.choice(_VALUES) for key in rng.sample(_KEYS, 2)}
        if place % 4 == 0:
            metadata['force_metadata_check'] = 'True'
        members = rng.sample(NAMES, HOSTS // 20)
        yield {'Name': f'a{place}', 'Properties': metadata, 'Hosts': members}


def flavors(rng: random.Random) -> Iterator[dict[str, Any]]:
    """Yield flavors with up to three extra specs."""
    for number in range(FLAVORS):
        keys = rng.sample(_KEYS, rng.randint(0, 3))
        extra_specs = {_SCOPE + key: rng.choice(_VALUES) for key in keys}
        yield {'Name': f'f{number}', 'Properties': extra_specs}


def servers(
    rng: random.Random, rows: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield servers of these flavors on any hosts."""
    for number in range(SERVERS):
        flavor = rng.choice(rows)
        yield {
            'id': f'id-{number}',
            'name': f's{number}',
            'OS-EXT-SRV-ATTR:host': rng.choice(NAMES),
            'flavor': {
                'original_name': flavor['Name'],
                'extra_specs': flavor['Properties'],
            },
        }


def write(folder: pathlib.Path) -> dict[str, list[str]]:
    """Write the files of a random cloud; return the options to read them."""
    rng = random.Random(SEED)
    service = {'Binary': 'nova-compute', 'Status': 'enabled', 'State': 'up'}
    files = {
        'hosts': [{**service, 'Host': name} for name in NAMES],
        'aggregates': [*aggregates(rng)],
        'flavors': [*flavors(rng)],
    }
    files['servers'] = [*servers(rng, files['flavors'])]
    options = {}
    for noun, data in files.items():
        file = folder / f'{noun}.json'
        file.write_text(json.dumps(data))
        options[noun] = [f'--{noun}', str(file)]
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
    rows = [('openstack complete', *run('complete'))]
    with tempfile.TemporaryDirectory(prefix='opp-commands-') as folder:
        options = write(pathlib.Path(folder))
        for words, nouns in COMMANDS.items():
            command = ['aggregate', 'filter', *words.split()]
            for noun in nouns:
                command += options[noun]
            rows.append((words, *run(*command)))
    print(
        f'{FLAVORS} flavors, {HOSTS} hosts, {AGGREGATES} aggregates, '
        f'{SERVERS} servers'
    )
    cells = [(name, f'{s:.1f}', f'{mb:.0f}') for name, s, mb in rows]
    print(common.table(('Command', 's', 'MB'), cells, 'Command'))


if __name__ == '__main__':
    main()

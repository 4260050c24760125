# SPDX-License-Identifier: Apache-2.0

"""Time the commands of the filter on a large cloud's files.

``python -m benchmarks.commands`` writes the files of a random cloud, and runs
the real shell in processes of its own. It also runs ``openstack server list
--help`` with and without the entry points of this package. It needs
python-openstackclient, such as in the environment ``.tox/client``.

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
    'explain f1 f2 f3': ('flavors', 'aggregates', 'hosts'),
    'lint': ('flavors', 'aggregates', 'hosts'),
    'audit': ('aggregates', 'hosts', 'servers'),
}
#: How often the shell's help is asked for on each side.
ROUNDS = 15
#: Runs the shell; with the argument "without", no program sees the entry
#: points of this package.
_SHELL = """
import importlib.metadata, sys
if sys.argv.pop(1) == 'without':
    discover = importlib.metadata.Distribution.discover
    importlib.metadata.Distribution.discover = lambda **kwargs: (
        distribution for distribution in discover(**kwargs)
        if distribution.name.replace('_', '-') != 'os-placement-plugins'
    )
from openstackclient import shell
sys.exit(shell.main(sys.argv[1:]))
"""


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


def run(side: str, cache: pathlib.Path, *words: str) -> tuple[float, float]:
    """Run a command of the shell.

    :param side: "with" or "without" this package's entry points.
    :param cache: the folder in which stevedore keeps the entry points.
    :param words: the words after ``openstack``.
    :returns: seconds of processor time, which other programs do not change
        much, and MB of memory at the most.
    """
    command = [sys.executable, '-W', 'ignore', '-c', _SHELL, side, *words]
    child = subprocess.Popen(  # noqa: S603
        command,
        stdout=subprocess.DEVNULL,
        env={**os.environ, 'XDG_CACHE_HOME': str(cache / side)},
    )
    _, status, usage = os.wait4(child.pid, 0)
    # Errors that lint finds end with 2.
    fine = (0, 2) if 'lint' in words else (0,)
    if os.waitstatus_to_exitcode(status) not in fine:
        raise common.BenchmarkError(' '.join(words))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def time_help(cache: pathlib.Path) -> dict[str, float]:
    """Return the processor time of the shell's help, by side.

    The sides take turns. The quickest run of each side counts.
    """
    seconds: dict[str, list[float]] = {'with': [], 'without': []}
    for _ in range(ROUNDS):
        for side, runs in seconds.items():
            runs.append(run(side, cache, 'server', 'list', '--help')[0])
    return {side: min(runs) for side, runs in seconds.items()}


def main() -> None:
    """Time the commands and print what they took."""
    rows = []
    with tempfile.TemporaryDirectory(prefix='opp-commands-') as name:
        folder = pathlib.Path(name)
        options = write(folder)
        help_seconds = time_help(folder)
        for words, nouns in COMMANDS.items():
            command = ['aggregate', 'filter', *words.split()]
            for noun in nouns:
                command += options[noun]
            rows.append((words, *run('with', folder, *command)))
    print(
        f'{FLAVORS} flavors, {HOSTS} hosts, {AGGREGATES} aggregates, '
        f'{SERVERS} servers'
    )
    cells = [(name, f'{s:.1f}', f'{mb:.0f}') for name, s, mb in rows]
    print(common.table(('Command', 's', 'MB'), cells, 'Command'))
    print(
        f'openstack server list --help: {help_seconds["with"]:.3f} s with '
        f'this package, {help_seconds["without"]:.3f} s without'
    )


if __name__ == '__main__':
    main()

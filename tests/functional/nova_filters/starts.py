# SPDX-License-Identifier: Apache-2.0

"""Start nova-scheduler on the files in a home folder, as an operator does."""

import functools
import json
import pathlib
import sys

from testing import subprocesses
from tests import processes

#: Loads Nova once. Then it starts nova-scheduler in a process of its own for
#: each home folder, up to the moment at which it would serve requests.
SERVER = """
import importlib, json, logging, os, pkgutil, signal, sys
from unittest import mock
# The module of the program comes first: it chooses Nova's concurrency.
from nova.cmd import scheduler
from nova import config, objects
from nova.scheduler import host_manager
for name in ('nova.scheduler.filters', 'nova.scheduler.weights'):
    package = importlib.import_module(name)
    for part in pkgutil.walk_packages(package.__path__, f'{name}.'):
        importlib.import_module(part.name)
for line in sys.stdin:
    reading, writing = os.pipe()
    if not (child := os.fork()):
        break
    os.close(writing)
    with open(reading) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    print(answer or '"it ended the process"', flush=True)
else:
    sys.exit()
signal.alarm(600)
home, with_wheel = json.loads(line)
os.environ['HOME'] = home
os.chdir(home)
sys.path.insert(0, home)
if not with_wheel:
    # This package is in the checkout, which the finder of the wheel leads to.
    sys.meta_path[:] = [
        finder for finder in sys.meta_path
        if 'editable' not in getattr(finder, '__module__', '')
    ]
    sys.path[:] = [
        path for path in sys.path
        if not os.path.exists(os.path.join(path, 'nova_filters'))
    ]
sys.argv[:] = ['nova-scheduler']
null = os.open(os.devnull, os.O_WRONLY)
os.dup2(null, 1)
os.dup2(null, 2)
problem = ''
try:
    # What scheduler.main() does before it reads the databases.
    config.parse_args(sys.argv)
    objects.register_all()
    # There are no databases.
    with mock.patch.multiple(
        host_manager.HostManager,
        refresh_cells_caches=mock.DEFAULT,
        _init_aggregates=mock.DEFAULT,
        _init_instance_info=mock.DEFAULT,
    ):
        manager = host_manager.HostManager()
    # As in each request.
    for weigher in manager.weighers:
        weigher.weight_multiplier(mock.Mock(aggregates=[]))
except BaseException as exc:
    problem = f'{type(exc).__name__}: {exc}' or 'error'
os.write(writing, json.dumps(problem).encode())
os._exit(0)
"""


@functools.cache
def server() -> subprocesses.Server:
    """Return the process that starts schedulers."""
    command = [sys.executable, '-W', 'ignore', '-c', SERVER]
    return subprocesses.Server(command, cwd=processes.ROOT)


def start(home: pathlib.Path, *, with_wheel: bool = True) -> str:
    """Return why nova-scheduler does not start; empty if it starts.

    :param home: the home folder of its user, with the files that it reads.
    :param with_wheel: whether its Python environment has this package.
    """
    question = json.dumps([str(home), with_wheel])
    answer: str = json.loads(server().ask(question))
    return answer

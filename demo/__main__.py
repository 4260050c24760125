# SPDX-License-Identifier: Apache-2.0

"""The embedded demo: three real services, three plug-ins, one command.

``make demo`` makes the environment and calls ``python -m demo``. Each story
runs in a process of its own, because a service configures its whole process.
"""

import argparse
import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
from collections.abc import Sequence

ROOT = pathlib.Path(__file__).resolve().parent.parent
#: Where the services log to.
LOGS = ROOT / '.demo'
#: The stories in their order, each with the service that it needs.
STORIES = {
    'spread': 'nova',
    'nova': 'nova',
    'heat': 'heat',
    'senlin': 'senlin',
}
#: Seconds that a story may take, however busy the machine is.
LIMIT = 1800


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return which stories to run."""
    parser = argparse.ArgumentParser(
        prog='python -m demo',
        description='Run the plug-ins in the real Nova, Heat and Senlin, and '
        'show what the services do with them and without them. The services '
        'log to .demo in the checkout. Exit code: 1 if a service breaks off.',
    )
    parser.add_argument(
        'stories',
        nargs='*',
        metavar='STORY',
        help='spread (server groups and stacks in Nova), nova (its filter), '
        'heat (and Nova after it) or senlin (default: all of them)',
    )
    args = parser.parse_args(argv)
    for name in args.stories or STORIES:
        if name not in STORIES:
            parser.error(f'there is no story "{name}" in the demo.')
        service = STORIES[name]
        if not importlib.util.find_spec(service):
            parser.error(f'{service} is not installed here: run "make demo".')
    return args


def start(name: str, log: pathlib.Path) -> subprocess.Popen[str]:
    """Start the process of a story."""
    log.write_text('')
    return subprocess.Popen(
        [sys.executable, '-W', 'ignore', '-m', 'demo.story', name, str(log)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        # A group of its own, so that whatever the service starts ends with it.
        start_new_session=True,
    )


def tell(name: str, process: subprocess.Popen[str]) -> bool:
    """Print a story when it has ended; return whether it came to its end."""
    try:
        text, _ = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        print(
            f'demo: {name} did not end within {LIMIT} seconds.',
            file=sys.stderr,
        )
        return False
    print(text, flush=True)
    return process.returncode == 0


def main(argv: Sequence[str] | None = None, logs: pathlib.Path = LOGS) -> int:
    """Run the demo.

    :param logs: the folder for the services' logs.
    :returns: the exit code, see ``--help``.
    """
    args = parse(argv)
    names = [name for name in STORIES if name in (args.stories or STORIES)]
    print(
        f'demo: running {", ".join(names)}, each in a process of its own ...',
        file=sys.stderr,
        flush=True,
    )
    logs.mkdir(exist_ok=True)
    processes = {name: start(name, logs / f'{name}.log') for name in names}
    try:
        ended = [tell(name, process) for name, process in processes.items()]
    except KeyboardInterrupt:
        return 130
    finally:
        for process in processes.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    return 0 if all(ended) else 1


if __name__ == '__main__':
    sys.exit(main())

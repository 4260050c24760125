# SPDX-License-Identifier: Apache-2.0

"""The embedded demo: three real services, three plug-ins, one command.

``python -m demo`` starts one process per service, shows what each found as
tables, and checks them against the specs. ``make demo`` makes the environment
first.
"""

import argparse
import errno
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any

from demo import part as part_runner
from demo import report

ROOT = pathlib.Path(__file__).resolve().parent.parent

#: In the order in which they are shown: region, host, stack; then one stack
#: on its way through Heat and Nova.
PARTS = part_runner.PARTS


def build_parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    parser = argparse.ArgumentParser(
        prog='python -m demo',
        description=(
            'Run the plug-ins in the real Senlin, Nova and Heat, each in a '
            'process of its own with SQLite in memory, and check what they '
            'did against the specs. Needs no daemon, no root and no network.'
        ),
        epilog=(
            'Exit code: 0 when every check holds, 1 when one does not or a '
            'part broke off, 2 when the call or the installation is wrong.'
        ),
    )
    parser.add_argument(
        'parts',
        nargs='*',
        metavar='PART',
        help=f'which parts to run: {", ".join(PARTS)} (default: all of them);'
        ' "stack" goes on where "heat" ends, and runs it as well',
    )
    parser.add_argument(
        '--json',
        nargs='?',
        const='-',
        metavar='PATH',
        help='print the result as JSON, or write it to PATH, instead of '
        'tables',
    )
    parser.add_argument(
        '--port',
        type=int,
        default=0,
        help="loopback port of the Heat part's cloud (default: any free one)",
    )
    parser.add_argument(
        '--work-dir',
        type=pathlib.Path,
        default=ROOT / '.demo',
        help="where the services' logs go (default: .demo in the checkout)",
    )
    return parser


def wanted_parts(given: Sequence[str]) -> list[str]:
    """Return the parts to run, in their order.

    :param given: the parts that the user named; none stands for all.
    """
    wanted = set(given or PARTS)
    later, first = part_runner.GOES_ON
    if later in wanted:
        wanted.add(first)
    return [name for name in PARTS if name in wanted]


def problem_with(args: argparse.Namespace) -> str:
    """Say what is wrong with the call, before anything long begins.

    :param args: the parsed command line.
    :returns: one line that says what to do, or an empty string.
    """
    unknown = [name for name in args.parts if name not in PARTS]
    if unknown:
        return (
            f'there is no part "{unknown[0]}": choose from {", ".join(PARTS)}.'
        )
    if args.json in PARTS:
        return (
            f'--json {args.json} would write a file of that name: put the '
            'parts in front of --json.'
        )
    if args.json not in (None, '-'):
        wrong = problem_with_file(pathlib.Path(args.json))
        if wrong:
            return f'cannot write "{args.json}": {wrong}.'
    if 'heat' in wanted_parts(args.parts):
        wrong = problem_with_port(args.port)
        if wrong:
            return wrong
    return problem_with_folder(args.work_dir)


def problem_with_file(path: pathlib.Path) -> str:
    """Say why a result cannot be written to ``path``; empty when it can."""
    folder = path.absolute().parent
    if path.is_dir():
        return 'it is a folder, give a file name'
    if not folder.is_dir():
        return f'the folder "{folder}" does not exist, create it first'
    if not os.access(path if path.exists() else folder, os.W_OK):
        return 'permission denied, choose another place'
    return ''


def problem_with_port(port: int) -> str:
    """Say why the loopback cloud cannot listen on ``port``; empty if it can.

    :param port: the wanted TCP port; 0 stands for any free one.
    """
    if not 0 <= port <= 65535:
        return f'--port {port} is no TCP port: give 1 to 65535, or 0 for any.'
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As the HTTP server sets it: a port in TIME_WAIT is not busy.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(('127.0.0.1', port))
        except OSError as exc:
            if exc.errno == errno.EADDRINUSE:
                return (
                    f'port {port} on 127.0.0.1 is busy: stop what listens '
                    'there, or leave --port out to take any free one.'
                )
            return f'cannot listen on 127.0.0.1:{port}: {exc.strerror}.'
    return ''


def problem_with_folder(folder: pathlib.Path) -> str:
    """Make ``folder``; say why it cannot be used, or return empty."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        return (
            f'cannot use "{folder}" for logs: {exc.strerror}; give another '
            'one with --work-dir.'
        )
    if not os.access(folder, os.W_OK):
        return (
            f'cannot write to "{folder}"; give another folder with --work-dir.'
        )
    return ''


def run_parts(
    names: Sequence[str], work_dir: pathlib.Path, port: int
) -> tuple[list[report.Part], int]:
    """Run the parts side by side, each in a process of its own.

    :param names: the parts to run.
    :param work_dir: where their logs and results go.
    :param port: the port of the Heat part's loopback cloud, 0 for any.
    :returns: the parts that ran to their end, in the order of ``names``,
        and the exit code of the first that did not (0 when all did).
    """
    parts = []
    code = 0
    # A folder of its own: two demos at once must not read each other's
    # results.
    with tempfile.TemporaryDirectory(dir=work_dir) as folder:
        results = pathlib.Path(folder)
        later, first = part_runner.GOES_ON
        children = {
            name: start_part(name, work_dir, results, port)
            for name in names
            if name != later
        }
        try:
            if later in names and children[first].wait() == 0:
                children[later] = start_part(later, work_dir, results, port)
            for name, child in children.items():
                result = child.wait()
                if result == 0:
                    data = json.loads((results / f'{name}.json').read_text())
                    parts.append(report.part_from_dict(data))
                else:
                    # A child that a signal ended reports a negative number.
                    code = code or max(result, part_runner.EXIT_FAILED)
        finally:
            for child in children.values():
                if child.poll() is None:
                    os.killpg(child.pid, signal.SIGTERM)
                    child.wait()
    return parts, code


def start_part(
    name: str, work_dir: pathlib.Path, results: pathlib.Path, port: int
) -> subprocess.Popen[bytes]:
    """Start one part in a process of its own.

    :param name: the part.
    :param work_dir: where its log goes.
    :param results: where its result goes, as ``NAME.json``, and what one
        part hands to another.
    :param port: the port of the Heat part's loopback cloud, 0 for any.
    """
    log = work_dir / f'{name}.log'
    log.write_text('')
    command = [sys.executable, '-W', 'ignore', '-m', 'demo.part', name]
    command += ['--out', str(results / f'{name}.json'), '--log', str(log)]
    command += ['--requests', str(results / 'requests'), '--port', str(port)]
    # A group of its own, so that Ctrl-C reaches this process only, which
    # then ends the part and whatever the part has started.
    return subprocess.Popen(command, cwd=ROOT, start_new_session=True)


def as_data(parts: Sequence[report.Part], complete: bool) -> dict[str, Any]:
    """Return the whole result as data.

    :param parts: the parts that ran to their end.
    :param complete: whether that is all that were asked for.
    """
    return {
        'ok': complete and all_hold(parts),
        'parts': [part.to_dict() for part in parts],
    }


def all_hold(parts: Sequence[report.Part]) -> bool:
    """Tell whether each part made checks and each check holds."""
    return all(
        part.checks and all(check.ok for check in part.checks)
        for part in parts
    )


def main(argv: list[str] | None = None) -> int:
    """Run the demo.

    :param argv: the command line without the program's name.
    :returns: the exit code, see ``--help``.
    """
    args = build_parser().parse_args(argv)
    wrong = problem_with(args)
    if wrong:
        print(f'demo: {wrong}', file=sys.stderr)
        return part_runner.EXIT_USAGE
    names = wanted_parts(args.parts)
    missing = part_runner.missing_services(names)
    if missing:
        print(f'demo: {missing}', file=sys.stderr)
        return part_runner.EXIT_USAGE

    started = time.monotonic()
    try:
        parts, code = run_parts(names, args.work_dir, args.port)
    except KeyboardInterrupt:
        print('demo: stopped.', file=sys.stderr)
        return 130
    complete = code == 0

    if args.json is not None:
        text = json.dumps(as_data(parts, complete), indent=2)
        if args.json == '-':
            print(text)
        else:
            pathlib.Path(args.json).write_text(f'{text}\n')
    else:
        # Only here: a bare Python has to get as far as being told that the
        # services are missing.
        from demo import text as as_text

        for part in parts:
            print(as_text.render(part))
        print(as_text.summary(parts, time.monotonic() - started))
    if not complete:
        return code
    if not all_hold(parts):
        print('demo: not everything is as the specs demand.', file=sys.stderr)
        return part_runner.EXIT_FAILED
    if args.json is None:
        print('Every table is what the specs demand.')
    return 0


if __name__ == '__main__':
    sys.exit(main())

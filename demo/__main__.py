# SPDX-License-Identifier: Apache-2.0

"""The embedded demo: three real services, three plug-ins, one command.

``make demo`` makes the environment and calls ``python -m demo``. The demo
starts one process for each service, shows what the service did with and
without the plug-ins, and checks that against the specs. All of it is in a page
for a browser.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from typing import Any

from demo import figure, report

ROOT = pathlib.Path(__file__).resolve().parent.parent
#: Where the services log to.
LOGS = ROOT / '.demo'
#: The processes in the order in which they are shown, each with the service
#: that it needs.
SERVICES = {
    'spread': 'nova',
    'nova': 'nova',
    'heat': 'heat',
    'senlin': 'senlin',
}
#: Seconds that the services may take, however busy the machine is.
LIMIT = 1800
#: Seconds that a service may take to end when it is told to.
END_LIMIT = 60


def _target(path: str) -> str:
    """Return the file for the result, if it can be written."""
    if path != '-':
        try:
            # What it holds stays until there is a result.
            open(path, 'a').close()
        except OSError as exc:
            raise argparse.ArgumentTypeError(
                f'cannot write to {path}: {exc.strerror}'
            ) from exc
    return path


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return which services to run, and the open file for the result."""
    parser = argparse.ArgumentParser(
        prog='python -m demo',
        description=(
            'Run the plug-ins in the real Senlin, Nova and Heat, and check '
            'what they did against the specs. The services log to .demo in '
            'the checkout; .demo/report.html has all tables. Exit code: 0 if '
            'every check holds, 1 if one does '
            'not or a service broke off, 2 if the call is wrong.'
        ),
    )
    parser.add_argument(
        'services',
        nargs='*',
        metavar='SERVICE',
        help='spread (server groups in Nova), nova (its filter), heat or '
        'senlin (default: all of them); "heat" has Nova schedule what Heat '
        'sent, and needs both',
    )
    parser.add_argument(
        '--json',
        type=_target,
        metavar='FILE',
        help='write the result as JSON ("-": to standard output) instead of '
        'tables',
    )
    args = parser.parse_args(argv)
    for name in args.services or SERVICES:
        if name not in SERVICES:
            parser.error(f'there is no service "{name}" in the demo.')
        service = SERVICES[name]
        if not importlib.util.find_spec(service):
            parser.error(f'{service} is not installed here: run "make demo".')
    return args


def _end(child: subprocess.Popen[str]) -> None:
    """End a service and whatever it has started."""
    os.killpg(child.pid, signal.SIGTERM)
    try:
        child.wait(END_LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def run(
    names: Sequence[str], logs: pathlib.Path
) -> tuple[list[dict[str, Any]], bool]:
    """Run services side by side, each in a process.

    :param logs: the folder for their logs.
    :returns: the parts of all services, and whether a service broke off.
    """
    children: list[subprocess.Popen[str]] = []
    parts: list[dict[str, Any]] = []
    broken = False
    deadline = time.monotonic() + LIMIT
    try:
        for name in names:
            log = logs / f'{name}.log'
            log.write_text('')
            child = subprocess.Popen(
                # Not -m: the stories import this module.
                [sys.executable, '-W', 'ignore']
                + ['-c', 'from demo import part; part.main()', name]
                + [str(log)],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                text=True,
                # A group of its own, so that Ctrl-C reaches this process only,
                # which then ends whatever the service has started.
                start_new_session=True,
            )
            children.append(child)
        for name, child in zip(names, children, strict=True):
            try:
                text, _ = child.communicate(
                    timeout=max(0.0, deadline - time.monotonic())
                )
            except subprocess.TimeoutExpired:
                print(
                    f'demo: {name} did not end within {LIMIT} seconds, and '
                    f'was stopped (its log is {logs / name}.log).',
                    file=sys.stderr,
                )
                _end(child)
                text = ''
            if child.returncode:
                broken = True
            else:
                parts += json.loads(text)
    finally:
        for child in children:
            if child.poll() is None:
                _end(child)
    return parts, broken


def table(columns: Sequence[str], rows: Sequence[list[Any]]) -> str:
    """Return a table as text."""
    # Only here: a bare Python has to get as far as being told that the
    # services are missing.
    import prettytable

    grid = prettytable.PrettyTable(columns, align='l', none_format='')
    grid.add_rows(rows)
    return str(grid)


def compare(part: dict[str, Any]) -> None:
    """Print one part: bars or a table, and each check that fails."""
    print(
        '', textwrap.fill(f'{part["service"]}: {part["unit"]}', 79), sep='\n'
    )
    if part['name'] == 'spread':
        for step in part['steps']:
            print('', step['title'], '', sep='\n')
            if step['bars']:
                print(figure.draw(step['bars']))
            else:
                print(table(step['columns'], step['rows']))
    else:
        print(table(('', *part['compared']), part['beside']))
    for step in part['steps']:
        for check in step['checks']:
            if not check['ok']:
                print(
                    f'FAIL  {step["title"]}: {check["what"]}; '
                    f'wanted: {check["wanted"]}, found: {check["found"]}'
                )


def tell(
    parts: list[dict[str, Any]],
    broken: bool,
    page: pathlib.Path,
    args: argparse.Namespace,
) -> int:
    """Print the result, or write it to a file.

    :param parts: the parts of all services.
    :param broken: whether a service broke off, so that parts are missing.
    :param page: the page for a browser.
    :returns: the exit code, see ``--help``.
    """
    ok = not broken and not any(part['failed'] for part in parts)
    if args.json:
        text = json.dumps({'ok': ok, 'parts': parts}, indent=2)
        if args.json == '-':
            print(text)
        else:
            pathlib.Path(args.json).write_text(f'{text}\n', 'utf-8')
    else:
        rows = []
        for part in parts:
            compare(part)
            rows.append([part['service'], part['checks'], part['failed']])
        print('', table(('service', 'checks', 'failed'), rows), sep='\n')
        print(f'All tables, checks and pictures: {page}')
    if not ok:
        print(
            'demo: not everything is what the specs demand.', file=sys.stderr
        )
        return 1
    print('Every table is what the specs demand.', file=sys.stderr)
    return 0


def main(argv: Sequence[str] | None = None, logs: pathlib.Path = LOGS) -> int:
    """Run the demo.

    :param logs: the folder for the services' logs and for the page.
    :returns: the exit code, see ``--help``.
    """
    args = parse(argv)
    services = args.services or SERVICES
    names = [name for name in SERVICES if name in services]
    print(
        f'demo: running {", ".join(names)}, each in a process of its own. '
        'The tables follow when the last one has ended.',
        file=sys.stderr,
        # Before the services print anything.
        flush=True,
    )
    page = logs / 'report.html'
    try:
        logs.mkdir(exist_ok=True)
        parts, broken = run(names, logs)
        page.write_text(report.page(parts, broken), 'utf-8')
    except KeyboardInterrupt:
        print('demo: stopped.', file=sys.stderr)
        return 130
    except OSError as exc:
        where = exc.filename or logs
        print(f'demo: cannot write {where}: {exc.strerror}', file=sys.stderr)
        return 2
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return tell(parts, broken, page, args)


if __name__ == '__main__':
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0

"""The embedded demo: three real services, three plug-ins, one command.

``python -m demo`` starts one process per service, shows what each found as
tables, and checks them against the specs. ``make demo`` makes the environment
first.
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
from typing import Any, NoReturn

ROOT = pathlib.Path(__file__).resolve().parent.parent
#: Where the services log to.
LOGS = ROOT / '.demo'

#: The parts in the order in which they are shown, and what each needs: names
#: of modules, which are those of the extras in setup.cfg that install them.
SERVICES = {
    'senlin': ('senlin',),
    'nova': ('nova',),
    'heat': ('heat',),
    # Goes on with the requests that the part "heat" has recorded.
    'stack': ('heat', 'nova'),
}
PARTS = ', '.join(SERVICES)


class Parser(argparse.ArgumentParser):
    """A parser that tells what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """End the process."""
        self.exit(2, f'demo: {message}\n')


def parse(argv: Sequence[str] | None) -> tuple[list[str], str]:
    """Return which parts to run, in order, and the file for the result.

    :param argv: the command line without the program's name.
    :returns: the parts, and ``-`` or the file; empty for tables.
    """
    parser = Parser(
        prog='python -m demo',
        description=(
            'Run the plug-ins in the real Senlin, Nova and Heat, each in a '
            'process of its own with SQLite in memory, and check what they '
            'did against the specs. Needs no daemon, no root and no network. '
            'The services log to .demo in the checkout.'
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
        help=f'which parts to run: {PARTS} (default: all of them); "stack" '
        'goes on where "heat" ends, and runs it as well',
    )
    parser.add_argument(
        '--json',
        default='',
        metavar='FILE|-',
        help='write the result as JSON instead of tables',
    )
    args = parser.parse_args(argv)
    wanted = set(args.parts or SERVICES)
    for name in wanted - set(SERVICES):
        parser.error(f'there is no part "{name}": choose from {PARTS}.')
    if 'stack' in wanted:
        wanted.add('heat')
    names = [name for name in SERVICES if name in wanted]
    needed = dict.fromkeys(need for name in names for need in SERVICES[name])
    missing = [need for need in needed if not importlib.util.find_spec(need)]
    if missing:
        parser.error(
            f'not installed here: {", ".join(missing)}. Run "make demo", or '
            f'pip install "os-placement-plugins[{",".join(missing)}]".'
        )
    try:
        LOGS.mkdir(exist_ok=True)
        if args.json not in ('', '-'):
            # Before anything long begins; what it holds stays until then.
            pathlib.Path(args.json).open('a').close()
    except OSError as exc:
        parser.error(f'cannot write "{exc.filename}": {exc.strerror}.')
    return names, args.json


def start(name: str, given: Any = None) -> subprocess.Popen[str]:
    """Start one part in a process of its own.

    :param name: the part.
    :param given: what an earlier part has left for it.
    """
    log = LOGS / f'{name}.log'
    log.write_text('')
    return subprocess.Popen(
        # Not -m: the stories import this module.
        [sys.executable, '-W', 'ignore']
        + ['-c', 'from demo import part; part.main()']
        + [name, str(log), json.dumps(given)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        # A group of its own, so that Ctrl-C reaches this process only, which
        # then ends the part and whatever the part has started.
        start_new_session=True,
    )


def finish(child: subprocess.Popen[str]) -> dict[str, Any]:
    """Return what a part found; nothing when it broke off."""
    text, _ = child.communicate()
    found: dict[str, Any] = {} if child.returncode else json.loads(text)
    return found


def run_parts(names: Sequence[str]) -> list[dict[str, Any]]:
    """Run the parts side by side.

    :param names: the parts to run.
    :returns: what those found that ran to their end, in the same order.
    """
    children = {name: start(name) for name in names if name != 'stack'}
    found = {}
    try:
        if 'stack' in names:
            found['heat'] = finish(children['heat'])
            if found['heat']:
                children['stack'] = start('stack', found['heat']['leaves'])
        for name, child in children.items():
            if name not in found:
                found[name] = finish(child)
    finally:
        for child in children.values():
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGTERM)
                child.wait()
    return [found[name] for name in names if found.get(name)]


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table as text."""
    # Only here: a bare Python has to get as far as being told that the
    # services are missing.
    import prettytable

    made = prettytable.PrettyTable(columns)
    made.align = 'l'
    for row in rows:
        made.add_row(['' if cell is None else cell for cell in row])
    return str(made)


def show(part: dict[str, Any]) -> None:
    """Print one part: a heading, and each step's table and checks."""
    print('', '=' * 78, part['service'], '=' * 78, sep='\n')
    print(*(f'real:    {name}' for name in part['real']), sep='\n')
    print(*(f'STUBBED: {name}' for name in part['stubs']), sep='\n')
    for number, step in enumerate(part['steps'], start=1):
        print(f'\n{number}. {step["title"]}')
        print(table(step['columns'], step['rows']))
        if step['note']:
            print(textwrap.fill(step['note'], 100))
        for check in step['checks']:
            print(f'  {"ok  " if check["ok"] else "FAIL"}  {check["what"]}')
            if not check['ok']:
                print(f'        wanted: {check["wanted"]}')
                print(f'        found:  {check["found"]}')


def summarize(parts: Sequence[dict[str, Any]], seconds: float) -> None:
    """Print checks, time and memory of each part."""
    columns = ('service', 'checks', 'failed', 'seconds', 'peak_mib')
    rows = [[part[column] for column in columns] for part in parts]
    print('', table(columns, rows), sep='\n')
    print(f'The demo took {seconds:.0f} s.')


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo.

    :param argv: the command line without the program's name.
    :returns: the exit code, see ``--help``.
    """
    names, file = parse(argv)
    started = time.monotonic()
    try:
        parts = run_parts(names)
    except KeyboardInterrupt:
        print('demo: stopped.', file=sys.stderr)
        return 130
    complete = len(parts) == len(names)
    hold = all(part['checks'] and not part['failed'] for part in parts)
    if file:
        data = {'ok': complete and hold, 'parts': parts}
        text = json.dumps(data, indent=2) + '\n'
        if file == '-':
            print(text, end='')
        else:
            pathlib.Path(file).write_text(text)
    else:
        for part in parts:
            show(part)
        summarize(parts, time.monotonic() - started)
    if not hold:
        print('demo: not everything is as the specs demand.', file=sys.stderr)
    elif complete and not file:
        print('Every table is what the specs demand.')
    return 0 if complete and hold else 1


if __name__ == '__main__':
    sys.exit(main())

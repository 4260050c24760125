# SPDX-License-Identifier: Apache-2.0

"""A cloud of two regions on the loopback address.

Nothing but the processes of the cloud itself is started or stopped; what
they write lies below ``.cloud/`` of the checkout.
"""

import argparse
import sys
import time

try:
    from tests.cloud import boot, install, logs, processes, services
except ModuleNotFoundError as exc:
    sys.exit(
        f'{exc}: run this with .tox/cloud/bin/python, which '
        '"make env ENV=functional-2026.2,cloud" makes'
    )


def say(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)


def do_install(args: argparse.Namespace) -> int:
    """Install the packages of Debian that the cloud needs."""
    packages = install.install()
    say(
        f'installed {" ".join(packages)}'
        if packages
        else 'nothing to install: MariaDB and RabbitMQ are there'
    )
    return 0


def do_up(args: argparse.Namespace) -> int:
    """Boot the cloud."""
    began = time.monotonic()
    boot.up(say)
    say(
        f'the cloud is up after {time.monotonic() - began:.0f} s: '
        f'{len(services.ALL)} services'
    )
    return 0


def do_down(args: argparse.Namespace) -> int:
    """Stop the cloud; the logs stay."""
    boot.down(say)
    say('the cloud is down')
    return 0


def do_status(args: argparse.Namespace) -> int:
    """Say what runs; the exit code is 0 only if everything does."""
    missing = 0
    for name, service in services.ALL.items():
        pid = processes.pid_of(service)
        missing += pid is None
        say(f'{name:28} {"pid " + str(pid) if pid else "does not run"}')
    say(f'{len(services.ALL) - missing} of {len(services.ALL)} services run')
    return 1 if missing else 0


def do_logs(args: argparse.Namespace) -> int:
    """Show the errors in all logs, or the end of those named."""
    found = [
        log
        for log in logs.all_logs()
        if args.service is None or args.service in log.stem
    ]
    if args.service and not found:
        say(f'there is no log of "{args.service}"')
        return 2
    for log in found:
        lines = logs.tail(log, 50) if args.service else logs.errors(log)
        if lines:
            say(f'--- {log}')
            say('\n'.join(lines))
    return 0


COMMANDS = {
    'install': do_install,
    'up': do_up,
    'down': do_down,
    'status': do_status,
    'logs': do_logs,
}


def main(argv: list[str] | None = None) -> int:
    """Carry out a command.

    :param argv: the command line without the program's name.
    :returns: 0 when it was done.
    """
    parser = argparse.ArgumentParser(
        prog='python -m tests.cloud', description=__doc__.splitlines()[0]
    )
    commands = parser.add_subparsers(required=True, metavar='COMMAND')
    for name, function in COMMANDS.items():
        summary = (function.__doc__ or '').splitlines()[0]
        command = commands.add_parser(name, help=summary, description=summary)
        command.set_defaults(function=function)
        if name == 'logs':
            command.add_argument(
                'service',
                nargs='?',
                metavar='SERVICE',
                help='part of the name of a service',
            )
    args = parser.parse_args(argv)
    try:
        return args.function(args)
    except (boot.BootFailed, install.InstallFailed) as exc:
        print(exc, file=sys.stderr)
        return 1


if __name__ == '__main__':
    sys.exit(main())

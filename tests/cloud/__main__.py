# SPDX-License-Identifier: Apache-2.0

"""A cloud of two regions on the loopback address.

Nothing but the processes of the cloud itself is started or stopped; what
they write lies below ``.cloud/`` of the checkout.
"""

import argparse
import sys

try:
    from tests.cloud import boot, install, logs
except ModuleNotFoundError as exc:
    sys.exit(
        f'{exc}: run this with .tox/cloud/bin/python, which '
        '"make env ENV=functional-2026.2,cloud" makes'
    )


def show_logs() -> None:
    """Show the last errors in all logs."""
    print(*logs.errors(), sep='\n')


def main() -> None:
    """Carry out a command."""
    parser = argparse.ArgumentParser(
        prog='python -m tests.cloud', description=__doc__.splitlines()[0]
    )
    commands = parser.add_subparsers(required=True, metavar='COMMAND')
    for name, function, summary in (
        ('install', install.install, "install Debian's MariaDB and RabbitMQ"),
        ('up', boot.up, 'boot the cloud'),
        ('down', boot.down, 'stop the cloud; the logs stay'),
        ('logs', show_logs, 'show the last errors in all logs'),
    ):
        command = commands.add_parser(name, help=summary, description=summary)
        command.set_defaults(function=function)
    parser.parse_args().function()


if __name__ == '__main__':
    main()

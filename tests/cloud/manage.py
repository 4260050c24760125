# SPDX-License-Identifier: Apache-2.0

"""Run commands of a service's tool: ``manage.py MODULE COMMAND COMMAND ...``.

Each command is one argument. Loading a service takes up to eight seconds of
processor time; here it is loaded once for all of them.
"""

import importlib
import os
import sys


def main() -> None:
    """Run one command after the other; end with the first that fails."""
    _, module, *commands = sys.argv
    tool = importlib.import_module(module)
    for command in commands:
        child = os.fork()
        if child == 0:
            sys.argv[1:] = command.split()
            sys.exit(tool.main())
        _, status = os.waitpid(child, 0)
        if status:
            sys.exit(f'{module} {command} ended with {status}')


if __name__ == '__main__':
    main()

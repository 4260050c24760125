# SPDX-License-Identifier: Apache-2.0

"""Run commands of nova-manage: ``nova_manage.py COMMAND COMMAND ...``.

Each command is one argument. Loading Nova takes up to eight seconds of
processor time; here it is loaded once for all of them.
"""

import os
import sys

from nova.cmd import manage


def main() -> None:
    """Run one command after the other; end with the first that fails."""
    for command in sys.argv[1:]:
        child = os.fork()
        if child == 0:
            sys.argv[1:] = command.split()
            sys.exit(manage.main())
        _, status = os.waitpid(child, 0)
        if status:
            sys.exit(f'nova-manage {command} ended with {status}')


if __name__ == '__main__':
    main()

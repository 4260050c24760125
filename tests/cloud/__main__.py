# SPDX-License-Identifier: Apache-2.0

"""A cloud of two regions on the loopback address.

Nothing but the processes of the cloud itself is started or stopped; what
they write lies below ``.cloud/`` of the checkout.
"""

import argparse

from tests.cloud import boot

COMMANDS = {
    'install': boot.install,
    'up': boot.up,
    'down': boot.down,
    'logs': boot.show_errors,
}

if __name__ == '__main__':
    parser = argparse.ArgumentParser(
        prog='python -m tests.cloud', description=__doc__.splitlines()[0]
    )
    parser.add_argument('command', choices=COMMANDS)
    COMMANDS[parser.parse_args().command]()

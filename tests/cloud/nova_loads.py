# SPDX-License-Identifier: Apache-2.0

"""Print the loads of hosts at a time: ``nova_loads.py TIME OPTIONS``.

The time has the form of ISO 8601. The options name the configuration of Nova.
As JSON, the program prints the load of each host.
"""

import datetime
import importlib
import json
import sys


def main() -> None:
    """Print the loads as JSON."""
    time = datetime.datetime.fromisoformat(sys.argv.pop(1))
    # Nova's own program chooses between green threads and native threads.
    importlib.import_module('nova.cmd.scheduler')
    from nova import config, context

    from nova_filters.members import rows

    config.parse_args(sys.argv)
    json.dump(rows.loads(context.get_admin_context(), time), sys.stdout)


if __name__ == '__main__':
    main()

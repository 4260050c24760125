# SPDX-License-Identifier: Apache-2.0

"""Measure what a scheduler keeps in memory for servers that are gone.

``python -m benchmarks.stack_memory`` boots and deletes 1,000 servers for each
row, and removes their rows from Nova's databases. It compares nova-scheduler
with the weighers of this package, and without. It needs Nova.
"""

import sys

from benchmarks import common

SERVERS = 1000
#: With ``--quick``.
FEW_SERVERS = 90
#: How many characters a long hint has.
LENGTH = 100_000
#: What the weighers may keep for so many servers.
LIMIT_MIB = 2
MULTIPLIER = -10.0


def measure(quick: bool) -> str:
    """Return the table."""
    # Chooses Nova's concurrency, so it comes first.
    from testing.nova import engine, memory

    cloud = engine.Cloud()
    cloud.add_host('host-1')
    cloud.add_host('host-2')
    # Registers the options.
    cloud.scheduler()
    servers = FEW_SERVERS if quick else SERVERS
    member = memory.STACK
    rows = []
    for name, hints, length in (
        ('members of a stack', member, 1),
        ('members of a stack, a long hint each', member, LENGTH),
        ('in no stack', {}, 1),
        ('in no stack, a long hint each', {}, LENGTH),
    ):
        common.say(name)
        row = [name]
        for multiplier in 0.0, MULTIPLIER:
            engine.CONF.set_override(
                'stack_affinity_weight_multiplier', multiplier, 'nova_filters'
            )
            kept = memory.kept(cloud, servers, hints, length)
            row.append(f'{kept / 2**20:.2f}')
        rows.append(row)
    head = (
        f'{common.machine(f"Nova {engine.nova_version()}")}\n\n'
        f'MiB that a scheduler keeps of {servers:,} servers that are gone; '
        f'a long hint has\n{LENGTH:,} characters; for {SERVERS:,} servers, '
        f'at most {LIMIT_MIB} MiB are right\n'
    )
    heads = ('servers', 'without the weigher', 'with it')
    return head + common.table(heads, rows, 'servers')


if __name__ == '__main__':
    sys.exit(
        common.command(
            'Nova',
            str(__doc__).splitlines()[0],
            f'{FEW_SERVERS} servers',
            measure,
        )
    )

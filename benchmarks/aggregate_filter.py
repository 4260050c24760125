# SPDX-License-Identifier: Apache-2.0
"""Time the aggregate filter beside the one that comes with Nova.

``python -m benchmarks.aggregate_filter`` sends the same real HostStates and
the same RequestSpec through Nova's ``HostFilterHandler`` with both filters:
first in a grid of usual clouds, then in clouds of many shapes. All run in one
process, so that the ratios mean something on any machine. It needs Nova, and
prints what ``doc/source/benchmarks.rst`` shows.
"""

import sys
from typing import Any

from benchmarks import aggregate_grid, aggregate_shapes, common


def compare(quick: bool) -> tuple[str, Any]:
    """Run everything."""
    from nova import version

    where = common.machine(f'Nova {version.version_string()}')
    shapes, shape_times = aggregate_shapes.measure(quick)
    grid, grid_times = aggregate_grid.measure(quick)
    return f'{where}\n\n{grid}\n\n{shapes}', {
        'machine': where,
        'times': grid_times,
        'shapes': shape_times,
    }


if __name__ == '__main__':
    sys.exit(
        common.command(
            'Nova',
            'Time AggregateInstanceTypeFilter beside the filter that comes '
            'with Nova, through its HostFilterHandler. Takes ten minutes.',
            'only 1,000 hosts, and small shapes: a minute or two',
            compare,
        )
    )

# SPDX-License-Identifier: Apache-2.0

"""Write the numbers that the charts show, from what the benchmarks wrote.

The arguments are the files that ``--json`` of these benchmarks made:
``scaling_sequence`` and ``heat_hints``, in this order.
"""

import csv
import json
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

FOLDER = pathlib.Path(__file__).resolve().parent


def distribution(numbers: Any) -> Iterator[list[Any]]:
    """Yield where both planners put the nodes, by request."""
    for title, steps in numbers.items():
        for request, step in enumerate(steps, 1):
            for region, target in step['target'].items():
                yield [
                    *(title, request, region, round(target, 3)),
                    *(step['ours'][region], step['in_tree'][region]),
                    int(step['refused']),
                ]


def hints(numbers: Any) -> Iterator[list[Any]]:
    """Yield the cost of one server by the depth, and by the group's size."""
    for kind, size, cost, unit in (
        ('nested stacks', 'depth', 'statements', 1),
        ('group of stacks', 'members', 'seconds', 1000),
    ):
        for row in numbers['rows']:
            if row['kind'] == kind:
                costs = [row[s][cost] for s in ('in_tree', 'cold', 'warm')]
                yield [kind, row[size], *(f'{unit * c:.4g}' for c in costs)]


HEADS = {
    distribution: 'case request region target ours in_tree refused',
    hints: 'kind size in_tree cold warm',
}

for (chart, head), name in zip(HEADS.items(), sys.argv[1:], strict=True):
    rows = chart(json.loads(pathlib.Path(name).read_text('utf-8')))
    with (FOLDER / f'{chart.__name__}.csv').open('w', newline='') as file:
        writer = csv.writer(file, lineterminator='\n')
        writer.writerows([head.split(), *rows])

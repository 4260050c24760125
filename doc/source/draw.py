# SPDX-License-Identifier: Apache-2.0

"""Draw the charts from what the benchmarks printed; Sphinx runs this."""

import pathlib
from typing import Any

from matplotlib import pyplot

#: What the two sides are called, and their colours, which can be told apart
#: without seeing red and green.
OURS, IN_TREE = '#0072b2', '#d55e00'

#: The rows of a table, each by the titles of the columns.
Rows = list[dict[str, str]]


def tables(name: str) -> dict[str, Rows]:
    """Return the tables of a file by the first line of their paragraphs."""
    rows_by_title = {}
    for text in pathlib.Path(name).read_text('utf-8').split('\n\n'):
        cells = [
            [cell.strip() for cell in line.strip('|').split('|')]
            for line in text.splitlines()
            if line.startswith('|')
        ]
        if cells:
            heads, *rows = cells
            rows_by_title[text.partition('\n')[0]] = [
                dict(zip(heads, row, strict=True)) for row in rows
            ]
    return rows_by_title


def column(rows: Rows, name: str) -> list[float]:
    """Return the numbers of one column."""
    return [float(row[name]) for row in rows]


def log_ticks(axis: Any, numbers: list[float]) -> None:
    """Give an axis a logarithmic scale with plain numbers.

    :param axis: the ``xaxis`` or ``yaxis`` of a chart.
    :param numbers: where the ticks are.
    """
    getattr(axis.axes, f'set_{axis.axis_name}scale')('log')
    axis.set_ticks(numbers, [f'{number:g}' for number in numbers])
    axis.set_ticks([], minor=True)


def hints() -> None:
    """Draw what the hints of one server cost heat-engine."""
    drawing, (depths, groups) = pyplot.subplots(
        1, 2, figsize=(7.6, 3.2), layout='constrained'
    )
    (rows,) = tables('benchmarks-heat.out').values()
    for axis, kind, across, cost in (
        (depths, 'nested stacks', 'stacks above', 'SQL'),
        (groups, 'group of stacks', 'members', 'ms'),
    ):
        of_kind = [row for row in rows if row['servers in'] == kind]
        for key, label, colour, marker in (
            ('in-tree', "Heat's option", IN_TREE, 's'),
            ('cold', 'this package, first server', OURS, 'o'),
            ('warm', 'this package, other servers', OURS, 'D'),
        ):
            axis.plot(
                column(of_kind, across),
                column(of_kind, f'{cost}: {key}'),
                marker=marker,
                color=colour,
                markerfacecolor='white' if key == 'cold' else colour,
                label=label,
            )
    depths.set_title('nested stacks')
    depths.set_xlabel("stacks above the server's own")
    depths.set_ylabel('SQL statements per server')
    groups.set_title('a group of nested stacks')
    groups.set_xlabel('members of the group')
    groups.set_ylabel('ms of processor time per server')
    log_ticks(groups.xaxis, [1, 10, 100, 500])
    log_ticks(groups.yaxis, [0.1, 1, 10, 100])
    drawing.legend(
        *depths.get_legend_handles_labels(),
        loc='outside lower center',
        ncols=3,
    )

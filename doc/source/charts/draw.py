# SPDX-License-Identifier: Apache-2.0

"""Draw the charts; Sphinx runs this in the folder of the numbers."""

import csv
import itertools
import pathlib
from typing import Any

from matplotlib import pyplot

#: What the two sides are called, and their colours, which can be told apart
#: without seeing red and green.
OURS, IN_TREE = '#0072b2', '#d55e00'
REGIONS = ('#0072b2', '#e69f00', '#009e73')
#: Lines of regions with the same number of nodes are drawn this far apart.
APART = 0.15


def read(name: str, key: str) -> dict[str, list[dict[str, str]]]:
    """Return the rows of a file by one of its columns."""
    with pathlib.Path(name).open(newline='') as file:
        rows = list(csv.DictReader(file))
    return {
        value: list(group)
        for value, group in itertools.groupby(rows, lambda row: row[key])
    }


def column(rows: list[dict[str, str]], name: str) -> list[float]:
    """Return the numbers of one column."""
    return [float(row[name]) for row in rows]


def subplots(rows: int, columns: int, height: float, **options: Any) -> Any:
    """Return an empty figure and its axes, row by row."""
    return pyplot.subplots(
        *(rows, columns),
        squeeze=False,
        figsize=(7.6, height),
        layout='constrained',
        **options,
    )


def log_ticks(axis: Any, numbers: list[float]) -> None:
    """Give an axis a logarithmic scale with plain numbers.

    :param axis: the ``xaxis`` or ``yaxis`` of a chart.
    :param numbers: where the ticks are.
    """
    getattr(axis.axes, f'set_{axis.axis_name}scale')('log')
    axis.set_ticks(numbers, [f'{number:g}' for number in numbers])
    axis.set_ticks([], minor=True)


def distribution() -> None:
    """Draw where both planners put the nodes of a cluster that is scaled."""
    cases = read('distribution.csv', 'case')
    drawing, axes = subplots(len(cases), 2, 6.0, sharex='all', sharey='all')
    named = {}
    for row, (title, steps) in zip(axes, cases.items(), strict=True):
        sides = {'ours': 'this package', 'in_tree': 'in-tree'}
        for axis, (key, side) in zip(row, sides.items(), strict=True):
            regions = list(dict.fromkeys(step['region'] for step in steps))
            for place, region in enumerate(regions):
                colour = REGIONS[place]
                some = [step for step in steps if step['region'] == region]
                requests = column(some, 'request')
                axis.plot(
                    *(requests, column(some, 'target'), '--'),
                    color=colour,
                    linewidth=1,
                    label=f'{region}, target',
                )
                axis.step(
                    requests,
                    [nodes + APART * place for nodes in column(some, key)],
                    where='mid',
                    color=colour,
                    label=f'{region}, nodes',
                )
            refused = {
                float(step['request'])
                for step in steps
                if step['refused'] == '1' and key == 'in_tree'
            }
            # An empty line that is not clipped would upset the layout.
            if refused:
                axis.plot(
                    *(sorted(refused), [0] * len(refused), 'x'),
                    color=IN_TREE,
                    clip_on=False,
                    label='request refused',
                )
            axis.set_title(f'{side}, {title}')
            axis.set_xticks([1, 5, 10, 15, 20])
            handles, labels = axis.get_legend_handles_labels()
            named |= dict(zip(labels, handles, strict=True))
        row[0].set_ylabel('nodes')
    for axis in axes[-1]:
        axis.set_xlabel('request')
    drawing.legend(
        named.values(), named.keys(), loc='outside lower center', ncols=4
    )


def hints() -> None:
    """Draw what the hints of one server cost heat-engine."""
    drawing, ((depths, groups),) = subplots(1, 2, 3.2)
    kinds = read('hints.csv', 'kind')
    for axis, rows in zip((depths, groups), kinds.values(), strict=True):
        for key, label, colour, marker in (
            ('in_tree', "Heat's option", IN_TREE, 's'),
            ('cold', 'this package, first server', OURS, 'o'),
            ('warm', 'this package, other servers', OURS, 'D'),
        ):
            axis.plot(
                *(column(rows, 'size'), column(rows, key)),
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
    log_ticks(groups.yaxis, [0.02, 0.1, 1, 10, 100])
    drawing.legend(
        *depths.get_legend_handles_labels(),
        loc='outside lower center',
        ncols=3,
    )

# SPDX-License-Identifier: Apache-2.0

"""Draw the charts of the documentation from what the benchmarks measured.

``make charts`` runs the benchmarks, which write the numbers as JSON to
``doc/source/charts/``, and then this, which draws them beside. Each picture
carries the digest of its numbers, and a test compares both.
"""

import hashlib
import json
import pathlib
import statistics
import sys
from collections.abc import Callable, Iterable
from typing import Any

import matplotlib
from matplotlib import figure

FOLDER = pathlib.Path(__file__).resolve().parent.parent / 'doc/source/charts'

#: What the two sides are called, and their colours, which can be told apart
#: without seeing red and green. The last one is for what is no side.
OURS, IN_TREE, OTHER = '#0072b2', '#d55e00', '#777777'
REGIONS = ('#0072b2', '#e69f00', '#009e73')

#: Text stays text, and the same numbers give the same bytes.
SETTINGS: Any = {
    'svg.fonttype': 'none',
    'svg.hashsalt': 'os-placement-plugins',
    'font.family': 'sans-serif',
    'font.size': 9,
    'axes.grid': True,
    'grid.alpha': 0.3,
    'axes.spines.top': False,
    'axes.spines.right': False,
    'legend.frameon': False,
}


def digest(numbers: bytes) -> str:
    """Return what a picture carries to tell which numbers it shows.

    :param numbers: the content of the JSON file.
    """
    return f'sha256:{hashlib.sha256(numbers).hexdigest()}'


def distribution(numbers: Any) -> Any:
    """Draw where both planners put the nodes of a cluster that is scaled.

    :param numbers: what ``benchmarks.scaling_sequence`` wrote.
    :returns: the figure.
    """
    drawing, axes = _subplots(len(numbers), 2, 6.0, share='all')
    for row, (title, steps) in zip(axes, numbers.items(), strict=True):
        requests = range(1, len(steps) + 1)
        for axis, key, side in zip(
            row, ('ours', 'in_tree'), ('this package', 'in-tree'), strict=True
        ):
            for region, colour in zip(
                steps[0]['target'], REGIONS, strict=True
            ):
                axis.plot(
                    requests,
                    [step['target'][region] for step in steps],
                    color=colour,
                    linestyle='--',
                    linewidth=1,
                    label=f'{region}, target',
                )
                axis.step(
                    requests,
                    [step[key][region] for step in steps],
                    where='mid',
                    color=colour,
                    label=f'{region}, nodes',
                )
            refused = [
                number
                for number, step in zip(requests, steps, strict=True)
                if step['refused'] and key == 'in_tree'
            ]
            # An empty line that is not clipped would upset the layout.
            if refused:
                axis.plot(
                    refused,
                    [0] * len(refused),
                    linestyle='',
                    marker='x',
                    color=IN_TREE,
                    clip_on=False,
                    label='request refused',
                )
            axis.set_title(f'{side}, {title}')
            axis.set_xticks(range(0, len(steps) + 1, 5))
    for axis in axes[-1]:
        axis.set_xlabel('request')
    for row in axes:
        row[0].set_ylabel('nodes')
    named = {
        label: handle
        for row in axes
        for axis in row
        for handle, label in zip(
            *axis.get_legend_handles_labels(), strict=True
        )
    }
    drawing.legend(
        named.values(), named.keys(), loc='outside lower center', ncols=4
    )
    return drawing


def filters(numbers: Any) -> Any:
    """Draw what Nova's filter and this package's take for a host.

    :param numbers: what ``benchmarks.aggregate_filter`` wrote.
    :returns: the figure.
    """
    drawing, ((axis,),) = _subplots(1, 1, 3.4)
    sides = (
        ('in_tree', "Nova's filter", IN_TREE, 's'),
        ('cold', 'this package, first request', OURS, 'o'),
        ('ours', 'this package, later requests', OURS, 'D'),
        ('host_passes', 'accepting everything, host by host', OTHER, '_'),
    )
    sizes = sorted({row['config']['hosts'] for row in numbers['times']})
    for shift, (key, label, colour, marker) in enumerate(sides):
        times = [
            sorted(
                row[key]
                for row in numbers['times']
                if row['config']['hosts'] == size
            )
            for size in sizes
        ]
        medians = [statistics.median(some) for some in times]
        axis.errorbar(
            [place + 0.15 * (shift - 1.5) for place in range(len(sizes))],
            medians,
            yerr=[
                [m - some[0] for m, some in zip(medians, times, strict=True)],
                [some[-1] - m for m, some in zip(medians, times, strict=True)],
            ],
            linestyle='',
            marker=marker,
            markerfacecolor='white' if key == 'cold' else colour,
            capsize=3,
            color=colour,
            label=label,
        )
    axis.set_yscale('log')
    axis.set_ylabel('µs of processor time per host')
    axis.set_xticks(range(len(sizes)), [f'{size:,} hosts' for size in sizes])
    drawing.legend(loc='outside lower center', ncols=2)
    return drawing


def hints(numbers: Any) -> Any:
    """Draw what the hints of one server cost heat-engine.

    :param numbers: what ``benchmarks.heat_hints`` wrote.
    :returns: the figure.
    """
    drawing, ((depths, groups),) = _subplots(1, 2, 3.2)
    sides = (
        ('in_tree', "Heat's option", IN_TREE, 's'),
        ('cold', 'this package, first server', OURS, 'o'),
        ('warm', 'this package, other servers', OURS, 'D'),
    )
    nested = _rows(numbers, 'nested stacks')
    members = _rows(numbers, 'group of stacks')
    for key, label, colour, marker in sides:
        look = {
            'marker': marker,
            'color': colour,
            'markerfacecolor': 'white' if key == 'cold' else colour,
        }
        depths.plot(
            [row['depth'] for row in nested],
            [row[key]['statements'] for row in nested],
            label=label,
            **look,
        )
        groups.plot(
            [row['members'] for row in members],
            [row[key]['seconds'] * 1e3 for row in members],
            **look,
        )
    depths.set_title('nested stacks')
    depths.set_xlabel("stacks above the server's own")
    depths.set_ylabel('SQL statements per server')
    groups.set_title('a group of nested stacks')
    groups.set_xlabel('members of the group')
    groups.set_ylabel('ms of processor time per server')
    groups.set_xscale('log')
    groups.set_yscale('log')
    drawing.legend(loc='outside lower center', ncols=3)
    return drawing


def _rows(numbers: Any, kind: str) -> list[Any]:
    """Return the measurements of one kind of stack."""
    return [row for row in numbers['rows'] if row['kind'] == kind]


def _subplots(
    rows: int, columns: int, height: float, share: Any = 'none'
) -> tuple[Any, Any]:
    """Return an empty figure and its axes, row by row.

    :param rows: how many rows of axes.
    :param columns: how many columns.
    :param height: the height of the whole in inches.
    :param share: which axes have the same scale.
    """
    drawing = figure.Figure(figsize=(7.6, height), layout='constrained')
    axes = drawing.subplots(
        rows, columns, squeeze=False, sharex=share, sharey=share
    )
    return drawing, axes


#: One of them draws each file.
CHARTS: tuple[Callable[[Any], Any], ...] = (distribution, filters, hints)


def draw(charts: Iterable[Callable[[Any], Any]] = CHARTS) -> None:
    """Draw all charts beside their numbers.

    :param charts: the functions; the file of numbers has the name of each.
    """
    for chart in charts:
        source = FOLDER / f'{chart.__name__}.json'
        picture = source.with_suffix('.svg')
        content = source.read_bytes()
        with matplotlib.rc_context(SETTINGS):
            chart(json.loads(content)).savefig(
                picture,
                metadata={
                    'Date': None,
                    'Creator': None,
                    'Source': digest(content),
                },
            )
        # Matplotlib leaves spaces at the ends of lines.
        lines = picture.read_text('utf-8').splitlines()
        picture.write_text(
            '\n'.join(line.rstrip() for line in lines) + '\n', 'utf-8'
        )


def main() -> int:
    """Draw all charts.

    :returns: the exit code.
    """
    draw()
    return 0


if __name__ == '__main__':
    sys.exit(main())

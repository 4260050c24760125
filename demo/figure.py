# SPDX-License-Identifier: Apache-2.0

"""Draw bars as text: on the screen, and for the pages.

Run ``make demo ARGS="--json result.json"`` and then ``python -m demo.figure
result.json``. It prints the pictures for the pages, and writes those of the
start page.
"""

import json
import pathlib
import sys
from collections.abc import Mapping
from typing import Any

from demo import report

#: What stands for one server.
SERVER = '■'
#: How many servers a bar has room for.
ROOM = 9
#: The files of the start page.
STATIC = pathlib.Path(__file__).resolve().parents[1] / 'doc/source/_static'


def draw(bars: Mapping[str, Mapping[str, int]]) -> str:
    """Return the numbers of servers as text, a column for each side.

    :param bars: the numbers by side and place.
    """
    first_side, *_ = bars.values()
    width = max(map(len, first_side))
    lines = [_line(width, '', [*bars])]
    for place in first_side:
        cells = [
            f'{SERVER * numbers[place]:{ROOM}} {numbers[place]}'
            for numbers in bars.values()
        ]
        lines.append(_line(width, place, cells))
    return '\n'.join(lines)


def _line(width: int, place: str, cells: list[str]) -> str:
    """Return one line of a picture."""
    columns = [f'{cell:{ROOM + 2}}' for cell in cells]
    return '  '.join([f'{place:{width}}', *columns]).rstrip()


def write(part: Mapping[str, Any], folder: pathlib.Path = STATIC) -> None:
    """Write the pictures of the start page, and the page with all of them.

    :param part: the part of the demo about groups and stacks.
    """
    (folder / 'spread.html').write_text(report.pictures(part), 'utf-8')
    (folder / 'report.html').write_text(report.page([part]), 'utf-8')


if __name__ == '__main__':
    result: dict[str, Any] = json.loads(pathlib.Path(sys.argv[1]).read_text())
    spread = result['parts'][0]
    for step in spread['steps']:
        if step['bars']:
            print(step['title'], '', draw(step['bars']), '', sep='\n')
    write(spread)

# SPDX-License-Identifier: Apache-2.0

"""Draw bars as text: on the screen, and for the README.

Run ``make demo ARGS="--json result.json"`` and then ``python -m demo.figure
result.json``.
"""

import json
import pathlib
import sys
from typing import Any

#: What stands for one server.
SERVER = '■'


def draw(bars: dict[str, dict[str, int]]) -> str:
    """Return the numbers of servers as text.

    :param bars: the numbers by side and place.
    """
    lines = []
    for side, numbers in bars.items():
        lines += [side, '']
        for place, number in numbers.items():
            lines.append(f'  {place:8} {SERVER * number:9} {number}')
        lines.append('')
    return '\n'.join(lines).rstrip()


if __name__ == '__main__':
    result: dict[str, Any] = json.loads(pathlib.Path(sys.argv[1]).read_text())
    for step in result['parts'][0]['steps']:
        if step['bars']:
            print(step['title'], '', draw(step['bars']), '', sep='\n')

# SPDX-License-Identifier: Apache-2.0

"""Draw the figure of the README from the result of the demo.

Run ``make demo ARGS="--json result.json"`` and then ``python -m demo.figure
result.json``.
"""

import json
import pathlib
import sys
from typing import Any

#: How the title of the step ends that requests the servers of a group.
TITLE = 'group, requested at once'

#: What stands for one server.
SERVER = '■'


def draw(result: dict[str, Any]) -> str:
    """Return how many servers each host got, as text.

    :param result: what the demo writes with ``--json``.
    """
    steps = []
    for part in result['parts']:
        steps += part['steps']
    (group,) = [step for step in steps if step['title'].endswith(TITLE)]
    lines = []
    for title, *servers in group['rows']:
        lines += [title, '']
        for host, count in zip(group['columns'][1:], servers, strict=True):
            bar = SERVER * int(count)
            lines.append(f'  {host:8} {bar:9} {count}')
        lines.append('')
    return '\n'.join(lines).rstrip()


if __name__ == '__main__':
    print(draw(json.loads(pathlib.Path(sys.argv[1]).read_text())))

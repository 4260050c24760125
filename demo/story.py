# SPDX-License-Identifier: Apache-2.0

"""The process of one story, and the pictures and tables of all stories."""

import importlib
import os
import pathlib
import sys
import traceback
from collections.abc import Mapping, Sequence

#: What stands for one server.
SERVER = '■'
#: How many servers a bar has room for.
ROOM = 9


def draw(bars: Mapping[str, Mapping[str, int]]) -> str:
    """Return numbers of servers as a picture, with a column for each side.

    :param bars: the numbers by side and place.
    """
    first_side, *_ = bars.values()
    width = max(map(len, first_side))
    lines = [_line(width, '', [*bars])]
    for place in first_side:
        cells = []
        for numbers in bars.values():
            bar = SERVER * numbers[place]
            cells.append(f'{bar:{ROOM}} {numbers[place]}')
        lines.append(_line(width, place, cells))
    return '\n'.join(lines)


def _line(width: int, place: str, cells: Sequence[str]) -> str:
    """Return one line of a picture."""
    columns = [f'{cell:{ROOM + 2}}' for cell in cells]
    return '  '.join([f'{place:{width}}', *columns]).rstrip()


def table(columns: Sequence[str], rows: Sequence[tuple[object, ...]]) -> str:
    """Return a table."""
    # Only here: without the services, prettytable may be missing, too.
    import prettytable

    grid = prettytable.PrettyTable(columns, align='l')
    grid.add_rows([list(row) for row in rows])
    return str(grid)


def counts(servers: Mapping[str, int]) -> str:
    """Return the numbers of servers by place as a cell of a table."""
    return ', '.join(map(str, servers.values()))


def main() -> None:
    """Run a story and print it.

    The command line is ``NAME LOG``: the module of the story, and the file for
    the service's log.
    """
    name, log = sys.argv[1], pathlib.Path(sys.argv[2])
    # What a service prints would stand in the middle of the story.
    screen, sys.stdout = sys.stdout, sys.stderr
    try:
        text: str = importlib.import_module(f'demo.{name}').run(log)
    except Exception as exc:
        with log.open('a') as stream:
            traceback.print_exc(file=stream)
        sys.exit(
            f'demo: {name} broke off: {type(exc).__name__}: {exc} '
            f'(the traceback is in {log}).'
        )
    print(text, file=screen, flush=True)
    # At a usual end, Python 3.13.0 to 3.13.2 print an error for each green
    # thread (https://github.com/python/cpython/issues/130522).
    os._exit(0)


if __name__ == '__main__':
    main()

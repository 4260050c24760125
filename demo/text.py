# SPDX-License-Identifier: Apache-2.0

"""Show what the parts of the demo found as text, for a person to read."""

import textwrap
from collections.abc import Sequence

import prettytable

from demo import report

#: How wide running text may be, in columns.
_WIDTH = 100


def render(part: report.Part) -> str:
    """Return one part as text: a heading, and each step's table and checks."""
    lines = ['', '=' * 78, part.service, '=' * 78]
    lines += [f'real:    {name}' for name in part.real]
    lines += [f'STUBBED: {name}' for name in part.stubs]
    for number, step in enumerate(part.steps, start=1):
        table = prettytable.PrettyTable(list(step.columns))
        table.align = 'l'
        for row in step.rows:
            table.add_row(['' if cell is None else cell for cell in row])
        lines += ['', f'{number}. {step.title}', table.get_string()]
        lines += textwrap.wrap(step.note, _WIDTH)
        for check in step.checks:
            if check.ok:
                lines.append(f'  ok    {check.what}')
            else:
                lines.append(f'  FAIL  {check.what}')
                lines.append(f'        wanted: {check.wanted}')
                lines.append(f'        found:  {check.found}')
    return '\n'.join(lines)


def summary(parts: Sequence[report.Part], seconds: float) -> str:
    """Return the closing lines: time, memory and verdict of each part."""
    table = prettytable.PrettyTable(
        ['service', 'checks', 'failed', 'seconds', 'peak memory, MiB']
    )
    table.align = 'l'
    for part in parts:
        failed = sum(not check.ok for check in part.checks)
        table.add_row(
            [
                part.service,
                len(part.checks),
                failed,
                part.seconds,
                part.peak_mib,
            ]
        )
    return f'\n{table.get_string()}\nThe demo took {seconds:.0f} s.'

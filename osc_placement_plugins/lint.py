# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter lint``."""

import argparse
import collections
from typing import Final

from os_placement_plugins.text import printable
from osc_placement_plugins import base

_COLUMNS: Final = (
    'Severity',
    'Code',
    'Object',
    'Name',
    'Key',
    'Problem',
    'Remedy',
)
_SEVERITIES: Final = ('error', 'warning')


class LintFilter(base.FilterCommand):
    """Find extra specs and metadata that are almost certainly mistakes.

    The command judges AggregateInstanceTypeFilter alone. The exit code is 2 if
    at least one finding is an error. The command does not change anything.
    """

    def find_answer(self, parsed_args: argparse.Namespace) -> base.Answer:
        """Return the findings."""
        from osc_placement_plugins import offers

        source = self.source(parsed_args)
        flavors = source.flavors()
        inventory = self.inventory(source, parsed_args)
        findings = offers.find(flavors, inventory)
        counts = collections.Counter(f.code.severity.value for f in findings)
        numbers = []
        for severity in _SEVERITIES:
            if counts[severity]:
                numbers.append(base.counted(counts[severity], severity))
        verdict = (
            f'{", ".join(numbers) or "Nothing"} found in '
            f'{base.counted(len(flavors), "flavor")} and '
            f'{base.counted(len(inventory.aggregates), "aggregate")}.'
        )
        rows = [
            (
                finding.code.severity.value,
                finding.code.value,
                finding.owner,
                finding.name,
                finding.key,
                finding.text,
                finding.remedy,
            )
            for finding in findings
        ]
        return base.Answer(
            verdict=[verdict],
            columns=_COLUMNS,
            rows=rows,
            notes=inventory.notes(),
            status=base.exit_code(
                found=counts['error'], unjudged=inventory.services is None
            ),
        )

    def print_rows(self, parsed_args: argparse.Namespace) -> None:
        """Print each finding as a block of lines.

        If the command line chooses columns or another format than a table,
        the base class prints each finding as a row.
        """
        if parsed_args.formatter != 'table' or parsed_args.columns:
            super().print_rows(parsed_args)
            return
        for row in self.answer.rows:
            severity, code, owner, name, key, problem, remedy = row
            title = f'{owner} {name}'
            if key:
                title += f', {key}'
            lines = [
                '',
                f'{severity}: {code}',
                base.fill(title, '  '),
                base.fill(problem, '  '),
            ]
            if remedy:
                # A command to copy stays in one line.
                lines.append(f'  Remedy: {printable(remedy)}')
            print('\n'.join(lines), file=self.app.stdout)

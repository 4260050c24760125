# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter lint``."""

import argparse
import collections
from collections.abc import Iterable, Sequence

from openstack_commands.aggregates import common
from openstack_commands.aggregates.advice import lint, mistakes
from openstack_commands.base import lister

_COLUMNS = (
    'Severity',
    'Code',
    'Object',
    'Name',
    'Key',
    'Problem',
    'Remedy',
)


class LintFilter(common.FilterCommand):
    """Find extra specs and metadata that are almost certainly mistakes.

    The exit code is 2 if at least one finding is an error. The command does
    not change anything.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        super().add_arguments(parser)
        parser.add_argument(
            '--severity',
            choices=[severity.value for severity in mistakes.SEVERITIES],
            default=mistakes.Severity.INFO.value,
            help='show only findings of at least this severity; default: info',
        )

    def take_action(self, parsed_args: argparse.Namespace) -> lister.Table:
        """Return the table."""
        source = self.source(parsed_args)
        stock = self.stock(source, parsed_args, source.flavors())
        limit = self.configuration(parsed_args).scheduler.max_placement_results
        findings = lint.lint(stock, limit, lister.progress)
        counts = collections.Counter(f.code.severity.value for f in findings)
        self.find(counts[mistakes.Severity.ERROR])
        numbers = []
        for word, number in counts.items():
            if word == mistakes.Severity.INFO:
                numbers.append(f'{number} info')
            else:
                numbers.append(lister.counted(number, word))
        summary = (
            f'{", ".join(numbers) or "Nothing"} found in '
            f'{lister.counted(len(stock.flavors), "flavor")} and '
            f'{lister.counted(len(stock.aggregates), "aggregate")}.'
        )
        self.remarks = [summary, *self.remarks]
        least = mistakes.SEVERITIES.index(parsed_args.severity)
        shown = mistakes.SEVERITIES[: least + 1]
        return _COLUMNS, [
            (f.code.severity.value, f.code.value, *f[3:], f.text, f.remedy)
            for f in findings
            if f.code.severity in shown
        ]

    def produce_output(
        self,
        parsed_args: argparse.Namespace,
        column_names: Sequence[str],
        data: Iterable[Sequence[str]],
    ) -> int:
        """Print each finding as a block of lines.

        If the command line chooses columns or a format other than a table,
        the base class prints each finding as a row.
        """
        if parsed_args.formatter != 'table' or parsed_args.columns:
            return super().produce_output(parsed_args, column_names, data)
        for row in lister.printable_rows(data):
            print(_block(row), end='\n\n', file=self.app.stdout)
        self.print_remarks()
        return 0


def _block(row: Sequence[str]) -> str:
    """Return one finding as text."""
    severity, code, owner, name, key, problem, remedy = row
    lines = [
        f'{severity}: {code}',
        f'  {owner} {name}, {key}',
        lister.fill(problem, '  '),
    ]
    if remedy:
        lines.append(lister.fill(f'Remedy: {remedy}', '  '))
    return '\n'.join(lines)

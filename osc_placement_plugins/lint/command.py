# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter lint``."""

import argparse
import collections
from typing import Final

from osc_placement_plugins import output
from osc_placement_plugins.filter_command import FilterCommand

_COLUMNS: Final = ('Severity', 'Code', 'Object', 'Name', 'Key', 'Problem')


class LintFilter(FilterCommand):
    """Find probable mistakes in flavors and aggregates.

    The command judges AggregateInstanceTypeFilter alone. The exit code is 2 if
    at least one finding is an error. The command does not change anything.
    """

    def find_answer(self, parsed_args: argparse.Namespace) -> output.Answer:
        from osc_placement_plugins.lint import findings, mistakes
        from osc_placement_plugins.source import records

        source = self.find_source(parsed_args)
        flavors = source.read('flavors')
        inventory = self.read_inventory(source, parsed_args)
        rows = []
        counts: collections.Counter[str] = collections.Counter()
        for finding in mistakes.find_mistakes(flavors, inventory):
            counts[finding.severity] += 1
            rows.append(
                (
                    finding.severity,
                    finding.code.value,
                    finding.owner,
                    finding.name,
                    finding.key,
                    finding.text,
                )
            )
        numbers = []
        for severity in findings.SEVERITIES:
            if counts[severity]:
                numbers.append(output.format_count(counts[severity], severity))
        summary = (
            f'{", ".join(numbers) or "Nothing"} found in '
            f'{output.format_count(len(flavors), "flavor")} and '
            f'{output.format_count(len(inventory.aggregates), "aggregate")}.'
        )
        notes = inventory.notes()
        note = records.note_public(flavors)
        if note:
            notes.append(note)
        return output.Answer(
            summary=[summary],
            columns=_COLUMNS,
            rows=rows,
            notes=notes,
            has_problem=counts[findings.ERROR] > 0,
            is_partial=inventory.services is None,
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
            severity, code, owner, name, key, problem = row
            title = f'{owner} {name}'
            if key:
                title += f', {key}'
            lines = [
                '',
                f'{severity}: {code}',
                output.fill(title, '  '),
                output.fill(problem, '  '),
            ]
            print('\n'.join(lines), file=self.app.stdout)

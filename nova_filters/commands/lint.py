# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter lint``."""

import argparse
from collections.abc import Iterable, Sequence

from nova_filters.advice import lint, mistakes
from nova_filters.commands import common


class LintFilter(common.FilterCommand):
    """Find mistakes in flavors and aggregates that change where flavors boot.

    The exit code is 1 if there is an error among the findings. Nothing is
    changed.
    """

    _failed = False

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        super().add_arguments(parser)
        parser.add_argument(
            '--severity',
            choices=[severity.value for severity in mistakes.SEVERITIES],
            default=mistakes.Severity.INFO.value,
            help='leave out findings that are less severe; default: info',
        )

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[str]]]:
        """Return the table."""
        source = self.source(parsed_args)
        found = lint.lint(
            source.flavors(),
            source.aggregates(),
            self.exempt(parsed_args),
            source.hosts(),
        )
        self._failed = any(
            f.problem.code.severity is mistakes.Severity.ERROR for f in found
        )
        least = mistakes.SEVERITIES.index(
            mistakes.Severity(parsed_args.severity)
        )
        shown = mistakes.SEVERITIES[: least + 1]
        columns = (
            'Severity',
            'Code',
            'Object',
            'Name',
            'Key',
            'Problem',
            'Remedy',
        )
        return columns, [
            (
                f.problem.code.severity.value,
                f.problem.code.value,
                f.owner,
                f.name,
                f.key,
                f.problem.text,
                f.problem.remedy,
            )
            for f in found
            if f.problem.code.severity in shown
        ]

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Return 1 if an error was found."""
        return super().run(parsed_args) or int(self._failed)

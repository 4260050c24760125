# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter audit``."""

import argparse
from typing import Final

from openstack_commands.aggregates import common
from openstack_commands.aggregates.advice import audit
from openstack_commands.base import lister

_COLUMNS: Final = (
    'Problem',
    'Flavor',
    'Servers',
    'Reason',
    'Server IDs',
    'Hosts',
)
_TABLE: Final = ('Problem', 'Flavor', 'Servers', 'Reason')


class AuditFilter(common.FilterCommand):
    """List running servers that their own host would refuse today.

    The command compares the flavor of each server with the metadata of the
    aggregates of its host. The command does not move any server.
    """

    files = ('aggregates', 'hosts', 'servers')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        super().add_arguments(parser)
        parser.add_argument(
            '--fail-on',
            choices=[audit.REFUSED],
            help='exit with 2 if there is such a problem, and with 1 if '
            'a server could not be judged',
        )

    def take_action(self, parsed_args: argparse.Namespace) -> lister.Table:
        """Return the table."""
        source = self.source(parsed_args)
        stock = self.stock(source, parsed_args, [])
        audited = audit.Audit(source.servers(), stock)
        refused = [*audited.refused()]
        unknown = [*audited.unknown()]
        if parsed_args.fail_on:
            self.find(refused, unknown)
        self.remarks.append(
            f'{lister.counted(len(refused), "problem")} found among '
            f'{lister.counted(len(audited.running), "running server")}.'
        )
        self.table_columns = _TABLE
        return _COLUMNS, map(_row, [*refused, *unknown])


def _row(problem: audit.Problem) -> tuple[object, ...]:
    """Return the row of one problem, with all columns."""
    return (
        problem.kind,
        problem.flavor,
        common.Names(problem.places),
        problem.reason,
        common.Names(problem.server_ids),
        common.Names(problem.hosts),
    )

# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter audit``."""

import argparse
from collections.abc import Sequence
from typing import Final

from openstack_commands.aggregates import common, compute
from openstack_commands.aggregates.advice import audit, breaches, reservations
from openstack_commands.base import lister
from os_placement_plugins.quoting import listed

_COLUMNS: Final = (
    'Problem',
    'Object',
    'Name',
    'Servers',
    'Reason',
    'ID',
    'Server IDs',
    'Hosts',
)
_TABLE: Final = ('Problem', 'Object', 'Name', 'Servers', 'Reason')


class AuditFilter(common.FilterCommand):
    """List running servers that break the rules now.

    These are the servers that their own host would refuse today, the hard
    rules of Nova that do not hold, and the stacks and server groups that
    could be spread better. The command does not move any server.
    """

    offline = False

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        super().add_arguments(parser)
        parser.add_argument(
            '--fail-on',
            choices=[breaches.REFUSED, breaches.BROKEN, breaches.SPREAD],
            action='append',
            default=[],
            help='exit with 2 if there is such a problem, and with 1 if '
            'something could not be judged; can be repeated',
        )

    def take_action(self, parsed_args: argparse.Namespace) -> lister.Table:
        """Return the table."""
        source = compute.Cloud(self.log_in())
        stock = self.stock(source, parsed_args, [])
        servers = source.servers()
        groups = source.groups()
        options = self.configuration(parsed_args)
        levels = options.nova_filters.stack_spread_over
        stacks = options.nova_filters.stack_affinity_weight_multiplier < 0
        filters = options.filter_scheduler.enabled_filters
        projects = reservations.PROJECT_FILTER in filters
        audited = audit.Audit(servers, stock, levels)
        problems = [
            *audited.refused(),
            *audited.broken(groups, projects),
            *audited.uneven(groups, stacks),
        ]
        unknown = [*audited.unknown()]
        unseen = self._tell_unseen(audited, stacks, parsed_args.config_file)
        self._fail(parsed_args.fail_on, problems, unknown, unseen)
        self.remarks += [
            f'{lister.counted(len(problems), "problem")} found among '
            f'{lister.counted(len(audited.running), "running server")}.',
        ]
        self.table_columns = _TABLE
        return _COLUMNS, map(_row, [*problems, *unknown])

    def _tell_unseen(
        self, audited: audit.Audit, stacks: bool, config_file: str | None
    ) -> set[str]:
        """Report the rules that could not be checked for all servers.

        :returns: the kinds of problems that this audit may have missed.
        """
        unseen = set()
        running = audited.running.values()
        unzoned = [server.name for server in running if server.zone is None]
        hidden = [server.name for server in running if server.hints is None]
        if unzoned:
            self.unjudged.append(
                f'Not judged: the zones of {listed(unzoned)}, because this '
                'Nova does not show them. That takes API microversion 2.96.'
            )
            unseen |= {breaches.BROKEN, breaches.SPREAD}
        if hidden and stacks:
            self.unjudged.append(
                'Not judged: the spread of stacks, because this Nova does not '
                'show the hints of servers. That takes API microversion 2.100.'
            )
            unseen.add(breaches.SPREAD)
        if audited.reserves and not config_file:
            self.unjudged.append(
                'Not judged: hosts that are reserved for projects. Name the '
                'nova.conf that says whether '
                f'{reservations.PROJECT_FILTER} is enabled with '
                '--config-file.'
            )
            unseen.add(breaches.BROKEN)
        return unseen

    def _fail(
        self,
        fail_on: Sequence[str],
        problems: Sequence[breaches.Breach],
        unknown: Sequence[breaches.Breach],
        unseen: set[str],
    ) -> None:
        """Set the exit code if the command line has ``--fail-on``.

        :param fail_on: the kinds of problems in ``--fail-on``.
        :param problems: the problems that were found.
        :param unknown: the servers that could not be judged.
        :param unseen: the kinds of problems that may have been missed.
        """
        if not fail_on:
            return
        is_found = False
        for breach in problems:
            is_found = is_found or any(map(breach.fails, fail_on))
        self.find(is_found, unknown or unseen.intersection(fail_on))


def _row(breach: breaches.Breach) -> tuple[object, ...]:
    """Return the row of one problem, with all columns."""
    return (
        breach.problem,
        breach.noun,
        breach.name,
        common.Names(breach.places),
        breach.reason,
        breach.id,
        common.Names(breach.server_ids),
        common.Names(breach.hosts),
    )

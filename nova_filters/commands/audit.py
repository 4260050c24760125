# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter audit``."""

import argparse

from nova_filters.advice import audit
from nova_filters.commands import common, compute
from os_placement_plugins.commands import lister
from os_placement_plugins.quoting import listed

_COLUMNS = ('Problem', 'Object', 'Name', 'Servers', 'Reason')


class AuditFilter(common.FilterCommand):
    """List running servers that break the rules now.

    These are the servers that their own host would refuse today, and the
    stacks and server groups that could be spread better. The command does not
    move any server.
    """

    offline = False

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        super().add_arguments(parser)
        parser.add_argument(
            '--fail-on',
            choices=[audit.REFUSED, audit.SPREAD],
            action='append',
            default=[],
            help='exit with 2 if there is such a problem, and with 1 if '
            'servers could not be judged; can be repeated',
        )

    def take_action(self, parsed_args: argparse.Namespace) -> lister.Table:
        """Return the table."""
        source = compute.Cloud(self.log_in())
        stock = self.stock(source, parsed_args, [])
        servers = source.servers()
        options = self.configuration(parsed_args).nova_filters
        spread = options.stack_affinity_weight_multiplier < 0
        judged = audit.Audit(servers, stock, options.stack_spread_over)
        found = [*judged.refused()]
        found += judged.uneven(source.groups(), spread)
        hidden = [s for s in judged.running.values() if s.hints is None]
        if judged.unknown:
            number = lister.counted(len(judged.unknown), 'server')
            self.remarks.append(
                f'Not judged: {number} whose flavor or host Nova does not '
                f'show ({listed([s.name for s in judged.unknown])}).'
            )
        if hidden:
            self.remarks.append(
                'Not judged: the spread of stacks, because this Nova does not '
                'show the hints of servers. That takes API microversion 2.100.'
            )
        fail_on = {*parsed_args.fail_on}
        if fail_on:
            unseen = hidden if audit.SPREAD in fail_on else []
            problems = {breach.problem for breach in found}
            self.find(problems & fail_on, judged.unknown or unseen)
        self.remarks += [
            f'{lister.counted(len(found), "problem")} found among '
            f'{lister.counted(len(judged.running), "running server")}.',
        ]
        return _COLUMNS, [
            (*breach[:3], common.Names(breach.servers), breach.reason)
            for breach in found
        ]

# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter explain``."""

import argparse
from collections.abc import Sequence

from osc_lib import exceptions

from openstack_commands.aggregates import common, verdicts
from openstack_commands.aggregates.advice import explanation, inventory
from openstack_commands.base import lister


class ExplainFilter(common.FilterCommand):
    """Explain which hosts pass AggregateInstanceTypeFilter for a flavor.

    The command compares the flavor with the metadata of the host aggregates,
    as nova-scheduler does. Hosts that pass come first. The other hosts follow,
    starting with those that have the fewest failing keys. The command does
    not change anything.
    """

    files = ('flavors', 'aggregates', 'hosts', 'servers')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        super().add_arguments(parser)
        parser.add_argument(
            'flavor',
            metavar='<flavor>',
            nargs='*',
            help='flavor (name or ID); default with --summary: all flavors',
        )
        lister.add_repeatable(
            parser,
            '--server',
            '<server>',
            "server (name or ID): judge the server's own copy of the "
            'flavor; can be repeated',
        )
        text = 'judge only this host; can be repeated'
        lister.add_repeatable(parser, '--host', '<host>', text)
        parser.add_argument(
            '--fail-if-none',
            action='store_true',
            help='exit with 2 if any flavor has no host that passes; hosts '
            'that are not up do not count',
        )
        form = parser.add_mutually_exclusive_group()
        form.add_argument(
            '--long',
            action='store_true',
            help='show all columns in the table, as in other formats',
        )
        form.add_argument(
            '--summary',
            action='store_true',
            help='count the hosts for each result and reason',
        )

    def take_action(self, parsed_args: argparse.Namespace) -> lister.Table:
        """Return the table."""
        source = self.source(parsed_args)
        copies = _copies(source.servers_named(parsed_args.server))
        names_flavors = bool(parsed_args.flavor or copies)
        if not names_flavors and not parsed_args.summary:
            raise exceptions.CommandError(
                'Name a flavor, or a server with --server'
            )
        all_flavors = []
        if parsed_args.flavor or not copies:
            all_flavors = source.flavors()
        flavors = all_flavors
        if names_flavors:
            names = parsed_args.flavor
            flavors = inventory.select(all_flavors, names, 'flavor') + copies
        self.remarks = [common.OTHERS]
        stock = self.stock(source, parsed_args, all_flavors)
        common.check_hosts(stock.hosts, parsed_args.host)
        hosts = [stock.hosts[name] for name in dict.fromkeys(parsed_args.host)]
        all_verdicts = []
        for flavor in lister.progress(flavors, 'flavors'):
            verdicts_of_flavor = explanation.Verdicts(
                flavor, stock, hosts or None
            )
            all_verdicts.append(verdicts_of_flavor)
        if parsed_args.fail_if_none:
            hopeless = [
                each.flavor for each in all_verdicts if not each.usable
            ]
            self.find(hopeless, unknown=stock.listed_hosts is None)
        if parsed_args.summary:
            return verdicts.summary(all_verdicts)
        self.remarks += verdicts.conclude(all_verdicts)
        return self._listed(all_verdicts, parsed_args)

    def _listed(
        self,
        all_verdicts: list[explanation.Verdicts],
        parsed_args: argparse.Namespace,
    ) -> lister.Table:
        """Return the table with a row for each flavor and host."""
        entries: list[explanation.Explanation] = []
        for verdicts_of_flavor in all_verdicts:
            entries.extend(explanation.explain(verdicts_of_flavor))
        if not parsed_args.long:
            table_columns = ['Host']
            if len(all_verdicts) > 1:
                table_columns.insert(0, 'Flavor')
            if any(not entry.host.usable for entry in entries):
                table_columns.append('State')
            table_columns += ['Result', 'Reason']
            if any(entry.points for entry in entries):
                table_columns.append('Preferences')
            self.table_columns = table_columns
        return verdicts.COLUMNS, map(verdicts.row, entries)


def _copies(servers: Sequence[inventory.Server]) -> list[inventory.Flavor]:
    """Return the servers' own copies of their flavors.

    :raises CommandError: if Nova does not show the flavor of a server.
    """
    copies = []
    for server in servers:
        if server.flavor is None:
            raise exceptions.CommandError(
                f'Nova does not show the flavor of {server.name}: the cell '
                'may be down'
            )
        name = f'{server.flavor.name} of {server.name}'
        copies.append(inventory.Flavor(name, server.flavor.extra_specs))
    return copies

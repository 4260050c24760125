# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter explain``."""

import argparse
from collections.abc import Sequence

from osc_lib import exceptions

from openstack_commands.aggregates import (
    common,
    compute,
    failed_request,
    verdicts,
)
from openstack_commands.aggregates.advice import explanation, inventory, walk
from openstack_commands.base import lister
from os_placement_plugins.quoting import listed

_DEFAULT_FILTERS = (
    'The filters are those of Nova by default, and this one: name yours with '
    '--config-file.'
)


class ExplainFilter(common.FilterCommand):
    """Explain which hosts pass AggregateInstanceTypeFilter for a flavor.

    The command compares the flavor with the metadata of the host aggregates,
    as nova-scheduler does. Hosts that pass come first. The other hosts follow,
    starting with those that have the fewest failing keys. The command does
    not change anything.
    """

    reads_servers = True

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
            'flavor; can be repeated; default with --servers: all servers in '
            'the files. For a single server with the status ERROR and no '
            'host, show how many hosts are left after each step of '
            'nova-scheduler',
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
        servers = source.servers_named(parsed_args.server)
        if isinstance(source, compute.Cloud) and _is_plain(parsed_args):
            (server,) = servers
            if server.failed and server.flavor:
                return self._walk(source, server, parsed_args)
        self._tell_unshown(servers, parsed_args)
        copies = _copies(servers)
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
        evaluation = explanation.Evaluation(stock, hosts or None)
        all_verdicts = []
        for flavor in lister.progress(flavors, 'flavors'):
            all_verdicts.append(evaluation.judge(flavor))
        if parsed_args.fail_if_none:
            hopeless = [
                each.flavor for each in all_verdicts if not each.usable
            ]
            is_unknown = stock.listed_hosts is None or self.unjudged
            self.find(hopeless, unknown=is_unknown)
        if parsed_args.summary:
            return verdicts.summary(all_verdicts)
        self.remarks += verdicts.conclude(all_verdicts)
        return self._listed(all_verdicts, parsed_args)

    def _tell_unshown(
        self,
        servers: Sequence[inventory.Server],
        parsed_args: argparse.Namespace,
    ) -> None:
        """Report the servers whose flavor Nova does not show.

        :raises CommandError: in place of the report, if the servers are named
            with ``--server``.
        """
        unshown = [server.name for server in servers if not server.flavor]
        if not unshown:
            return
        text = (
            f'Nova does not show the flavor of {listed(unshown)}: the cell '
            'may be down'
        )
        if parsed_args.server:
            raise exceptions.CommandError(text)
        self.unjudged.append(f'{text}.')

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

    def _walk(
        self,
        source: compute.Cloud,
        server: inventory.Server,
        parsed_args: argparse.Namespace,
    ) -> lister.Table:
        """Return the table of the steps of a failed boot request."""
        stock = self.stock(source, parsed_args, [])
        config = self.configuration(parsed_args)
        filters: Sequence[str] = walk.DEFAULT_FILTERS
        if parsed_args.config_file:
            filters = config.filter_scheduler.enabled_filters
        request = failed_request.FailedRequest(
            source, stock, server, config.scheduler.max_placement_results
        )
        way = request.repeat(filters)
        if parsed_args.fail_if_none:
            self.find(not way.steps[-1].left)
        if server.fault:
            self.remarks.append(f'Nova says: {server.fault}')
        self.remarks += request.conclude(way)
        if not parsed_args.config_file:
            self.remarks.append(_DEFAULT_FILTERS)
        rows = [(step.name, len(step.left), step.reason) for step in way.steps]
        return ('Step', 'Left', 'Reason'), rows


def _copies(servers: Sequence[inventory.Server]) -> list[inventory.Flavor]:
    """Return the servers' own copies of their flavors."""
    copies = []
    for server in servers:
        if server.flavor:
            name = f'{server.flavor.name} of {server.name}'
            specs = server.flavor.extra_specs
            copies.append(inventory.Flavor(name, specs))
    return copies


def _is_plain(parsed_args: argparse.Namespace) -> bool:
    """Tell whether the command line names one server and nothing else.

    "Nothing else" means no flavor, ``--host``, ``--long`` or ``--summary``.
    """
    if parsed_args.flavor or parsed_args.host:
        return False
    if parsed_args.long or parsed_args.summary:
        return False
    return len(parsed_args.server) == 1

# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter explain``."""

import argparse
from collections.abc import Sequence

from osc_lib import exceptions
from oslo_config import cfg

from nova_filters.advice import explanation, inventory, walk
from nova_filters.commands import common, compute, files, verdicts
from os_placement_plugins.commands import lister
from os_placement_plugins.commands.files import read_configuration

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
            help='flavor (name or ID); default with --summary or --matrix: '
            'all flavors',
        )
        parser.add_argument(
            '--server',
            metavar='<server>',
            action='append',
            default=[],
            help="server (name or ID): judge the server's own copy of the "
            'flavor; can be repeated; default with --servers: all servers in '
            'the files. For a single server with the status ERROR and no '
            'host, show how many hosts are left after each step of '
            'nova-scheduler',
        )
        parser.add_argument(
            '--host',
            metavar='<host>',
            action='append',
            default=[],
            help='judge only this host; can be repeated',
        )
        which = parser.add_mutually_exclusive_group()
        which.add_argument(
            '--only-passed',
            action='store_true',
            help='show only the hosts that pass',
        )
        which.add_argument(
            '--only-refused',
            action='store_true',
            help='show only the hosts that the filter refuses',
        )
        parser.add_argument(
            '--fail-if-none',
            action='store_true',
            help='exit with 1 if any flavor has no host that passes; hosts '
            'that are disabled or down do not count',
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
        form.add_argument(
            '--matrix',
            action='store_true',
            help='show a row for each flavor and a column for each '
            'aggregate: the result for a host in this aggregate only',
        )

    def take_action(self, parsed_args: argparse.Namespace) -> lister.Table:
        """Return the table."""
        source = self.source(parsed_args)
        way = self._walk(source, parsed_args)
        if way is not None:
            return way
        copies = [
            inventory.Flavor(
                f'{server.flavor.name} of {server.name}',
                server.flavor.extra_specs,
            )
            for server in source.servers_named(parsed_args.server)
        ]
        flavors = _flavors(source, parsed_args, copies)
        aggregates = source.aggregates()
        exempt = self.exempt(parsed_args)
        if parsed_args.matrix:
            if (
                parsed_args.host
                or parsed_args.hosts
                or parsed_args.only_passed
                or parsed_args.only_refused
                or parsed_args.fail_if_none
            ):
                raise exceptions.CommandError(
                    '--matrix judges aggregates: leave out --host, --hosts, '
                    '--only-passed, --only-refused and --fail-if-none'
                )
            self.remarks = [common.OTHERS]
            return verdicts.matrix(flavors, aggregates, exempt)
        others = source.hosts()
        hosts = inventory.hosts_of(aggregates, others)
        common.check_hosts(hosts, parsed_args.host)
        chosen = {name: hosts[name] for name in parsed_args.host} or hosts
        found = explanation.explain(flavors, chosen, exempt)
        self.failed = parsed_args.fail_if_none and not all(
            any(entry.open for entry in found if entry.flavor is flavor)
            for flavor in flavors
        )
        self.remarks = [common.OTHERS]
        if others is None:
            self.remarks.append(common.NO_HOSTS)
        if not parsed_args.summary:
            self.remarks += verdicts.conclude(
                flavors, copies, found, aggregates, exempt
            )
        return self._listed(found, parsed_args)

    def _listed(
        self,
        found: list[explanation.Explanation],
        parsed_args: argparse.Namespace,
    ) -> lister.Table:
        """Return the table of hosts, or of their numbers."""
        if parsed_args.only_passed:
            found = [e for e in found if e.passed]
        if parsed_args.only_refused:
            found = [e for e in found if not e.passed]
        if parsed_args.summary:
            return verdicts.summary(found)
        if not parsed_args.long:
            state = ['State'] * any(not e.host.usable for e in found)
            self.table_columns = [
                *['Flavor'] * (len({e.flavor.name for e in found}) > 1),
                *('Host', *state, 'Result', 'Reason'),
            ]
        return verdicts.COLUMNS, map(verdicts.row, found)

    def _walk(
        self,
        source: compute.Cloud | files.Saved,
        parsed_args: argparse.Namespace,
    ) -> lister.Table | None:
        """Return the steps of a request that has failed, if it has."""
        if isinstance(source, files.Saved) or not _is_plain(parsed_args):
            return None
        failed = source.failed(*parsed_args.server)
        if failed is None:
            return None
        exempt, aggregates = self.exempt(parsed_args), source.aggregates()
        offered, silence = source.candidates(failed.demand.query)
        way = walk.walk(
            inventory.hosts_of(aggregates, source.hosts()),
            failed.request,
            offered,
            str(failed.demand),
            _filters(parsed_args.config_file),
            exempt,
        )
        left = way.steps[-1].left
        self.failed = parsed_args.fail_if_none and not left
        self.remarks = verdicts.tell(failed, way, silence)
        if not parsed_args.config_file:
            self.remarks.append(_DEFAULT_FILTERS)
        if not left:
            self.remarks += verdicts.opening_of(
                sorted(way.near, key=lambda e: len(e.failing_keys)),
                aggregates,
                exempt,
            )
        return verdicts.STEPS, way.steps


def _is_plain(parsed_args: argparse.Namespace) -> bool:
    """Tell whether one server is asked about, and nothing else."""
    others = (
        *('flavor', 'host', 'long', 'summary', 'matrix'),
        *('only_passed', 'only_refused'),
    )
    chosen = any(getattr(parsed_args, name) for name in others)
    return len(parsed_args.server) == 1 and not chosen


def _filters(path: str | None) -> Sequence[str]:
    """Return the filters that a nova.conf enables, in order."""
    if not path:
        return walk.DEFAULT_FILTERS
    option = cfg.ListOpt('enabled_filters', default=walk.DEFAULT_FILTERS[:-1])
    group = cfg.OptGroup('filter_scheduler')
    config = read_configuration(path, [(group, [option])])
    found: Sequence[str] = config.filter_scheduler.enabled_filters
    return found


def _flavors(
    source: compute.Cloud | files.Saved,
    parsed_args: argparse.Namespace,
    copies: list[inventory.Flavor],
) -> list[inventory.Flavor]:
    """Return what to judge: the flavors that are named, and the copies."""
    if parsed_args.flavor:
        named = inventory.select(
            source.flavors(), parsed_args.flavor, 'flavor'
        )
        return named + copies
    if copies:
        return copies
    if not (parsed_args.summary or parsed_args.matrix):
        raise exceptions.CommandError(
            'Name a flavor, or a server with --server'
        )
    return source.flavors()

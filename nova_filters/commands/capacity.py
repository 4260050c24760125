# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter capacity``."""

import argparse
import os
import pathlib
import tempfile
from collections.abc import Set

from osc_lib import exceptions

from nova_filters.advice import capacity, demand, explanation, inventory
from nova_filters.commands import common, compute
from os_placement_plugins.commands import lister

_BOUND = (
    'An upper bound: each flavor is counted alone, with its root disk on the '
    'host. NUMA, PCI devices, nested providers, images, zones and projects '
    'may leave less.'
)


class ShowFilterCapacity(common.FilterCommand):
    """Show how many more servers of each flavor fit.

    The command counts the hosts that pass AggregateInstanceTypeFilter and are
    up, and asks Placement how many servers fit there. The command does not
    change anything in the cloud.
    """

    offline = False

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        super().add_arguments(parser)
        parser.add_argument(
            'flavor',
            metavar='<flavor>',
            nargs='*',
            help='flavor (name or ID); default: all flavors',
        )
        parser.add_argument(
            '--textfile',
            metavar='<file>',
            help="write the numbers in the format of Prometheus' textfile "
            'collector',
        )

    def take_action(self, parsed_args: argparse.Namespace) -> lister.Table:
        """Return the table."""
        source = compute.Cloud(self.log_in())
        known = source.flavors()
        named = inventory.select(known, parsed_args.flavor, 'flavor')
        stock = self.stock(source, parsed_args, known)
        panel = explanation.Panel(stock)
        rooms = []
        for flavor in lister.progress(named or known, 'flavors'):
            hosts = panel.judge(flavor).takers
            rooms.append(self._room(source, flavor, hosts))
        self.remarks += [
            _BOUND,
            f'{source.asked} requests to Placement for '
            f'{lister.counted(len(stock.hosts), "host")}.',
        ]
        if parsed_args.textfile:
            _write(pathlib.Path(parsed_args.textfile), rooms)
        return (
            ('Flavor', 'Hosts', 'Servers', 'Full', 'Scarce', 'Not Judged'),
            [
                (*room[:4], common.Names(room.scarce), common.Names(room[5]))
                for room in rooms
            ],
        )

    def _room(
        self, source: compute.Cloud, flavor: inventory.Flavor, hosts: Set[str]
    ) -> capacity.Room:
        """Return what is left for one flavor."""
        asked = demand.of(flavor)
        found, refusal = source.rooms(asked.query)
        if refusal:
            self.find(False, unknown=True)
            self.remarks.append(f'{flavor.name}: Placement says: {refusal}')
            return capacity.Room(
                flavor.name, len(hosts), None, 0, [], [*asked.unasked]
            )
        lacking = {}
        if hosts - {source.nodes.get(node) for node in found}:
            # Which class is it that the others lack?
            for one in asked.query.get('resources', '').split(','):
                some, _ = source.rooms({'resources': one})
                lacking[one.partition(':')[0]] = some
        return capacity.count(
            *(flavor.name, hosts, source.nodes, found, lacking),
            asked.unasked,
        )


def _write(path: pathlib.Path, rooms: list[capacity.Room]) -> None:
    """Write numbers to a file that others never see half written."""
    try:
        with tempfile.NamedTemporaryFile(
            'w', dir=path.parent, prefix='.', delete=False, encoding='utf-8'
        ) as file:
            file.write(capacity.exposition(rooms))
        # Others read it, too.
        os.chmod(file.name, 0o644)  # noqa: S103
        os.replace(file.name, path)
    except OSError as exc:
        raise exceptions.CommandError(
            f'Cannot write {str(path)!r}: {exc.strerror}'
        ) from exc

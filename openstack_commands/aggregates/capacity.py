# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter capacity``."""

import argparse
import os
import pathlib
import tempfile
from collections.abc import Sequence, Set
from typing import Final

from osc_lib import exceptions

from openstack_commands.aggregates import common, compute
from openstack_commands.aggregates.advice import (
    capacity,
    demand,
    explanation,
    inventory,
)
from openstack_commands.base import lister
from os_placement_plugins.quoting import listed

_COLUMNS: Final = (
    'Flavor',
    'Hosts',
    'Nodes',
    'Servers',
    'Bound',
    'Full Nodes',
    'Scarce',
    'Not Judged',
)
_AT_MOST: Final = (
    'At most: each flavor is counted alone, with its root disk on {}. NUMA, '
    'PCI devices, nested providers, images, zones and projects may leave less.'
)
_AT_LEAST: Final = (
    'At least: Placement does not tell of all hosts with room, see its option '
    'max_allocation_candidates.'
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
            '--from-volume',
            action='store_true',
            help='count servers whose root disk is a volume',
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
        flavors = source.flavors()
        named = inventory.select(flavors, parsed_args.flavor, 'flavor')
        stock = self.stock(source, parsed_args, flavors)
        evaluation = explanation.Evaluation(stock)
        rooms = []
        missing: set[str] = set()
        for flavor in lister.progress(named or flavors, 'flavors'):
            hosts = evaluation.judge(flavor).takers
            missing |= hosts.difference(source.nodes.values())
            need = demand.of(flavor, parsed_args.from_volume)
            rooms.append(self._room(source, flavor.name, hosts, need))
        if missing:
            self.find(False, unknown=True)
            self.unjudged.append(
                f'Not counted: {listed(sorted(missing))}. Nova shows no '
                'hypervisor of such a host.'
            )
        disk = 'the host'
        if parsed_args.from_volume:
            disk = 'a volume'
        self.remarks += [
            *_explain(rooms, disk),
            f'{source.placement_requests} requests to Placement for '
            f'{lister.counted(len(stock.hosts), "host")}.',
        ]
        if parsed_args.textfile:
            _write(pathlib.Path(parsed_args.textfile), rooms)
        hidden = set()
        if all(room.nodes == room.hosts for room in rooms):
            hidden.add('Nodes')
        if not any(room.unjudged for room in rooms):
            hidden.add('Not Judged')
        self.table_columns = [name for name in _COLUMNS if name not in hidden]
        return _COLUMNS, map(_row, rooms)

    def _room(
        self,
        source: compute.Cloud,
        flavor: str,
        hosts: Set[str],
        need: demand.Demand,
    ) -> capacity.Room:
        """Return how many more servers of one flavor fit.

        :param hosts: the hosts that pass the filter for the flavor and are up.
        :param need: the request to Placement for the flavor.
        """
        answer, refusal = source.candidates(need.query)
        nodes = [node for node, host in source.nodes.items() if host in hosts]
        if answer is None:
            self.find(False, unknown=True)
            self.unjudged.append(f'{flavor}: Placement says: {refusal}')
            return capacity.Room(
                flavor=flavor,
                hosts=len(hosts),
                nodes=len(nodes),
                servers=None,
                bound='',
                full=0,
                scarce=[],
                unjudged=[*need.unasked],
            )
        able = {}
        if not capacity.Candidates(answer, nodes).is_plain(nodes):
            # The answer does not say what nodes without a candidate lack, or
            # whether Placement has cut the list of candidates.
            able = source.able(need.parts)
        return capacity.count(
            flavor, hosts, source.nodes, answer, able, need.unasked
        )


def _explain(rooms: Sequence[capacity.Room], disk: str) -> list[str]:
    """Return a remark for each kind of bound in the table.

    :param disk: where the root disk is, such as "a volume".
    """
    bounds = {room.bound for room in rooms}
    remarks = []
    if capacity.AT_MOST in bounds:
        remarks.append(_AT_MOST.format(disk))
    if capacity.AT_LEAST in bounds:
        remarks.append(_AT_LEAST)
    return remarks


def _row(room: capacity.Room) -> tuple[object, ...]:
    """Return the row of one flavor, with all columns."""
    return (
        room.flavor,
        room.hosts,
        room.nodes,
        room.servers,
        room.bound,
        room.full,
        common.Names(room.scarce),
        common.Names(room.unjudged),
    )


def _write(path: pathlib.Path, rooms: list[capacity.Room]) -> None:
    """Replace a file in one step, so that no program reads half a file."""
    try:
        with tempfile.NamedTemporaryFile(
            'w', dir=path.parent, prefix='.', delete=False, encoding='utf-8'
        ) as file:
            draft = pathlib.Path(file.name)
            file.write(capacity.exposition(rooms))
        try:
            # A temporary file is private to its owner. Prometheus' collector
            # may run as another user.
            draft.chmod(0o644)
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as exc:
        raise exceptions.CommandError(
            f'Cannot write {str(path)!r}: {exc.strerror}'
        ) from exc

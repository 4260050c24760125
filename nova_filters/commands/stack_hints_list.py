# SPDX-License-Identifier: Apache-2.0

"""``openstack stack hints list``."""

import argparse
import logging
from collections.abc import Iterator, Mapping
from typing import Any, Final

from openstack import exceptions as sdk_exceptions

from nova_filters.advice import server_hints
from nova_filters.commands import files, stack_keys
from os_placement_plugins.commands import lister

LOG = logging.getLogger(__name__)

#: What a table shows without --long.
SHORT: Final = ('Server', 'Key ID', 'Key Number', 'Signature')
COLUMNS: Final = (
    'Server ID',
    'Server',
    'Project ID',
    'Key ID',
    'Key Number',
    'Signature',
)
#: As many servers are asked for at once.
_PAGE: Final = 500


class ListStackHints(lister.Lister):
    """List the servers with stack hints, and the key that signed the hints.

    Keep an old signing key as long as servers have a signature from this key.
    With --servers, the command does not need a cloud. The command does not
    change anything.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        parser.add_argument(
            '--all-projects',
            action='store_true',
            help='list the servers of all projects (administrators only)',
        )
        parser.add_argument(
            '--key',
            metavar='<key-id>',
            help='list only the servers whose signature contains this key ID',
        )
        stack_keys.add_arguments(
            parser, long='show the IDs of servers and projects as well'
        )

    def take_action(self, parsed_args: argparse.Namespace) -> lister.Table:
        """Return one row for each server that carries stack hints."""
        keys = stack_keys.read(parsed_args)
        if parsed_args.servers:
            members = files.read(
                parsed_args.servers,
                lambda rows: server_hints.read_servers(rows, keys),
            )
        else:
            members = server_hints.read_servers(
                self._ask(all_projects=parsed_args.all_projects), keys
            )
        numbers = {key_id: place for place, key_id in enumerate(keys.ids, 1)}
        if not parsed_args.long:
            self.table_columns = SHORT
        return COLUMNS, (
            (
                member.id,
                member.name,
                member.project_id or '',
                member.key_id or '',
                numbers.get(member.key_id or '', ''),
                str(member.signature),
            )
            for member in sorted(members, key=lambda m: (m.name, m.id))
            if member.marked and parsed_args.key in (None, member.key_id)
        )

    def _ask(self, *, all_projects: bool) -> Iterator[Mapping[str, Any]]:
        """Yield servers, as Nova's API answers."""
        nova = stack_keys.compute(self.log_in())
        query: dict[str, Any] = {'limit': _PAGE}
        if all_projects:
            query['all_tenants'] = 'True'
        unknown = 0
        while True:
            answer = nova.get(
                '/servers/detail',
                params=query,
                microversion=stack_keys.HINTS_SHOWN,
            )
            sdk_exceptions.raise_from_response(answer)
            servers = answer.json()['servers']
            for server in servers:
                # Hardly more than the id, while its cell is down.
                if 'scheduler_hints' in server:
                    yield server
                else:
                    unknown += 1
            if not servers:
                break
            query['marker'] = servers[-1]['id']
        if unknown:
            LOG.warning(
                '%d servers are left out: Nova does not show their hints.',
                unknown,
            )

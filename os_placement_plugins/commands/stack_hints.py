# SPDX-License-Identifier: Apache-2.0

"""``openstack stack hints list``."""

import argparse
import logging
from collections.abc import Iterable, Iterator
from typing import Any, Final

from cliff import columns
from openstack import utils
from osc_lib import exceptions
from oslo_config import cfg

from os_placement_plugins import options, signature, stack_hints
from os_placement_plugins.commands import files, lister, pages
from os_placement_plugins.quoting import printable
from os_placement_plugins.records import hint_members, rows

LOG = logging.getLogger(__name__)

#: Since this microversion Nova shows the hints of a server.
HINTS_SHOWN: Final = '2.100'
_SERVER: Final = 'OS::Nova::Server'
#: More levels than Heat lets a stack have.
_ALL_LEVELS: Final = 100

#: What a table shows without --long; the path ends with the stack.
SHORT: Final = ('Server', 'Path', 'Key ID', 'Signature')
COLUMNS: Final = (
    *('Server', 'Stack', 'Path', 'Resource', 'Key ID', 'Key Number'),
    *('Signature', 'Server ID', 'Project ID', 'Stack ID', 'Root Stack ID'),
    'Resource ID',
)


class Path(columns.FormattableColumn):  # type: ignore[misc]
    """The way from the root stack down, its steps decoded."""

    def human_readable(self) -> str:
        """Return the names of the stacks, each after its resource."""
        return ' /\n'.join(printable(_text(step)) for step in self._value)

    def machine_readable(self) -> list[dict[str, str | None]]:
        """Return a resource and a stack for each step."""
        return [
            {'resource': step.resource, 'stack': step.stack}
            for step in self._value
        ]


def _text(step: stack_hints.PathStep) -> str:
    """Return a step of a path for people."""
    if step.resource is None:
        return step.stack
    return f'{step.resource}: {step.stack}'


class ListStackHints(lister.Lister):
    """List the servers with stack hints, and the key that signed the hints.

    With a stack, the command asks Heat for the servers in the stack and in
    its nested stacks, and lists also those without hints. Keep an old signing
    key as long as servers have a signature from this key. The command does
    not change anything.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        parser.add_argument(
            'stack',
            metavar='<stack>',
            nargs='?',
            help='list only the servers of this stack (name or ID); with '
            '--servers: those whose hints contain the stack',
        )
        parser.add_argument(
            '--server',
            metavar='<server>',
            help='list only this server (name or ID), also without hints',
        )
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
        lister.add_repeatable(
            *(parser, '--servers', '<file>'),
            "offline input: responses from Nova's API, or the output of "
            '"server show" as JSON, with microversion '
            f'{HINTS_SHOWN} or newer; can be repeated',
        )
        keys = parser.add_mutually_exclusive_group()
        keys.add_argument(
            '--config-file',
            metavar='<file>',
            help='check signatures with the signing_key in [heat_hints] of '
            'this nova.conf or heat.conf',
        )
        keys.add_argument(
            '--key-file',
            metavar='<file>',
            help='check signatures with the keys in this file, one per line',
        )
        parser.add_argument(
            '--long', action='store_true', help='also show the IDs'
        )

    def take_action(self, parsed_args: argparse.Namespace) -> lister.Table:
        """Return one row for each server."""
        keys = _keys(parsed_args)
        stack, of_stack = parsed_args.stack, {}

        def read(found: Iterable[rows.Row]) -> list[hint_members.Member]:
            return [hint_members.read_server(row, keys) for row in found]

        if parsed_args.servers:
            members = files.read(parsed_args.servers, read)
        else:
            connection = self.log_in()
            if stack:
                of_stack = _resources(connection.orchestration, stack)
            nova, everybody = connection.compute, parsed_args.all_projects
            members = read(_servers(nova, everybody))
            servers = {one for one in of_stack if of_stack[one] == _SERVER}
            for lost in servers.difference(member.id for member in members):
                LOG.warning(
                    'Server %s of the stack is not in Nova, or belongs to '
                    'another project.',
                    lost,
                )
        if stack:
            members = [
                m for m in members if m.id in of_stack or m.belongs_to(stack)
            ]
        named = {parsed_args.server}
        if parsed_args.server:
            members = [m for m in members if named & {m.id, m.name}]
        if not members and (stack or parsed_args.server):
            raise exceptions.CommandError(
                f'No server found for {parsed_args.server or stack!r}'
            )
        if not parsed_args.long:
            self.table_columns = SHORT
        numbers = {key_id: place for place, key_id in enumerate(keys.ids, 1)}
        return COLUMNS, (
            (
                member.name,
                member.hints.stack_name or '',
                Path(member.hints.path),
                member.hints.resource_name or '',
                member.key_id,
                numbers.get(member.key_id, ''),
                member.signature,
                member.id,
                member.project_id,
                member.hints.stack_id or '',
                member.hints.root_stack_id or '',
                member.hints.resource_uuid or '',
            )
            for member in sorted(members, key=lambda m: (m.name, m.id))
            if member.marked or stack or parsed_args.server
            if parsed_args.key in (None, member.key_id)
        )


def _keys(parsed_args: argparse.Namespace) -> signature.Keys:
    """Return the keys of Heat; none if nobody asked for a check.

    :raises CommandError: when a file cannot be read or has no key.
    """
    path = parsed_args.config_file or parsed_args.key_file
    if not path:
        return signature.Keys()
    if parsed_args.config_file:
        group = cfg.OptGroup('heat_hints')
        config = files.read_configuration(
            path, [(group, [options.SIGNING_KEY])]
        )
        given = config.heat_hints.signing_key
    else:
        lines = files.read_text(path).replace(',', '\n').splitlines()
        given = [line for line in lines if line.strip()]
    with files.reading(path):
        keys = signature.Keys(given)
    if not keys:
        raise exceptions.CommandError(f'No signing key is in {path!r}')
    return keys


def _resources(orchestration: Any, name: str) -> dict[str, str]:
    """Return the resources of a stack, and of those below it.

    :returns: the resource types, by the IDs of what the resources made.
    """
    stack = orchestration.find_stack(name, ignore_missing=False)
    answer = orchestration.get(
        f'/stacks/{stack.name}/{stack.id}/resources',
        params={'nested_depth': _ALL_LEVELS},
    )
    return {
        resource['physical_resource_id']: resource['resource_type']
        for resource in pages.told(answer, 'Heat')['resources']
        if resource.get('physical_resource_id')
    }


def _servers(nova: Any, all_projects: bool) -> Iterator[rows.Row]:
    """Yield the rows of servers, as Nova's API answers.

    :raises CommandError: when this Nova is too old.
    """
    # The shell pins an old version unless told otherwise.
    nova.default_microversion = None
    if not utils.supports_microversion(nova, HINTS_SHOWN):
        raise exceptions.CommandError(
            'This Nova does not show the hints of servers; it takes API '
            f'microversion {HINTS_SHOWN}'
        )
    query = {'all_tenants': 'True'} if all_projects else {}
    unknown = 0
    for row in pages.listed(
        nova, '/servers/detail', 'servers', HINTS_SHOWN, **query
    ):
        # Hardly more than the id, while its cell is down.
        if 'scheduler_hints' in row:
            yield row
        else:
            unknown += 1
    if unknown:
        LOG.warning(
            '%d servers are left out: Nova does not show their hints.', unknown
        )

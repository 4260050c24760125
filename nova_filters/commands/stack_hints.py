# SPDX-License-Identifier: Apache-2.0

"""``openstack stack hints show``."""

import argparse
import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from cliff import columns
from openstack import exceptions as sdk_exceptions
from osc_lib import exceptions

from nova_filters.advice import resource_types, server_hints
from nova_filters.commands import files, stack_keys
from os_placement_plugins.commands import lister

LOG = logging.getLogger(__name__)

#: The resource types that are servers.
SERVER_TYPES: Final = ('OS::Nova::Server', 'AWS::EC2::Instance')

#: More levels than Heat lets a stack have.
_ALL_LEVELS: Final = 100

#: What a table shows without --long; the path ends with the stack.
SHORT: Final = ('Server', 'Path', 'Resource', 'Signature')
COLUMNS: Final = ('Server', 'Stack', 'Path', 'Resource', 'Signature')
LONG_COLUMNS: Final = (
    'Server ID',
    'Stack ID',
    'Root Stack ID',
    'Resource ID',
    'Key ID',
    'Resource Type',
    'Alias',
)


class Path(columns.FormattableColumn):  # type: ignore[misc]
    """The way from the root stack down, its steps decoded."""

    def human_readable(self) -> str:
        """Return the names of the stacks, each after its resource."""
        return ' /\n'.join(
            step.stack
            if step.resource is None
            else f'{step.resource}: {step.stack}'
            for step in self._value
        )

    def machine_readable(self) -> list[dict[str, str | None]]:
        """Return a resource and a stack for each step."""
        return [
            {'resource': step.resource, 'stack': step.stack}
            for step in self._value
        ]


class Text(columns.FormattableColumn):  # type: ignore[misc]
    """A text that may be missing: empty for people, null for programs."""

    def human_readable(self) -> str:
        """Return the text."""
        return self._value or ''


class ShowStackHints(lister.Lister):
    """Show the scheduler hints of the servers in a stack.

    The command asks Heat for the servers in the stack and in its nested
    stacks, and asks Nova for the hints of these servers. With --servers, the
    command does not need a cloud. The command does not change anything.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        parser.add_argument(
            'stack',
            metavar='<stack>',
            nargs='?',
            help='stack (name or ID); with --servers, show only servers whose '
            'hints contain this stack',
        )
        stack_keys.add_arguments(
            parser, long='also show the IDs and the resource type'
        )

    def take_action(self, parsed_args: argparse.Namespace) -> lister.Table:
        """Return one row for each server."""
        keys = stack_keys.read(parsed_args)
        stack = parsed_args.stack
        types: dict[str, tuple[str, str]] = {}
        if parsed_args.servers:
            members = files.read(
                parsed_args.servers,
                lambda rows: server_hints.read_servers(rows, keys),
            )
            if stack:
                members = [m for m in members if m.belongs_to(stack)]
                if not members:
                    raise exceptions.CommandError(
                        f'No server of these files names the stack {stack!r}'
                    )
        elif stack:
            connection = self.log_in()
            nova = stack_keys.compute(connection)
            types = dict(_servers_of(connection.orchestration, stack))
            members = server_hints.read_servers(_ask(nova, types), keys)
        else:
            raise exceptions.CommandError(
                'Which stack? Name it, or give servers with --servers'
            )
        members.sort(key=lambda member: (member.name, member.id))
        if not parsed_args.long:
            self.table_columns = SHORT
        shown = COLUMNS + LONG_COLUMNS if parsed_args.long else COLUMNS
        return shown, (
            _row(member, *types.get(member.id, (None, None)))[: len(shown)]
            for member in members
        )


def _ask(nova: Any, server_ids: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    """Yield servers, as Nova's API answers."""
    for server_id in server_ids:
        # Not as the SDK's own resource: an older SDK asks for it with an
        # older version, and gets no hints.
        answer = nova.get(
            f'/servers/{server_id}', microversion=stack_keys.HINTS_SHOWN
        )
        if answer.status_code == 404:
            LOG.warning(
                'Server %s of the stack is not in Nova, or belongs to '
                'another project.',
                server_id,
            )
            continue
        sdk_exceptions.raise_from_response(answer)
        yield answer.json()['server']


def _servers_of(
    orchestration: Any, name: str
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the servers in a stack and in those below it.

    Each with its resource type, and with the name that its template has for
    the type.
    """
    stack = orchestration.find_stack(name, ignore_missing=False)
    url = f'/stacks/{stack.name}/{stack.id}'
    answer = orchestration.get(
        f'{url}/resources', params={'nested_depth': _ALL_LEVELS}
    )
    sdk_exceptions.raise_from_response(answer)
    environment = orchestration.get(f'{url}/environment')
    sdk_exceptions.raise_from_response(environment)
    registry = environment.json().get('resource_registry')
    for resource in answer.json()['resources']:
        server_id = resource.get('physical_resource_id')
        alias = resource.get('resource_type')
        kind = resource_types.stands_for(
            registry, alias, resource.get('resource_name')
        )
        if kind in SERVER_TYPES and server_id:
            yield server_id, (kind, alias)


def _row(
    member: server_hints.Member, kind: str | None, alias: str | None
) -> tuple[Any, ...]:
    """Return the cells, those that are always shown first."""
    return (
        member.name,
        Text(member.hints.stack_name),
        Path(member.hints.path),
        Text(member.hints.resource_name),
        str(member.signature),
        member.id,
        Text(member.hints.stack_id),
        Text(member.hints.root_stack_id),
        Text(member.hints.resource_uuid),
        Text(member.key_id),
        Text(kind),
        Text(alias if alias != kind else None),
    )

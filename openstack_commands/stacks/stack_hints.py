# SPDX-License-Identifier: Apache-2.0

"""``openstack stack hints list``."""

import argparse
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from cliff import columns
from openstack import exceptions as sdk_exceptions
from openstack import utils
from osc_lib import exceptions
from oslo_config import cfg

from openstack_commands.base import files, lister, pages
from openstack_commands.records import rows
from openstack_commands.stacks.advice import hint_members
from os_placement_plugins import options, signature, stack_hints
from os_placement_plugins.quoting import listed, printable, quote

LOG = logging.getLogger(__name__)

#: The first microversion in which Nova shows the hints of a server.
HINTS_SHOWN: Final = '2.100'
_SERVER: Final = 'OS::Nova::Server'
#: More levels of nested stacks than Heat allows, to get all nested stacks.
_ALL_LEVELS: Final = 100

#: The columns of a table without --long. There is no column Stack, because the
#: path ends with the stack.
SHORT: Final = ('Server', 'Path', 'Key ID', 'Signature')
COLUMNS: Final = (
    'Server',
    'Stack',
    'Path',
    'Resource',
    'Key ID',
    'Key Number',
    'Signature',
    'Server ID',
    'Project ID',
    'Stack ID',
    'Root Stack ID',
    'Resource ID',
)


class Path(columns.FormattableColumn):  # type: ignore[misc]
    """The path from the root stack to the server's own stack."""

    def human_readable(self) -> str:
        """Return the stacks, each with the resource that created it."""
        return ' /\n'.join(printable(_text(step)) for step in self._value)

    def machine_readable(self) -> list[dict[str, str | None]]:
        """Return, for each stack, its name and the resource that created it.

        The resource is None for the root stack.
        """
        return [
            {'resource': step.resource, 'stack': step.stack}
            for step in self._value
        ]


def _text(step: stack_hints.PathStep) -> str:
    """Return a stack's name, after the resource that created the stack."""
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

    INPUT_ERRORS = (hint_members.AmbiguousError,)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        parser.add_argument(
            'stack',
            metavar='<stack>',
            nargs='?',
            help='list only the servers of this stack. Give a name or ID that '
            'Heat shows to your project, or an ID in the hints. With '
            '--servers, give a name or ID in the hints.',
        )
        lister.add_repeatable(
            parser,
            '--server',
            '<server>',
            'list only this server (name or ID), also without hints; can be '
            'repeated',
        )
        parser.add_argument(
            '--all-projects',
            action='store_true',
            help='list the servers of all projects (administrators only)',
        )
        parser.add_argument(
            '--key',
            metavar='<key-id>',
            type=_key_id,
            help='list only the servers whose signature contains this key ID '
            '(eight hexadecimal digits)',
        )
        lister.add_repeatable(
            parser,
            '--servers',
            '<file>',
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

        def read(servers: Iterable[rows.Row]) -> list[hint_members.Member]:
            return [hint_members.read_server(row, keys) for row in servers]

        if parsed_args.servers:
            members = files.read(parsed_args.servers, read)
            if parsed_args.stack:
                members = hint_members.of_stack(members, parsed_args.stack)
        else:
            members = self._ask_cloud(parsed_args, read)
        members = _choose(members, parsed_args)
        if not members:
            LOG.warning('%s', _nothing_found(parsed_args))
        if not parsed_args.long:
            self.table_columns = SHORT
        members = sorted(members, key=lambda m: (m.name, m.id))
        return COLUMNS, [_row(member, keys) for member in members]

    def _ask_cloud(
        self,
        parsed_args: argparse.Namespace,
        read: Callable[[Iterable[rows.Row]], list[hint_members.Member]],
    ) -> list[hint_members.Member]:
        """Return the servers of the stack, or all servers without a stack."""
        connection = self.log_in()
        stack = parsed_args.stack
        nova, all_projects = connection.compute, parsed_args.all_projects
        if not stack:
            return read(self._shown(nova, all_projects))
        of_heat = _find_stack(connection.orchestration, stack)
        members = read(self._shown(nova, all_projects))
        return self._of_stack(members, stack, of_heat)

    def _shown(self, nova: Any, all_projects: bool) -> list[rows.Row]:
        """Return the servers whose hints Nova shows; warn about the others.

        :raises CommandError: if this Nova is too old to show hints.
        """
        servers = list(_servers(nova, all_projects))
        # While the cell of a server is down, Nova shows little besides the ID.
        shown = [row for row in servers if 'scheduler_hints' in row]
        if len(shown) < len(servers):
            self.status = lister.UNJUDGED
            LOG.warning(
                '%d servers are left out: Nova does not show their hints.',
                len(servers) - len(shown),
            )
        return shown

    def _of_stack(
        self,
        members: Sequence[hint_members.Member],
        stack: str,
        of_heat: '_Stack | None',
    ) -> list[hint_members.Member]:
        """Return the servers of a stack; warn if Nova does not show a server.

        :param members: the servers that Nova shows.
        :param stack: the name or ID of the stack on the command line. If Heat
            does not show the stack, it counts only as an ID.
        :param of_heat: the stack as Heat shows it; None if Heat does not show
            the stack.
        """
        if of_heat is None:
            self.status = lister.UNJUDGED
            LOG.warning(
                'Heat does not show a stack %s to this project. Only servers '
                'whose hints contain it as the ID of their own stack or of '
                'their root stack are listed.',
                quote(stack),
            )
            return [member for member in members if stack in member.stack_ids]
        lost_servers = of_heat.servers.difference(m.id for m in members)
        for lost in sorted(lost_servers):
            self.status = lister.UNJUDGED
            LOG.warning(
                'Server %s of the stack is not in Nova, or belongs to another '
                'project, or Nova does not show its hints.',
                printable(lost),
            )
        return [
            member
            for member in members
            if member.id in of_heat.made
            or not member.stack_ids.isdisjoint(of_heat.stacks)
        ]


def _key_id(text: str) -> str:
    """Return the ID of a key in the form that signatures have."""
    if not re.fullmatch('[0-9a-fA-F]{8}', text):
        raise argparse.ArgumentTypeError(
            f'{quote(text)} is not the ID of a key; give eight hexadecimal '
            'digits, as the column "Key ID" shows them'
        )
    return text.lower()


def _choose(
    members: Sequence[hint_members.Member], parsed_args: argparse.Namespace
) -> list[hint_members.Member]:
    """Return the servers that the command line asks for.

    :param members: the servers of the stack on the command line, or all
        servers if the command line has no stack.
    :raises CommandError: if a server that the command line names is missing,
        or if the stack has no servers.
    """
    stack, servers = parsed_args.stack, parsed_args.server
    if stack and not members:
        raise exceptions.CommandError(f'No server found for {stack!r}')
    chosen = members
    if servers:
        names = {member.id for member in members}
        names.update(member.name for member in members)
        missing = [quote(server) for server in servers if server not in names]
        if missing:
            raise exceptions.CommandError(
                f'No server found for {listed(missing)}'
            )
        chosen = [m for m in members if m.id in servers or m.name in servers]
    elif not stack:
        chosen = [member for member in members if member.marked]
    if parsed_args.key:
        chosen = [m for m in chosen if m.key_id == parsed_args.key]
    return list(chosen)


def _nothing_found(parsed_args: argparse.Namespace) -> str:
    """Return a warning that no server matches the command line."""
    if parsed_args.stack or parsed_args.server:
        servers = 'these servers'
    elif parsed_args.servers:
        servers = 'the servers in the files'
    elif parsed_args.all_projects:
        servers = 'the servers that Nova shows'
    else:
        servers = 'the servers that Nova shows of this project'
    if parsed_args.key:
        return (
            f'None of {servers} has a signature with the key ID '
            f'{parsed_args.key}.'
        )
    return f'None of {servers} has a hint of Heat.'


def _row(member: hint_members.Member, keys: signature.Keys) -> tuple[Any, ...]:
    """Return the row of a server."""
    number: int | str = ''
    if member.key_id in keys.ids:
        number = keys.ids.index(member.key_id) + 1
    return (
        member.name,
        member.hints.stack_name or '',
        Path(member.hints.path),
        member.hints.resource_name or '',
        member.key_id,
        number,
        member.signature,
        member.id,
        member.project_id,
        member.hints.stack_id or '',
        member.hints.root_stack_id or '',
        member.hints.resource_uuid or '',
    )


def _keys(parsed_args: argparse.Namespace) -> signature.Keys:
    """Return the signing keys of Heat; none if no file is named.

    :raises CommandError: if the file cannot be read or has no key.
    """
    path = parsed_args.config_file or parsed_args.key_file
    if not path:
        return signature.Keys()
    if parsed_args.config_file:
        group = cfg.OptGroup('heat_hints')
        config = files.read_configuration(
            path, [(group, [options.SIGNING_KEY])]
        )
        texts = config.heat_hints.signing_key
    else:
        lines = files.read_text(path).replace(',', '\n').splitlines()
        texts = [line for line in lines if line.strip()]
    with files.reading(path):
        keys = signature.Keys(texts)
    if not keys:
        raise exceptions.CommandError(f'No signing key is in {path!r}')
    return keys


class _Stack(NamedTuple):
    """The data that Heat shows of a stack and of its nested stacks.

    :param stacks: the ids of the stack and of its nested stacks.
    :param servers: the ids of the servers in all these stacks.
    :param made: the ids of all objects, such as servers and volumes, that the
        resources in all these stacks have created.
    """

    stacks: set[str]
    servers: set[str]
    made: set[str]


def _find_stack(orchestration: Any, name: str) -> _Stack | None:
    """Return a stack; None if Heat does not show it.

    :param name: the name or ID of the stack.
    """
    try:
        stack = orchestration.find_stack(name, ignore_missing=True)
    except sdk_exceptions.ForbiddenException:
        stack = None
    if stack is None:
        return None
    answer = orchestration.get(
        f'/stacks/{stack.name}/{stack.id}/resources',
        params={'nested_depth': _ALL_LEVELS},
    )
    contents = _Stack(stacks={stack.id}, servers=set(), made=set())
    for resource in pages.read_answer(answer, 'Heat')['resources']:
        # The id of a nested stack comes from the link. The attribute
        # physical_resource_id is not reliable: a template can set any value
        # with external_id.
        for link in resource.get('links', ()):
            if link['rel'] == 'stack':
                contents.stacks.add(link['href'].rpartition('/')[2])
        made = resource.get('physical_resource_id')
        if made:
            contents.made.add(made)
            if resource['resource_type'] == _SERVER:
                contents.servers.add(made)
    return contents


def _servers(nova: Any, all_projects: bool) -> Iterator[rows.Row]:
    """Return the rows of servers in the answers of Nova's API.

    :raises CommandError: if this Nova is too old to show hints.
    """
    # The shell's default is an old microversion. With such a default,
    # supports_microversion() returns False even for a new Nova.
    nova.default_microversion = None
    if not utils.supports_microversion(nova, HINTS_SHOWN):
        raise exceptions.CommandError(
            'This Nova does not show the hints of servers; it takes API '
            f'microversion {HINTS_SHOWN}'
        )
    query = {}
    if all_projects:
        query['all_tenants'] = 'True'
    return pages.listed(
        nova, '/servers/detail', 'servers', HINTS_SHOWN, **query
    )

# SPDX-License-Identifier: Apache-2.0

"""The stack in the hints of each server, and whether Heat signed the hints.

The rows of servers come from Nova's API or from ``openstack server show -f
json``. :mod:`os_placement_plugins.stack_hints` reads the hints of the servers
here and in nova-scheduler.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from openstack_commands.records import rows
from os_placement_plugins import signature, stack_hints
from os_placement_plugins.quoting import listed, quote


class Member(NamedTuple):
    """One server and its hints.

    :param hints: the stack that the hints name, even if the hints are not
        signed.
    :param signature: ``unsigned`` if the hints have no signature; ``not
        checked`` if the command has no key; or else ``valid`` or ``invalid``.
    :param key_id: the id of the key in the signature, even if the signature
        is not valid; empty if the hints have no signature that can be read.
    :param project_id: the id of the project that owns the server.
    :param marked: the server has a hint whose name begins with ``heat_``.
    """

    name: str
    id: str
    hints: stack_hints.StackHints
    signature: str
    key_id: str
    project_id: str
    marked: bool

    @property
    def stack_ids(self) -> set[str]:
        """The ids of the server's own stack and of the root stack."""
        ids = {self.hints.stack_id, self.hints.root_stack_id}
        return {stack_id for stack_id in ids if stack_id}

    @property
    def stack_names(self) -> set[str]:
        """The names of the server's own stack and of all stacks above it."""
        names = {step.stack for step in self.hints.path}
        if self.hints.stack_name:
            names.add(self.hints.stack_name)
        return names


class AmbiguousError(ValueError):
    """Several stacks have the same name; the text lists their root stacks."""


def of_stack(members: Sequence[Member], stack: str) -> list[Member]:
    """Return the servers whose hints name a stack.

    :param stack: the id of the stack, or else its name.
    :raises AmbiguousError: if the hints name several stacks with this name.
    """
    by_id = [member for member in members if stack in member.stack_ids]
    if by_id:
        return by_id
    by_name = [member for member in members if stack in member.stack_names]
    # Stack names are unique below one root stack. So the name means several
    # stacks only if there are several root stacks.
    roots = {
        (member.hints.root_stack_id or 'unknown', member.project_id)
        for member in by_name
    }
    if len(roots) > 1:
        texts = [
            f'{quote(root)} of project {quote(project)}'
            for root, project in sorted(roots)
        ]
        raise AmbiguousError(
            f'Several stacks have the name {quote(stack)}, with the root '
            f'stacks {listed(texts)}. Give the ID of a stack.'
        )
    return by_name


def read_server(row: rows.Row, keys: signature.Keys) -> Member:
    """Return a server and its hints.

    :param row: the server, as Nova's API or the shell shows it.
    :param keys: the signing keys of Heat. Without keys, the signature is not
        checked.
    :raises UnreadableError: if the row is no server, or has no hints column.
    """
    name, server_id = rows.text(row, 'name'), rows.text(row, 'id')
    if not name or not server_id:
        raise rows.UnreadableError('a server has no "name" or no "id"')
    hints = rows.hints(row)
    if hints is None:
        raise rows.UnreadableError(
            f'server "{name}" has no "scheduler_hints": ask Nova with API '
            'version 2.100 or newer'
        )
    project = rows.text(row, 'tenant_id', 'project_id')
    return Member(
        name,
        server_id,
        stack_hints.read(hints),
        _state(hints, project, keys),
        signature.key_id(hints) or '',
        project,
        any(str(hint).startswith(signature.PREFIX) for hint in hints),
    )


def _state(
    hints: Mapping[str, Any], project: str, keys: signature.Keys
) -> str:
    """Return the state of the signature of a server's hints."""
    if signature.HINT not in hints:
        return 'unsigned'
    if not keys:
        return 'not checked'
    if keys.signed(hints, project):
        return 'valid'
    return 'invalid'

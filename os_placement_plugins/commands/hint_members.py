# SPDX-License-Identifier: Apache-2.0

"""The stack that each server names in its hints, and whether Heat signed them.

Servers come as Nova's API or ``openstack server show -f json`` prints them.
:mod:`os_placement_plugins.stack_hints` reads their hints, as in
nova-scheduler.
"""

import dataclasses
import enum
from collections.abc import Iterable, Mapping
from typing import Final

from os_placement_plugins import signature, stack_hints
from os_placement_plugins.commands.rows import Row, UnreadableError

#: The names of a column: in Nova's API and in the shell.
_HINTS: Final = ('scheduler_hints', 'os-sch-hnt:scheduler_hints')
_PROJECT: Final = ('tenant_id', 'project_id')


class Signature(enum.StrEnum):
    """The state of the signature of a server's hints."""

    #: One of Heat's keys made it, for this project and these hints.
    VALID = 'valid'
    #: None of Heat's keys made it for this project and these hints.
    INVALID = 'invalid'
    #: The hints have no signature.
    UNSIGNED = 'unsigned'
    #: The hints have a signature, but there is no key to check it with.
    NOT_CHECKED = 'not checked'


@dataclasses.dataclass(frozen=True, slots=True)
class Member:
    """One server and its hints.

    :param hints: the stack that the hints name, signed or not.
    :param signature: whether Heat signed the hints.
    :param key_id: the id of the key that the signature names, right or
        wrong; None if there is none.
    :param project_id: the id of the project that owns the server.
    :param marked: the server has a hint whose name begins with ``heat_``.
    """

    name: str
    id: str
    hints: stack_hints.StackHints
    signature: Signature
    key_id: str | None = None
    project_id: str | None = None
    marked: bool = True

    def belongs_to(self, stack: str) -> bool:
        """Tell whether the hints name a stack, or one above it.

        :param stack: a stack's id or name.
        """
        named = {
            self.hints.root_stack_id,
            self.hints.stack_id,
            self.hints.stack_name,
            *(step.stack for step in self.hints.path),
        }
        return stack in named


def read_servers(servers: Iterable[Row], keys: signature.Keys) -> list[Member]:
    """Return servers and their hints.

    :param servers: rows of servers, as Nova's API or the shell shows them.
    :param keys: the keys of Heat; without keys nothing is checked.
    :raises UnreadableError: if one of them is no server, or its hints are
        not shown.
    """
    return [_member(server, keys) for server in servers]


def _member(fields: Row, keys: signature.Keys) -> Member:
    """Return one server and its hints."""
    name, server_id = fields.get('name'), fields.get('id')
    if not isinstance(name, str) or not isinstance(server_id, str):
        raise UnreadableError('a server has no "name" or no "id"')
    shown = [fields[column] for column in _HINTS if column in fields]
    if not shown:
        raise UnreadableError(
            f'server "{name}" has no "scheduler_hints": ask Nova with API '
            'version 2.100 or newer'
        )
    # Nova shows null for a server without hints.
    hints = shown[0] or {}
    if not isinstance(hints, Mapping):
        raise UnreadableError(
            f'the "scheduler_hints" of server "{name}" are not a mapping'
        )
    project = next((fields[key] for key in _PROJECT if key in fields), None)
    if signature.HINT not in hints:
        state = Signature.UNSIGNED
    elif not keys:
        state = Signature.NOT_CHECKED
    elif keys.signed(hints, project):
        state = Signature.VALID
    else:
        state = Signature.INVALID
    return Member(
        name,
        server_id,
        stack_hints.read(hints),
        state,
        signature.key_id(hints),
        project if isinstance(project, str) else None,
        any(str(name).startswith(signature.PREFIX) for name in hints),
    )

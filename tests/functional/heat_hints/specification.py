# SPDX-License-Identifier: Apache-2.0

"""The specification's rules for the hints of one server, of another hand.

Nothing of ``heat_hints`` is imported here. The facts are those that Heat's
RPC API tells of the resource whose id Nova gave.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

#: What the tests' templates set themselves: two reserved names, and a hint.
CLAIMED = {
    'heat_root_stack_id': 'claimed',
    'heat_resource_name': 'claimed',
    'tier': 'gold',
}
#: The user data of a server whose template sets :data:`CLAIMED`.
CLAIMING = 'claiming'


@dataclasses.dataclass(frozen=True)
class Facts:
    """What Heat tells of the resource that created a server.

    :param path: (resource, stack) names from the root stack down.
    """

    root_stack_id: str
    stack_id: str
    stack_name: str
    resource_name: str
    resource_uuid: str
    path: tuple[tuple[str | None, str], ...]


def facts(histories: Iterable[Iterable[Mapping[str, Any]]]) -> dict[str, Any]:
    """Return the facts of each server, by the id that Nova gave.

    :param histories: for each stack, its listings after each step.
    """
    servers: dict[str, Facts] = {}
    for history in histories:
        for listing in history:
            for resource in listing['resources']:
                path = [(above, stack) for above, stack in resource['path']]
                servers.setdefault(
                    resource['server'],
                    Facts(
                        root_stack_id=listing['root'],
                        stack_id=resource['stack_id'],
                        stack_name=resource['stack_name'],
                        resource_name=resource['name'],
                        resource_uuid=resource['uuid'],
                        path=tuple(path),
                    ),
                )
    return servers


def read_tuples(value: Any) -> list[tuple[str | None, str]]:
    """Return the tuples of ``heat_path_in_stack`` in the form of a list."""
    tuples: list[tuple[str | None, str]] = [(None, value[0])]
    for element in value[1:]:
        resource, stack = element.split(',')
        tuples.append((resource, stack))
    return tuples


def find_faults(
    hints: Mapping[str, Any], server: Facts, *, claims: bool
) -> list[str]:
    """Return the sentences that the hints of a server break.

    :param claims: whether the template sets :data:`CLAIMED`.
    """
    path = read_tuples(hints['heat_path_in_stack'])
    sentences = {
        'heat_root_stack_id will be set to the id of the root stack': (
            hints['heat_root_stack_id'] == server.root_stack_id
        ),
        "heat_stack_id will be set to the id of the resource's parent stack": (
            hints['heat_stack_id'] == server.stack_id
        ),
        # The specification says "id", as in the sentence before.
        'heat_stack_name is the name of the parent stack': (
            hints['heat_stack_name'] == server.stack_name
        ),
        'heat_path_in_stack will be set to a list of tuples': (
            path == list(server.path)
        ),
        'list[0] being (None, rootstackname)': path[0] == server.path[0],
        "heat_resource_name will be set to the resource's name": (
            hints['heat_resource_name'] == server.resource_name
        ),
        'the stack resource id': (
            hints['heat_resource_uuid'] == server.resource_uuid
        ),
        "no other hint is the template's": (
            {name: hints[name] for name in hints if name[:5] != 'heat_'}
            == ({'tier': 'gold'} if claims else {})
        ),
        'six hints': sum(name[:5] == 'heat_' for name in hints) == 6,
    }
    return [sentence for sentence, kept in sentences.items() if not kept]

# SPDX-License-Identifier: Apache-2.0

"""The specification's rules for the hints of one server, of another hand.

Nothing of ``heat_hints`` is imported here. The facts are those that Heat's
RPC API tells of the resource whose id Nova gave.
"""

import itertools
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


def facts(histories: Iterable[Iterable[Mapping[str, Any]]]) -> dict[str, Any]:
    """Return what Heat tells of each server, by the id that Nova gave.

    :param histories: for each stack, its listings after each step.
    """
    servers: dict[str, Any] = {}
    for listing in itertools.chain.from_iterable(histories):
        for resource in listing['resources']:
            told = {**resource, 'root': listing['root']}
            servers.setdefault(resource['server'], told)
    return servers


def read_tuples(value: Any) -> list[list[str | None]]:
    """Return the tuples of ``heat_path_in_stack`` in the form of a list."""
    return [[None, value[0]], *(element.split(',') for element in value[1:])]


def find_faults(
    hints: Mapping[str, Any], server: Mapping[str, Any], *, claims: bool
) -> list[str]:
    """Return the sentences that the hints of a server break.

    :param server: what Heat tells of it.
    :param claims: whether the template sets :data:`CLAIMED`.
    """
    path = read_tuples(hints['heat_path_in_stack'])
    others = {name: hints[name] for name in hints if name[:5] != 'heat_'}
    sentences = {
        'heat_root_stack_id will be set to the id of the root stack': (
            hints['heat_root_stack_id'] == server['root']
        ),
        "heat_stack_id will be set to the id of the resource's parent stack": (
            hints['heat_stack_id'] == server['stack_id']
        ),
        # The specification says "id", as in the sentence before.
        'heat_stack_name is the name of the parent stack': (
            hints['heat_stack_name'] == server['stack_name']
        ),
        'heat_path_in_stack will be set to a list of tuples': (
            path == server['path']
        ),
        'list[0] being (None, rootstackname)': path[0] == server['path'][0],
        "heat_resource_name will be set to the resource's name": (
            hints['heat_resource_name'] == server['name']
        ),
        'the stack resource id': hints['heat_resource_uuid'] == server['uuid'],
        "no other hint is the template's": (
            others == ({'tier': 'gold'} if claims else {})
        ),
        'six hints': len(hints) - len(others) == 6,
    }
    return [sentence for sentence, kept in sentences.items() if not kept]

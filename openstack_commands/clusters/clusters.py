# SPDX-License-Identifier: Apache-2.0

"""Read and change clusters, and read policies, through the SDK."""

import collections
import functools
import time
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Final

from openstack import exceptions as sdk_exceptions
from osc_lib import exceptions

from senlin_plugins.planning import declaration, requirements
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.snapshot import (
    counted_region,
    fixed_region,
    recorded_region,
)

#: Seconds between two requests for the status of an action.
PAUSE: Final = 1.0


def distribution(
    clustering: Any,
    nodes: Iterable[Any],
    default_region: str | None,
) -> dict[str, int]:
    """Return the number of nodes in each region, as the policy counts them.

    :param nodes: the nodes of a cluster.
    :param default_region: Senlin's ``default_region_name``, which the API
        does not show.
    :returns: region name -> number of nodes.
    :raises CommandError: if the region of a node cannot be determined.
    """
    counts: collections.Counter[str] = collections.Counter()

    @functools.cache
    def find_fixed(profile_id: str) -> str | None:
        spec = clustering.get_profile(profile_id).spec
        properties = spec.get('properties') or {}
        return fixed_region(properties.get('context'))

    for node in nodes:
        fixed = None
        if not recorded_region(node):
            fixed = find_fixed(node.profile_id)
        counts[counted_region(node, fixed, default_region)] += 1
    unknown = counts.pop('', 0)
    if unknown:
        raise exceptions.CommandError(
            f'{unknown} node(s) of the cluster have no recorded region: say '
            'with --default-region what default_region_name in senlin.conf is'
        )
    return dict(counts)


def update_metadata(
    clustering: Any, cluster: Any, changes: Mapping[str, str | None]
) -> None:
    """Change keys of a cluster's metadata, and wait for the end of the action.

    :param cluster: the cluster. This function reads its metadata again: the
        action replaces all metadata, and other keys must not be lost.
    :param changes: key -> value; ``None`` removes the key.
    :raises CommandError: if Senlin refuses the action, or the action fails.
    """
    before = clustering.get_cluster(cluster.id).metadata or {}
    merged = {**before, **changes}
    metadata = {k: value for k, value in merged.items() if value is not None}
    if metadata == before:
        return
    body = {'cluster': {'metadata': metadata}}
    try:
        _change(clustering, 'PATCH', f'/clusters/{cluster.id}', body)
    except exceptions.CommandError as exc:
        if cluster.status != declaration.ERROR:
            raise
        commands = declaration.commands_to_change(
            cluster, 'this command again'
        )
        raise exceptions.CommandError(
            f'{exc} Run, in this order: {declaration.THEN.join(commands)}'
        ) from exc


def scale(clustering: Any, cluster: Any, change: Change) -> None:
    """Scale a cluster, and wait for the end of the action.

    :raises CommandError: if Senlin refuses the action, or the action fails.
    """
    name = 'scale_out' if change.growing else 'scale_in'
    body = {name: {'count': change.count}}
    _change(clustering, 'POST', f'/clusters/{cluster.id}/actions', body)


def check(clustering: Any, cluster: Any) -> None:
    """Check every node of a cluster, and wait for the end of the action.

    :raises CommandError: if Senlin refuses the action, or the action fails.
    """
    path = f'/clusters/{cluster.id}/actions'
    _change(clustering, 'POST', path, {'check': {}})


def _change(
    clustering: Any, method: str, path: str, body: Mapping[str, Any]
) -> None:
    """Start an action, and wait until the action has succeeded."""
    # Some methods of the SDK do not raise an error for each refusal, and some
    # do not return the ID of the action.
    response = clustering.request(path, method, json=body)
    try:
        sdk_exceptions.raise_from_response(response)
    except sdk_exceptions.HttpException as exc:
        reason = f'Senlin refuses this now: {exc.details}'
        if response.status_code == HTTPStatus.CONFLICT:
            reason += (
                '. Wait until these actions end, and try again. If you cannot '
                'wait for them to give a dead region up: remove its endpoints '
                "from Keystone's catalog"
            )
        raise exceptions.CommandError(reason) from exc
    action_id = response.headers['Location'].rpartition('/')[2]
    while True:
        action = clustering.get_action(action_id)
        if action.status == 'SUCCEEDED':
            return
        if action.status in ('FAILED', 'CANCELLED'):
            raise exceptions.CommandError(
                f'{action.action} is {action.status}: {action.status_reason}'
            )
        time.sleep(PAUSE)


def needs(
    clustering: Any, cluster: Any, growing: bool
) -> tuple[list[str], list[str], str | None]:
    """Return what the profile of a cluster needs of a region.

    :param growing: whether nodes are added; otherwise, nodes are removed.
    :returns: the services; the properties that tie the profile to one region
        (may be empty); and the region that the profile names, if any.
    :raises LookupError: if the type of the profile is not from this package.
    """
    spec = clustering.get_profile(cluster.profile_id).spec
    properties = spec.get('properties') or {}
    maker = requirements.MAKERS[spec['type']]
    if not growing:
        return [maker], [], None
    return (
        requirements.services(maker, properties),
        requirements.ties(properties),
        fixed_region(properties.get('context')),
    )

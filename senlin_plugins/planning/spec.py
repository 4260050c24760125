# SPDX-License-Identifier: Apache-2.0

"""Read the specs of the policies, without Senlin.

The spec of a region placement policy is checked here by the same rules as
Senlin's own schema has. A test compares the results of both.
"""

import collections
import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from senlin_plugins.planning import values
from senlin_plugins.planning.selection import Criterion
from senlin_plugins.planning.values import WrongValue

REGION_PLACEMENT: Final = 'senlin_plugins.policy.region_placement'
DELETION: Final = 'senlin_plugins.policy.deletion'
#: Policy type -> Senlin's own type for the same purpose.
RIVALS: Final = {
    REGION_PLACEMENT: 'senlin.policy.region_placement',
    DELETION: 'senlin.policy.deletion',
}
#: The policy types whose regions can be read: this package's type, and the
#: in-tree type, which has the same properties.
TYPES: Final = REGION_PLACEMENT, RIVALS[REGION_PLACEMENT]
VERSION: Final = '1.0'

DEFAULT_WEIGHT = 100
#: A region with this cap takes any number of nodes.
NO_CAP = -1

#: Seconds that the timeout of a cluster must leave. Every 3 seconds, Senlin
#: looks whether the nodes are gone (``_wait_for_dependents``), and each look
#: takes time.
SPARE: Final = 5

_SPEC_KEYS: Final = ('type', 'version', 'properties', 'description')
_REGION_KEYS: Final = ('name', 'weight', 'cap')


@dataclasses.dataclass(frozen=True)
class Region:
    """One region of a policy's spec.

    :param name: the region's name, as Keystone knows it.
    :param weight: the share of the cluster's nodes that this region should
        hold, relative to the weights of the other regions. With 0, the region
        gets nodes only if all regions with a weight are full.
    :param cap: the largest number of nodes to which the region may grow; -1
        for no cap.
    """

    name: str
    weight: int = DEFAULT_WEIGHT
    cap: int = NO_CAP


class Spec(NamedTuple):
    """The spec of a region placement policy.

    :param regions: the regions, in the order of the spec.
    :param effective: whether the plans of the policy have an effect. The plans
        of Senlin's own policy have none.
    """

    regions: tuple[Region, ...]
    effective: bool


def parse_regions(spec: object) -> Spec:
    """Read the spec of a region placement policy.

    :param spec: the spec, from YAML or from the API.
    :raises WrongValue: if the policy would refuse the spec.
    """
    if not isinstance(spec, Mapping):
        raise WrongValue(
            'The spec is not a mapping: it needs "type", "version" and '
            '"properties".'
        )
    _refuse_other_keys(spec, _SPEC_KEYS, 'the spec')
    if spec.get('description', '') is None:
        raise WrongValue(
            "'description' is empty: remove it, or say something."
        )
    if spec.get('type') not in TYPES:
        raise WrongValue(
            f"'type' is '{spec.get('type')}': it must be {TYPES[0]}."
        )
    # YAML reads 1.0 as a number.
    version = str(spec.get('version'))
    if version != VERSION:
        raise WrongValue(f"'version' is '{version}': it must be {VERSION}.")
    properties = spec.get('properties')
    if not isinstance(properties, Mapping):
        raise WrongValue("'properties' is not a mapping: it needs 'regions'.")
    _refuse_other_keys(properties, ('regions',), "'properties'")
    regions = properties.get('regions')
    if not isinstance(regions, list):
        raise WrongValue("'regions' must be a list of regions.")
    return Spec(
        _parse_entries(regions), effective=spec['type'] == REGION_PLACEMENT
    )


def check_deletion(
    properties: Mapping[str, Any], hook: Mapping[str, Any], version: str
) -> None:
    """Check what Senlin's schema of the deletion policy does not refuse.

    :param properties: the properties as the schema has read them.
    :param hook: the hook as the schema has read it; empty if there is none.
    :param version: the version of the policy type.
    :raises WrongValue: if a property is wrong.
    """
    # The schema accepts a list of criteria.
    values.parse_choice(properties['criteria'], "'criteria'", Criterion)
    values.parse_number(properties['grace_period'], "'grace_period'", 0)
    if not hook:
        return
    if version == VERSION:
        raise WrongValue(
            "'hooks' needs version 1.1 of the policy, and the spec's "
            "'version' is '1.0'."
        )
    values.parse_number(hook['timeout'], "'timeout' of 'hooks'", 0)
    check_hook_type(hook['type'])
    if not hook['params'].get('queue'):
        raise WrongValue("'params' of 'hooks' must have 'queue'.")


def check_hook_type(kind: object) -> None:
    """Check that Senlin can send hooks of a type.

    :raises WrongValue: if Senlin cannot.
    """
    if kind != 'zaqar':
        raise WrongValue(
            f"'type' of 'hooks' is '{kind}': Senlin cannot send such hooks, "
            "and no node would leave. Use type 'zaqar'."
        )


def count_waiting_seconds(
    grace: int,
    hook: Mapping[str, Any],
    passed: float,
    longest_deletion: int,
    limit: int,
) -> int:
    """Return the seconds from the start of an action to the deletion of nodes.

    If the action ended before the nodes are deleted, the deletions would go
    on, or would wait for ever. A recovery of the cluster would then delete
    other nodes in their place.

    :param grace: the ``grace_period`` of the policy.
    :param hook: the hook of the policy; empty if there is none.
    :param passed: the seconds since the start of the action.
    :param longest_deletion: the seconds that Senlin waits for Nova.
    :param limit: the timeout of the action, which is that of its cluster.
    :raises WrongValue: if the policy waits so long that the action could end
        before the nodes are deleted.
    """
    timeout: int = hook.get('timeout', 0)
    seconds = grace + timeout + math.ceil(max(0.0, passed))
    needed = seconds + longest_deletion + SPARE
    if needed > limit and (grace or hook):
        raise WrongValue(
            f"'grace_period' is '{grace}', 'timeout' of 'hooks' is "
            f"'{timeout}', and Senlin waits up to '{longest_deletion}' "
            'seconds for Nova, but the timeout of the cluster is '
            f"'{limit}': Senlin could give up before Nova has deleted the "
            f"servers. Set the timeout of the cluster to '{needed}' or more."
        )
    return seconds


def _parse_entries(entries: Iterable[object]) -> tuple[Region, ...]:
    regions = tuple(_parse_entry(entry) for entry in entries)
    check_regions(regions)
    return regions


def check_regions(regions: Sequence[Region]) -> None:
    """Check the regions of a spec.

    :raises WrongValue: with the field, the value and the accepted values.
    """
    if not regions:
        raise WrongValue("'regions' is empty: name at least one region.")
    counts = collections.Counter(region.name for region in regions)
    for region in regions:
        if not region.name:
            raise WrongValue(
                "'name' of a region is empty: give the region's name."
            )
        if counts[region.name] > 1:
            raise WrongValue(
                f"'name' of a region is '{region.name}' "
                f'{counts[region.name]} times: name each region once.'
            )


def _parse_entry(entry: object) -> Region:
    if not isinstance(entry, Mapping):
        raise WrongValue(
            f"The region '{entry}' is not a mapping: it needs a 'name'."
        )
    _refuse_other_keys(
        entry, _REGION_KEYS, f"region '{entry.get('name', '')}'"
    )
    name = entry.get('name')
    if name is None:
        raise WrongValue("'name' of a region is missing: give its name.")
    weight = values.parse_number(
        entry.get('weight', DEFAULT_WEIGHT), f"'weight' of region '{name}'", 0
    )
    cap = values.parse_number(
        entry.get('cap', NO_CAP), f"'cap' of region '{name}'", NO_CAP
    )
    return Region(str(name), weight, cap)


def _refuse_other_keys(
    mapping: Mapping[Any, Any], allowed: tuple[str, ...], where: str
) -> None:
    for key in mapping:
        if key not in allowed:
            raise WrongValue(
                f"'{key}' is not known in {where}: it may have "
                f'{", ".join(allowed)}.'
            )

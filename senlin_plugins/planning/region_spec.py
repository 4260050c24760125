# SPDX-License-Identifier: Apache-2.0

"""Read the spec of a region placement policy, without Senlin.

This module checks a spec by the same rules as Senlin. A test compares the
results of both.
"""

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, Final, NamedTuple

from senlin_plugins.planning import apportionment, values
from senlin_plugins.planning.apportionment import NO_CAP, Region
from senlin_plugins.planning.plugin_types import REGION_PLACEMENT, RIVALS
from senlin_plugins.planning.values import WrongValue

#: The policy types that this module can read: this package's type, and the
#: in-tree type, which has the same properties.
TYPES: Final = REGION_PLACEMENT, RIVALS[REGION_PLACEMENT]
#: Version of a policy -> the properties that its spec may have.
VERSIONS: Final = {'1.0': ('regions',), '1.1': ('regions', 'strategy')}
#: The values of ``strategy``, which has no effect: every cluster grows in the
#: regions that work. The property stays so that stored specs still load.
BALANCED: Final = 'balanced'
EVEN: Final = 'even'
STRATEGIES: Final = (BALANCED, EVEN)
#: The key in a cluster's metadata for the owner's settings. These settings
#: override the spec of a policy of version 1.1.
METADATA_KEY: Final = 'region_placement'
#: The key in a cluster's metadata for forgotten servers. Nodes have left these
#: servers behind, and Senlin never deletes them. The value has the ids of the
#: servers, or of the nodes that left them.
FORGET_KEY: Final = 'region_forget'

_SPEC_KEYS: Final = ('type', 'version', 'properties', 'description')
_REGION_KEYS: Final = ('name', 'weight', 'cap')
_WHERE: Final = f"'{METADATA_KEY}' of the cluster's metadata"


class Spec(NamedTuple):
    """The spec of a region placement policy.

    :param regions: the regions, in the order of the spec.
    :param follows: whether the policy reads the metadata and the data of a
        cluster, as version 1.1 does.
    :param effective: whether the plans of the policy have an effect. The plans
        of Senlin's own policy have none.
    """

    regions: tuple[Region, ...]
    follows: bool = False
    effective: bool = True


class Override(NamedTuple):
    """The regions of a policy, with the settings of a cluster's owner.

    :param regions: the regions. The owner's weights and caps replace those of
        the policy.
    :param declared: the names of the regions that the owner has declared out.
    :param problem: why all settings of the owner are ignored; empty if the
        settings are valid.
    """

    regions: Sequence[Region]
    declared: Set[str] = frozenset()
    problem: str = ''


def read(spec: object) -> Spec:
    """Read the spec of a policy.

    :param spec: the spec, from YAML or from the API.
    :raises WrongValue: if the policy would refuse the spec.
    """
    if not isinstance(spec, Mapping):
        raise WrongValue(
            'The spec is not a mapping: it needs "type", "version" and '
            '"properties".'
        )
    _check_keys(spec, _SPEC_KEYS, 'the spec')
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
    if version not in VERSIONS or (
        version > '1.0' and spec['type'] != TYPES[0]
    ):
        raise WrongValue(
            f"'version' is '{version}': it must be {' or '.join(VERSIONS)}."
        )
    properties = spec.get('properties')
    if not isinstance(properties, Mapping):
        raise WrongValue("'properties' is not a mapping: it needs 'regions'.")
    _check_keys(properties, VERSIONS[version], "'properties'")
    strategy = properties.get('strategy', BALANCED)
    values.read_choice(strategy, "'strategy'", STRATEGIES)
    regions = properties.get('regions')
    if not isinstance(regions, list):
        raise WrongValue("'regions' must be a list of regions.")
    return Spec(
        _checked(regions),
        follows=version > '1.0',
        effective=spec['type'] == REGION_PLACEMENT,
    )


def read_metadata(
    metadata: Mapping[str, Any] | None,
) -> Mapping[str, Mapping[str, Any]]:
    """Return the settings of a cluster's owner for each region.

    :param metadata: the metadata of the cluster. The value of
        :data:`METADATA_KEY` is a mapping, or the JSON of a mapping.
    :returns: region name -> its ``weight``, ``cap`` and ``out``, unchecked.
    :raises WrongValue: if the value does not map each region to a mapping.
    """
    changes = (metadata or {}).get(METADATA_KEY)
    if isinstance(changes, str):
        try:
            changes = json.loads(changes)
        except (ValueError, RecursionError) as exc:
            raise WrongValue(f'{_WHERE} is not JSON: {exc}.') from exc
    elif not changes:
        return {}
    if not isinstance(changes, Mapping) or not all(
        isinstance(change, Mapping) for change in changes.values()
    ):
        raise WrongValue(
            f'{_WHERE} must map names of regions to "weight", "cap" and "out".'
        )
    return changes


def override(
    regions: Sequence[Region], metadata: Mapping[str, Any] | None
) -> Override:
    """Apply the settings of a cluster's owner to the regions of a policy.

    :param regions: the regions of the policy.
    :param metadata: the cluster's metadata, with the settings of its owner. If
        one setting is invalid, no setting counts.
    """
    try:
        return _override(regions, read_metadata(metadata))
    except WrongValue as exc:
        return Override(regions, problem=str(exc))


def _override(
    regions: Sequence[Region], changes: Mapping[str, Mapping[str, Any]]
) -> Override:
    """Apply the owner's settings; raise if a setting is invalid."""
    _check_keys(changes, tuple(region.name for region in regions), _WHERE)
    numbers = {}
    declared = set()
    for name, change in changes.items():
        where = f"'{name}' in {_WHERE}"
        _check_keys(change, ('weight', 'cap', 'out'), where)
        if values.read_flag(change.get('out', False), f"'out' of {where}"):
            declared.add(name)
        numbers[name] = {key: change[key] for key in change if key != 'out'}
    items = []
    for region in regions:
        item = dataclasses.asdict(region)
        item.update(numbers.get(region.name, {}))
        items.append(item)
    return Override(_checked(items), declared)


def declared(metadata: Mapping[str, Any] | None) -> set[str]:
    """Return the regions that a cluster's owner has declared out.

    :param metadata: the metadata of the cluster. If the value of
        :data:`METADATA_KEY` is invalid, no region counts as declared out.
    """
    try:
        changes = read_metadata(metadata)
    except WrongValue:
        return set()
    return {name for name in changes if changes[name].get('out') is True}


def forgotten(metadata: Mapping[str, Any] | None) -> set[str]:
    """Return the ids of the servers and nodes that the owner has forgotten.

    :param metadata: the metadata of the cluster. The value of
        :data:`FORGET_KEY` has the ids with spaces between them.
    """
    return set(str((metadata or {}).get(FORGET_KEY) or '').split())


def read_options(texts: Iterable[str]) -> tuple[Region, ...]:
    """Return the regions that the options of a command name.

    :param texts: each is ``NAME``, ``NAME:WEIGHT`` or ``NAME:WEIGHT:CAP``. An
        empty part means the default.
    :raises WrongValue: if a text has another form, or if the policy would
        refuse the region.
    """
    items = []
    for text in texts:
        name, *numbers = text.split(':')
        if len(numbers) > 2:
            raise WrongValue(
                f"The region '{text}' has too many parts: write NAME, "
                'NAME:WEIGHT or NAME:WEIGHT:CAP.'
            )
        item = {'name': name}
        for key, number in zip(('weight', 'cap'), numbers, strict=False):
            if number:
                item[key] = number
        items.append(item)
    return _checked(items)


def _checked(items: Iterable[object]) -> tuple[Region, ...]:
    """Read the regions of a list, check them, and return them."""
    regions = tuple(_region(item) for item in items)
    problem = apportionment.find_problem(regions)
    if problem:
        raise WrongValue(problem)
    return regions


def _region(item: object) -> Region:
    """Read one region of a list."""
    if not isinstance(item, Mapping):
        raise WrongValue(
            f"The region '{item}' is not a mapping: it needs a 'name'."
        )
    _check_keys(item, _REGION_KEYS, f"region '{item.get('name', '')}'")
    name = item.get('name')
    if name is None:
        raise WrongValue("'name' of a region is missing: give its name.")
    numbers = {'weight': apportionment.DEFAULT_WEIGHT, 'cap': NO_CAP}
    for key, default in numbers.items():
        field = f"'{key}' of region '{name}'"
        numbers[key] = values.read_number(item.get(key, default), field)
    return Region(str(name), **numbers)


def _check_keys(
    mapping: Mapping[Any, Any], allowed: tuple[str, ...], where: str
) -> None:
    """Refuse a mapping that has other keys than the allowed ones."""
    for key in mapping:
        if key not in allowed:
            raise WrongValue(
                f"'{key}' is not known in {where}: it may have "
                f'{", ".join(allowed)}.'
            )

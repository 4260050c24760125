# SPDX-License-Identifier: Apache-2.0

"""Read the spec of a region placement policy, without Senlin.

This module checks a spec by the same rules as Senlin. A test compares the
results of both.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from senlin_plugins.planning import apportionment, values
from senlin_plugins.planning.apportionment import NO_CAP, Region
from senlin_plugins.planning.plugin_types import REGION_PLACEMENT, RIVALS
from senlin_plugins.planning.values import WrongValue

#: The policy types that this module can read: this package's type, and the
#: in-tree type, which has the same properties.
TYPES: Final = REGION_PLACEMENT, RIVALS[REGION_PLACEMENT]
VERSION: Final = '1.0'

_SPEC_KEYS: Final = ('type', 'version', 'properties', 'description')
_REGION_KEYS: Final = ('name', 'weight', 'cap')


class Spec(NamedTuple):
    """The spec of a region placement policy.

    :param regions: the regions, in the order of the spec.
    :param effective: whether the plans of the policy have an effect. The plans
        of Senlin's own policy have none.
    """

    regions: tuple[Region, ...]
    effective: bool = True


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
    if version != VERSION:
        raise WrongValue(f"'version' is '{version}': it must be {VERSION}.")
    properties = spec.get('properties')
    if not isinstance(properties, Mapping):
        raise WrongValue("'properties' is not a mapping: it needs 'regions'.")
    _check_keys(properties, ('regions',), "'properties'")
    regions = properties.get('regions')
    if not isinstance(regions, list):
        raise WrongValue("'regions' must be a list of regions.")
    return Spec(_checked(regions), effective=spec['type'] == REGION_PLACEMENT)


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

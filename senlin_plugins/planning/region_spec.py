# SPDX-License-Identifier: Apache-2.0

"""Read the spec of a region placement policy without Senlin.

The rules are those that the policy itself has when Senlin validates a spec;
a test compares both over good and bad specs.
"""

from collections.abc import Mapping
from typing import Any, Final

from senlin_plugins.planning import apportionment

#: The types whose specs this is, of this package and in-tree; the properties
#: of both are the same.
TYPES: Final = (
    'senlin_plugins.policy.region_placement',
    'senlin.policy.region_placement',
)
VERSION: Final = '1.0'

_SPEC_KEYS: Final = ('type', 'version', 'properties', 'description')
_REGION_KEYS: Final = ('name', 'weight', 'cap')


class SpecError(ValueError):
    """The spec cannot be used; the text says where, and what is accepted."""


def read(spec: object) -> tuple[apportionment.Region, ...]:
    """Return the regions of a policy's spec.

    :param spec: the spec as YAML or the API gives it.
    :returns: the regions in the order of the spec.
    :raises SpecError: when the policy would refuse the spec.
    """
    if not isinstance(spec, Mapping):
        raise SpecError(
            'The spec is no mapping: it needs "type", "version" and '
            '"properties".'
        )
    _check_keys(spec, _SPEC_KEYS, 'the spec')
    if spec.get('description', '') is None:
        raise SpecError("'description' is empty: remove it, or say something.")
    if spec.get('type') not in TYPES:
        raise SpecError(
            f"'type' is '{spec.get('type')}': it must be {TYPES[0]}."
        )
    # YAML reads 1.0 as a number.
    if str(spec.get('version')) != VERSION:
        raise SpecError(
            f"'version' is '{spec.get('version')}': it must be {VERSION}."
        )
    properties = spec.get('properties')
    if not isinstance(properties, Mapping):
        raise SpecError("'properties' is no mapping: it needs 'regions'.")
    _check_keys(properties, ('regions',), "'properties'")
    given = properties.get('regions')
    if not isinstance(given, list):
        raise SpecError("'regions' must be a list of regions.")
    regions = tuple(_region(item) for item in given)
    problem = apportionment.find_problem(regions)
    if problem:
        raise SpecError(problem)
    return regions


def read_region(text: str) -> apportionment.Region:
    """Return the region that an option says.

    :param text: ``NAME``, ``NAME:WEIGHT`` or ``NAME:WEIGHT:CAP``; a part
        that is empty has its default.
    :returns: the region; whether its numbers make sense is not checked yet.
    :raises SpecError: when it is written in another way.
    """
    name, *numbers = text.split(':')
    if len(numbers) > 2:
        raise SpecError(
            f"The region '{text}' has too many parts: write NAME, "
            'NAME:WEIGHT or NAME:WEIGHT:CAP.'
        )
    given = zip(_REGION_KEYS[1:], numbers, strict=False)
    return _region({'name': name, **{key: n for key, n in given if n}})


def _region(item: object) -> apportionment.Region:
    """Return one region of the list."""
    if not isinstance(item, Mapping):
        raise SpecError(
            f"The region '{item}' is no mapping: it needs a 'name'."
        )
    _check_keys(item, _REGION_KEYS, f"region '{item.get('name', '')}'")
    name = item.get('name')
    if name is None:
        raise SpecError("'name' of a region is missing: give its name.")
    return apportionment.Region(
        str(name),
        _whole_number(item, 'weight', apportionment.DEFAULT_WEIGHT),
        _whole_number(item, 'cap', apportionment.NO_CAP),
    )


def _whole_number(item: Mapping[str, Any], key: str, default: int) -> int:
    """Return a number, also from text such as ``'3'``."""
    value = item.get(key, default)
    try:
        if isinstance(value, int | str) and not isinstance(value, bool):
            return int(value)
    except ValueError:
        pass
    raise SpecError(
        f"'{key}' of region '{item['name']}' is '{value}': it must be a "
        'whole number.'
    )


def _check_keys(
    given: Mapping[Any, Any], allowed: tuple[str, ...], where: str
) -> None:
    """Refuse keys that the policy does not know."""
    for key in given:
        if key not in allowed:
            raise SpecError(
                f"'{key}' is not known in {where}: it may have "
                f'{", ".join(allowed)}.'
            )

# SPDX-License-Identifier: Apache-2.0

"""Extra specs of flavors and metadata of aggregates, as the filter reads them.

The terms are those of the specification "Aggregate Instance Type Filter".
"""

import dataclasses
import fnmatch
import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from nova_filters.matching import requirement

#: The filter's scope: it makes a namespaced extra spec mandatory (use case 7).
SCOPE: Final = 'aggregate_instance_extra_specs:'
#: The metadata key that forces an aggregate ("Description").
FLAG: Final = 'force_metadata_check'
#: Patterns of keys that no aggregate may demand.
Exempt = tuple[str, ...]


class FlavorSpec(NamedTuple):
    """One extra spec of a flavor.

    :param key: the metadata key that the extra spec is about.
    :param optional: whether the extra spec is skipped if no aggregate has the
        key: the key has a namespace other than :data:`SCOPE` (use case 7).
    :param wanted: the values that the extra spec accepts.
    """

    key: str
    optional: bool
    wanted: requirement.Requirement


def read_flavor(
    extra_specs: Mapping[str, str] | None,
) -> tuple[FlavorSpec, ...]:
    """Return a flavor's extra specs as the filter reads them.

    :param extra_specs: the extra specs; None stands for none.
    :returns: one entry per extra spec, by key, without the reserved key
        ``force_metadata_check``, bare or scoped.
    """
    specs = []
    for name, value in (extra_specs or {}).items():
        text = str(name)
        key = text.removeprefix(SCOPE)
        if key != FLAG:
            optional = key == text and ':' in key
            specs.append(FlavorSpec(key, optional, requirement.parse(value)))
    return tuple(
        sorted(specs, key=lambda s: (s.key, s.optional, s.wanted.text))
    )


def key_of(name: object, forced: bool) -> str | None:
    """Return the key that a metadata item is about.

    :param name: the item's name.
    :param forced: whether the aggregate is forced; only then the filter's
        scope is no part of the key.
    :returns: the key; None for the flag, and for a name that is no string:
        no flavor can ask for such a name.
    """
    if not isinstance(name, str):
        return None
    key = name.removeprefix(SCOPE) if forced else name
    return None if key == FLAG else key


def is_forced(metadata: Mapping[str, object]) -> bool:
    """Tell whether ``force_metadata_check`` is on in metadata."""
    return FLAG in metadata and requirement.is_on(metadata[FLAG])


@dataclasses.dataclass(frozen=True, slots=True)
class Aggregate:
    """One host aggregate.

    :param name: its name, for the reasons.
    :param metadata: its metadata; any dictionary of strings.
    """

    name: str
    metadata: Mapping[str, str] = dataclasses.field(hash=False)

    @property
    def forced(self) -> bool:
        """Tell whether the aggregate's ``force_metadata_check`` is on."""
        return is_forced(self.metadata)

    def items(self) -> Iterator[tuple[str, object]]:
        """Yield each key with its value, without the flag.

        :returns: a key of a forced aggregate may come twice.
        """
        forced = self.forced
        for name, value in self.metadata.items():
            key = key_of(name, forced)
            if key is not None and value is not None:
                yield key, value

    def has(self, key: str) -> bool:
        """Tell whether the aggregate has a value for a key."""
        return any(True for _ in self._values(key))

    def pieces(self, key: str) -> Iterator[requirement.Requirement]:
        """Yield the alternatives that the aggregate offers for a key."""
        for value in self._values(key):
            yield from requirement.parse_metadata(value, self.forced)

    def _values(self, key: str) -> Iterator[object]:
        """Yield the values of a key."""
        forced = self.forced
        for name in (key, SCOPE + key):
            value = self.metadata.get(name)
            if value is not None and key_of(name, forced) == key:
                yield value


@functools.lru_cache(maxsize=8)
def exemption(patterns: Exempt) -> Callable[[str], object]:
    """Return a function that is true of a key that no aggregate may demand.

    :param patterns: shell patterns; upper and lower case differ.
    """
    # Without a pattern, an expression that matches nothing.
    texts = map(fnmatch.translate, patterns)
    return re.compile('|'.join(texts) if patterns else r'(?!)').match

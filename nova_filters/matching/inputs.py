# SPDX-License-Identifier: Apache-2.0

"""Extra specs of flavors and metadata of aggregates, as the filter reads them.

The terms, and the use cases and sections that comments here name, are those of
the specification "Aggregate Instance Type Filter".
"""

import dataclasses
import fnmatch
import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from nova_filters.matching import requirement
from nova_filters.matching.requirement import Requirement

#: The filter's scope, a prefix of extra specs. An extra spec with another
#: prefix is optional: the filter skips the extra spec if no aggregate has the
#: key (use case 7).
SCOPE: Final = 'aggregate_instance_extra_specs:'
#: With this metadata key, an aggregate is forced: it demands each of its other
#: keys from every flavor ("Description").
FLAG: Final = 'force_metadata_check'
#: With this metadata key, the demands of an aggregate are soft: they only
#: change the weights of hosts.
SOFT_FLAG: Final = 'prefer_metadata_check'
#: If both are on in an aggregate, the first one counts.
FLAGS: Final = (FLAG, SOFT_FLAG)
#: An extra spec that is a preference, such as ``aggregate_preferred.10:ssd``.
PREFERENCE: Final = re.compile(r'aggregate_(preferred|avoided)(\.[^:]*)?:(.*)')
#: Patterns of keys that no aggregate may demand.
Exempt = tuple[str, ...]


class FlavorSpec(NamedTuple):
    """One extra spec of a flavor.

    :param key: the metadata key that the extra spec is about.
    :param optional: whether the key has a namespace other than :data:`SCOPE`.
        The extra spec is then skipped if no aggregate has the key (use case
        7).
    :param requirement: the values that the extra spec accepts.
    """

    key: str
    optional: bool
    requirement: Requirement


def read_flavor(
    extra_specs: Mapping[str, str] | None,
) -> tuple[FlavorSpec, ...]:
    """Return a flavor's extra specs as the filter reads them.

    :param extra_specs: the extra specs; None if the flavor has none.
    :returns: one entry per extra spec, sorted by key. Preferences are left
        out, and so are the keys in :data:`FLAGS`, with or without
        :data:`SCOPE`.
    """
    specs = []
    for name, value in (extra_specs or {}).items():
        text = str(name)
        key = text.removeprefix(SCOPE)
        if key not in FLAGS and not PREFERENCE.fullmatch(text):
            optional = key == text and ':' in key
            specs.append(FlavorSpec(key, optional, requirement.parse(value)))
    specs.sort(key=lambda s: (s.key, s.optional, s.requirement.text))
    return tuple(specs)


@dataclasses.dataclass(frozen=True, slots=True)
class Aggregate:
    """One host aggregate.

    :param name: the name of the aggregate, for texts about refused hosts.
    :param metadata: the metadata of the aggregate.
    """

    name: str
    metadata: Mapping[str, str] = dataclasses.field(hash=False)

    @property
    def forced(self) -> bool:
        """Tell whether the aggregate's ``force_metadata_check`` is on."""
        return read_flag(self.metadata) == FLAG

    def items(self, flag: str = FLAG) -> Iterator[tuple[str, str]]:
        """Yield each key with its value, except the flags.

        :param flag: the flag of interest.
        :returns: the pairs, without those whose value is None: in Nova's API,
            None removes the key. If the flag is on, :data:`SCOPE` is removed
            from the keys, so a key may come twice.
        """
        is_on = read_flag(self.metadata) == flag
        for key, value in self.metadata.items():
            if is_on:
                key = key.removeprefix(SCOPE)
            if key not in FLAGS and value is not None:
                yield key, value

    def pieces(self, key: str, flag: str = FLAG) -> list[Requirement]:
        """Return the pieces of the aggregate's values for a key.

        Each piece is one alternative. Sentinels and operators have a meaning
        if the flag is on (use cases 5, 6).
        """
        read: Callable[[str], Requirement] = requirement.literal
        if read_flag(self.metadata) == flag:
            read = requirement.parse
        pieces: list[Requirement] = []
        for name, value in self.items(flag):
            if name == key:
                pieces += map(read, requirement.split(value))
        return pieces


def read_flag(metadata: Mapping[str, str]) -> str:
    """Return the flag that counts in these metadata.

    :returns: one of :data:`FLAGS`; empty if neither is on.
    """
    for flag in FLAGS:
        if flag in metadata and requirement.is_on(metadata[flag]):
            return flag
    return ''


def read_aggregate(aggregate: Any) -> Aggregate:
    """Return a copy of one of Nova's aggregates.

    :returns: the copy, without unreadable metadata; an unreadable name is "?".
    """
    try:
        pairs = dict(aggregate.metadata or {}).items()
        metadata = {k: v for k, v in pairs if type(k) is type(v) is str}
    except Exception:
        metadata = {}
    return Aggregate(read_name(aggregate), metadata)


def read_name(aggregate: Any) -> str:
    """Return the name of one of Nova's aggregates; "?" if unreadable."""
    try:
        return str(aggregate.name)
    except Exception:
        return '?'


@functools.lru_cache(maxsize=8)
def compile_exemption(patterns: Exempt) -> Callable[[str], object]:
    """Return a function that tells whether no aggregate may demand a key.

    :param patterns: shell patterns; upper and lower case differ.
    """
    # Without patterns, no key is exempt: this expression never matches.
    expression = r'(?!)'
    if patterns:
        expression = '|'.join(map(fnmatch.translate, patterns))
    return re.compile(expression).match

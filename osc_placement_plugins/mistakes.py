# SPDX-License-Identifier: Apache-2.0

"""Find mistakes in a single key or value.

The functions take keys and values, and yield findings.
:mod:`nova_filters.matching.requirement` finds invalid values. The other
findings are about valid texts that are almost certainly mistakes.

The *sentinels* of the filter are ``*``, ``~`` and ``!``. The *flags* are the
metadata keys ``force_metadata_check`` and ``prefer_metadata_check``.
"""

import difflib
import enum
import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, Self

from nova_filters.matching import inputs, requirement
from nova_filters.matching.inputs import FLAGS, SCOPE
from os_placement_plugins.quoting import quote


class Severity(enum.StrEnum):
    """How bad a finding is."""

    #: Hosts or requests are refused by mistake.
    ERROR = 'error'
    #: The text is valid, but probably a mistake.
    WARNING = 'warning'


#: The severities, the worst first.
SEVERITIES: Final = tuple(Severity)


class FindingCode(enum.StrEnum):
    """What is wrong, and how bad it is. The names of codes never change."""

    severity: Severity

    def __new__(cls, name: str, severity: Severity = Severity.ERROR) -> Self:
        """Create a code; its default severity is error."""
        code = str.__new__(cls, name)
        code._value_ = name
        code.severity = severity
        return code

    #: ``!`` stands beside other alternatives of one value.
    EXCLUSIVE_SENTINEL = 'exclusive-sentinel'
    #: A value with ``<or>`` or an operator that nothing can meet.
    MALFORMED_VALUE = 'malformed-value'
    #: ``<or>`` is not the first word of a value, or is missing further on.
    MISPLACED_OR = 'misplaced-or', Severity.WARNING
    #: A word that looks like an operator, but is read as plain text.
    UNKNOWN_OPERATOR = 'unknown-operator', Severity.WARNING
    #: A path that a shell has inserted for an unquoted ``~``.
    EXPANDED_TILDE = 'expanded-tilde', Severity.WARNING
    #: A key that is similar to a flag, such as ``force_metadata_check``.
    MISSPELLED_FLAG = 'misspelled-flag', Severity.WARNING
    #: A value of a flag that means neither on nor off. The flag is off.
    UNCLEAR_FLAG = 'unclear-flag', Severity.WARNING
    #: A flag of an aggregate that has no keys to demand.
    FLAG_WITHOUT_DEMAND = 'flag-without-demand', Severity.WARNING
    #: A flag in a flavor, where the flag has no effect.
    FLAG_IN_FLAVOR = 'flag-in-flavor', Severity.WARNING
    #: A comma in a flavor's value. Aggregates cannot offer such a value.
    COMMA_IN_FLAVOR = 'comma-in-flavor'
    #: White space around a key, or around a flavor's value. Aggregates cannot
    #: offer such a value.
    OUTER_SPACE = 'outer-space'
    #: A sentinel on a key whose values Nova's API validates.
    REFUSED_BY_API = 'refused-by-api'
    #: No aggregate has a key that a flavor needs.
    KEY_NOT_OFFERED = 'key-not-offered'
    #: Aggregates have the key, but no value of the key matches.
    VALUE_NOT_OFFERED = 'value-not-offered'
    #: No aggregate meets what a flavor prefers or avoids.
    PREFERENCE_NOT_MET = 'preference-not-met', Severity.WARNING
    #: The filter's scope stands behind another prefix, so it is no scope.
    MISPLACED_SCOPE = 'misplaced-scope', Severity.WARNING
    #: A namespace that is similar to the namespace of a preference.
    MISSPELLED_PREFERENCE = 'misspelled-preference', Severity.WARNING
    #: Each extra spec is met by some aggregate, but no host takes the flavor.
    NO_HOST = 'no-host'
    #: Hosts take the flavor, but all of them are disabled, down or unknown.
    NO_HOST_UP = 'no-host-up'
    #: A flavor that only one host takes.
    ONE_HOST = 'one-host', Severity.WARNING
    #: No flavor meets what an aggregate demands.
    CLOSED_AGGREGATE = 'closed-aggregate', Severity.WARNING
    #: Demands that exclude each other, in one aggregate or on one host.
    CONTRADICTORY_DEMANDS = 'contradictory-demands'
    #: A key that Nova's ComputeCapabilitiesFilter reads, too.
    CAPABILITY_KEY = 'capability-key', Severity.WARNING
    #: A sentinel, ``<or>`` or an operator in an aggregate whose flags are off.
    SENTINEL_WITHOUT_FLAG = 'sentinel-without-flag', Severity.WARNING
    #: The filter's scope in an aggregate whose flags are off.
    SCOPE_WITHOUT_FLAG = 'scope-without-flag', Severity.WARNING


#: The keys whose values Nova's API validates since microversion 2.86. The API
#: refuses sentinels for these keys. In other namespaces, such as
#: "capabilities" and "vmware", the keys that Nova knows accept any value.
_VALIDATED: Final = re.compile(
    r'(hw|hw_rng|hw_video|os|pci_passthrough|quota|resources\w*|trait\w*):|'
    r'(hide_hypervisor_id|group_policy)$'
)
#: The attributes of each host in nova-scheduler. If an extra spec without a
#: scope has the name of an attribute, ComputeCapabilitiesFilter compares the
#: value of the extra spec with the attribute.
CAPABILITIES: Final = """
    aggregates allocation_candidates cell_uuid cpu_allocation_ratio
    cpu_info disk_allocation_ratio disk_mb_used failed_builds free_disk_mb
    free_ram_mb host host_ip hypervisor_hostname hypervisor_type
    hypervisor_version instances io_workload limits metrics nodename
    num_instances num_io_ops numa_topology pci_stats ram_allocation_ratio
    supported_instances total_usable_disk_gb total_usable_ram_mb updated
    uuid vcpus_total vcpus_used
    """.split()  # noqa: SIM905
#: The beginning of words that look like operators of Nova.
_LIKE_OPERATOR: Final = re.compile('s?[<>=!]')
_HOME: Final = re.compile(r'^(/root|/home/[^/\s]+|/Users/[^/\s]+)$')
_OFF: Final = ('false', '0', 'f', 'n', 'no', 'off', '')
#: The namespaces of preferences, and the factor at the end of a namespace.
_PREFERENCES: Final = ('aggregate_preferred', 'aggregate_avoided')
_FACTOR: Final = re.compile(r'[._-]?(\d+)$')
#: The similarity (0 to 1) from which a key or a namespace counts as a
#: typing error.
_ALIKE: Final = 0.8


class Finding(NamedTuple):
    """A mistake, or a hint for the operator.

    :param text: what is wrong.
    :param remedy: how to correct the mistake.
    :param owner: what has the mistake: ``flavor``, ``aggregate`` or ``host``.
        The functions of this module leave ``owner``, ``name`` and ``key``
        empty, and the caller sets these fields.
    :param name: the name of the flavor, the aggregate or the host.
    :param key: the key as the flavor or the aggregate has it.
    """

    code: FindingCode
    text: str
    remedy: str
    owner: str = ''
    name: str = ''
    key: str = ''


def malformed(need: requirement.Requirement) -> Iterator[Finding]:
    """Find mistakes in a value that may have sentinels or operators."""
    text = need.text
    words, shown = text.split(), quote(text)
    if need.problem:
        code = FindingCode.MALFORMED_VALUE
        if need.forbidden:
            code = FindingCode.EXCLUSIVE_SENTINEL
            remedy = "'!' alone, or the alternatives without it"
        elif words[0] == requirement.OR:
            remedy = f"'{requirement.OR} VALUE'"
        else:
            remedy = f"'{words[0]} NUMBER', or 's== TEXT' for text"
        yield Finding(code, f'{shown}: {need.problem}', remedy)
    elif words[:1] == [requirement.OR]:
        if any(word != requirement.OR for word in words[::2]):
            yield Finding(
                FindingCode.MISPLACED_OR,
                f'{shown}: every second word is skipped; a value in <or> is '
                'one word',
                "'<or> A <or> B'",
            )
    elif need.predicate is None and requirement.OR in text:
        yield Finding(
            FindingCode.MISPLACED_OR,
            f'{shown} is read as plain text: {requirement.OR} must be the '
            'first word',
            "'<or> A <or> B'",
        )
    elif need.literals and _LIKE_OPERATOR.match(text.strip()):
        operators = ' '.join(sorted(requirement.OPERATORS))
        yield Finding(
            FindingCode.UNKNOWN_OPERATOR,
            f'{shown} is read as plain text',
            f'an operator of Nova, a space, a value: {operators}',
        )


def expanded(text: str) -> Iterator[Finding]:
    """Find a path that a shell has inserted for an unquoted tilde."""
    if any(_HOME.match(word) for word in re.split(r'[\s,]+', text)):
        yield Finding(
            FindingCode.EXPANDED_TILDE,
            f'{quote(text)}: a shell makes this of an unquoted ~',
            "in quotes: 'KEY=~'",
        )


def misspelled(key: str) -> Iterator[Finding]:
    """Find a key that is nearly a flag, or has white space around it."""
    normal = key.removeprefix(SCOPE).lower().replace('-', '_').strip()
    for near in difflib.get_close_matches(normal, FLAGS, 1, _ALIKE):
        yield Finding(
            FindingCode.MISSPELLED_FLAG,
            f'{quote(key)} is a key like any other',
            f'{near}=True',
        )
    if key != key.strip():
        yield Finding(
            FindingCode.OUTER_SPACE,
            f'{quote(key)} has white space around it, so it is another key '
            f'than {quote(key.strip())}',
            quote(key.strip()),
        )


def ineffective(name: str) -> Iterator[Finding]:
    """Find an extra spec whose name does not say what it seems to say."""
    yield from _misplaced_scope(name)
    yield from _misspelled_preference(name)


def _misplaced_scope(name: str) -> Iterator[Finding]:
    if name.startswith(SCOPE) or SCOPE not in name:
        return
    key = name.rpartition(SCOPE)[2]
    yield Finding(
        FindingCode.MISPLACED_SCOPE,
        f'{quote(name)} does not ask for {quote(key)}, because {SCOPE!r} is '
        'not at its beginning',
        f'{SCOPE}{key}',
    )


def _misspelled_preference(name: str) -> Iterator[Finding]:
    """Find an extra spec whose namespace is nearly that of a preference."""
    namespace, colon, key = name.partition(':')
    if not colon or inputs.PREFERENCE.fullmatch(name):
        return
    factor = _FACTOR.search(namespace)
    normal = _FACTOR.sub('', namespace).lower().replace('-', '_').strip()
    for near in difflib.get_close_matches(normal, _PREFERENCES, 1, _ALIKE):
        meant = near
        if factor:
            meant += f'.{factor[1]}'
        yield Finding(
            FindingCode.MISSPELLED_PREFERENCE,
            f'{quote(name)} is no preference, and has no effect',
            f'{meant}:{key}',
        )


def alike(text: str, texts: Iterable[str]) -> list[str]:
    """Return texts that differ only in outer white space or in case.

    :param text: a key or a value.
    :param texts: the keys or values to compare with.
    """
    folded = text.strip().lower()
    return sorted({t for t in texts if t.strip().lower() == folded})


def unmatchable(need: requirement.Requirement) -> Iterator[Finding]:
    """Find a value of a flavor that no metadata can match."""
    operands = set(need.literals)
    if need.predicate and need.predicate.operator in ('s==', '<in>'):
        operands.add(need.predicate.operands[0])
    shown = quote(need.text)
    if any(',' in operand for operand in operands):
        yield Finding(
            FindingCode.COMMA_IN_FLAVOR,
            f"{shown}: aggregates' values are split at commas, so none of "
            'them holds one',
            "'<or> A <or> B'",
        )
    if any(operand != operand.strip() for operand in operands):
        yield Finding(
            FindingCode.OUTER_SPACE,
            f"{shown}: aggregates' values have no white space around them",
            quote(need.text.strip()),
        )


def scope(name: str, need: requirement.Requirement) -> Iterator[Finding]:
    """Find keys of a flavor that other parts of Nova read, too."""
    has_sentinel = need.any_value or need.omittable or need.forbidden
    if has_sentinel and _VALIDATED.match(name):
        yield Finding(
            FindingCode.REFUSED_BY_API,
            f"Nova's API knows the values of {quote(name)}, and "
            'refuses a sentinel',
            f'{SCOPE}{name}',
        )
    elif name in CAPABILITIES or name.startswith('num_'):
        yield Finding(
            FindingCode.CAPABILITY_KEY,
            'ComputeCapabilitiesFilter compares it with what the host reports '
            'under this name',
            f'{SCOPE}{name}',
        )


def flag(name: str, text: str) -> Iterator[Finding]:
    """Find a flag with a scope, or with a value neither on nor off."""
    unscoped = name.removeprefix(SCOPE)
    if name != unscoped:
        yield Finding(
            FindingCode.MISSPELLED_FLAG,
            'the flag has no effect with a scope',
            f'{unscoped}=True',
        )
    elif not requirement.is_on(text) and text.strip().lower() not in _OFF:
        yield Finding(
            FindingCode.UNCLEAR_FLAG,
            f'{quote(text)} leaves the flag off',
            f'{unscoped}=True or {unscoped}=False',
        )

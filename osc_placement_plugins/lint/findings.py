# SPDX-License-Identifier: Apache-2.0

"""What lint can find."""

import enum
from typing import Final, NamedTuple

ERROR: Final = 'error'
WARNING: Final = 'warning'
#: The severities, the worst first.
SEVERITIES: Final = (ERROR, WARNING)


class FindingCode(enum.StrEnum):
    """What is wrong. The names of codes never change."""

    # With these mistakes, hosts or requests are refused.
    #: A value with a sentinel, ``<or>`` or an operator that nothing can meet.
    MALFORMED_VALUE = 'malformed-value'
    #: No aggregate has the key that a flavor needs, or a value that matches.
    NOT_OFFERED = 'not-offered'
    #: Each extra spec is met by some aggregate, but no host that is up takes
    #: the flavor.
    NO_HOST = 'no-host'
    #: Demands that exclude each other, in one aggregate or on one host.
    CONTRADICTORY_DEMANDS = 'contradictory-demands'

    # These texts are valid, but probably mistakes.
    #: A sentinel or an operator in an aggregate whose flags are off.
    MISREAD_VALUE = 'misread-value'
    #: A key that is similar to a flag, such as ``force_metadata_check``.
    MISSPELLED_FLAG = 'misspelled-flag'
    #: A flag in a flavor, with a scope, with a value neither on nor off, or in
    #: an aggregate without keys to demand.
    FLAG_WITHOUT_EFFECT = 'flag-without-effect'
    #: An extra spec that is skipped, although its namespace looks like one
    #: that has an effect; or the scope where it is part of the key.
    NAMESPACE_WITHOUT_EFFECT = 'namespace-without-effect'
    #: A preference that is malformed, or that no aggregate meets.
    PREFERENCE_WITHOUT_EFFECT = 'preference-without-effect'
    #: A multiplier in an aggregate that is infinite or not a number.
    ENDLESS_MULTIPLIER = 'endless-multiplier'
    #: No flavor meets what an aggregate demands.
    CLOSED_AGGREGATE = 'closed-aggregate'


#: The codes whose severity is error.
_ERRORS: Final = {
    FindingCode.MALFORMED_VALUE,
    FindingCode.NOT_OFFERED,
    FindingCode.NO_HOST,
    FindingCode.CONTRADICTORY_DEMANDS,
}


class Finding(NamedTuple):
    """A mistake.

    :param key: the key as the flavor or the aggregate has it; empty if the
        mistake is not in one key.
    :param text: what is wrong. If two sides do not match, the text names both,
        but no command: which of them is wrong, only an operator knows.
    :param owner: ``flavor``, ``aggregate`` or ``host``.
    :param name: the name of the owner.
    """

    code: FindingCode
    key: str
    text: str
    owner: str = ''
    name: str = ''

    @property
    def severity(self) -> str:
        """Return one of :data:`SEVERITIES`."""
        return ERROR if self.code in _ERRORS else WARNING

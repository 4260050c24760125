# SPDX-License-Identifier: Apache-2.0

"""Remedies: commands that correct an extra spec or an aggregate.

A remedy is a text for copying: commands for a shell, or a line of
``nova.conf``.
"""

import shlex
from typing import Final

from nova_filters.matching import inputs
from nova_filters.matching.inputs import FLAG, SCOPE
from osc_placement_plugins.mistakes import Finding, FindingCode
from osc_placement_plugins.records import Flavor

#: The longest value that Nova's API accepts.
_LONGEST: Final = 255
#: In these findings, the whole extra spec is the mistake.
_REMOVED: Final = {FindingCode.FLAG_IN_FLAVOR, FindingCode.MISSPELLED_FLAG}
#: In these findings, the name shows that the extra spec is meant for this
#: package, although the filter's scope is not there.
_OURS: Final = {
    *_REMOVED,
    FindingCode.MISSPELLED_SCOPE,
    FindingCode.MISSPELLED_PREFERENCE,
}
#: These characters have a meaning in a pattern of exempt_metadata_keys, or
#: between two patterns.
_PATTERN_SIGNS: Final = frozenset('*?[],"\'\\$ ')


def correct(flavor: Flavor, finding: Finding) -> Flavor | None:
    """Return a flavor without a mistake in one of its extra specs.

    Another program may read an extra spec without the filter's scope, so such
    an extra spec stays as it is.

    :returns: the flavor; None if it is not known what was meant.
    """
    name = finding.key
    if not name.startswith(SCOPE) and finding.code not in _OURS:
        return None
    extra_specs = dict(flavor.extra_specs)
    value = extra_specs.pop(name)
    if finding.code not in _REMOVED:
        if not finding.meant_key and not finding.meant_value:
            return None
        meant_name = finding.meant_key or name
        if meant_name in extra_specs:
            return None
        extra_specs[meant_name] = finding.meant_value or value
    return Flavor(flavor.name, extra_specs, flavor.id)


def change_flavor(flavor: Flavor, corrected: Flavor) -> str:
    """Return the commands that change the extra specs of a flavor.

    :returns: the commands; empty if the shell cannot make the change.
    """
    commands = []
    for name, value in corrected.extra_specs.items():
        if flavor.extra_specs.get(name) == value:
            continue
        # The shell ends a name at the first "=".
        if '=' in name or len(value) > _LONGEST:
            return ''
        commands.append(
            _command('flavor', 'set', f'{name}={value}', flavor.name)
        )
    for name in flavor.extra_specs:
        if name not in corrected.extra_specs:
            commands.append(_command('flavor', 'unset', name, flavor.name))
    return _join(commands)


def switch_off(aggregate: inputs.Aggregate) -> str:
    """Return the command that switches an aggregate's demands off.

    :returns: the command; empty if the shell cannot make the change, or if
        values would then have another meaning.
    """
    metadata = dict(aggregate.metadata)
    del metadata[FLAG]
    unforced = inputs.Aggregate(aggregate.name, metadata)
    for key, _ in aggregate.items():
        if aggregate.pieces(key) != unforced.pieces(key):
            return ''
    return _join([_command('aggregate', 'unset', FLAG, aggregate.name)])


def exempt_key(key: str, exempt: inputs.Exempt) -> str:
    """Return the line of ``nova.conf`` that exempts one more key.

    :param exempt: the patterns that are exempt now.
    :returns: the line; empty if the key could be read as a pattern.
    """
    if not key or not _PATTERN_SIGNS.isdisjoint(key):
        return ''
    patterns = ','.join([*exempt, key])
    return _join([f'[nova_filters] exempt_metadata_keys = {patterns}'])


def _command(noun: str, verb: str, change: str, name: str) -> str:
    # The shell reads a number as an ID, and "-x" as an option.
    if name.isdigit() or name.startswith('-') or change.startswith('-'):
        return ''
    words = ['openstack', noun, verb, '--property', change, name]
    return shlex.join(words)


def _join(commands: list[str]) -> str:
    text = ' && '.join(commands)
    # Control characters are shown escaped, so a copy would be another text.
    if not all(commands) or not text.isprintable():
        return ''
    return text

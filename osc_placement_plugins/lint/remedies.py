# SPDX-License-Identifier: Apache-2.0

"""Remedies: commands for a shell that correct a flavor or an aggregate."""

import shlex
from typing import Final

from nova_filters.matching import inputs
from nova_filters.matching.inputs import FLAG, SCOPE
from osc_placement_plugins.lint.findings import Changes, Finding, FindingCode
from osc_placement_plugins.source.records import Flavor

#: The longest value that Nova's API accepts.
_LONGEST: Final = 255
#: In these findings, the name shows that the extra spec is meant for this
#: package, although the filter's scope is not there.
_OURS: Final = {
    FindingCode.FLAG_WITHOUT_EFFECT,
    FindingCode.MISSPELLED_FLAG,
    FindingCode.NAMESPACE_WITHOUT_EFFECT,
}


def correct_flavor(flavor: Flavor, finding: Finding) -> Flavor | None:
    """Return a flavor without a mistake in one of its extra specs.

    Another program may read an extra spec without the filter's scope, so such
    an extra spec stays as it is.

    :returns: the flavor; None if it is not known what was meant.
    """
    is_ours = finding.key.startswith(SCOPE) or finding.code in _OURS
    if not finding.changes or not is_ours:
        return None
    extra_specs = dict(flavor.extra_specs)
    for name, value in finding.changes:
        if value is None:
            del extra_specs[name]
        elif name != finding.key and name in extra_specs:
            return None
        else:
            extra_specs[name] = value
    return Flavor(flavor.name, extra_specs, flavor.id)


def change_flavor(name: str, changes: Changes) -> str:
    """Return the commands that change the extra specs of a flavor.

    :returns: the commands; empty if the shell cannot make the change.
    """
    commands = []
    for key, value in changes:
        if value is None:
            commands.append(_write_command('flavor', 'unset', key, name))
        # The shell ends a key at the first "=".
        elif '=' in key or len(value) > _LONGEST:
            return ''
        else:
            change = f'{key}={value}'
            commands.append(_write_command('flavor', 'set', change, name))
    if not all(commands):
        return ''
    return ' && '.join(commands)


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
    return _write_command('aggregate', 'unset', FLAG, aggregate.name)


def _write_command(noun: str, verb: str, change: str, name: str) -> str:
    """Return a command; empty if the shell would read another one.

    The shell reads a number as an ID, and "-x" as an option. It shows control
    characters escaped, so a copy would be another text.
    """
    words = ['openstack', noun, verb, '--property', change, name]
    command = shlex.join(words)
    if name.isdigit() or name.startswith('-') or change.startswith('-'):
        return ''
    if not command.isprintable():
        return ''
    return command

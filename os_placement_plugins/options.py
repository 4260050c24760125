# SPDX-License-Identifier: Apache-2.0

"""Register the options of a plug-in, and find values that are wrong.

A plug-in calls :func:`check` when its service starts. A wrong value then
stops the service, and no request meets the value.
"""

import difflib
import pathlib
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from oslo_config import cfg, types

from os_placement_plugins import signature

_LOCATION: Final = re.compile(r"LocationInfo\(.*?detail='(.*?)'\)")

#: Groups and their options, as ``oslo-config-generator`` asks for them.
Options = Iterable[tuple[cfg.OptGroup, Sequence[cfg.Opt]]]


class SigningKeys(types.List):
    """A list of signing keys. The text of an error holds no key."""

    def __call__(self, value: Any) -> list[Any]:
        """Return the keys.

        :raises ValueError: if a key cannot be used.
        """
        keys: list[Any] = super().__call__(value)
        signature.Keys(keys)
        return keys


def register(config: cfg.ConfigOpts, options: Options) -> None:
    """Register options; a second call changes nothing."""
    for group, opts in options:
        # A group for each configuration: oslo.config keeps overrides in it.
        config.register_group(
            cfg.OptGroup(group.name, group.title, group.help)
        )
        config.register_opts(opts, group=group.name)


def find_wrong(config: cfg.ConfigOpts, options: Options) -> list[str]:
    """Say what is wrong with the values of options.

    :param config: the configuration, with the options registered.
    :returns: a text for each wrong value, which names the option. No text
        holds a part of a secret value.
    """
    found = []
    for group, opts in options:
        for opt in opts:
            problem = _problem(config, group.name, opt)
            if problem:
                found.append(f'[{group.name}] {problem}')
    return found


def find_unread(config: cfg.ConfigOpts, options: Options) -> list[str]:
    """Say what nothing reads of the sections of this package.

    :param config: the configuration, read from files.
    :returns: a text for each option that its section does not have, and for
        each section that is almost named like one of the groups.
    """
    groups = {
        group.name: {opt.name for opt in opts} for group, opts in options
    }
    files = [pathlib.Path(name) for name in config.config_file or ()]
    for folder in config.config_dir or ():
        files += sorted(pathlib.Path(folder).glob('*.conf'))
    found = []
    for file in files:
        sections: dict[str, dict[str, list[str]]] = {}
        cfg.ConfigParser(str(file), sections).parse()
        for section, names in sections.items():
            known = groups.get(section)
            if known is None:
                found += _nearest(f'section [{section}]', section, groups)
                continue
            for name in names.keys() - known:
                option = f'[{section}] {name}'
                found += _nearest(option, name, known) or [option]
    return sorted(found)


def _nearest(what: str, name: str, known: Iterable[str]) -> list[str]:
    """Return a text with the name that is meant, if there is one."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.8)
    return [f'{what} (the nearest is {one})' for one in near]


def check(config: cfg.ConfigOpts, options: Options) -> None:
    """Raise an error if a value is wrong.

    :raises ConfigFileValueError: with what :func:`find_wrong` says.
    """
    wrong = find_wrong(config, options)
    if wrong:
        raise cfg.ConfigFileValueError('; '.join(wrong))


def _problem(config: cfg.ConfigOpts, group: str, opt: cfg.Opt) -> str:
    """Say what is wrong with one value; an empty text for nothing."""
    try:
        value = config[group][opt.dest]
    except ValueError as exc:
        # The texts of oslo.config name the option, and where it is set as an
        # object of its own.
        return _LOCATION.sub(r'\1', str(exc))
    except Exception as exc:
        # A "$" that names no option, or the option itself.
        reason = 'it cannot be read' if opt.secret else exc
    else:
        if value is not None or opt.default is None:
            return ''
        # oslo.config makes None of an empty number.
        reason = 'it is empty'
    return f'Value for option {opt.name} is not valid: {reason}'

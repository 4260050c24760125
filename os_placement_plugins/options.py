# SPDX-License-Identifier: Apache-2.0

"""Register the options of a plug-in, and find values that are wrong.

A plug-in calls :func:`check` when its service starts. If a value is wrong, the
service stops before it handles requests.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from oslo_config import cfg, types

from os_placement_plugins import signature
from os_placement_plugins.errors import one_line

_LOCATION: Final = re.compile(r"LocationInfo\(.*?detail='(.*?)'\)")

#: Groups and their options, as ``oslo-config-generator`` asks for them.
Options = Iterable[tuple[cfg.OptGroup, Sequence[cfg.Opt]]]


class SigningKeys(types.List):
    """A list of signing keys. No error message contains a key."""

    def __call__(self, value: Any) -> list[Any]:
        """Return the keys.

        :raises ValueError: if a key cannot be used, or if a value that is
            not empty contains no key.
        """
        keys: list[Any] = super().__call__(value)
        if isinstance(value, str) and value.strip() and not keys:
            raise ValueError('it contains no key')
        signature.Keys(keys)
        return keys


#: The option is the same in heat.conf and in nova.conf.
SIGNING_KEY: Final = cfg.Opt(
    'signing_key',
    type=SigningKeys(),
    default=[],
    secret=True,
    help="""
The keys with which heat-engine signs its stack scheduler hints.

Any tenant can send a ``heat_root_stack_id`` directly to Nova. With a key,
heat-engine also sends the hint ``heat_signature``, which is bound to the
project and to ``heat_resource_uuid``. In templates, all names that begin with
``heat_`` are then reserved. With a key, the plug-ins in nova-scheduler trust
only hints that were signed with this key for the project of the server. They
ignore all other hints, even of servers that are already running. Both services
read the option when they start.

Possible values:

* Empty: heat-engine does not sign, and nova-scheduler trusts all hints.
* A list of keys, separated by commas. Each key must have at least 32
  characters, and must not contain ``$``. To generate a key, run
  ``openssl rand -hex 32``. heat-engine signs with the first key.
  nova-scheduler trusts hints that were signed with any of the keys.

To change the key, follow "Change the key" in the documentation of Heat's
hints. Keep the old key in ``nova.conf`` as long as the weigher must recognize
servers whose hints were signed with the old key.

Related options:

* ``[heat_hints] signing_key`` in the other file: use the same line in
  ``heat.conf`` and ``nova.conf``.
* ``[filter_scheduler] weight_classes``: in ``nova.conf``, this option has no
  effect unless the list contains ``nova_filters.all_weighers``.
""",
)


def register(config: cfg.ConfigOpts, options: Options) -> None:
    """Register options; a second call changes nothing."""
    for group, opts in options:
        if group.name == 'DEFAULT':
            config.register_opts(opts)
            continue
        # Copy the group for each configuration. oslo.config stores overrides
        # in the group, so two configurations would share the overrides.
        config.register_group(
            cfg.OptGroup(group.name, group.title, group.help)
        )
        config.register_opts(opts, group=group.name)


def find_wrong(config: cfg.ConfigOpts, options: Options) -> list[str]:
    """Return the options whose values are wrong, with the reasons.

    :param config: the configuration, with the options registered.
    :returns: a text for each wrong value. The text names the option, and
        contains no part of a secret value.
    """
    problems = []
    for group, opts in options:
        for opt in opts:
            problem = _problem(config, group.name, opt)
            if problem:
                problems.append(f'[{group.name}] {problem}')
    return problems


def check(config: cfg.ConfigOpts, options: Options) -> None:
    """Raise an error if a value is wrong.

    :raises ConfigFileValueError: if a value is wrong. The message consists of
        the texts of :func:`find_wrong`.
    """
    wrong = find_wrong(config, options)
    if wrong:
        raise cfg.ConfigFileValueError('; '.join(wrong))


def shorten_location(text: str) -> str:
    """Return a message of oslo.config with only the readable part of a place.

    :param text: the message, which may contain the ``repr`` of a place.
    """
    return _LOCATION.sub(r'\1', text)


def _problem(config: cfg.ConfigOpts, section: str, opt: cfg.Opt) -> str:
    """Return what is wrong with one value; an empty text if it is valid."""
    try:
        options: Any = config
        if section != 'DEFAULT':
            options = config[section]
        value = options[opt.dest]
    except Exception as exc:
        if opt.secret and not isinstance(exc, ValueError):
            # If a secret contains "$", oslo.config reads the text after the
            # "$" as the name of an option, and quotes this text in the error.
            exc = ValueError('it cannot be read')
        return _invalid(opt.name, exc)
    if value is None and opt.default is not None:
        # If an option is a number, oslo.config reads an empty value as None.
        return _invalid(opt.name, ValueError('it is empty'))
    if isinstance(opt.type, SigningKeys):
        return _repeated(config, section, opt.name)
    return ''


def _repeated(config: cfg.ConfigOpts, section: str, name: str) -> str:
    """Return what is wrong if one file sets the keys on several lines.

    oslo.config takes the last line, so the keys on the others would be gone.
    """
    place = config.get_location(name, section)
    if place is None or place.location is not cfg.Locations.user:
        return ''
    sections: dict[str, dict[str, Any]] = {}
    try:
        cfg.ConfigParser(place.detail, sections).parse()
    except OSError:
        # oslo.config has read the value from something that is no file.
        return ''
    lines = sections.get(section, {}).get(name, ())
    if len(lines) < 2:
        return ''
    problem = (
        f'{place.detail} has it on {len(lines)} lines, and the last one would '
        'count. Write all keys on one line, separated by commas'
    )
    return _invalid(name, ValueError(problem))


def _invalid(name: str, exc: Exception) -> str:
    """Return a message that says why a value cannot be read."""
    cause: BaseException = exc
    if isinstance(exc, cfg.NoSuchOptError) and exc.__context__:
        # For [DEFAULT], oslo.config hides the cause behind NoSuchOptError.
        cause = exc.__context__
    text = one_line(cause)
    if isinstance(exc, cfg.ConfigSourceValueError):
        # The text already names the option.
        return shorten_location(text)
    return f'Value for option {name} is not valid: {text}'

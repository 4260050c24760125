# SPDX-License-Identifier: Apache-2.0

"""The command ``heat-hints-status upgrade check``.

It reads the ``heat.conf`` of an engine and has Heat load its resource types
as heat-engine does when it starts, without starting it. What this package
logs meanwhile as an ERROR is a failure, and a WARNING is a warning: these
texts say what to change.
"""

import importlib
import logging
import re
import sys
from typing import Any, Final

from oslo_config import cfg
from oslo_upgradecheck import upgradecheck

from heat_hints import conf, hints

COMMAND: Final = 'heat-hints-status'

Code = upgradecheck.Code
Result = upgradecheck.Result


class _Records(logging.Handler):
    """Keep the texts of what this package logs, and how bad it is."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.code = Code.SUCCESS
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one record."""
        bad = record.levelno >= logging.ERROR
        self.code = max(self.code, Code.FAILURE if bad else Code.WARNING)
        self.texts.append(record.getMessage())


class Checks(upgradecheck.UpgradeCommands):
    """What is checked, one method for each row of the table.

    :param config: Heat's configuration; it is read when a check runs.
    """

    display_title = 'heat_hints: Upgrade Check Results'

    def __init__(self, config: Any) -> None:
        self._config = config

    def check_configuration(self) -> Result:
        """Check that there is a heat.conf at all."""
        if self._config.config_file or self._config.config_dir:
            return Result(Code.SUCCESS)
        return Result(
            Code.FAILURE,
            'The other checks look at the defaults, because no heat.conf was '
            'found. Give --config-file, or run this command on a heat-engine '
            'host.',
        )

    def check_values(self) -> Result:
        """Check that each option has a value that it may have."""
        wrong = []
        for option in conf.OPTS:
            try:
                self._config[conf.GROUP.name][option.dest]
            except (ValueError, cfg.Error) as exc:
                # The text may quote the value.
                reason = 'it cannot be read' if option.secret else exc
                wrong.append(f'{option.name}: {reason}')
        if not wrong:
            return Result(Code.SUCCESS)
        return Result(
            Code.FAILURE,
            f'Correct these options in [heat_hints]: {"; ".join(wrong)}.',
        )

    def check_enabled(self) -> Result:
        """Check that hints are switched on."""
        if self._enabled() is False:
            return Result(
                Code.WARNING,
                'No hints are sent. To send them, set enabled = true in '
                '[heat_hints] and restart heat-engine.',
            )
        return Result(Code.SUCCESS)

    def check_start(self) -> Result:
        """Have Heat load its resource types, and look at what it got."""
        # Loading it with a wrong value switches the hints off.
        enabled = self._enabled()
        records = _Records()
        logger = logging.getLogger(__package__)
        logger.addHandler(records)
        try:
            resources = importlib.import_module('heat.engine.resources')
            resources.initialise()
            environment = resources.global_env()
        except Exception as exc:
            return Result(
                Code.FAILURE,
                'heat-engine does not start: Heat cannot load its resource '
                f'types: {_one_line(exc)}.',
            )
        finally:
            logger.removeHandler(records)
        code, texts = records.code, records.texts
        if enabled and code != Code.FAILURE:
            silent = [
                name
                for name in self._config.heat_hints.resource_types
                if not _sends_hints(environment, name)
            ]
            if silent:
                code = Code.FAILURE
                texts.append(
                    f'{", ".join(silent)} would be created without hints: '
                    'the hook is not loaded, or something else replaces the '
                    'type. Install os-placement-plugins again in the '
                    'environment of heat-engine, and look for the type in '
                    '[DEFAULT] plugin_dirs and environment_dir.'
                )
        return Result(code, ' '.join(texts) or None)

    def check_signature(self) -> Result:
        """Check that what is signed can be believed."""
        try:
            group = self._config.heat_hints
            keys = any(group.signing_key)
            kept = group.user_hints == hints.USER_KEEP
        except (ValueError, cfg.Error):
            # The check of the values says so.
            return Result(Code.SUCCESS)
        if keys and kept:
            return Result(
                Code.WARNING,
                'user_hints is "keep" in [heat_hints], and signing_key is '
                'set: a server whose template sets one of the six '
                'identifiers is not signed, and nova-scheduler ignores its '
                'hints. Set user_hints = override or reject.',
            )
        return Result(Code.SUCCESS)

    def _enabled(self) -> bool | None:
        """Return the option ``enabled``, None if its value is wrong."""
        try:
            return bool(self._config.heat_hints.enabled)
        except (ValueError, cfg.Error):
            return None

    # The start comes last: it changes the options that it cannot read.
    _upgrade_checks = (
        ('Configuration file', check_configuration),
        ('Option values', check_values),
        ('Enabled', check_enabled),
        ('Signature', check_signature),
        ('Start of heat-engine', check_start),
    )


def _sends_hints(environment: Any, resource_type: str) -> bool:
    """Tell whether Heat would ask this package when it creates a resource.

    :param environment: Heat's global environment.
    :param resource_type: such as ``OS::Nova::Server``.
    """
    try:
        cls = environment.get_class(resource_type)
    except Exception:
        return False
    method = getattr(cls, '_scheduler_hints', None)
    return getattr(method, '__module__', None) == 'heat_hints.overrides'


def _one_line(exc: BaseException) -> str:
    """Return the text of an exception without its line breaks."""
    text = ' '.join(str(exc).split()) or type(exc).__name__
    if isinstance(exc, cfg.ConfigFileParseError):
        # Without the line itself, which may hold a key or a password.
        return re.split(r""": ['"]""", text, maxsplit=1)[0]
    return text


def main(argv: list[str] | None = None) -> int:
    """Run the command.

    :param argv: the arguments; those of the process by default.
    :returns: 0 when nothing is to be done, 1 for a warning, 2 for a failure,
        255 when nothing could be checked.
    """
    # What Heat logs while it loads is not asked for here.
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        # Chooses how threads work, as in heat-engine, before anything else.
        importlib.import_module('heat.cmd.engine')
    except ImportError as exc:
        print(
            f'{COMMAND}: run it where heat-engine is installed: {exc}',
            file=sys.stderr,
        )
        return 255
    conf.register_opts(cfg.CONF)
    try:
        return upgradecheck.main(
            cfg.CONF,
            'heat',
            Checks(cfg.CONF),
            sys.argv[1:] if argv is None else argv,
        )
    except BrokenPipeError:
        # Nobody reads any more, as behind ``head``.
        return 255
    except (cfg.Error, OSError, ValueError) as exc:
        print(
            f'{COMMAND}: the configuration cannot be read: {_one_line(exc)}',
            file=sys.stderr,
        )
        return 255


if __name__ == '__main__':
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0

"""The base class of the commands ``... upgrade check``.

Each command reads the configuration file of a service, and does not start the
service.
"""

import functools
import logging
import sys
import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Final, Self

from oslo_config import cfg
from oslo_upgradecheck import upgradecheck

from os_placement_plugins import errors, options

Result = upgradecheck.Result
SUCCESS, WARNING, FAILURE = upgradecheck.Code
#: The exit code if nothing could be checked.
NOTHING_CHECKED: Final = 255


def warning(problems: object, text: str) -> Result:
    """Return a warning with the text if there are problems, or a success."""
    if problems:
        return Result(WARNING, text)
    return Result(SUCCESS)


class Checks(upgradecheck.UpgradeCommands):
    """The command ``... upgrade check``, with the checks of all services.

    :param config: the service's configuration, which the checks read.
    """

    #: The command's own name.
    command: ClassVar[str]
    #: The names of the project and of the service, such as ``heat`` and
    #: ``heat-engine``. The configuration file has the name of the project.
    project: ClassVar[str]
    service: ClassVar[str]
    #: Options of the service itself that the checks read.
    of_service: ClassVar[options.Names] = {}
    #: The options of the plug-in package, whose values must be valid.
    options: ClassVar[options.Options]

    def __init__(self, config: Any) -> None:
        self._config = config

    @classmethod
    def load(cls) -> Self:
        """Load what the checks need of the service, and return the checks.

        :raises ImportError: if the service is not installed here.
        """
        raise NotImplementedError

    def check_configuration(self) -> Result:
        """Check that there is a configuration file at all."""
        if self._config.config_file or self._config.config_dir:
            return Result(SUCCESS)
        return Result(
            FAILURE,
            f'No {self.project}.conf was found, so the other checks look at '
            f'the defaults. Run this command on a {self.service} host, or '
            'give --config-file.',
        )

    def check_values(self) -> Result:
        """Check that the value of each option is valid."""
        wrong = self._wrong_values()
        if not wrong:
            return Result(SUCCESS)
        return Result(
            FAILURE,
            f'{self.service} stops with these values: {"; ".join(wrong)}. '
            f'Correct {self.project}.conf and restart the service.',
        )

    def _wrong_values(self) -> list[str]:
        """Return what is wrong with the values that the checks read."""
        return options.find_wrong(self._config, self.options, self.of_service)

    def check_names(self) -> Result:
        """Check that each option in the files exists and is set only once."""
        unread, repeated = options.find_unread(
            self._config, self.options, self.of_service
        )
        texts = []
        if unread:
            texts.append(
                f'Nothing reads {"; ".join(unread)}. Correct or remove it in '
                f'{self.project}.conf.'
            )
        if repeated:
            texts.append(f'{"; ".join(repeated)}.')
        return warning(texts, ' '.join(texts))

    #: A subclass adds its own checks.
    _upgrade_checks: tuple[Any, ...] = (
        ('Configuration file', check_configuration),
        ('Option names', check_names),
        ('Option values', check_values),
    )

    @classmethod
    def main(cls, argv: list[str] | None = None) -> int:
        """Run the command.

        :param argv: the arguments; those of the process by default.
        :returns: 0 if all checks succeed, 1 for a warning, 2 for a failure,
            255 if nothing could be checked.
        """
        if argv is None:
            argv = sys.argv[1:]
        # Hide the log lines and the warnings of the service's libraries. With
        # "python -W", the warnings are shown.
        logging.getLogger().addHandler(logging.NullHandler())
        if not sys.warnoptions:
            warnings.simplefilter('ignore')
        try:
            checks = cls.load()
        except ImportError as exc:
            return cls._give_up(
                f'run it where {cls.service} is installed: {exc}'
            )
        options.register(checks._config, cls.options)
        try:
            return upgradecheck.main(
                checks._config,
                cls.project,
                checks,
                argv,
            )
        except BrokenPipeError:
            # The program that reads the output, such as ``head``, has ended.
            return NOTHING_CHECKED
        except (cfg.Error, OSError, ValueError) as exc:
            return cls._give_up(
                f'the configuration cannot be read: {errors.one_line(exc)}'
            )

    @classmethod
    def _give_up(cls, problem: str) -> int:
        """Print why nothing could be checked, and return the exit code."""
        print(f'{cls.command}: {problem}', file=sys.stderr)
        return NOTHING_CHECKED


def with_right_values(
    check: Callable[[Any], Result],
) -> Callable[[Any], Result]:
    """Let a check run only if the values of all options are valid.

    :param check: the check.
    :returns: a check that fails if a value is wrong, and otherwise runs
        ``check``.
    """

    @functools.wraps(check)
    def wrapped(self: Any) -> Result:
        if self._wrong_values():
            return Result(FAILURE, 'Not checked: see "Option values".')
        return check(self)

    return wrapped

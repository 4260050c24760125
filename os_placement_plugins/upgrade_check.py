# SPDX-License-Identifier: Apache-2.0

"""The base class of the commands ``... upgrade check``."""

import logging
import sys
import warnings
from typing import Any, ClassVar, Final, Self

from oslo_config import cfg
from oslo_upgradecheck import upgradecheck

from os_placement_plugins import child_process
from os_placement_plugins import options as plugin_options
from os_placement_plugins.errors import hide_passwords, one_line

Result = upgradecheck.Result
SUCCESS, WARNING, FAILURE = upgradecheck.Code
#: The name of a check, and its result.
Row = tuple[str, Result]
#: The exit code if nothing could be checked.
NOTHING_CHECKED: Final = 255

#: The first line of the output.
DOES: Final = (
    'The check reads options, loads plug-ins and says what is on. '
    'Nothing starts.'
)


class Checks(upgradecheck.UpgradeCommands):
    """The command ``... upgrade check``.

    :param config: the service's configuration.
    :param of_service: the options of the service itself that are read.
    """

    #: The command's own name.
    command: ClassVar[str]
    #: The names of the project and of the service, such as ``heat`` and
    #: ``heat-engine``. The service reads the configuration files and folders
    #: with one of these names.
    project: ClassVar[str]
    service: ClassVar[str]
    #: The options of the plug-in package.
    options: ClassVar[plugin_options.Options]

    def __init__(
        self, config: Any, of_service: plugin_options.Options
    ) -> None:
        self._config = config
        self._of_service = of_service

    @classmethod
    def load(cls) -> Self:
        """Load the options of the service, and return the checks.

        :raises ImportError: if the service is not installed here.
        """
        raise NotImplementedError

    def look(self) -> list[Row]:
        """Load the plug-ins, and say what is switched on.

        This method is called only if the values of all options are valid.
        """
        raise NotImplementedError

    def check(self) -> Any:
        """Print what the checks find, and return the exit code."""
        if not self._config.command.json:
            print(DOES)
        values = self._check_values()
        rows = [('Option values', values)]
        if values.code == SUCCESS:
            rows += self.look()
        self._upgrade_checks = tuple(_shown(*row) for row in rows)
        return super().check()

    def _check_values(self) -> Result:
        wrong = plugin_options.find_wrong(
            self._config, [*self.options, *self._of_service]
        )
        if not wrong:
            return Result(SUCCESS, 'No problem found by reading.')
        return Result(
            FAILURE,
            f'{self.service} fails when it reads these values: '
            f'{"; ".join(wrong)}. Correct {self.project}.conf, and run this '
            'check again: without these values, it looks no further.',
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
                f'run it where {cls.service} is installed: {one_line(exc)}'
            )
        config = checks._config
        plugin_options.register(config, cls.options)
        upgradecheck.register_cli_options(config, checks)
        # The library reads the format of the output from here.
        upgradecheck.CONF = config
        try:
            names = cls.project, cls.service
            config(
                argv,
                # By default, oslo.config looks for the name of the command.
                default_config_files=cfg.find_config_files(*names),
                default_config_dirs=cfg.find_config_dirs(*names),
                description=DOES,
            )
            if not config.config_file and not config.config_dir:
                return cls._give_up(
                    f'no {cls.project}.conf or {cls.service}.conf was found: '
                    f'run this command on a {cls.service} host, or give '
                    '--config-file'
                )
            return int(config.command.action_fn())
        except child_process.NoAnswerError as exc:
            return cls._give_up(
                f'could not check {exc}. If the host is busy, run this '
                'command again.'
            )
        except BrokenPipeError:
            # The program that reads the output, such as ``head``, has ended.
            return NOTHING_CHECKED
        except (cfg.Error, OSError, ValueError) as exc:
            return cls._give_up(
                f'the configuration cannot be read: {one_line(exc)}'
            )

    @classmethod
    def _give_up(cls, problem: str) -> int:
        print(f'{cls.command}: {problem}', file=sys.stderr)
        return NOTHING_CHECKED


def _shown(name: str, result: Result) -> tuple[str, Any]:
    """Return a row as the library expects it, without passwords."""
    details = hide_passwords(str(result.details))
    return name, lambda _: Result(result.code, details)

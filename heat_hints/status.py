# SPDX-License-Identifier: Apache-2.0

"""The command ``heat-hints-status upgrade check``.

The command makes Heat load its resource types, as heat-engine does when it
starts. If this package logs an ERROR during the loading, the check fails. If
this package logs a WARNING, the check returns a warning. The text of the log
line becomes the text of the check.
"""

import importlib
import logging.handlers
import sys
from typing import Any, Self

from oslo_config import cfg

from heat_hints import conf
from os_placement_plugins import upgrade_check
from os_placement_plugins.errors import one_line
from os_placement_plugins.upgrade_check import (
    FAILURE,
    SUCCESS,
    WARNING,
    Result,
    with_right_values,
)


class Checks(upgrade_check.Checks):
    """The checks, one method for each row of the table that is printed."""

    command = 'heat-hints-status'
    project = 'heat'
    service = 'heat-engine'
    options = conf.list_opts()
    display_title = 'heat_hints: Upgrade Check Results'

    @classmethod
    def load(cls) -> Self:
        """Load Heat.

        :raises ImportError: if Heat is not installed here.
        """
        # This import chooses native or green threads, as in heat-engine. It
        # must come before all other imports of Heat.
        importlib.import_module('heat.cmd.engine')
        return cls(cfg.CONF)

    @with_right_values
    def check_enabled(self) -> Result:
        """Check that hints are switched on."""
        if self._config.heat_hints.enabled:
            return Result(SUCCESS)
        return Result(
            WARNING,
            'No hints are sent. To send them, set enabled = true in '
            '[heat_hints] and restart heat-engine.',
        )

    @with_right_values
    def check_start(self) -> Result:
        """Check that Heat loads its resource types, and that they get hints.

        Only the types in ``resource_types`` must get hints.
        """
        handler = logging.handlers.MemoryHandler(capacity=0)
        handler.setLevel(logging.WARNING)
        logger = logging.getLogger(__package__)
        logger.addHandler(handler)
        try:
            resources = importlib.import_module('heat.engine.resources')
            resources.initialise()
            environment = resources.global_env()
        except (Exception, SystemExit) as exc:
            return Result(
                FAILURE,
                'heat-engine does not start: Heat cannot load its resource '
                f'types: {one_line(exc)}.',
            )
        finally:
            logger.removeHandler(handler)
        texts = [record.getMessage() for record in handler.buffer]
        code = WARNING if texts else SUCCESS
        if any(record.levelno >= logging.ERROR for record in handler.buffer):
            code = FAILURE
        if self._config.heat_hints.enabled and code != FAILURE:
            silent = [
                name
                for name in self._config.heat_hints.resource_types
                if not _sends_hints(environment, name)
            ]
            if silent:
                code = FAILURE
                texts.append(
                    f'{", ".join(silent)} would be created without hints: '
                    'the hook is not loaded, or something else replaces the '
                    'type. Install os-placement-plugins again in the '
                    'environment of heat-engine, and look for the type in '
                    '[DEFAULT] plugin_dirs and environment_dir.'
                )
        return Result(code, ' '.join(texts) or None)

    _upgrade_checks = (
        *upgrade_check.Checks._upgrade_checks,
        ('Enabled', check_enabled),
        ('Start of heat-engine', check_start),
    )


def _sends_hints(environment: Any, resource_type: str) -> bool:
    """Tell whether Heat asks this package for the hints of a resource type."""
    try:
        cls = environment.get_class(resource_type)
    except Exception:
        return False
    method = getattr(cls, '_scheduler_hints', None)
    return getattr(method, '__module__', None) == 'heat_hints.overrides'


if __name__ == '__main__':
    sys.exit(Checks.main())

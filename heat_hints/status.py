# SPDX-License-Identifier: Apache-2.0

"""The command ``heat-hints-status upgrade check``."""

import importlib
import logging.handlers
import os
import pwd
import sys
from typing import Any, Self

from oslo_config import cfg

from heat_hints import conf, hints
from os_placement_plugins import child_process, upgrade_check
from os_placement_plugins.upgrade_check import (
    FAILURE,
    SUCCESS,
    WARNING,
    Result,
    Row,
)


class Checks(upgrade_check.Checks):
    """The upgrade check for heat-engine."""

    command = 'heat-hints-status'
    project = 'heat'
    service = 'heat-engine'
    options = conf.list_opts()
    display_title = 'heat_hints: Upgrade Check Results'

    @classmethod
    def load(cls) -> Self:
        """Load the options of Heat, and return the checks.

        :raises ImportError: if Heat is not installed here.
        """
        # This import chooses native or green threads, as in heat-engine. It
        # must come before all other imports of Heat.
        importlib.import_module('heat.cmd.engine')
        config = importlib.import_module('heat.common.config')
        of_engine = [*config.engine_opts, *config.service_opts]
        return cls(cfg.CONF, [(cfg.OptGroup('DEFAULT'), of_engine)])

    def look(self) -> list[Row]:
        """Load the resource types, and say whether they get hints."""
        rows = [('Resource types and providers', self._check_types())]
        # A server without hints contradicts what the options say.
        if rows[0][1].code != FAILURE:
            rows.append(('Hints', self._check_hints()))
        return rows

    def _check_types(self) -> Result:
        try:
            records, silent = child_process.load(
                'the resource types and providers', self._load
            )
        except child_process.LoadError as exc:
            return Result(FAILURE, f'heat-engine cannot work with {exc}')
        texts = [text for _, text in records]
        if any(level >= logging.ERROR for level, _ in records):
            return Result(FAILURE, ' '.join(texts))
        if silent:
            texts.append(
                f'{", ".join(silent)} would be created without hints: the '
                'hook is not loaded, or something else replaces the type. '
                'Install os-placement-plugins again in the environment of '
                'heat-engine, and look for the type in [DEFAULT] plugin_dirs '
                'and environment_dir.'
            )
            return Result(FAILURE, ' '.join(texts))
        if texts:
            return Result(WARNING, ' '.join(texts))
        return Result(
            SUCCESS,
            f'No problem found by reading as the user "{_user()}". The user '
            'of heat-engine must be able to read the same files.',
        )

    def _load(self, _: object) -> tuple[list[tuple[int, str]], list[str]]:
        """Load the resource types as heat-engine does when it starts.

        :returns: the levels and the texts of what this package logged, and
            the types that should get hints and get none.
        """
        handler = logging.handlers.MemoryHandler(capacity=0)
        handler.setLevel(logging.WARNING)
        logging.getLogger(__package__).addHandler(handler)
        resources = importlib.import_module('heat.engine.resources')
        resources.initialise()
        environment = resources.global_env()
        silent = []
        if self._config.heat_hints.enabled:
            for name in hints.RESOURCE_TYPES:
                if not _sends_hints(environment, name):
                    silent.append(name)
        records = [(r.levelno, r.getMessage()) for r in handler.buffer]
        return records, silent

    def _check_hints(self) -> Result:
        group = self._config.heat_hints
        if not group.enabled:
            return Result(
                WARNING,
                'Off. To send hints, set enabled = true in [heat_hints] and '
                'restart heat-engine.',
            )
        text = f'On for {", ".join(hints.RESOURCE_TYPES)}.'
        if not group.signing_key:
            text += ' The hints are not signed: there is no signing_key.'
        return Result(SUCCESS, text)


def _user() -> str:
    uid = os.geteuid()
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        # In a container, a user may have no name.
        return str(uid)


def _sends_hints(environment: Any, resource_type: str) -> bool:
    try:
        cls = environment.get_class(resource_type)
    except Exception:
        return False
    method = getattr(cls, '_scheduler_hints', None)
    return getattr(method, '__module__', None) == 'heat_hints.overrides'


if __name__ == '__main__':
    sys.exit(Checks.main())

# SPDX-License-Identifier: Apache-2.0

"""The command ``senlin-plugins-status upgrade check``."""

import importlib
import sys
from collections.abc import Callable
from importlib import metadata
from typing import Any, Self

from oslo_config import cfg

from os_placement_plugins import child_process, upgrade_check
from os_placement_plugins.upgrade_check import (
    FAILURE,
    SUCCESS,
    WARNING,
    Result,
    Row,
)
from senlin_plugins import conf


class Checks(upgrade_check.Checks):
    """The upgrade check for senlin-engine and senlin-conductor."""

    command = 'senlin-plugins-status'
    project = 'senlin'
    service = 'senlin-engine'
    options = conf.list_opts()
    display_title = 'senlin_plugins: Upgrade Check Results'

    @classmethod
    def load(cls) -> Self:
        """Load the options of Senlin, and return the checks.

        :raises ImportError: if Senlin is not installed here.
        """
        # The first import patches the process for eventlet, as in
        # senlin-engine.
        importlib.import_module('senlin.cmd')
        config = importlib.import_module('senlin.conf')
        opts = config.base.list_opts()['DEFAULT']
        return cls(config.CONF, [(cfg.OptGroup('DEFAULT'), opts)])

    def look(self) -> list[Row]:
        """Load the types, and say whether nodes have a default region."""
        return [
            ('Policy and profile types', self._check_types()),
            ('Default region', self._check_default_region()),
        ]

    def _check_types(self) -> Result:
        try:
            missing = child_process.load(
                'the policy and profile types', _find_missing
            )
        except child_process.LoadError as exc:
            return Result(FAILURE, f'senlin-engine cannot work with {exc}')
        if missing:
            return Result(
                FAILURE,
                f'Senlin does not have {", ".join(missing)} from this '
                'package: install os-placement-plugins in the environment of '
                'senlin-engine and senlin-conductor, and look for the names '
                f'in the files below {self._config.environment_dir}.',
            )
        return Result(SUCCESS, 'On: Senlin loads all types of this package.')

    def _check_default_region(self) -> Result:
        region = self._config.default_region_name
        if region:
            return Result(SUCCESS, f'Nodes without a region are in {region}.')
        return Result(
            WARNING,
            'default_region_name is not set in [DEFAULT]. Nodes that were '
            'created without a region then count as being in none, and the '
            'region placement policy removes them first. Set it to the '
            'region that Senlin creates them in.',
        )


def _find_missing(_: object) -> list[str]:
    """Return the types of this package that Senlin has not, or from others."""
    loader = importlib.import_module('senlin.engine.environment')
    loader.initialize()
    environment = loader.global_env()
    missing = []
    for namespace, get_class in (
        ('senlin.policies', environment.get_policy),
        ('senlin.profiles', environment.get_profile),
    ):
        for point in metadata.entry_points(group=namespace):
            ours = point.module.startswith(__package__)
            if ours and not _is_ours(get_class, point.name):
                missing.append(point.name)
    return missing


def _is_ours(get_class: Callable[[str], Any], name: str) -> bool:
    try:
        module: str = get_class(name).__module__
    except Exception:
        return False
    return module.startswith(__package__)


if __name__ == '__main__':
    sys.exit(Checks.main())

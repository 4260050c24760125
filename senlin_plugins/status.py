# SPDX-License-Identifier: Apache-2.0

"""The command ``senlin-plugins-status upgrade check``.

The command makes Senlin load its policy and profile types, as at the start of
senlin-conductor. It also looks in Senlin's database for policies that conflict
or have no effect. The command changes nothing.
"""

import importlib
import sys
from collections.abc import Collection, Iterable, Iterator
from importlib import metadata
from typing import Any, Final, Self

from oslo_config import cfg

from os_placement_plugins import database, upgrade_check
from os_placement_plugins.errors import DatabaseError, one_line
from os_placement_plugins.quoting import listed
from os_placement_plugins.upgrade_check import (
    FAILURE,
    SUCCESS,
    WARNING,
    Result,
    with_right_values,
)
from senlin_plugins import conf, conversion
from senlin_plugins.planning.plugin_types import REGION_PLACEMENT, RIVALS


def _published_types(group: str) -> list[str]:
    """Return the types of an entry-point group that this package publishes."""
    names = [point.name for point in metadata.entry_points(group=group)]
    return [name for name in names if name.startswith('senlin_plugins.')]


#: The types of this package, with their versions.
POLICY_TYPES = _published_types('senlin.policies')
PROFILE_TYPES = _published_types('senlin.profiles')

#: The largest number of clusters that a message names.
_NAMED: Final = 10


class Checks(upgrade_check.Checks):
    """The checks, one method for each row of the table that is printed."""

    command = 'senlin-plugins-status'
    project = 'senlin'
    service = 'senlin-engine'
    options = conf.list_opts()
    of_service = {'DEFAULT': {'default_region_name', 'environment_dir'}}
    display_title = 'senlin_plugins: Upgrade Check Results'

    @classmethod
    def load(cls) -> Self:
        """Load Senlin's modules, and return the checks.

        :raises ImportError: if Senlin is not installed here.
        """
        conversion.load_senlin()
        return cls(cfg.CONF)

    @with_right_values
    def check_types(self) -> Result:
        """Check that Senlin has loaded the types from this package."""
        try:
            loader = importlib.import_module('senlin.engine.environment')
            loader.initialize()
            environment = loader.global_env()
        except Exception as exc:
            return Result(
                FAILURE,
                'senlin-engine does not start: Senlin cannot load its types: '
                f'{one_line(exc)}.',
            )
        missing = []
        for name in POLICY_TYPES:
            if not _is_ours(environment.get_policy, name):
                missing.append(name)
        for name in PROFILE_TYPES:
            if not _is_ours(environment.get_profile, name):
                missing.append(name)
        if not missing:
            return Result(SUCCESS)
        return Result(
            FAILURE,
            f'Senlin does not have {", ".join(missing)} from this package: '
            'install os-placement-plugins in the environment of '
            'senlin-engine and senlin-conductor, and look for the names in '
            f'the files below {self._config.environment_dir}.',
        )

    @with_right_values
    def check_default_region(self) -> Result:
        """Check that ``default_region_name`` is set."""
        if self._config.default_region_name:
            return Result(SUCCESS)
        return Result(
            WARNING,
            'default_region_name is not set in [DEFAULT]. Nodes that were '
            'created without a region then count as being in none, and the '
            'region placement policy removes them first. Set it to the '
            'region that Senlin creates them in.',
        )

    def check_clusters(self) -> Result:
        """Look in the database for policies that conflict or do nothing."""
        try:
            rows = database.read(
                self._config, 'database', conversion.STATEMENT
            )
        except DatabaseError as exc:
            return Result(
                WARNING,
                "Senlin's database could not be queried for the policies "
                f'of the clusters: {one_line(exc)}. '
                f'{database.remedy("database")}',
            )
        findings = list(_find_obstacles(conversion.collect_uses(rows)))
        if not findings:
            return Result(SUCCESS)
        return Result(WARNING, '. '.join(findings) + '.')

    _upgrade_checks = (
        *upgrade_check.Checks._upgrade_checks,
        ('Policy and profile types', check_types),
        ('Default region', check_default_region),
        ('Attached policies', check_clusters),
    )


def _find_obstacles(uses: Collection[conversion.Use]) -> Iterator[str]:
    """Name the clusters whose policies have no effect, or conflict."""
    for ours, theirs in RIVALS.items():
        both = _clusters(uses, [ours, theirs])
        if both:
            yield (
                f'{ours} and {theirs} are both attached to {both} and '
                'overwrite each other: detach the latter'
            )
    in_tree = RIVALS[REGION_PLACEMENT]
    ineffective = _clusters(uses, [in_tree])
    if ineffective:
        yield (
            f'{in_tree} is attached to {ineffective}: nothing reads '
            'its plan, all nodes are created in one region. Detach it and '
            f'attach a policy of type {REGION_PLACEMENT}'
        )


def _clusters(
    uses: Iterable[conversion.Use], policies: Collection[str]
) -> str:
    """Return a text that names the clusters with all the given policies.

    The text is empty if there are no such clusters.
    """
    names = []
    for use in uses:
        types = {kind.rpartition('-')[0] for kind in use.types}
        if types.issuperset(policies):
            names.append(use.name)
    if not names:
        return ''
    noun = 'cluster' if len(names) == 1 else 'clusters'
    return f'{noun} {listed(names, most=_NAMED)}'


def _is_ours(get: Any, name: str) -> bool:
    """Tell whether Senlin has a type, and has it from this package.

    :param get: the method of Senlin that returns the class of a type.
    """
    try:
        module = get(name).__module__
    except Exception:
        return False
    return bool(module.split('.')[0] == __package__)


if __name__ == '__main__':
    sys.exit(Checks.main())

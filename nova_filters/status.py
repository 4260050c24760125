# SPDX-License-Identifier: Apache-2.0

"""The command ``nova-filters-status upgrade check``.

The command reads the options of nova-scheduler. It loads no filter and no
weigher.
"""

import math
import os
import sys
from collections.abc import Sequence
from typing import Final, Self

from nova_filters import conf
from nova_filters.matching import exempt_keys
from nova_filters.spread import places
from os_placement_plugins import upgrade_check
from os_placement_plugins.upgrade_check import (
    FAILURE,
    SUCCESS,
    WARNING,
    Result,
    warning,
    with_right_values,
)

FILTER: Final = 'AggregateInstanceTypeFilter'
IN_TREE_FILTER: Final = 'AggregateInstanceExtraSpecsFilter'
SPREAD_FILTER: Final = 'TeamSpreadFilter'
PREFERENCES: Final = 'PreferenceWeigher'

#: The sections of nova.conf that the checks read, beside those of the package.
SECTIONS: Final = ('filter_scheduler', 'scheduler', 'metrics')
#: The options of the weighers that refuse hosts. The weighers here see it.
VETOES: Final = {
    'build_failure_weight_multiplier',
    'cross_cell_move_weight_multiplier',
}

#: Functions of Nova and of this package, as nova.conf names them.
NOVA_FILTERS: Final = 'nova.scheduler.filters.all_filters'
OUR_FILTERS: Final = 'nova_filters.all_filters'
NOVA_WEIGHERS: Final = 'nova.scheduler.weights.all_weighers'
OUR_WEIGHERS: Final = 'nova_filters.all_weighers'
_LINES: Final = (
    f'"available_filters = {NOVA_FILTERS}" and "available_filters = '
    f'{OUR_FILTERS}"'
)
_WEIGHERS: Final = f'"weight_classes = {NOVA_WEIGHERS},{OUR_WEIGHERS}"'


class Checks(upgrade_check.Checks):
    """The checks, with one method for each row of the printed table."""

    command = 'nova-filters-status'
    project = 'nova'
    service = 'nova-scheduler'
    options = conf.list_opts()
    display_title = 'nova_filters: Upgrade Check Results'

    @classmethod
    def load(cls) -> Self:
        """Load Nova's configuration.

        :raises ImportError: if Nova is not installed here.
        """
        # Without this variable, Nova would patch the process for eventlet.
        os.environ.setdefault('OS_NOVA_DISABLE_EVENTLET_PATCHING', 'true')
        import nova.conf as nova_conf

        config = nova_conf.CONF
        cls.of_service = {section: {*config[section]} for section in SECTIONS}
        return cls(config)

    @property
    def _available(self) -> Sequence[str]:
        return self._config.filter_scheduler.available_filters  # type: ignore[no-any-return]

    @property
    def _enabled(self) -> Sequence[str]:
        return self._config.filter_scheduler.enabled_filters  # type: ignore[no-any-return]

    @with_right_values
    def check_filter(self) -> Result:
        """Check that nova.conf enables ``AggregateInstanceTypeFilter``."""
        problem = self._missing_line()
        if problem:
            return Result(
                FAILURE,
                f'{problem}, so nova-scheduler stops. Write one line for each '
                f'name: {_LINES}.',
            )
        if FILTER in self._enabled:
            return Result(SUCCESS)
        code = WARNING
        state = 'available but not enabled, so it does nothing'
        remedy = f'add {FILTER} to enabled_filters in [filter_scheduler]'
        if not _find_ours(self._available):
            state = 'not enabled'
            remedy += f', and write {_LINES}'
            # An operator may want only the weighers, so do not warn.
            if self._uses_weighers():
                code = SUCCESS
        return Result(
            code,
            f'{FILTER} is {state}. To use it, {remedy}. Then restart '
            'nova-scheduler.',
        )

    def _missing_line(self) -> str:
        """Return which line ``available_filters`` is missing, if any."""
        our_filters = []
        other_filters = []
        for name in self._enabled:
            if name in (FILTER, SPREAD_FILTER):
                our_filters.append(name)
            else:
                other_filters.append(name)
        our_lines = _find_ours(self._available)
        if our_filters and not our_lines:
            return (
                f'enabled_filters names {", ".join(our_filters)}, but there '
                f'is no line "available_filters = {OUR_FILTERS}"'
            )
        if other_filters and len(our_lines) == len(self._available):
            return (
                f'enabled_filters names {", ".join(other_filters)}, but the '
                'lines available_filters offer only the filters of '
                'nova_filters'
            )
        return ''

    @with_right_values
    def check_in_tree_filter(self) -> Result:
        """Check that Nova's own filter does not refuse hosts by mistake.

        Nova's filter reads "*", "~" and "!" as plain text.
        """
        if IN_TREE_FILTER not in self._enabled:
            return Result(SUCCESS)
        if FILTER in self._enabled:
            return Result(
                WARNING,
                f'{IN_TREE_FILTER} is enabled as well. It takes "*", "~" and '
                '"!" for plain values and refuses the hosts that they are '
                f'meant to allow. Remove it from enabled_filters: {FILTER} '
                'does its work, too.',
            )
        if self._uses_weighers():
            return Result(
                SUCCESS,
                f'{IN_TREE_FILTER} is enabled. It takes "~" and "*" in extra '
                f'specs for plain values, so a soft rule of {PREFERENCES} '
                'that needs them becomes a hard one. If you have such rules, '
                f'replace it by {FILTER} in enabled_filters.',
            )
        return Result(SUCCESS)

    @with_right_values
    def check_exempt_keys(self) -> Result:
        """Check the patterns of ``exempt_metadata_keys``."""
        group = self._config.nova_filters
        defaults: Sequence[str] = ()
        levels: Sequence[str] = ()
        mechanisms = []
        # Without the filter, no aggregate refuses hosts because of a key. So
        # the default patterns and the kinds of places do not matter then.
        if FILTER in self._enabled:
            mechanisms.append(f'force_metadata_check ({FILTER})')
            defaults = conf.DEFAULTS['exempt_metadata_keys']
            if self._uses_weighers():
                levels = group.stack_spread_over
        if self._uses_weighers():
            mechanisms.append(f'prefer_metadata_check ({PREFERENCES})')
        if not mechanisms:
            return Result(SUCCESS)
        problems = exempt_keys.problems(
            group.exempt_metadata_keys, defaults, levels, mechanisms
        )
        return warning(
            problems,
            f'[nova_filters] exempt_metadata_keys: {"; ".join(problems)}.',
        )

    @with_right_values
    def check_weigher(self) -> Result:
        """Check that nova.conf names the weighers of this package."""
        names = self._config.filter_scheduler.weight_classes
        if not names:
            return Result(
                WARNING,
                'weight_classes names no weigher, so all hosts are equally '
                f'good. Write {_WEIGHERS}.',
            )
        if len(_find_ours(names)) == len(names):
            return Result(
                WARNING,
                'nova_filters has the only weighers: RAM, disk, CPU and load '
                f'of the hosts no longer count. Write {_WEIGHERS}.',
            )
        if self._uses_weighers():
            last = bool(_find_ours(names[-1:]))
            return warning(
                not last,
                f'{OUR_WEIGHERS} is not the last name in weight_classes. Its '
                'weighers cannot see which hosts the later ones refuse. Move '
                'it to the end.',
            )
        details = (
            f'The weighers are not used. To use them, add {OUR_WEIGHERS} to '
            f'weight_classes in [filter_scheduler], after {", ".join(names)}, '
            'and restart nova-scheduler.'
        )
        if not self._config.heat_hints.signing_key:
            return Result(SUCCESS, details)
        unread = 'signing_key is set in [heat_hints], but nothing reads it: '
        return Result(WARNING, unread + details)

    @with_right_values
    def check_spread(self) -> Result:
        """Check that the options for limits and multipliers have an effect."""
        group = self._config.nova_filters
        problems = []
        if group.max_skew and SPREAD_FILTER not in self._enabled:
            problems.append(
                f'max_skew: add {SPREAD_FILTER} to the end of enabled_filters'
            )
        unread = [
            name
            for name, default in conf.DEFAULTS.items()
            if name.endswith('_multiplier') and group[name] != default
        ]
        if unread and not self._uses_weighers():
            problems.append(
                f'{", ".join(unread)}: add {OUR_WEIGHERS} to weight_classes'
            )
        return warning(
            problems,
            'These options of [nova_filters] are set and have no effect: '
            f'{"; ".join(problems)}. Then restart nova-scheduler.',
        )

    @with_right_values
    def check_multipliers(self) -> Result:
        """Check that no other weigher undoes what the weighers here decide."""
        group = self._config.nova_filters
        multipliers = self._other_multipliers()
        total = sum(multipliers.values())
        names = sorted(multipliers, key=lambda name: -multipliers[name])
        problems = [
            f'{name} is {group[name]:g}'
            for name in (
                'stack_affinity_weight_multiplier',
                'server_group_weight_multiplier',
            )
            if group[name] not in (0, conf.DEFAULTS[name])
            and abs(group[name]) * places.GAP < total
        ]
        listed = ', '.join(f'{name} {multipliers[name]:g}' for name in names)
        return warning(
            problems if self._uses_weighers() else [],
            f'[nova_filters] {" and ".join(problems)}, but other weighers can '
            f'add up to {total:g}, so they may choose another place: {listed}.'
            f' Set it to {math.ceil(total / places.GAP)} or more (for the '
            'stacks: with a minus sign, if they are spread).',
        )

    def _other_multipliers(self) -> dict[str, float]:
        """Return the multipliers of the other weighers, without their signs.

        Only one of the two weighers for soft policies concerns a group.
        """
        group = self._config.filter_scheduler
        multipliers = {
            name: abs(group[name])
            for name in group
            if name.endswith('_weight_multiplier') and name not in VETOES
        }
        soft = [
            multipliers.pop('soft_affinity_weight_multiplier'),
            multipliers.pop('soft_anti_affinity_weight_multiplier'),
        ]
        multipliers['soft_anti_affinity_weight_multiplier'] = max(soft)
        if self._config.metrics.weight_setting:
            metrics = self._config.metrics.weight_multiplier
            multipliers['[metrics] weight_multiplier'] = abs(metrics)
        preferences = 'preference_weight_multiplier'
        multipliers[preferences] = self._config.nova_filters[preferences]
        return {name: value for name, value in multipliers.items() if value}

    @with_right_values
    def check_signature(self) -> Result:
        """Report if the weighers trust stack hints without a signature."""
        if self._config.heat_hints.signing_key or not self._uses_weighers():
            return Result(SUCCESS)
        return Result(
            SUCCESS,
            'There is no signing_key in [heat_hints], so the stack hints of '
            'a tenant are believed like those of Heat.',
        )

    def _uses_weighers(self) -> bool:
        """Tell whether nova.conf names weighers of this package."""
        return bool(_find_ours(self._config.filter_scheduler.weight_classes))

    _upgrade_checks = (
        *upgrade_check.Checks._upgrade_checks,
        ('Filter', check_filter),
        ('In-tree filter', check_in_tree_filter),
        ('Exempt metadata keys', check_exempt_keys),
        ('Weigher', check_weigher),
        ('Spread', check_spread),
        ('Multipliers', check_multipliers),
        ('Signature', check_signature),
    )


def _find_ours(names: Sequence[str]) -> list[str]:
    """Return the names in nova.conf that are of this package."""
    return [name for name in names if name.startswith('nova_filters.')]


if __name__ == '__main__':
    sys.exit(Checks.main())

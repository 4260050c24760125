# SPDX-License-Identifier: Apache-2.0

"""The command ``nova-filters-status upgrade check``."""

import inspect
import os
import sys
from typing import Any, Final, NamedTuple, Self

from nova_filters import conf
from os_placement_plugins import child_process, upgrade_check
from os_placement_plugins.quoting import listed
from os_placement_plugins.upgrade_check import (
    FAILURE,
    SUCCESS,
    WARNING,
    Result,
    Row,
)

FILTER: Final = (
    'nova_filters.filters.aggregate_instance_type.AggregateInstanceTypeFilter'
)
PREFERENCES: Final = 'nova_filters.weighers.preference.PreferenceWeigher'
STACKS: Final = 'nova_filters.weighers.stack_affinity.StackAffinityWeigher'
GROUPS: Final = 'nova_filters.weighers.server_group.ServerGroupWeigher'
#: Nova's own filter for extra specs.
IN_TREE_FILTER: Final = 'AggregateInstanceExtraSpecsFilter'
#: The weighers of this package, and the options with their multipliers.
OPTIONS: Final = {
    PREFERENCES: 'preference_weight_multiplier',
    STACKS: 'stack_affinity_weight_multiplier',
    GROUPS: 'server_group_weight_multiplier',
}
#: The weighers of Nova that refuse hosts, and their multipliers.
VETOES: Final = {
    'BuildFailureWeigher': 'build_failure_weight_multiplier',
    'CrossCellWeigher': 'cross_cell_move_weight_multiplier',
}
#: The weight of 100 points; see :mod:`nova_filters.matching.preferences`.
WEIGHT_OF_100: Final = 3

_FILTER_LINES: Final = (
    '"available_filters = nova.scheduler.filters.all_filters" and '
    '"available_filters = nova_filters.all_filters"'
)


class Plugins(NamedTuple):
    """The full names of the classes that nova.conf names.

    :param offered: the filters that ``available_filters`` offers.
    :param filters: the filters that are enabled.
    :param weighers: the weighers, in the order in which Nova calls them.
    """

    offered: list[str]
    filters: list[str]
    weighers: list[str]


class Checks(upgrade_check.Checks):
    """The upgrade check for nova-scheduler."""

    command = 'nova-filters-status'
    project = 'nova'
    service = 'nova-scheduler'
    options = conf.list_opts()
    display_title = 'nova_filters: Upgrade Check Results'

    @classmethod
    def load(cls) -> Self:
        """Load the options of Nova, and return the checks.

        :raises ImportError: if Nova is not installed here.
        """
        # Without this variable, Nova would patch the process for eventlet.
        os.environ.setdefault('OS_NOVA_DISABLE_EVENTLET_PATCHING', 'true')
        import nova.conf
        from nova.conf import scheduler

        # [scheduler], [filter_scheduler] and [metrics].
        return cls(nova.conf.CONF, [*scheduler.list_opts().items()])

    def look(self) -> list[Row]:
        """Load all filters and weighers, and say what is switched on."""
        try:
            plugins = child_process.load(self._load)
        except child_process.LoadError as exc:
            text = (
                f'nova-scheduler cannot work with {exc}. Correct '
                '[filter_scheduler]. Each name in available_filters needs a '
                f'line of its own: {_FILTER_LINES}.'
            )
            return [('Filters and weighers', Result(FAILURE, text))]
        return [
            ('Filters and weighers', self._check_all(plugins)),
            ('Filter', self._check_filter(plugins)),
            ('Preferences', self._check_preferences(plugins)),
            ('Spread of stacks', self._check_stacks(plugins)),
            ('Spread of groups', self._check_spread(plugins, GROUPS)),
        ]

    def _load(self, begin: child_process.Begin) -> Plugins:
        from nova.scheduler import filters, weights

        group = self._config.filter_scheduler
        offered = {}
        handler = filters.HostFilterHandler()
        for name in group.available_filters:
            begin(f'available_filters = {name}')
            for cls in handler.get_matching_classes([name]):
                offered[cls.__name__] = cls
        begin('enabled_filters')
        missing = [n for n in group.enabled_filters if n not in offered]
        if missing:
            raise child_process.LoadError(
                f'available_filters offers no {", ".join(missing)}'
            )
        enabled = [offered[name] for name in group.enabled_filters]
        for cls in enabled:
            begin(_path(cls))
            cls()
        weighers = []
        handler = weights.HostWeightHandler()
        for name in group.weight_classes:
            begin(f'weight_classes = {name}')
            weighers += handler.get_matching_classes([name])
        for cls in weighers:
            begin(_path(cls))
            weigher = cls()
            begin(f'{_path(cls)}.weight_multiplier(host_state)')
            # Nova calls it in each request. Old weighers take no argument.
            inspect.signature(weigher.weight_multiplier).bind('host_state')
        return Plugins(
            offered=[_path(cls) for cls in offered.values()],
            filters=[_path(cls) for cls in enabled],
            weighers=[_path(cls) for cls in weighers],
        )

    def _check_all(self, plugins: Plugins) -> Result:
        """Say what was loaded, and whether weighers of Nova are there."""
        if not _modules_of_nova(plugins):
            return Result(
                WARNING,
                'No weigher of Nova is loaded, so RAM, disk and CPU of the '
                'hosts do not count. Write "weight_classes = '
                'nova.scheduler.weights.all_weighers" and the other names.',
            )
        return Result(
            SUCCESS,
            f'{len(plugins.filters)} filters and {len(plugins.weighers)} '
            'weighers can be loaded.',
        )

    def _check_filter(self, plugins: Plugins) -> Result:
        if FILTER not in plugins.filters:
            # An operator may want only the weighers.
            code = WARNING
            if any(path in plugins.weighers for path in OPTIONS):
                code = SUCCESS
            return Result(code, f'Off. {_how_to_enable(plugins, FILTER)}')
        if IN_TREE_FILTER in map(_name, plugins.filters):
            return Result(
                WARNING,
                f'On, but {IN_TREE_FILTER} is enabled as well. It takes "*", '
                '"~" and "!" for plain values and refuses the hosts that they '
                'are meant to allow. Remove it from enabled_filters.',
            )
        return Result(SUCCESS, 'On.')

    def _check_preferences(self, plugins: Plugins) -> Result:
        off = self._check_off(plugins, PREFERENCES)
        if off:
            return off
        multiplier = self._config.nova_filters[OPTIONS[PREFERENCES]]
        most = WEIGHT_OF_100 * multiplier
        total = sum(self._multipliers(plugins).values())
        text = (
            f'On: the weight of 1 point is {multiplier:g}, and of 100 points '
            f'{most:g}. Other weighers can add up to {total:g}.'
        )
        stronger = []
        for name, option in VETOES.items():
            veto = abs(self._config.filter_scheduler[option])
            if name in map(_name, plugins.weighers) and veto > most:
                stronger.append(f'{name} ({option} = {veto:.15g})')
        if stronger and multiplier > total:
            text += (
                f' {" and ".join(stronger)} outweigh all preferences: a '
                'preferred host loses after a failed build, or in another '
                'cell.'
            )
        return Result(SUCCESS, text)

    def _check_stacks(self, plugins: Plugins) -> Result:
        result = self._check_spread(plugins, STACKS)
        has_key = bool(self._config.heat_hints.signing_key)
        is_on = self._check_off(plugins, STACKS) is None
        text = ''
        if is_on and not has_key:
            text = (
                ' Without a signing_key in [heat_hints], the stack hints of a '
                'tenant are believed like those of Heat.'
            )
        if has_key and not is_on:
            result.code = WARNING
            text = ' Nothing reads the signing_key in [heat_hints].'
        return Result(result.code, f'{result.details}{text}')

    def _check_spread(self, plugins: Plugins, path: str) -> Result:
        """Say whether a weigher is on, and what undoes its decisions."""
        off = self._check_off(plugins, path)
        if off:
            return off
        option = OPTIONS[path]
        multiplier = self._config.nova_filters[option]
        code = SUCCESS
        text = f'On: {option} is {multiplier:g}.'
        multipliers = self._multipliers(plugins)
        if PREFERENCES in plugins.weighers:
            preferences = OPTIONS[PREFERENCES]
            multipliers[preferences] = self._config.nova_filters[preferences]
        total = sum(multipliers.values())
        # "Not" counts NaN in.
        if not abs(multiplier) >= total:
            # The default is weak on purpose.
            if multiplier != conf.DEFAULTS[option]:
                code = WARNING
            names = sorted(multipliers, key=lambda name: -multipliers[name])
            others = ', '.join(f'{n} {multipliers[n]:g}' for n in names)
            text += (
                f' Other weighers can add up to {total:g}, so they may choose '
                f'another place: {others}. To prevent it, set {option} to '
                f'{total + 1:.0f} or more (to spread stacks: '
                'with a minus sign).'
            )
        later = plugins.weighers[plugins.weighers.index(path) + 1 :]
        unseen = [_name(p) for p in later if p not in (STACKS, GROUPS)]
        if unseen:
            code = WARNING
            text += (
                ' It cannot see which hosts the later weighers refuse: '
                f'{listed(unseen)}. Move it to the end of weight_classes.'
            )
        return Result(code, text)

    def _check_off(self, plugins: Plugins, path: str) -> Result | None:
        """Say how to switch a weigher on; return None if it is on."""
        option = OPTIONS[path]
        multiplier = self._config.nova_filters[option]
        if path in plugins.weighers and multiplier:
            return None
        if path in plugins.weighers:
            return Result(SUCCESS, f'Off: {option} in [nova_filters] is 0.')
        remedy = (
            'To switch it on, write nova_filters.all_weighers at the end of '
            'weight_classes, after the weighers of Nova.'
        )
        if multiplier in (0, conf.DEFAULTS[option]):
            return Result(SUCCESS, f'Off. {remedy}')
        return Result(
            WARNING,
            f'Off, so {option} = {multiplier:g} has no effect. {remedy}',
        )

    def _multipliers(self, plugins: Plugins) -> dict[str, float]:
        """Return the multipliers of Nova's weighers, without their signs.

        Those in :data:`VETOES` are left out.
        """
        group = self._config.filter_scheduler
        modules = _modules_of_nova(plugins)
        multipliers = {}
        for option in group:
            module, suffix, _ = option.partition('_weight_multiplier')
            if suffix and module in modules:
                multipliers[option] = abs(group[option])
        if 'affinity' in modules:
            # Only one of the two weighers for soft policies concerns a group.
            multipliers['soft_anti_affinity_weight_multiplier'] = max(
                abs(group.soft_affinity_weight_multiplier),
                abs(group.soft_anti_affinity_weight_multiplier),
            )
        if 'metrics' in modules and self._config.metrics.weight_setting:
            multiplier = abs(self._config.metrics.weight_multiplier)
            multipliers['[metrics] weight_multiplier'] = multiplier
        return {name: value for name, value in multipliers.items() if value}


def _modules_of_nova(plugins: Plugins) -> set[str]:
    """Return the modules of Nova's weighers, such as ``ram``.

    Most multipliers have the name of the module.
    """
    return {
        path.split('.')[-2]
        for path in plugins.weighers
        if path.startswith('nova.')
    }


def _how_to_enable(plugins: Plugins, path: str) -> str:
    text = f'To switch it on, add {_name(path)} to the end of enabled_filters'
    if path not in plugins.offered:
        text += f', and write {_FILTER_LINES}'
    return f'{text}.'


def _path(cls: Any) -> str:
    return f'{cls.__module__}.{cls.__qualname__}'


def _name(path: str) -> str:
    return path.rpartition('.')[2]


if __name__ == '__main__':
    sys.exit(Checks.main())

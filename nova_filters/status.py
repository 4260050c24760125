# SPDX-License-Identifier: Apache-2.0

"""The command ``nova-filters-status upgrade check``."""

import math
import os
import sys
from typing import Any, Final, NamedTuple, Self

from nova_filters import conf
from nova_filters.matching import inputs, preferences
from os_placement_plugins import child_process, upgrade_check
from os_placement_plugins.text import listed, quote
from os_placement_plugins.upgrade_check import (
    FAILURE,
    SUCCESS,
    WARNING,
    Result,
    Row,
)

FILTER: Final = 'AggregateInstanceTypeFilter'
PREFERENCES: Final = 'PreferenceWeigher'
STACKS: Final = 'StackAffinityWeigher'
GROUPS: Final = 'ServerGroupWeigher'
#: Nova's own filter for extra specs.
IN_TREE_FILTER: Final = 'AggregateInstanceExtraSpecsFilter'
#: The weighers of this package, and the options with their multipliers.
OPTIONS: Final = {
    PREFERENCES: 'preference_weight_multiplier',
    STACKS: 'stack_affinity_weight_multiplier',
    GROUPS: 'server_group_weight_multiplier',
}
#: The weighers of Nova that are meant to outweigh all others.
VETOES: Final = ('BuildFailureWeigher', 'CrossCellWeigher')
#: A key that nearly all clouds have in their aggregates.
ZONE: Final = 'availability_zone'

_FILTER_LINES: Final = (
    '"available_filters = nova.scheduler.filters.all_filters" and '
    '"available_filters = nova_filters.all_filters"'
)
#: What to do, by the option whose value cannot be loaded.
_REMEDIES: Final = {
    'available_filters': 'Correct this name in [filter_scheduler]. Each name '
    f'in available_filters needs a line of its own: {_FILTER_LINES}.',
    'enabled_filters': 'Correct or remove the name in enabled_filters, or add '
    'the available_filters line of its package. Each name in '
    f'available_filters needs a line of its own: {_FILTER_LINES}.',
    'weight_classes': 'Correct or remove this name in [filter_scheduler]. '
    'Names in weight_classes are separated by commas.',
}
_IN_TREE_PROBLEM: Final = (
    f'{IN_TREE_FILTER} is enabled. It takes "*", "~" and "!" for plain values '
    'and refuses the hosts that they are meant to allow.'
)


class Plugin(NamedTuple):
    """A filter or a weigher that Nova loads.

    :param path: the full name of its class.
    :param multiplier: the multiplier of a weigher, on a host that is in no
        aggregate.
    """

    path: str
    multiplier: float = 0.0

    @property
    def name(self) -> str:
        """Return the name of the class."""
        return self.path.rpartition('.')[2]

    @property
    def of_package(self) -> bool:
        """Tell whether the class belongs to this package."""
        return self.path.startswith('nova_filters.')


class Plugins(NamedTuple):
    """What nova.conf names.

    :param filters: the filters that are enabled.
    :param weighers: the weighers, in the order in which Nova calls them.
    """

    filters: list[Plugin]
    weighers: list[Plugin]

    def find_filter(self, name: str) -> Plugin | None:
        """Return the enabled filter with a name."""
        for plugin in self.filters:
            if plugin.name == name:
                return plugin
        return None

    def index_of(self, name: str) -> int | None:
        """Return the position of a weigher of this package."""
        for index, plugin in enumerate(self.weighers):
            if plugin.of_package and plugin.name == name:
                return index
        return None


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
            plugins = child_process.load('nova.scheduler', self._load)
        except child_process.LoadError as exc:
            option, _, _ = exc.thing.partition(' ')
            remedy = _REMEDIES.get(option, '')
            text = f'nova-scheduler cannot work with {exc}. {remedy}'
            return [('Filters and weighers', Result(FAILURE, text.strip()))]
        return [
            ('Filters and weighers', self._check_all(plugins)),
            ('Filter', self._check_filter(plugins)),
            ('Preferences', self._check_preferences(plugins)),
            ('Spread of stacks', self._check_stacks(plugins)),
            ('Spread of groups', self._check_spread(plugins, GROUPS)),
        ]

    def _load(self, begin: child_process.Begin) -> Plugins:
        from nova.scheduler import filters, host_manager, weights

        group = self._config.filter_scheduler
        offered = {}
        handler = filters.HostFilterHandler()
        for name in group.available_filters:
            begin(f'available_filters = {quote(name)}')
            for cls in handler.get_matching_classes([name]):
                offered[cls.__name__] = cls
        begin('enabled_filters')
        for name in group.enabled_filters:
            if name not in offered:
                raise child_process.LoadError(
                    f'available_filters offers no {quote(name)}'
                )
        enabled = [offered[name] for name in group.enabled_filters]
        for cls in enabled:
            begin(_path(cls))
            cls()
        classes = []
        handler = weights.HostWeightHandler()
        for name in group.weight_classes:
            begin(f'weight_classes = {quote(name)}')
            classes += handler.get_matching_classes([name])
        weighers = []
        host = host_manager.HostState('host', 'node', None)
        for cls in classes:
            begin(_path(cls))
            weigher = cls()
            begin(f'{_path(cls)}.weight_multiplier(host_state)')
            # Nova calls it in each request, and multiplies a weight by it.
            multiplier = 1.0 * weigher.weight_multiplier(host)
            weighers.append(Plugin(_path(cls), multiplier))
        return Plugins(
            filters=[Plugin(_path(cls)) for cls in enabled],
            weighers=weighers,
        )

    def _check_all(self, plugins: Plugins) -> Result:
        """Say what was loaded, and whether weighers of Nova are there."""
        if not any(w.path.startswith('nova.') for w in plugins.weighers):
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
        enabled = plugins.find_filter(FILTER)
        if enabled is None:
            # An operator may want only the weighers.
            code = WARNING
            if any(weigher.of_package for weigher in plugins.weighers):
                code = SUCCESS
            return Result(
                code,
                f'Off. To switch it on, write {_FILTER_LINES}, and add '
                f'{FILTER} to the end of enabled_filters.',
            )
        if not enabled.of_package:
            return Result(
                WARNING,
                f'Off, because {enabled.path} has the same name. Of two '
                'filters with one name, Nova takes the one that '
                'available_filters names last. Remove the line of the other '
                'package, or write "available_filters = '
                'nova_filters.all_filters" below it.',
            )
        texts = []
        if plugins.find_filter(IN_TREE_FILTER):
            texts.append(f'{_IN_TREE_PROBLEM} Remove it from enabled_filters.')
        keys = tuple(self._config.nova_filters.exempt_metadata_keys)
        if not inputs.compile_exemption(keys)(ZONE):
            texts.append(
                f'exempt_metadata_keys does not cover {ZONE}, so a forced '
                'aggregate that is an availability zone refuses nearly every '
                f'flavor. Add {ZONE} to exempt_metadata_keys.'
            )
        if texts:
            return Result(WARNING, f'On, but {" ".join(texts)}')
        return Result(SUCCESS, 'On.')

    def _check_preferences(self, plugins: Plugins) -> Result:
        off = self._check_off(plugins, PREFERENCES)
        if off:
            return off
        option = OPTIONS[PREFERENCES]
        multiplier = self._config.nova_filters[option]
        multipliers = _list_others(plugins, PREFERENCES)
        total = sum(multipliers.values())
        text = (
            f'On: the weight of 1 point is {multiplier:g}. Other weighers can '
            f'add up to {total:g}, without {" and ".join(VETOES)}, which '
            'avoid failed builds and other cells.'
        )
        warnings = []
        # "Not" counts NaN in.
        strong = [n for n in multipliers if not multipliers[n] <= multiplier]
        if strong:
            weighers = _list_multipliers(multipliers, strong)
            warnings.append(
                f'{weighers} can outweigh a point. '
                f'To prevent it, reduce the multiplier, or increase {option}.'
            )
        if plugins.find_filter(IN_TREE_FILTER):
            warnings.append(f'{_IN_TREE_PROBLEM} Enable {FILTER} instead.')
        return self._warn(text, warnings)

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

    def _check_spread(self, plugins: Plugins, name: str) -> Result:
        """Say whether a weigher is on, and what undoes its decisions."""
        off = self._check_off(plugins, name)
        if off:
            return off
        option = OPTIONS[name]
        multiplier = self._config.nova_filters[option]
        warnings = []
        multipliers = _list_others(plugins, STACKS, GROUPS)
        total = sum(multipliers.values())
        # "Not" counts NaN in.
        if not total < abs(multiplier):
            weighers = _list_multipliers(multipliers, [*multipliers])
            text = (
                f'Other weighers can add up to {total:g}, so they may choose '
                f'another place: {weighers}.'
            )
            if math.isfinite(total):
                text += (
                    f' To prevent it, set {option} to {total + 1:.0f} or more '
                    '(to spread stacks: with a minus sign).'
                )
            warnings.append(text)
        index = plugins.index_of(name) or 0
        later = plugins.weighers[index + 1 :]
        unseen = [w.name for w in later if w.name not in (STACKS, GROUPS)]
        if unseen:
            warnings.append(
                'It cannot see which hosts the later weighers refuse: '
                f'{listed(unseen)}. Move it to the end of weight_classes.'
            )
        return self._warn(f'On: {option} is {multiplier:g}.', warnings)

    def _warn(self, text: str, warnings: list[str]) -> Result:
        """Return the result for a weigher that is on."""
        size = self._config.filter_scheduler.host_subset_size
        if size > 1:
            warnings.append(
                f'host_subset_size in [filter_scheduler] is {size}, so Nova '
                f'takes any of the {size} best hosts. Set it to 1.'
            )
        code = WARNING if warnings else SUCCESS
        return Result(code, ' '.join([text, *warnings]))

    def _check_off(self, plugins: Plugins, name: str) -> Result | None:
        """Say how to switch a weigher on; return None if it is on."""
        option = OPTIONS[name]
        multiplier = self._config.nova_filters[option]
        is_loaded = plugins.index_of(name) is not None
        if is_loaded and multiplier:
            return None
        if is_loaded:
            return Result(SUCCESS, f'Off: {option} in [nova_filters] is 0.')
        remedy = (
            'write nova_filters.all_weighers at the end of weight_classes, '
            'after the weighers of Nova.'
        )
        if multiplier:
            return Result(
                WARNING,
                f'Off, so {option} = {multiplier:g} has no effect. To switch '
                f'it on, {remedy}',
            )
        return Result(
            SUCCESS,
            f'Off. To switch it on, set {option} in [nova_filters], and '
            f'{remedy}',
        )


def _list_others(plugins: Plugins, *names: str) -> dict[str, float]:
    """Return the multipliers of other weighers, without their signs.

    Those in :data:`VETOES` are left out. A preference with the most points
    weighs more than one point.

    :param names: the weighers of this package that are left out, too.
    """
    multipliers = {}
    for weigher in plugins.weighers:
        is_ours = weigher.of_package and weigher.name in names
        if not weigher.multiplier or is_ours or weigher.name in VETOES:
            continue
        multiplier = abs(weigher.multiplier)
        if weigher.of_package and weigher.name == PREFERENCES:
            multiplier *= preferences.weight(preferences.MOST_POINTS)
        multipliers[weigher.name] = multiplier
    return multipliers


def _list_multipliers(multipliers: dict[str, float], names: list[str]) -> str:
    """Return some weighers with their multipliers, the strongest first."""
    names = sorted(names, key=lambda name: -multipliers[name])
    return listed([f'{name} ({multipliers[name]:g})' for name in names])


def _path(cls: Any) -> str:
    return f'{cls.__module__}.{cls.__qualname__}'


if __name__ == '__main__':
    sys.exit(Checks.main())

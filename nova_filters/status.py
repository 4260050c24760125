# SPDX-License-Identifier: Apache-2.0

"""The command ``nova-filters-status upgrade check``."""

import collections
import math
import os
import sys
from typing import Any, Final, NamedTuple, Self

import nova_filters
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
# Weighers are known by the full names of their classes.
PREFERENCES: Final = 'nova_filters.weighers.preference.PreferenceWeigher'
STACKS: Final = 'nova_filters.weighers.affinity.StackAffinityWeigher'
#: Nova's own filter for extra specs.
IN_TREE_FILTER: Final = 'AggregateInstanceExtraSpecsFilter'
#: The weighers of Nova that are meant to outweigh all others.
VETOES: Final = (
    'nova.scheduler.weights.compute.BuildFailureWeigher',
    'nova.scheduler.weights.cross_cell.CrossCellWeigher',
)
#: A key that nearly all clouds have in their aggregates.
ZONE: Final = 'availability_zone'

_FILTER_LINES: Final = (
    '"available_filters = nova.scheduler.filters.all_filters" and '
    '"available_filters = nova_filters.all_filters"'
)
_FILTER_RULE: Final = (
    'available_filters must name the package of each filter, in a line of its '
    f'own: {_FILTER_LINES}.'
)
#: What an operator may not know, by the option whose value cannot be loaded.
_RULES: Final = {
    'available_filters': _FILTER_RULE,
    'enabled_filters': _FILTER_RULE,
    'weight_classes': 'Names in weight_classes are separated by commas.',
}


class Weigher(NamedTuple):
    """A weigher that Nova loads.

    :param path: the full name of its class.
    :param multiplier: its multiplier on a host that is in no aggregate.
    """

    path: str
    multiplier: float

    @property
    def strength(self) -> float:
        """Return how much the weigher can add to the weight of a host."""
        strength = abs(self.multiplier)
        if self.path == PREFERENCES:
            strength *= preferences.weight(preferences.MOST_POINTS)
        return strength


class Loaded(NamedTuple):
    """What nova.conf names.

    :param filters: the full names of the enabled filters, by their names.
    :param weighers: the weighers, in the order in which Nova calls them.
    :param options: for each weigher of this package, loaded or not, the option
        with its multiplier.
    """

    filters: dict[str, str]
    weighers: list[Weigher]
    options: dict[str, str]

    def list_others(self) -> list[Weigher]:
        """Return all weighers but those that spread or pack servers."""
        orders = self.options.keys() - {PREFERENCES}
        return [each for each in self.weighers if each.path not in orders]


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
            loaded = child_process.load('nova.scheduler', self._load)
        except child_process.LoadError as exc:
            option, _, _ = exc.thing.partition(' ')
            rule = _RULES.get(option, '')
            text = f'nova-scheduler cannot work with {exc}. {rule}'
            return [('Filters and weighers', Result(FAILURE, text.strip()))]
        rows = [
            ('Filters and weighers', _check_all(loaded)),
            (FILTER, self._check_filter(loaded)),
        ]
        for path in loaded.options:
            rows.append((_name(path), self._check_weigher(loaded, path)))
        rows.append(('Signed hints', self._check_key(loaded)))
        return rows

    def _load(self, begin: child_process.Begin) -> Loaded:
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
            weighers.append(Weigher(_path(cls), multiplier))
        begin('nova_filters.all_weighers')
        ours: list[Any] = nova_filters.all_weighers()
        return Loaded(
            filters={cls.__name__: _path(cls) for cls in enabled},
            weighers=weighers,
            options={_path(cls): cls.option for cls in ours},
        )

    def _check_filter(self, loaded: Loaded) -> Result:
        enabled = loaded.filters.get(FILTER)
        if enabled and not _is_ours(enabled):
            return Result(
                WARNING,
                f'Off, because {enabled} has the same name. Of two filters '
                'with one name, Nova takes the one that available_filters '
                'names last.',
            )
        warnings = []
        is_used = enabled or self._is_on(loaded, PREFERENCES)
        if is_used and IN_TREE_FILTER in loaded.filters:
            warnings.append(
                f'{IN_TREE_FILTER} is enabled, too. It takes "*", "~" and "!" '
                'for plain values, and refuses the hosts that they are meant '
                'to allow.'
            )
        if enabled is None:
            text = (
                f'Off. To switch it on, write {_FILTER_LINES}, and add '
                f'{FILTER} to the end of enabled_filters.'
            )
            # An operator may want only the weighers.
            if not any(_is_ours(each.path) for each in loaded.weighers):
                return Result(WARNING, text)
            return _make_result(text, warnings)
        patterns = self._config.nova_filters.exempt_metadata_keys
        if any('*' in each and not each.strip('*?') for each in patterns):
            warnings.append(
                'exempt_metadata_keys covers all keys, so no aggregate '
                'demands any.'
            )
        elif not inputs.compile_exemption(tuple(patterns))(ZONE):
            warnings.append(
                f'exempt_metadata_keys does not cover {ZONE}, so a forced '
                'aggregate that is an availability zone refuses nearly every '
                'flavor.'
            )
        return _make_result('On.', warnings)

    def _check_weigher(self, loaded: Loaded, path: str) -> Result:
        """Say whether a weigher is on, and what is stronger."""
        option = loaded.options[path]
        multiplier = self._config.nova_filters[option]
        paths = [weigher.path for weigher in loaded.weighers]
        if path not in paths:
            text = (
                f'Off. To switch it on, set {option} in [nova_filters], and '
                'write nova_filters.all_weighers at the end of '
                'weight_classes, after the weighers of Nova.'
            )
            if not multiplier:
                return Result(SUCCESS, text)
            return Result(WARNING, f'{option} has no effect. {text}')
        if not multiplier:
            return Result(SUCCESS, f'Off: {option} in [nova_filters] is 0.')
        if path == PREFERENCES:
            warnings = _find_stronger(loaded, multiplier)
        else:
            later = loaded.weighers[paths.index(path) + 1 :]
            warnings = _find_disturbing(loaded, later, multiplier)
        size = self._config.filter_scheduler.host_subset_size
        if size > 1:
            warnings.append(
                f'host_subset_size in [filter_scheduler] is {size}, so Nova '
                f'takes any of the {size} best hosts.'
            )
        return _make_result(f'On: {option} is {multiplier:g}.', warnings)

    def _check_key(self, loaded: Loaded) -> Result:
        """Say whether the stack hints are signed."""
        has_key = bool(self._config.heat_hints.signing_key)
        is_on = self._is_on(loaded, STACKS)
        if has_key and not is_on:
            return Result(
                WARNING, 'Nothing reads the signing_key in [heat_hints].'
            )
        if is_on and not has_key:
            return Result(
                SUCCESS,
                'Without a signing_key in [heat_hints], the stack hints of a '
                'tenant are believed like those of Heat.',
            )
        return Result(SUCCESS, 'No problem found by reading.')

    def _is_on(self, loaded: Loaded, path: str) -> bool:
        multiplier = self._config.nova_filters[loaded.options[path]]
        is_loaded = any(weigher.path == path for weigher in loaded.weighers)
        return bool(multiplier) and is_loaded


def _check_all(loaded: Loaded) -> Result:
    """Say what was loaded, and which weighers break the weights."""
    warnings = []
    if not any(each.path.startswith('nova.') for each in loaded.weighers):
        warnings.append(
            'No weigher of Nova is loaded, so RAM, disk and CPU of the hosts '
            'do not count.'
        )
    endless = [
        each for each in loaded.weighers if not math.isfinite(each.multiplier)
    ]
    if endless:
        warnings.append(
            f'With the multiplier of {_list_strengths(endless)}, the weights '
            'of hosts cannot be compared, so no weigher has an effect.'
        )
    paths = collections.Counter(each.path for each in loaded.weighers)
    repeated = [path for path, number in paths.items() if number > 1]
    if repeated:
        warnings.append(
            'weight_classes names these classes more than once, so each '
            f'counts more than once: {listed(repeated)}.'
        )
    return _make_result(
        f'{len(loaded.filters)} filters and {len(loaded.weighers)} weighers '
        'can be loaded.',
        warnings,
    )


def _find_stronger(loaded: Loaded, multiplier: float) -> list[str]:
    """Return a warning if other weighers can outweigh a point."""
    strong = []
    for weigher in _list_counted(loaded.weighers):
        if weigher.path != PREFERENCES and weigher.strength > multiplier:
            strong.append(weigher)
    if not strong:
        return []
    return [f'{_list_strengths(strong)} can outweigh a point.']


def _find_disturbing(
    loaded: Loaded, later: list[Weigher], multiplier: float
) -> list[str]:
    """Return what undoes the order in which a weigher puts the hosts.

    :param later: the weighers that Nova calls after it.
    """
    warnings = []
    others = loaded.list_others()
    counted = _list_counted(others)
    total = sum(weigher.strength for weigher in counted)
    if total >= abs(multiplier):
        warnings.append(
            f'Other weighers can add up to {total:g}, so they may choose '
            f'another place: {_list_strengths(counted)}. It is stronger from '
            f'{total + 1:.0f} on.'
        )
    unseen = [_name(each.path) for each in later if each in others]
    if unseen:
        warnings.append(
            'It cannot see which hosts the later weighers refuse: '
            f'{listed(unseen)}. Move it to the end of weight_classes.'
        )
    return warnings


def _list_counted(weighers: list[Weigher]) -> list[Weigher]:
    """Return the weighers that have an effect, except the vetoes."""
    return [
        weigher
        for weigher in weighers
        if weigher.strength > 0
        and math.isfinite(weigher.strength)
        and weigher.path not in VETOES
    ]


def _list_strengths(weighers: list[Weigher]) -> str:
    """Return weighers with their strength, the strongest first."""
    weighers = sorted(weighers, key=lambda each: -each.strength)
    return listed(
        [f'{_name(each.path)} ({each.strength:g})' for each in weighers]
    )


def _make_result(text: str, warnings: list[str]) -> Result:
    code = WARNING if warnings else SUCCESS
    return Result(code, ' '.join([text, *warnings]))


def _path(cls: Any) -> str:
    return f'{cls.__module__}.{cls.__qualname__}'


def _name(path: str) -> str:
    return path.rpartition('.')[2]


def _is_ours(path: str) -> bool:
    return path.startswith('nova_filters.')


if __name__ == '__main__':
    sys.exit(Checks.main())

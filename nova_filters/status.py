# SPDX-License-Identifier: Apache-2.0

"""The command ``nova-filters-status upgrade check``.

The command loads filters and weighers as nova-scheduler does when it starts.
What would keep nova-scheduler from starting is a failure.
"""

import difflib
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Final, Self

from nova_filters import conf
from nova_filters.advice import exempt_keys
from os_placement_plugins import upgrade_check
from os_placement_plugins.errors import one_line
from os_placement_plugins.upgrade_check import (
    FAILURE,
    SUCCESS,
    WARNING,
    Result,
    with_right_values,
)

FILTER: Final = 'AggregateInstanceTypeFilter'
LIMITER: Final = 'TeamSpreadFilter'
WEIGHER: Final = 'StackAffinityWeigher'
IN_TREE_FILTER: Final = 'AggregateInstanceExtraSpecsFilter'

#: What nova.conf names, of Nova and of this package.
NOVA_FILTERS: Final = 'nova.scheduler.filters.all_filters'
OUR_FILTERS: Final = 'nova_filters.all_filters'
NOVA_WEIGHERS: Final = 'nova.scheduler.weights.all_weighers'
OUR_WEIGHERS: Final = 'nova_filters.all_weighers'


def _is_ours(cls: type) -> bool:
    """Tell whether a class comes from this package."""
    return cls.__module__.split('.')[0] == __package__


def _cause(exc: Exception) -> str:
    """Return why a class cannot be loaded, in one line.

    If a module lacks the class, oslo.utils puts a traceback into the text.
    """
    cause = exc.__context__
    return one_line(cause if isinstance(cause, AttributeError) else exc)


class Checks(upgrade_check.Checks):
    """What is checked, one method for each row of the table."""

    command = 'nova-filters-status'
    project = 'nova'
    service = 'nova-scheduler'
    options = conf.list_opts()
    of_service = {
        'filter_scheduler': {
            'available_filters',
            'enabled_filters',
            'weight_classes',
        }
    }
    display_title = 'nova_filters: Upgrade Check Results'

    @classmethod
    def load(cls) -> Self:
        """Load Nova's configuration.

        :raises ImportError: if Nova is not installed here.
        """
        # Nova would patch the process for eventlet otherwise.
        os.environ.setdefault('OS_NOVA_DISABLE_EVENTLET_PATCHING', 'true')
        import nova.conf as nova_conf

        return cls(nova_conf.CONF)

    def check_filter(self) -> Result:
        """Check the lines of nova.conf that enable the filter."""
        available = self._config.filter_scheduler.available_filters
        enabled = self._config.filter_scheduler.enabled_filters
        try:
            classes = self._filter_classes()
        except Exception as exc:
            return Result(
                FAILURE,
                'nova-scheduler does not start: [filter_scheduler] '
                f'available_filters cannot be loaded: {_cause(exc)}. '
                'Write one line for each name: "available_filters = '
                f'{NOVA_FILTERS}" and "available_filters = {OUR_FILTERS}".',
            )
        unknown = [name for name in enabled if name not in classes]
        if unknown:
            return Result(
                FAILURE,
                'nova-scheduler does not start: [filter_scheduler] '
                f'enabled_filters names {", ".join(unknown)}, which no line '
                'available_filters offers. '
                + self._filter_remedy(unknown, available, classes),
            )
        if FILTER in enabled and not _is_ours(classes[FILTER]):
            return Result(
                FAILURE,
                f'{FILTER} is the class of {classes[FILTER].__module__}, '
                'because Nova takes the last class of a name. Put '
                f'"available_filters = {OUR_FILTERS}" after the other lines.',
            )
        if FILTER in enabled:
            return Result(SUCCESS)
        lines = f'To use it, add {FILTER} to enabled_filters'
        if FILTER in classes:
            return Result(
                WARNING,
                f'{FILTER} is available but not enabled, so it does nothing. '
                f'{lines} in [filter_scheduler] and restart nova-scheduler.',
            )
        details = (
            f'{FILTER} is not enabled. {lines} and write '
            f'"available_filters = {NOVA_FILTERS}" and "available_filters = '
            f'{OUR_FILTERS}" into [filter_scheduler], then restart '
            'nova-scheduler.'
        )
        # Whoever wants the weigher alone need not enable the filter.
        return Result(SUCCESS if self._weigher() else WARNING, details)

    @staticmethod
    def _filter_remedy(
        unknown: Sequence[str],
        available: Sequence[str],
        known: Iterable[str],
    ) -> str:
        """Say what to change so that all enabled filters are there."""
        remedies = []
        others = [name for name in unknown if name != FILTER]
        if FILTER in unknown:
            remedies.append(
                f'Add the line "available_filters = {OUR_FILTERS}"'
            )
        if others and NOVA_FILTERS not in available:
            remedies.append(
                f'Add the line "available_filters = {NOVA_FILTERS}": it is '
                'the default only while there is no other line'
            )
        elif others:
            names = {name.lower(): name for name in (*known, FILTER)}
            near = [
                f'{name} (the nearest is {names[one]})'
                for name in others
                for one in difflib.get_close_matches(name.lower(), names, n=1)
            ]
            remedies.append(
                f'Correct or remove {", ".join(near or others)} in '
                'enabled_filters'
            )
        return '. '.join(remedies) + '. Then restart nova-scheduler.'

    def check_in_tree_filter(self) -> Result:
        """Check that Nova's own filter is not enabled beside this one."""
        enabled = self._config.filter_scheduler.enabled_filters
        if FILTER in enabled and IN_TREE_FILTER in enabled:
            return Result(
                WARNING,
                f'{IN_TREE_FILTER} is enabled as well. It takes "*", "~" and '
                '"!" for plain values and refuses the hosts that they are '
                f'meant to allow. Remove it from enabled_filters: {FILTER} '
                'does its work, too.',
            )
        return Result(SUCCESS)

    @with_right_values
    def check_exempt_keys(self) -> Result:
        """Check the patterns of ``exempt_metadata_keys``."""
        if FILTER not in self._config.filter_scheduler.enabled_filters:
            return Result(SUCCESS)
        own = self._config.nova_filters
        problems = exempt_keys.problems(
            own.exempt_metadata_keys,
            conf.DEFAULTS['exempt_metadata_keys'],
            own.stack_spread_over if self._weigher() else (),
        )
        if not problems:
            return Result(SUCCESS)
        return Result(
            WARNING,
            f'[nova_filters] exempt_metadata_keys: {"; ".join(problems)}.',
        )

    @with_right_values
    def check_weigher(self) -> Result:
        """Check the line of nova.conf that enables the weigher."""
        names = self._config.filter_scheduler.weight_classes
        try:
            classes = self._weigher_classes()
        except Exception as exc:
            return Result(
                FAILURE,
                'nova-scheduler does not start: [filter_scheduler] '
                f'weight_classes cannot be loaded: {_cause(exc)}. Write '
                f'"weight_classes = {NOVA_WEIGHERS},{OUR_WEIGHERS}".',
            )
        if any(_is_ours(cls) for cls in classes):
            if any(not _is_ours(cls) for cls in classes):
                return Result(SUCCESS)
            return Result(
                WARNING,
                f'{WEIGHER} is the only weigher: RAM, disk, CPU and load of '
                'the hosts no longer count. Write "weight_classes = '
                f'{NOVA_WEIGHERS},{OUR_WEIGHERS}".',
            )
        details = (
            f'{WEIGHER} is not used. To use it, add {OUR_WEIGHERS} to '
            'weight_classes in [filter_scheduler], after '
            f'{", ".join(names)}, and restart nova-scheduler.'
        )
        if self._config.heat_hints.signing_key:
            return Result(
                WARNING,
                'signing_key is set in [heat_hints], but nothing reads it: '
                + details,
            )
        return Result(SUCCESS, details)

    @with_right_values
    def check_spread(self) -> Result:
        """Check that limits and multipliers have an effect."""
        own = self._config.nova_filters
        enabled = self._config.filter_scheduler.enabled_filters
        problems = []
        if own.max_skew and LIMITER not in enabled:
            problems.append(
                f'max_skew: add {LIMITER} to the end of enabled_filters'
            )
        unread = [
            name
            for name, default in conf.DEFAULTS.items()
            if name.endswith('_multiplier') and own[name] != default
        ]
        if unread and not self._weigher():
            problems.append(
                f'{", ".join(unread)}: add {OUR_WEIGHERS} to weight_classes'
            )
        if not problems:
            return Result(SUCCESS)
        return Result(
            WARNING,
            'These options of [nova_filters] are set and have no effect: '
            f'{"; ".join(problems)}. Then restart nova-scheduler.',
        )

    @with_right_values
    def check_places(self) -> Result:
        """Check that no host is in two places of one kind."""
        kinds = set(self._config.nova_filters.stack_spread_over) - {'host'}
        if not kinds or not self._weigher():
            return Result(SUCCESS)
        from nova import context, objects
        from nova.db.api import api

        try:
            url = self._config.api_database.connection
            api.context_manager.configure(connection=url)
            objects.register_all()
            found = objects.AggregateList.get_all(context.get_admin_context())
        except Exception as exc:
            return Result(
                WARNING,
                'The aggregates could not be read, so no check has looked for '
                f'hosts in two places: {_cause(exc)}. Run this command where '
                '[api_database] connection is set.',
            )
        places: dict[tuple[str, str], set[str]] = {}
        for aggregate in found:
            for kind in kinds & aggregate.metadata.keys():
                for host in aggregate.hosts:
                    names = places.setdefault((host, kind), set())
                    names.add(aggregate.metadata[kind])
        double = [
            f'{host} ({kind}: {", ".join(sorted(names))})'
            for (host, kind), names in sorted(places.items())
            if len(names) > 1
        ]
        if not double:
            return Result(SUCCESS)
        return Result(
            WARNING,
            'These hosts are in two places of one kind, and only the first '
            f'one counts: {"; ".join(double)}. Remove the hosts from all but '
            'one of these aggregates, or correct the metadata.',
        )

    @with_right_values
    def check_signature(self) -> Result:
        """Tell whether the weigher believes hints that nobody signed."""
        if not self._weigher() or self._config.heat_hints.signing_key:
            return Result(SUCCESS)
        return Result(
            SUCCESS,
            'There is no signing_key in [heat_hints], so the stack hints of '
            'a tenant are believed like those of Heat.',
        )

    def _filter_classes(self) -> dict[str, type]:
        """Return the filters that nova-scheduler knows, by their names."""
        from nova.scheduler import filters

        names = self._config.filter_scheduler.available_filters
        found = filters.HostFilterHandler().get_matching_classes(names)
        return {cls.__name__: cls for cls in found}

    def _weigher_classes(self) -> list[type]:
        """Return the weighers that nova-scheduler uses."""
        from nova.scheduler import weights

        names = self._config.filter_scheduler.weight_classes
        return list(weights.HostWeightHandler().get_matching_classes(names))

    def _weigher(self) -> type | None:
        """Return the weigher of this package if nova-scheduler uses it."""
        try:
            classes = self._weigher_classes()
        except Exception:
            # The check of the weigher says so.
            return None
        return next((cls for cls in classes if _is_ours(cls)), None)

    _upgrade_checks = (
        *upgrade_check.Checks._upgrade_checks,
        ('Filter', check_filter),
        ('In-tree filter', check_in_tree_filter),
        ('Exempt metadata keys', check_exempt_keys),
        ('Weigher', check_weigher),
        ('Spread', check_spread),
        ('Places', check_places),
        ('Signature', check_signature),
    )


if __name__ == '__main__':
    sys.exit(Checks.main())

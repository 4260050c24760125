# SPDX-License-Identifier: Apache-2.0

"""The command ``nova-filters-status upgrade check``.

The command loads filters and weighers as nova-scheduler does when it starts. A
check fails if nova-scheduler would not start.
"""

import collections
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Final, Self

import nova_filters
from nova_filters import conf, made_up_hosts, scheduler_classes
from nova_filters.matching import exempt_keys
from nova_filters.scheduler_classes import cause, is_ours, lacking
from os_placement_plugins import database, options, upgrade_check
from os_placement_plugins.errors import DatabaseError, one_line
from os_placement_plugins.upgrade_check import (
    FAILURE,
    SUCCESS,
    WARNING,
    Result,
    warning,
    with_right_values,
)

IN_TREE_FILTER: Final = 'AggregateInstanceExtraSpecsFilter'
PREFERENCES: Final = 'PreferenceWeigher'

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


def _places(kinds: Iterable[str]) -> Any:
    """Return the SQL statement that reads the places of all hosts.

    A place is a key and a value in the metadata of a host's aggregates, such
    as ``rack=rack-b``.

    The check does not use Nova's own functions: if the database does not
    answer, these functions try again for minutes.

    :param kinds: metadata keys.
    """
    import sqlalchemy
    from nova.db.api import models

    host, place = models.AggregateHost, models.AggregateMetadata
    statement = sqlalchemy.select(host.host, place.key, place.value)
    return statement.join_from(
        host, place, place.aggregate_id == host.aggregate_id
    ).where(place.key.in_(kinds))


class Checks(upgrade_check.Checks):
    """The checks, with one method for each row of the printed table."""

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
    #: The names of this package's filters.
    _filter: ClassVar[str]
    _limiter: ClassVar[str]

    @classmethod
    def load(cls) -> Self:
        """Load Nova's configuration.

        :raises ImportError: if Nova is not installed here.
        """
        # Without this variable, Nova would patch the process for eventlet.
        os.environ.setdefault('OS_NOVA_DISABLE_EVENTLET_PATCHING', 'true')
        import nova.conf as nova_conf

        instance_type_filter, spread_filter = nova_filters.all_filters()
        cls._filter = instance_type_filter.__name__
        cls._limiter = spread_filter.__name__
        return cls(nova_conf.CONF)

    @property
    def _enabled(self) -> Sequence[str]:
        return self._config.filter_scheduler.enabled_filters  # type: ignore[no-any-return]

    @with_right_values
    def check_filter(self) -> Result:
        """Check that nova.conf enables ``AggregateInstanceTypeFilter``."""
        name = self._filter
        offered, problem = scheduler_classes.load(
            self._config, 'available_filters'
        )
        if problem:
            remedy = f'Write one line for each name: {_LINES}.'
            return Result(FAILURE, f'{problem} {remedy}')
        # Of several classes with the same name, Nova uses the last.
        classes = {cls.__name__: cls for cls in offered}
        unknown = [entry for entry in self._enabled if entry not in classes]
        if unknown:
            remedies = self._remedies(unknown, classes)
            return Result(
                FAILURE,
                f'{scheduler_classes.STOPPED}enabled_filters names '
                f'{", ".join(unknown)}, which no line available_filters '
                f'offers. {"; ".join(remedies)}. Then restart nova-scheduler.',
            )
        if name not in self._enabled:
            code = WARNING
            state = 'available but not enabled, so it does nothing'
            lines = ''
            if name not in classes:
                state = 'not enabled'
                lines = f', and write {_LINES}'
                # An operator may want only the weighers, so do not warn.
                if self._weigher():
                    code = SUCCESS
            return Result(
                code,
                f'{name} is {state}. To use it, add {name} to enabled_filters '
                f'in [filter_scheduler]{lines}. Then restart nova-scheduler.',
            )
        if not is_ours(classes[name]):
            return Result(
                FAILURE,
                f'{name} is the class of {classes[name].__module__}, because '
                'Nova takes the last class of a name. Put "available_filters '
                f'= {OUR_FILTERS}" after the other lines.',
            )
        weighers = lacking(offered, 'filter_all')
        return warning(
            weighers,
            f'available_filters offers {", ".join(weighers)}, which are no '
            f'filters. Write {_LINES}, and name weighers in weight_classes.',
        )

    def _remedies(
        self, unknown: Sequence[str], offered: Iterable[str]
    ) -> Iterator[str]:
        """Yield the changes that make all enabled filters available."""
        if self._filter in unknown:
            yield f'Add the line "available_filters = {OUR_FILTERS}"'
        misspelled = [name for name in unknown if name != self._filter]
        if not misspelled:
            return
        if NOVA_FILTERS not in self._config.filter_scheduler.available_filters:
            yield (
                f'Add the line "available_filters = {NOVA_FILTERS}": it is '
                'the default only while there is no other line'
            )
            return
        possible = (*offered, self._filter)
        guesses = []
        for name in misspelled:
            guesses += options.nearest(name, name, possible) or [name]
        yield f'Correct or remove {", ".join(guesses)} in enabled_filters'

    @with_right_values
    def check_in_tree_filter(self) -> Result:
        """Check that Nova's own filter does not refuse hosts by mistake.

        Nova's filter reads "*", "~" and "!" as plain text.
        """
        if IN_TREE_FILTER not in self._enabled:
            return Result(SUCCESS)
        if self._filter not in self._enabled and self._prefers():
            return Result(
                SUCCESS,
                f'{IN_TREE_FILTER} is enabled. It takes "~" and "*" in extra '
                f'specs for plain values, so a soft rule of {PREFERENCES} '
                'that needs them becomes a hard one. If you have such rules, '
                f'replace it by {self._filter} in enabled_filters.',
            )
        return warning(
            self._filter in self._enabled,
            f'{IN_TREE_FILTER} is enabled as well. It takes "*", "~" and "!" '
            'for plain values and refuses the hosts that they are meant to '
            f'allow. Remove it from enabled_filters: {self._filter} does its '
            'work, too.',
        )

    @with_right_values
    def check_exempt_keys(self) -> Result:
        """Check the patterns of ``exempt_metadata_keys``."""
        group = self._config.nova_filters
        defaults: Sequence[str] = ()
        levels: Sequence[str] = ()
        mechanisms = []
        # Without the filter, no aggregate refuses hosts because of a key. So
        # the default patterns and the kinds of places do not matter then.
        if self._filter in self._enabled:
            mechanisms.append(f'force_metadata_check ({self._filter})')
            defaults = conf.DEFAULTS['exempt_metadata_keys']
            if self._weigher():
                levels = group.stack_spread_over
        if self._prefers():
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
        """Check that nova.conf enables the weighers of this package."""
        classes, problem = scheduler_classes.load(
            self._config, 'weight_classes'
        )
        if problem:
            return Result(FAILURE, f'{problem} Write {_WEIGHERS}.')
        filters = lacking(classes, 'weigh_objects')
        if filters:
            return Result(
                FAILURE,
                f'weight_classes names {", ".join(filters)}, which are no '
                'weighers: the first boot with two candidate hosts fails. '
                f'Write {_WEIGHERS}.',
            )
        if not classes:
            return Result(
                WARNING,
                'weight_classes names no weigher, so all hosts are equally '
                f'good. Write {_WEIGHERS}.',
            )
        numbers = collections.Counter(cls.__name__ for cls in classes)
        doubled = [name for name, number in numbers.items() if number > 1]
        if doubled:
            return Result(
                WARNING,
                f'weight_classes names {", ".join(doubled)} more than once, '
                'and each multiplier counts as often. Name each list or class '
                f'once: {_WEIGHERS}.',
            )
        our_weighers = [cls for cls in classes if is_ours(cls)]
        if len(our_weighers) == len(classes):
            return Result(
                WARNING,
                'nova_filters has the only weighers: RAM, disk, CPU and load '
                f'of the hosts no longer count. Write {_WEIGHERS}.',
            )
        if our_weighers:
            return Result(SUCCESS)
        names = ', '.join(self._config.filter_scheduler.weight_classes)
        details = (
            f'The weigher is not used. To use it, add {OUR_WEIGHERS} to '
            f'weight_classes in [filter_scheduler], after {names}, and '
            'restart nova-scheduler.'
        )
        if not self._config.heat_hints.signing_key:
            return Result(SUCCESS, details)
        unread = 'signing_key is set in [heat_hints], but nothing reads it: '
        return Result(WARNING, unread + details)

    @with_right_values
    def check_boot(self) -> Result:
        """Load the plug-ins, and call each with two made-up hosts."""
        try:
            manager = made_up_hosts.start()
        except Exception as exc:
            return Result(
                FAILURE,
                f'nova-scheduler does not start: {cause(exc).rstrip(".")}.',
            )
        code = SUCCESS
        texts = []
        for failure in made_up_hosts.failures(manager):
            text = one_line(failure.error)
            if failure.certain:
                code = FAILURE
                texts.append(
                    'the first boot with two candidate hosts fails, because '
                    f'of {failure.name}: {text}'
                )
            else:
                code = max(code, WARNING)
                texts.append(
                    f'{failure.name} could not be judged, because it raised '
                    f'an error for two made-up hosts: {text}'
                )
        if not texts:
            return Result(code)
        return Result(code, f'{"; ".join(texts)}.')

    @with_right_values
    def check_spread(self) -> Result:
        """Check that the options for limits and multipliers have an effect."""
        group = self._config.nova_filters
        problems = []
        if group.max_skew and self._limiter not in self._enabled:
            problems.append(
                f'max_skew: add {self._limiter} to the end of enabled_filters'
            )
        unread = [
            name
            for name, default in conf.DEFAULTS.items()
            if name.endswith('_multiplier') and group[name] != default
        ]
        if unread and not self._weigher():
            problems.append(
                f'{", ".join(unread)}: add {OUR_WEIGHERS} to weight_classes'
            )
        return warning(
            problems,
            'These options of [nova_filters] are set and have no effect: '
            f'{"; ".join(problems)}. Then restart nova-scheduler.',
        )

    @with_right_values
    def check_places(self) -> Result:
        """Check that no host is in two places of the same kind."""
        kinds = set(self._config.nova_filters.stack_spread_over) - {'host'}
        if not kinds or not self._weigher():
            return Result(SUCCESS)
        try:
            rows = database.read(self._config, 'api_database', _places(kinds))
        except DatabaseError as exc:
            return Result(
                WARNING,
                'The aggregates could not be read, so no check has looked for '
                f'hosts in two places: {one_line(exc)}. '
                f'{database.remedy("api_database")}',
            )
        places = collections.defaultdict(set)
        for host, kind, name in rows:
            places[host, kind].add(name)
        double = [
            f'{host} ({kind}: {", ".join(sorted(names))})'
            for (host, kind), names in sorted(places.items())
            if len(names) > 1
        ]
        return warning(
            double,
            'These hosts are in two places of one kind, and only the first '
            f'one counts: {"; ".join(double)}. Remove the hosts from all but '
            'one of these aggregates, or correct the metadata.',
        )

    @with_right_values
    def check_signature(self) -> Result:
        """Report if the weighers trust stack hints without a signature."""
        if self._config.heat_hints.signing_key or not self._weigher():
            return Result(SUCCESS)
        return Result(
            SUCCESS,
            'There is no signing_key in [heat_hints], so the stack hints of '
            'a tenant are believed like those of Heat.',
        )

    def _our_weighers(self) -> list[type]:
        """Return the weighers of this package that nova-scheduler uses."""
        # check_weigher() reports classes that cannot be loaded.
        classes, _ = scheduler_classes.load(self._config, 'weight_classes')
        return [cls for cls in classes if is_ours(cls)]

    def _weigher(self) -> bool:
        """Tell whether nova-scheduler uses a weigher of this package."""
        return bool(self._our_weighers())

    def _prefers(self) -> bool:
        """Tell whether nova-scheduler uses ``PreferenceWeigher``."""
        names = [cls.__name__ for cls in self._our_weighers()]
        return PREFERENCES in names

    _upgrade_checks = (
        *upgrade_check.Checks._upgrade_checks,
        ('Filter', check_filter),
        ('In-tree filter', check_in_tree_filter),
        ('Exempt metadata keys', check_exempt_keys),
        ('Weigher', check_weigher),
        ('Two candidate hosts', check_boot),
        ('Spread', check_spread),
        ('Places', check_places),
        ('Signature', check_signature),
    )


if __name__ == '__main__':
    sys.exit(Checks.main())
